/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - the verdict on a model, from the models that it is compared with. */
#ifndef DPF_RUN_JUDGE_H
#define DPF_RUN_JUDGE_H

#include "run/comparison.h"
#include "run/verdict.h"

struct judge {
    struct compared_run run; /* complete, with its guarantee */
    const struct metrics *test;
    int trains; /* models that are not among those yet; else it judges by those that there are */
    /* Also the model without noise, where it may be the cause and takes no more seconds than these; what the run's own
       training and evaluation took is what it takes. 0: it is not trained. */
    double seconds, trained, evaluated;
    /* What was trained already; models that it trains are added. */
    struct comparison *models; /* COMPARISON_MOST */
    int *n_models;
    const struct metrics *redrawn; /* of the same model with other noise */
    int64_t n_redrawn;
};

/* NULL: nothing can be said. Free it. */
char *judge_words(const struct judge *judge, enum verdict *verdict);

#endif
