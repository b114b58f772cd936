/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - one plain sentence after training: is the model worth more than the simplest one, and if not,
 * why. */
#ifndef DPF_RUN_VERDICT_H
#define DPF_RUN_VERDICT_H

#include <stdint.h>

#include "evaluate/evaluate.h"

/* What the verdict rests on. Metrics are of the same test part; NULL where there are none. */
struct verdict_input {
    const struct metrics *test;
    const struct metrics *popularity;  /* ranks by numbers of records */
    const struct metrics *mean;        /* predicts the mean of all records */
    const struct metrics *non_private; /* the same model without mechanisms and clips */
    int implicit, has_noise;
    int is_recommender; /* a model of the role recommender, which chooses rounds and ranks by its own rule */
    int64_t users, items, records; /* of the training part */
};

enum verdict { VERDICT_NONE, VERDICT_BETTER, VERDICT_SAME, VERDICT_WORSE };

/* The judgement alone. NONE: there is nothing to judge by. */
enum verdict verdict_judge(const struct verdict_input *input);
/* The sentence, with figures and, unless it is better, the likely reason and what to try; NULL if there is
   nothing to judge by or memory is short. Private: computed from test records. Free it. */
char *verdict_text(const struct verdict_input *input);
/* The baseline that it needs: "popularity" or "mean"; NULL if no metric of the test part can be judged. */
const char *verdict_baseline(const struct metrics *test, int implicit);

#endif
