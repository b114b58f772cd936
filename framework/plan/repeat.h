/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat.h - rounds that are made again after an interruption, and runs that are made several times, and what they cost.
 *
 * A round that had begun may have been seen: of several ranks' sums, for one, nobody knows who saw them. So
 * the attempt counts as a release like any other, whatever became of it, and the second attempt is one more.
 * The second reads what the first has read (the state before the round), and draws noise and participants of
 * its own, so by composition a run with n rounds and m of them begun again releases what one of n + m rounds
 * does: each event of the ledger counts m times its releases in a round more. In an attempt a unit is at most
 * as often as in any round, also where participations are limited or kept apart: so this bound holds, although
 * limits go on from the counts before the interrupted attempt.
 *
 * Noise stays what was chosen before the first round, for the planned rounds alone: rounds that were made have
 * it. So with budget = total the epsilon that is stated exceeds total-epsilon after an interruption.
 *
 * That a run was interrupted, and when, is taken not to depend on protected records, as its other times are.
 */
#ifndef DPF_PLAN_REPEAT_H
#define DPF_PLAN_REPEAT_H

#include "plan/plan.h"

/* Counts so many rounds more in the ledger of a complete plan, and judges it again. */
int repeat_count(struct plan *plan, int64_t repeats, struct dpf_error *error);
/* In place of plan_charge, for a run that was charged when it began: charges so many rounds alone. */
int repeat_charge(struct plan *plan, int64_t repeats, const struct data_ledger_resumption *resumption,
                  struct dpf_error *error);

/* What several runs of a plan on the same records release together. */
struct runs_cost {
    double epsilon; /* the least that is proved; NaN: none is */
    double delta;
    char accountant[32];
};
/*
 * Composes so many runs of a complete plan: they read overlapping records, as the folds of one split do, so that what they
 * release adds up.
 */
int repeat_runs(struct plan *plan, int64_t runs, struct runs_cost *out, struct dpf_error *error);

/* Runs that are going to be charged to one file of [privacy] ledger, of one plan or of several. Starts with zeros. */
struct runs_due {
    int64_t runs;
    double epsilon, delta;
    struct ledger releases;
};
/* Adds so many runs of a complete plan, and fails if not all that are due fit into the plan's ledger; nothing is charged. */
int repeat_room(struct plan *plan, int64_t runs, struct runs_due *due, struct dpf_error *error);

#endif
