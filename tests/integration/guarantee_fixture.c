/* SPDX-License-Identifier: Apache-2.0 */
#include "integration/guarantee_fixture.h"

const char published[] =
    DATA "[model]\nrank = 20\ninit-scale = 1\ninit-norm = 1\nusers = 943\nitems = 1682\n"
         "[items]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "[users]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "mechanism = gaussian\n"
         "[users.loss]\nobjective = half\nclip-error = 1000\n"
         "[users.mechanism]\ncalibration = classic\nepsilon = 0.4\ndelta = 0.01\nwhere = sum\n"
         "[privacy]\nunit = record\nadjacency = replace-value\nobserver = outsider\ndelta = 1e-5\n"
         "[accountants]\nlist = published, rdp\n[accountants.published]\nclaim = gaussian-rdp-eq9\n";

const char by_users[] = DATA
    "[model]\nrank = 4\nusers = 1000\nitems = 200\nuser-bias = yes\nitem-bias = yes\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[accountants]\nlist = rdp\n";

const char terms[] =
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

void plan_of(struct plan *plan, const char *base, const char *changes)
{
    struct dpf_error error = {0};
    if (training_plan(plan, base, changes, &error) != 0 || plan_complete(plan, -1, -1, &error) != 0)
        fail_msg("%s", error.text);
}

double epsilon_of(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("accountant %s gave no answer", accountant);
    return 0;
}

double squared_multipliers(const struct plan *plan, int32_t *charged)
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
