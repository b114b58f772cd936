/* SPDX-License-Identifier: Apache-2.0 */
/* run_results.h - what a run has made, to be written. */
#ifndef DPF_RUN_RUN_RESULTS_H
#define DPF_RUN_RUN_RESULTS_H

#include "engine/engine.h"
#include "evaluate/evaluate.h"
#include "plan/plan.h"
#include "run/comparison.h"
#include "run/component_metrics.h"
#include "run/joined.h"
#include "run/stages.h"

struct results {
    const struct plan *plan;
    const struct dataset *dataset;
    const struct model *model;
    const struct metrics *test;
    const struct metrics *train;    /* NULL: not asked for */
    const struct metrics *released; /* with noise, charged to the ledger; NULL: none */
    const struct comparison *comparisons;
    int n_comparisons;
    const struct engine_stats *stats;
    const double *train_rmse; /* by round, or NULL */
    int64_t n_train_rmse;
    struct stages *stages; /* the run is writing; budgets are a stage of their own */
    const struct component_metrics *component_metrics;
    int threads;
    const struct rank_cost *ranks;       /* of each, or NULL: one process */
    const struct violations *violations; /* of protected records, or NULL */
    json_t *spent; /* of a run that stopped early: epsilons of the rounds made; or NULL */
};

#endif
