/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_run.h - one training with many canaries, and a guess of each one's form.
 *
 * Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run", arXiv 2305.08846: if coins decide
 * the forms and the training is differentially private, no method of guessing does much better than chance.
 * Canaries have users and items of their own, so that each owns a row of the release. Where a transform mixes
 * rows (a projection), each canary is scored by its own replay, and a user's canary contains all
 * records of the user.
 */
#ifndef DPF_AUDIT_ONE_RUN_H
#define DPF_AUDIT_ONE_RUN_H

#include "audit/pairs.h"
#include "plan/plan.h"
#include "base/pool.h"

/* Canaries with their coins and scores, sorted by score: the largest first. */
struct one_run {
    int64_t n;
    struct canary *canaries;
    int32_t *items; /* of each, also where the unit is the user */
    unsigned char *bits;
    double *scores;
};

/* Draws at most wanted canaries (fewer if the data has fewer) from seed. */
int one_run_draw(const struct dataset *base, int unit, int64_t wanted, uint64_t seed, struct one_run *out,
                 struct dpf_error *error);
/* Throws the coins, trains, and scores. kind: values and adjacency; alone is set here. */
int one_run_train(struct one_run *run, struct plan *plan, const struct dataset *base, struct neighbours kind,
                  struct pool *pool, struct dpf_error *error);
/* Whether a transform of the plan spreads one row over others. */
int one_run_mixes_rows(const struct plan *plan);
void one_run_free(struct one_run *run);

struct one_run_verdict {
    int64_t guesses, correct;
    double epsilon; /* lower bound at delta */
};
/*
 * The best bound over a few numbers of guesses, half of them of each form: the confidence 1 - alpha covers
 * that choice.
 */
struct one_run_verdict one_run_judge(const struct one_run *run, double delta, double alpha);

#endif
