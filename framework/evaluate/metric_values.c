/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/metric_values.h"

#include <math.h>

const struct rating_error *value_error_over(enum metric_id id, const struct rating_results *results)
{
    return id >= METRIC_RMSE_USER ? &results->users : &results->records;
}

double value_of_rating(enum metric_id id, const struct rating_results *results)
{
    const struct rating_error *over = value_error_over(id, results);
    if (id == METRIC_RMSE)
        return sqrt(over->squared);
    if (id == METRIC_MAE || id == METRIC_MAE_USER)
        return over->absolute;
    return id == METRIC_RMSE_USER ? results->rmse_by_user : over->squared;
}

/* Of all users, or of a band of activity; NaN for what only all lists together have. */
double value_of_ranking(const struct evaluate_options *options, enum metric_id id, const double *sums,
                        int64_t band, int64_t cutoff)
{
    if (!metric_has_cutoff(id))
        return band < 0 ? ranking_relative_rank(sums) : (double)NAN;
    if (id == METRIC_COVERAGE || id == METRIC_GINI)
        return NAN;
    if (id != METRIC_F1_OF_MEANS)
        return ranking_mean(options, sums, band, id, cutoff);
    const double precision = ranking_mean(options, sums, band, METRIC_PRECISION, cutoff);
    const double recall = ranking_mean(options, sums, band, METRIC_RECALL, cutoff);
    return precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
}

int64_t values_of(const struct evaluate_options *options, enum metric_id id)
{
    return metric_has_cutoff(id) ? options->n_cutoffs : 1;
}
