/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.h - models that a run is compared with, on the same split: [run] compare and the verdict.
 *
 *   non-private          the same configuration without its mechanisms
 *   popularity, mean, biases
 *                        models of exact records, without privacy
 *   private-popularity, private-biases
 *                        recommenders of these names, trained from the same records with the epsilon that is
 *                        proved of the run, in place of its model: what could be released instead
 *
 * Nothing of them is released, and what they cost is not charged: their metrics are computed from test
 * records, like those of the run itself, and are private. A model that is to be released is trained by a
 * configuration of its own, which has a statement of its own.
 */
#ifndef DPF_RUN_COMPARISON_H
#define DPF_RUN_COMPARISON_H

#include "base/pool.h"
#include "engine/engine.h"
#include "evaluate/evaluate.h"
#include "run/arguments.h"
#include "run/session.h"

#define COMPARISON_CONFIGURED 8 /* names that [run] compare may have */
#define COMPARISON_MOST 12      /* with those of the verdict */

struct comparison {
    char name[32];
    double epsilon; /* proved of a model that could be released; 0: not private, or the run itself */
    struct metrics metrics;
};

/* Whether [run] compare and compare-repetitions ask for what there is; is_alone: of one run in one process. */
int comparison_check(const struct plan *plan, int is_alone, struct dpf_error *error);
/* Whether it is a model that could be released in place of the run's. */
int comparison_is_private(const char *name);

/* The run that others are compared with. */
struct compared_run {
    const struct arguments *arguments;
    const struct session *session; /* complete */
    const struct dataset *dataset;
    struct pool *pool;
    int64_t users; /* with test records that the model is evaluated on, drawn by their ids; 0: all */
    int64_t
        columns; /* of private-gram without noise: no more than the run's own; 0: as many as there may be */
};
/*
 * Trains and evaluates it. -1: *out has no metrics, for a model that could be released because nothing is
 * proved of the run, or of that model in the run's setting. error says which.
 */
int comparison_make(const struct compared_run *run, const char *name, struct comparison *out,
                    struct dpf_error *error);
/* Trains the model of a complete plan beside the run, and evaluates it as the run is. */
int comparison_train(const struct compared_run *run, struct plan *plan, struct metrics *out,
                     struct dpf_error *error);

#endif
