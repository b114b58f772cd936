/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/ranks.h"
#include "engine/checkpoint.h"
#include "engine/step.h"

/* What was drawn against what was promised: far more participants than the nominal rate allows. */
static void compare(struct engine *engine, const struct term_run *term)
{
    if (!term->mechanism)
        return;
    double n = (double)engine->dataset->users.n, rate = term->plan->sampling.rate, taken = 0;
    float heaviest = 0;
    for (int64_t u = 0; u < engine->dataset->users.n; u++) {
        taken += term->party_weights[u] != 0;
        heaviest = fmaxf(heaviest, term->party_weights[u]);
    }
    /* The statement is released: how many there are, and took part, is not for it to tell. */
    if (taken > n * rate + 8 * sqrt(n * rate * (1 - rate) + 1) + 1)
        ledger_deviate(&engine->plan->ledger,
                       "round %lld, %s: far more users took part than the nominal rate %g allows",
                       (long long)engine->round + 1, term->plan->name, rate);
    if ((double)heaviest > term->plan->sampling.weight_max * (1 + 1e-6))
        ledger_deviate(&engine->plan->ledger, "round %lld, %s: a user had weight %g, above the bound %g",
                       (long long)engine->round + 1, term->plan->name, (double)heaviest,
                       term->plan->sampling.weight_max);
}

/* Before anything that was made with the draw leaves: a run that goes on after this round was interrupted
   draws anew, and its statement covers this attempt too. */
static int keep_deviation(const struct engine *engine, int is_new, struct dpf_error *error)
{
    if (!engine->checkpoint)
        return 0;
    const int status = ranks_rank() == 0 && is_new
                           ? checkpoint_amend(engine->checkpoint, "deviation",
                                              json_string(engine->plan->ledger.deviation), error)
                           : 0;
    return ranks_agree(status, error);
}

int step_compare_with_plan(struct engine *engine, const struct term_run *term, int kept,
                           struct dpf_error *error)
{
    compare(engine, term);
    return keep_deviation(engine, kept && *engine->plan->ledger.deviation, error);
}
