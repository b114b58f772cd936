/* SPDX-License-Identifier: Apache-2.0 */
/* run_json.h - what run.json and private/data.json say of a run. */
#ifndef DPF_RUN_RUN_JSON_H
#define DPF_RUN_RUN_JSON_H

#include <jansson.h>

#include "run/record_budgets.h"
#include "run/run_results.h"

/* budgets: of records by weight. New references. */
json_t *run_json_make(const struct results *results, const struct record_budgets *budgets);
json_t *run_json_timing(const struct results *results);
json_t *run_json_data(const struct dataset *dataset);
/* Metrics by the model's name, with the epsilon that is proved of one that could be released. */
json_t *run_json_comparisons(const struct comparison *comparisons, int n);
/* Of a run.json: whether anything that the run released has noise. */
int run_json_has_noise(const json_t *run);
/* The directory of a side's files: release or private. */
const char *run_json_side(const struct plan *plan, int side);
/* The metrics by user, or NULL. */
const struct user_values *run_json_by_user(const struct results *results);

#endif
