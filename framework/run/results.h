/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the directory of results.
 *
 * What the guarantee covers lies in release/, what it does not in private/ (metrics, the data
 * summary, local factors); run.json names each file's side. Every write is atomic. run.json is
 * removed first and written last, so that its presence means that the rest is complete.
 */
#ifndef DPF_RUN_RESULTS_H
#define DPF_RUN_RESULTS_H

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

/* *run: what run.json says. New reference. */
int results_write(const char *directory, const struct results *results, json_t **run,
                  struct dpf_error *error);
/* Writes run.json again, with the times up to now; takes the reference. */
int results_rewrite_timing(const char *directory, const struct results *results, json_t *run,
                           struct dpf_error *error);
/* What ranks other than 0 do of it: they write rows that rank 0 does not have. */
int results_help_write(const struct results *results, struct dpf_error *error);

#endif
