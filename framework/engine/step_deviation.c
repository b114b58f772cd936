/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/ranks.h"
#include "engine/checkpoint.h"
#include "engine/step.h"

/*
 * The most users that an honest draw takes of n, each with a probability of at most the rate, but for a chance of
 * 2^-60: by Bernstein's inequality, whatever n is. So that a statement is voided says nothing about who is in the
 * data, up to that chance, which is far below the digits of any delta.
 */
static double most_drawn(double n, double rate)
{
    const double tail = 60 * log(2.0), variance = n * rate * (1 - rate);
    return n * rate + sqrt(2 * variance * tail) + tail / 3 + 1;
}

/* Draws that are independent for each user. All others follow from ids, so that how many take part, or how
   many of those there could be, depends on who is in the data: comparing them would tell. */
static int is_drawn(const dpf_sampling *sampling)
{
    return sampling->kind == DPF_SAMPLING_POISSON || sampling->kind == DPF_SAMPLING_WEIGHTED;
}

/* What was drawn against what was promised: far more participants than the nominal rate allows. */
static void compare(struct engine *engine, const struct term_run *term)
{
    const dpf_sampling *sampling = &term->plan->sampling;
    if (!term->mechanism || !is_drawn(sampling))
        return;
    double taken = 0;
    float heaviest = 0;
    for (int64_t u = 0; u < engine->dataset->users.n; u++) {
        taken += term->party_weights[u] != 0;
        heaviest = fmaxf(heaviest, term->party_weights[u]);
    }
    /* The statement is released: how many there are, and took part, is not for it to tell. */
    if (taken > most_drawn((double)engine->dataset->users.n, sampling->rate))
        ledger_deviate(&engine->plan->ledger,
                       "round %lld, %s: far more users took part than the nominal rate %g allows",
                       (long long)engine->round + 1, term->plan->name, sampling->rate);
    if ((double)heaviest > sampling->weight_max * (1 + 1e-6))
        ledger_deviate(&engine->plan->ledger, "round %lld, %s: a user had weight %g, above the bound %g",
                       (long long)engine->round + 1, term->plan->name, (double)heaviest,
                       sampling->weight_max);
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
