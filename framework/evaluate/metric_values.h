/* SPDX-License-Identifier: Apache-2.0 */
/* metric_values.h - the values of chosen metrics, from the sums of the passes: of all users, a band, or one user. */
#ifndef DPF_EVALUATE_METRIC_VALUES_H
#define DPF_EVALUATE_METRIC_VALUES_H

#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"

/* What the passes find. */
struct passes {
    struct rating_results rating;
    struct ranking_results ranking;
    struct ranking_results full; /* beside that of sampled negatives; without sums: there is none */
};

/* How many values a metric has: one, or one for each cut-off. */
int64_t values_of(const struct evaluate_options *options, enum metric_id id);
/* What a rating metric averages over. */
const struct rating_error *value_error_over(enum metric_id id, const struct rating_results *results);
double value_of_rating(enum metric_id id, const struct rating_results *results);
/* Of all users (band -1), or of a band of activity; NaN for what only all lists together have. */
double value_of_ranking(const struct evaluate_options *options, enum metric_id id, const double *sums,
                        int64_t band, int64_t cutoff);

#endif
