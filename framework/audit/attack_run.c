/* SPDX-License-Identifier: Apache-2.0 */
/* The games of an attack: trainings in processes of their own, then what can be told from them. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/attack.h"
#include "audit/attack_learn.h"
#include "audit/crew.h"
#include "base/log.h"
#include "base/memory.h"
#include "data/load.h"
#include "plan/plan_make.h"
#include "run/progress.h"

/* ---- trainings ----------------------------------------------------------------------------------------- */

static int train_one(void *context, struct pool *pool, int64_t i, struct dpf_error *error)
{
    return attack_train(context, pool, i, error);
}

static int train_in_jobs(const struct audit_session *audit, struct attack *attack, struct dpf_error *error)
{
    const struct crew crew = {.context = attack,
                              .train = train_one,
                              .n = attack->trainings,
                              .at_once = audit->arguments->jobs,
                              .quiet = audit->arguments->quiet,
                              .what = "training",
                              .whole = "an attack",
                              .did = "trained"};
    return crew_run(&crew, error);
}

/* ---- what can be told ---------------------------------------------------------------------------------- */

/* The lower end of an interval of twice the length: about four standard errors, so that none of many
   intervals is above what is proved by chance. */
static int is_above(const struct attack_estimate *e, double bound)
{
    return e->value - 2 * (e->value - e->low) > bound;
}

static int is_exceeded(const struct attack_finding *f)
{
    int exceeded = is_above(&f->rates.auc, attack_bound_auc(f->epsilon, f->delta));
    for (int r = 0; r < ATTACK_N_RATES; r++)
        exceeded |= is_above(&f->rates.true_positives[r],
                             attack_bound_tpr(attack_false_positives[r], f->epsilon, f->delta));
    return f->covered && exceeded;
}

static int judge(const struct audit_session *audit, const struct attack *attack, enum attack_view view,
                 const struct random_root *root, struct attack_finding *out, struct dpf_error *error)
{
    const struct attack_sample sample = {
        .trainings = attack->trainings,
        .targets = attack->n_targets,
        .width = attack->width[view],
        .numbers = attack->numbers[view],
        .n_items = view == ATTACK_OWN_LIST ? attack->base->items.n : 0,
        .in = attack->in,
    };
    double *scores = memory_need((size_t)(attack->trainings * attack->n_targets), sizeof *scores);
    *out = (struct attack_finding){.game = attack->game, .view = view};
    attack_covered(attack->plan, out);
    int status = attack_learn(&sample, scores, error);
    if (status == 0)
        status = attack_rates_find(scores, attack->in, attack->trainings, attack->n_targets,
                                   audit_value(audit, AUDIT_CONFIDENCE)->real, root, &out->rates, error);
    out->exceeded = status == 0 && is_exceeded(out);
    free(scores);
    return status;
}

static int play(struct audit_session *audit, enum attack_game game, struct attack_finding *findings, int *n,
                int64_t *targets, struct dpf_error *error)
{
    struct attack attack = {
        .plan = &audit->session.plan,
        .base = &audit->base,
        .game = game,
        .trainings = audit->n_trials,
        .list_length = ATTACK_LIST_LENGTH,
        .seed = (uint64_t)audit_value(audit, AUDIT_SEED)->integer,
    };
    if (attack.list_length > audit->base.items.n)
        attack.list_length = audit->base.items.n;
    struct random_root *root = random_root_seeded(attack.seed, "audit attack", error);
    int status = root ? 0 : -1;
    if (status == 0)
        status = attack_open(&attack, audit_value(audit, AUDIT_TARGETS)->integer,
                             audit_value(audit, AUDIT_ATTACK)->integer == ATTACKS_RAREST ? ATTACK_ITEM_RAREST
                                                                                         : ATTACK_ITEM_RANDOM,
                             error);
    if (status == 0)
        status = train_in_jobs(audit, &attack, error);
    *targets = attack.n_targets;
    for (int view = 0; view < ATTACK_N_VIEWS && status == 0; view++)
        if (attack.numbers[view])
            status = judge(audit, &attack, (enum attack_view)view, root, &findings[(*n)++], error);
    random_root_free(root);
    attack_close(&attack);
    return status;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int prepare(struct audit_session *audit, struct dpf_error *error)
{
    struct plan *plan = &audit->session.plan;
    if (plan->model_facts.cannot[USE_ATTACK])
        return config_error(plan->config, "model", "kind", error, "%s", plan->model_facts.cannot[USE_ATTACK]);
    struct pool *pool = pool_new((int)sysconf(_SC_NPROCESSORS_ONLN));
    int status = data_load(&plan->data, &plan->split, plan->seeded, pool, &audit->base, error);
    pool_free(pool); /* ends its threads: a process with threads must not fork */
    if (status == 0)
        status = plan_complete(plan, audit->base.users.n, audit->base.items.n, error);
    if (status == 0)
        plan_measure(plan);
    return status;
}

int attack_run(struct audit_session *audit, int *exceeded, struct dpf_error *error)
{
    const int64_t asked = audit_value(audit, AUDIT_ATTACK)->integer;
    struct attack_finding findings[ATTACK_MOST_FINDINGS];
    const double started = progress_clock();
    int64_t targets = 0;
    int n = 0;
    int status = audit_trials(audit, 128, 32, error);
    if (status == 0)
        status = prepare(audit, error);
    if (status == 0 && (asked == ATTACKS_MEMBERSHIP || asked == ATTACKS_ALL))
        status = play(audit, ATTACK_MEMBERSHIP, findings, &n, &targets, error);
    if (status == 0 && asked != ATTACKS_MEMBERSHIP)
        status = play(audit, ATTACK_ATTRIBUTE, findings, &n, &targets, error);
    if (status != 0)
        return -1;
    audit->seconds = progress_clock() - started;
    for (int i = 0; i < n; i++)
        *exceeded += findings[i].exceeded;
    attack_report(audit, findings, n, targets);
    return 0;
}
