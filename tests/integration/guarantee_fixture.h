/* SPDX-License-Identifier: Apache-2.0 */
/* guarantee_fixture.h - plans from texts, and which conditions fail. */
#ifndef INTEGRATION_GUARANTEE_FIXTURE_H
#define INTEGRATION_GUARANTEE_FIXTURE_H

#include "kit/test.h"
#include "kit/training.h"
#include "plan/plan_make.h"

#define DATA                                                                                                 \
    "[run]\nrounds = 100\n"                                                                                  \
    "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"                                             \
    "[split]\nkind = none\n"

/* Algorithm 1 of Mugdho and Imtiaz: epsilon_i 0.4, delta 0.01, J 100. */
static const char published[] =
    DATA "[model]\nrank = 20\ninit-scale = 1\ninit-norm = 1\nusers = 943\nitems = 1682\n"
         "[items]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "[users]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "mechanism = gaussian\n"
         "[users.loss]\nobjective = half\nclip-error = 1000\n"
         "[users.mechanism]\ncalibration = classic\nepsilon = 0.4\ndelta = 0.01\nwhere = sum\n"
         "[privacy]\nunit = record\nadjacency = replace-value\nobserver = outsider\ndelta = 1e-5\n"
         "[accountants]\nlist = published, rdp\n[accountants.published]\nclaim = gaussian-rdp-eq9\n";

/* Items released by clipped messages of users, whose own rows stay local. */
static const char by_users[] = DATA
    "[model]\nrank = 4\nusers = 1000\nitems = 200\nuser-bias = yes\nitem-bias = yes\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[accountants]\nlist = rdp\n";

static inline void plan_of(struct plan *plan, const char *base, const char *changes)
{
    struct dpf_error error = {0};
    if (training_plan(plan, base, changes, &error) != 0 || plan_complete(plan, -1, -1, &error) != 0)
        fail_msg("%s", error.text);
}

static inline double epsilon_of(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("accountant %s gave no answer", accountant);
    return 0;
}

static const char terms[] =
    DATA "[model]\nrank = 4\ninit-norm = 1\nusers = 1000\nitems = 200\n"
         "[users]\nterms = noisy, bare\nsolver = gradient-descent\n"
         "[users.noisy]\nloss = squared-error\nmechanism = gaussian\n[users.noisy.loss]\nclip-error = 1\n"
         "[users.noisy.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
         "[users.bare]\nloss = squared-error\n[users.bare.loss]\nclip-error = 1\n"
         "[items]\nupdate = no\n"
         "[privacy]\nunit = record\nadjacency = replace-value\ninteraction-pattern = public\nobserver = "
         "outsider\ndelta "
         "= 1e-6\n"
         "[accountants]\nlist = rdp\n";

/* Three blocks: quadratic, linear, count; clipped at once, or each by itself. */
#define ONE_BALL                                                                                             \
    "items.loss=explicit-als\nitems.solver=psd\nmodel.user-bias=no\nmodel.item-bias=no\n"                    \
    "model.offset=midpoint\n"
#define BLOCKS ONE_BALL "items.transform.clip-user.block-bounds=1, 1, 1\n"

/* The sum over events of (D / s)^2 in L2, of those that cost something. */
static inline double squared_multipliers(const struct plan *plan, int32_t *charged)
{
    double sum = 0;
    *charged = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        const double moved = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2;
        if (event->kind == DPF_EVENT_NO_OP || moved == 0)
            continue;
        sum += moved * moved / (event->scale * event->scale);
        ++*charged;
    }
    return sum;
}

#endif
