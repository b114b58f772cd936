/* SPDX-License-Identifier: Apache-2.0 */
/* ranking_pass.h - ranking metrics over all users with positives. */
#ifndef DPF_EVALUATE_RANKING_PASS_H
#define DPF_EVALUATE_RANKING_PASS_H

#include "evaluate/evaluate_options.h"

/* Results of a pass; by_list is cut-offs x METRIC_N_BY_LIST. Means are NaN if users is 0. */
struct ranking_results {
    int64_t users;             /* averaged over */
    int64_t without_positives; /* left out */
    int64_t short_of_negatives;
    double *by_list;
    double *coverage; /* by cut-off; NULL unless it was asked for */
    double relative_rank;
};

int ranking_pass(const struct evaluate_options *options, const struct dataset *dataset,
                 const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                 int train_part, struct ranking_results *out, struct dpf_error *error);
void ranking_results_free(struct ranking_results *results);

#endif
