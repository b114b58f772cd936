/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "evaluate/evaluate_options.h"
#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"

/* What the results are added to. */
struct sink {
    const struct evaluate_options *options;
    const char *prefix; /* "train-", so that no training error passes for a test error */
    struct metrics *out;
    struct dpf_error *error;
};

static int add_rating(const struct sink *sink, enum metric_id id, const struct rating_results *results)
{
    const struct rating_error *over = id >= METRIC_RMSE_USER ? &results->users : &results->records;
    double value = over->squared;
    if (id == METRIC_RMSE)
        value = sqrt(over->squared);
    else if (id == METRIC_MAE || id == METRIC_MAE_USER)
        value = over->absolute;
    else if (id == METRIC_RMSE_USER)
        value = results->rmse_by_user;
    return metrics_add(sink->out, value, over->n, metric_convention(id, 0), sink->error, "%s%s", sink->prefix,
                       metric_name(id));
}

static int add_bands(const struct sink *sink, const struct rating_results *results)
{
    static const char convention[] =
        "mean squared error over the records of users with so many training records";
    const int64_t *boundaries = sink->options->bands;
    int64_t n = sink->options->n_bands, used;
    for (int64_t band = 0; band <= n; band++) {
        const struct rating_error *result = &results->bands[band];
        int64_t lo = band ? boundaries[band - 1] : 0;
        int status;
        if (band < n)
            status =
                metrics_add(sink->out, result->squared, result->n, convention, sink->error,
                            "%smse-activity-%" PRId64 "-%" PRId64, sink->prefix, lo, boundaries[band] - 1);
        else
            status = metrics_add(sink->out, result->squared, result->n, convention, sink->error,
                                 "%smse-activity-%" PRId64 "+", sink->prefix, lo);
        if (status != 0)
            return -1;
    }
    double variance = rating_band_variance(results->bands, n + 1, &used);
    return metrics_add(sink->out, variance, used, "variance of the MSE between the bands that have records",
                       sink->error, "%smse-activity-variance", sink->prefix);
}

static double cutoff_value(enum metric_id id, const struct ranking_results *results, int64_t cutoff)
{
    const double *at = results->by_list + cutoff * METRIC_N_BY_LIST;
    if (id == METRIC_COVERAGE)
        return results->coverage[cutoff];
    if (id != METRIC_F1_OF_MEANS)
        return at[id - METRIC_FIRST_BY_LIST];
    double precision = at[METRIC_PRECISION - METRIC_FIRST_BY_LIST];
    double recall = at[METRIC_RECALL - METRIC_FIRST_BY_LIST];
    return precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
}

static int add_ranking(const struct sink *sink, enum metric_id id, const struct ranking_results *results)
{
    const char *convention = metric_convention(id, sink->options->sampled);
    if (!metric_has_cutoff(id))
        return metrics_add(sink->out, results->relative_rank, results->users, convention, sink->error, "%s%s",
                           sink->prefix, metric_name(id));
    for (int64_t i = 0; i < sink->options->n_cutoffs; i++)
        if (metrics_add(sink->out, cutoff_value(id, results, i), results->users, convention, sink->error,
                        "%s%s@%" PRId64, sink->prefix, metric_name(id), sink->options->cutoffs[i]) != 0)
            return -1;
    return 0;
}

static int add_chosen(const struct sink *sink, const struct rating_results *rating,
                      const struct ranking_results *ranking)
{
    for (int i = 0; i < sink->options->n_chosen; i++) {
        enum metric_id id = sink->options->chosen[i];
        int status = metric_is_rating(id) ? add_rating(sink, id, rating) : add_ranking(sink, id, ranking);
        if (status != 0)
            return -1;
    }
    return rating->bands ? add_bands(sink, rating) : 0;
}

#define COLD "test records whose user or item has no training record: "
static const char *const cold_conventions[] = {
    [EVALUATE_COLD_MEAN] = COLD "predicted as the training mean",
    [EVALUATE_COLD_SKIP] = COLD "left out",
    [EVALUATE_COLD_MODEL] = COLD "predicted by the model",
};

/* How many stand behind the averages, and how many do not. */
static int add_counts(const struct sink *sink, const struct rating_results *rating,
                      const struct ranking_results *ranking, int train_part)
{
    const struct evaluate_options *options = sink->options;
    if (evaluate_options_rate(options) && !train_part &&
        metrics_add(sink->out, (double)rating->cold, rating->records.n, cold_conventions[options->cold],
                    sink->error, "cold-records") != 0)
        return -1;
    if (!evaluate_options_rank(options))
        return 0;
    if (metrics_add(sink->out, (double)ranking->without_positives, ranking->users,
                    "users without a positive: left out of ranking metrics", sink->error,
                    "%susers-without-positives", sink->prefix) != 0)
        return -1;
    if (!options->sampled)
        return 0;
    return metrics_add(sink->out, (double)ranking->short_of_negatives, ranking->users,
                       "users with fewer untouched items than negatives: all were taken", sink->error,
                       "%susers-short-of-negatives", sink->prefix);
}

int evaluate_model(const struct config_values *values, const struct dataset *dataset,
                   const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                   int train_part, struct metrics *out, struct dpf_error *error)
{
    struct evaluate_options options;
    struct rating_results rating = {.bands = NULL};
    struct ranking_results ranking = {.by_list = NULL};
    memset(out, 0, sizeof *out);
    if (evaluate_options_read(NULL, values, dataset->implicit, &options, error) != 0)
        return -1;
    int status = 0;
    if (evaluate_options_rate(&options))
        status = rating_pass(&options, dataset, scorer, pool, train_part, &rating, error);
    if (status == 0 && evaluate_options_rank(&options))
        status = ranking_pass(&options, dataset, scorer, seeded, pool, train_part, &ranking, error);
    const struct sink sink = {&options, train_part ? "train-" : "", out, error};
    if (status == 0)
        status = add_chosen(&sink, &rating, &ranking);
    if (status == 0)
        status = add_counts(&sink, &rating, &ranking, train_part);
    rating_results_free(&rating);
    ranking_results_free(&ranking);
    if (status != 0)
        metrics_free(out);
    return status;
}

int evaluate_train_rmse(const struct dataset *dataset, const struct scorer *scorer, struct pool *pool,
                        double *rmse, struct dpf_error *error)
{
    struct rating_results results;
    const struct evaluate_options options = {.clip = EVALUATE_CLIP_NO};
    if (rating_pass(&options, dataset, scorer, pool, 1, &results, error) != 0)
        return -1;
    *rmse = sqrt(results.records.squared);
    return 0;
}
