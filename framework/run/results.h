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
    double seconds_load, seconds_plan, seconds_train, seconds_evaluate, seconds_total;
    const struct component_metrics *component_metrics;
    int threads;
    const struct violations *violations; /* of protected records, or NULL */
    json_t *spent; /* of a run that stopped early: epsilons of the rounds made; or NULL */
};

/*
 * Makes the directory ready before the work starts: creates it, or checks that what is there is the
 * result of an earlier run (a directory with other content is refused), and that files can be written. That
 * an earlier run will be replaced is said.
 */
int results_prepare(const char *directory, struct dpf_error *error);
/* Removes a directory in which a run left nothing but empty directories; any other stays as it is. */
void results_abandon(const char *directory);
/* Of a run.json: whether anything that the run released has noise. */
int results_have_noise(const json_t *run);
/* Metrics by the model's name, with the epsilon that is proved of one that could be released. */
json_t *results_comparisons_json(const struct comparison *comparisons, int n);
int results_write(const char *directory, const struct results *results, struct dpf_error *error);

#endif
