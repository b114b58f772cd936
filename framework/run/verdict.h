/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - a few plain words after training: is the model worth more than the simplest one, which could be
 * released in its place, and if not, why. */
#ifndef DPF_RUN_VERDICT_H
#define DPF_RUN_VERDICT_H

#include <stdint.h>

#include "evaluate/evaluate.h"

/* A simple model, see comparison.h. */
struct verdict_rival {
    const char *name;
    double epsilon; /* proved, of one that could be released; 0: of exact records, without privacy */
    const struct metrics *metrics;
};
#define VERDICT_RIVALS 3

/* What the verdict rests on. Metrics are of the same test part. */
struct verdict_input {
    const struct metrics *test;
    struct verdict_rival rivals[VERDICT_RIVALS];
    int n_rivals;
    const struct metrics *redrawn; /* of the same model with other noise, or NULL */
    int64_t n_redrawn;
    const struct metrics *non_private; /* the same model without mechanisms and clips, or NULL */
    /* 0: non_private has results of all users; else of this many, and its metrics are estimates (sampled_metrics.h). */
    int64_t sampled;
    int implicit, has_noise;
    int at_home; /* the run's model and private rivals have home terms; models of exact records have none */
    const char *model; /* a component of the role recommender, which chooses rounds and ranks by its own rule;
                          NULL: a factorization */
    int no_direction;  /* 1: nothing stood out of the noise of what was released */
    int64_t users, items, records;    /* of the training part */
    const struct random_root *seeded; /* for the draws of the comparison */
};

/* OPEN: this test part cannot tell. */
enum verdict { VERDICT_NONE, VERDICT_BETTER, VERDICT_OPEN, VERDICT_WORSE };

/*
 * The judgement alone, by the paired comparison of users' results (evaluate/paired_users.h) at level 5 %,
 * against one rival: of a model with noise the one that could be released with the same
 * epsilon, where there is one; else the simplest one; of a model without noise, the best of exact records.
 * NONE: there is nothing to judge by.
 */
enum verdict verdict_judge(const struct verdict_input *input);
/* Whether the sentences give the likely reason, which non_private tells best: a model to train for that
 * alone. */
int verdict_gives_reason(const struct verdict_input *input);
/* The sentences, with figures and, unless it is better, the likely reason and what to do; NULL if there is
   nothing to judge by or memory is short. Private: computed from test records. Free it. */
char *verdict_text(const struct verdict_input *input);
/* Below so many users with test records the sentences warn. */
#define VERDICT_FEW_USERS 200
/* Names of the rivals that it needs, up to a NULL; NULL if no metric of the test part can be judged. */
const char *const *verdict_rivals(const struct metrics *test, int implicit);

#endif
