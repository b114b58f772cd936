/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "evaluate/evaluate_options.h"
#include "evaluate/noisy_metrics.h"
#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"
#include "evaluate/user_values.h"

/* What the results are added to. */
struct sink {
    const struct evaluate_options *options;
    const char *prefix; /* "train-", so that no training error passes for a test error */
    struct metrics *out;
    struct dpf_error *error;
};

static const struct rating_error *error_over(enum metric_id id, const struct rating_results *results)
{
    return id >= METRIC_RMSE_USER ? &results->users : &results->records;
}

static double rating_value(enum metric_id id, const struct rating_results *results)
{
    const struct rating_error *over = error_over(id, results);
    if (id == METRIC_RMSE)
        return sqrt(over->squared);
    if (id == METRIC_MAE || id == METRIC_MAE_USER)
        return over->absolute;
    return id == METRIC_RMSE_USER ? results->rmse_by_user : over->squared;
}

static int add_rating(const struct sink *sink, enum metric_id id, const struct rating_results *results)
{
    return metrics_add(sink->out, rating_value(id, results), error_over(id, results)->n,
                       metric_convention(id, 0), sink->error, "%s%s", sink->prefix, metric_name(id));
}

/* "0-24" or, for the last band, "50+". */
static const char *band_name(const int64_t *boundaries, int64_t n, int64_t band, char name[48])
{
    const int64_t lo = band ? boundaries[band - 1] : 0;
    if (band < n)
        snprintf(name, 48, "%" PRId64 "-%" PRId64, lo, boundaries[band] - 1);
    else
        snprintf(name, 48, "%" PRId64 "+", lo);
    return name;
}

static int add_bands(const struct sink *sink, const struct rating_results *results)
{
    static const char convention[] =
        "mean squared error over the records of users with so many training records";
    char name[48];
    int64_t n = sink->options->n_bands, used;
    for (int64_t band = 0; band <= n; band++) {
        const struct rating_error *result = &results->bands[band];
        if (metrics_add(sink->out, result->squared, result->n, convention, sink->error, "%smse-activity-%s",
                        sink->prefix, band_name(sink->options->bands, n, band, name)) != 0)
            return -1;
    }
    double variance = rating_band_variance(results->bands, n + 1, &used);
    return metrics_add(sink->out, variance, used, "variance of the MSE between the bands that have records",
                       sink->error, "%smse-activity-variance", sink->prefix);
}

/* Of all users, or of a band of activity; NaN for what only all lists together have. */
static double cutoff_value(const struct evaluate_options *options, enum metric_id id, const double *sums,
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

static int add_ranking(const struct sink *sink, enum metric_id id, const struct ranking_results *results)
{
    const char *convention = metric_convention(id, sink->options->sampled);
    const int64_t users = (int64_t)ranking_users(sink->options, results->sums, -1);
    if (!metric_has_cutoff(id))
        return metrics_add(sink->out, ranking_relative_rank(results->sums), users, convention, sink->error,
                           "%s%s", sink->prefix, metric_name(id));
    for (int64_t i = 0; i < sink->options->n_cutoffs; i++) {
        const double value = id == METRIC_COVERAGE ? results->coverage[i]
                             : id == METRIC_GINI   ? results->gini[i]
                                                   : cutoff_value(sink->options, id, results->sums, -1, i);
        if (metrics_add(sink->out, value, users, convention, sink->error, "%s%s@%" PRId64, sink->prefix,
                        metric_name(id), sink->options->cutoffs[i]) != 0)
            return -1;
    }
    return 0;
}

/* The chosen metrics by list of the users of each band of activity. */
static int add_activity(const struct sink *sink, enum metric_id id, const struct ranking_results *results)
{
    const struct evaluate_options *o = sink->options;
    char name[48];
    if (!metric_has_cutoff(id) || id == METRIC_COVERAGE || id == METRIC_GINI)
        return 0;
    for (int64_t band = 0; o->n_bands && band <= o->n_bands; band++)
        for (int64_t i = 0; i < o->n_cutoffs; i++)
            if (metrics_add(sink->out, cutoff_value(o, id, results->sums, band, i),
                            (int64_t)ranking_users(o, results->sums, band), metric_convention(id, o->sampled),
                            sink->error, "%s%s-activity-%s@%" PRId64, sink->prefix, metric_name(id),
                            band_name(o->bands, o->n_bands, band, name), o->cutoffs[i]) != 0)
                return -1;
    return 0;
}

static int add_popularity(const struct sink *sink, const struct ranking_results *results)
{
    static const char convention[] =
        "of all positives that are items with so many training records, the share among the first k";
    const struct evaluate_options *o = sink->options;
    char name[48];
    for (int64_t band = 0; o->n_popularity_bands && band <= o->n_popularity_bands; band++)
        for (int64_t i = 0; i < o->n_cutoffs; i++)
            if (metrics_add(sink->out, ranking_found(o, results->sums, band, i),
                            (int64_t)ranking_positives(o, results->sums, band), convention, sink->error,
                            "%srecall-popularity-%s@%" PRId64, sink->prefix,
                            band_name(o->popularity_bands, o->n_popularity_bands, band, name),
                            o->cutoffs[i]) != 0)
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
    if (rating->bands && add_bands(sink, rating) != 0)
        return -1;
    for (int i = 0; ranking->sums && i < sink->options->n_chosen; i++)
        if (!metric_is_rating(sink->options->chosen[i]) &&
            add_activity(sink, sink->options->chosen[i], ranking) != 0)
            return -1;
    return ranking->sums ? add_popularity(sink, ranking) : 0;
}

/* The values of the chosen rating or ranking metrics, in the order in which they stand in the results. */
static void rating_statistics(const void *context, const double *sums, double *out)
{
    const struct evaluate_options *options = context;
    struct rating_results results = {.bands = NULL};
    rating_averages(sums, &results);
    for (int i = 0; i < options->n_chosen; i++)
        if (metric_is_rating(options->chosen[i]))
            *out++ = rating_value(options->chosen[i], &results);
}

static int64_t values_of(const struct evaluate_options *options, enum metric_id id)
{
    return metric_has_cutoff(id) ? options->n_cutoffs : 1;
}

static void ranking_statistics(const void *context, const double *sums, double *out)
{
    const struct evaluate_options *options = context;
    for (int i = 0; i < options->n_chosen; i++)
        for (int64_t c = 0;
             !metric_is_rating(options->chosen[i]) && c < values_of(options, options->chosen[i]); c++)
            *out++ = cutoff_value(options, options->chosen[i], sums, -1, c);
}

/* Intervals of the chosen metrics of one kind, which stand first in the results, kinds mixed as chosen. */
static int add_intervals(const struct sink *sink, const struct user_sums *sums, int rating,
                         const struct dataset *dataset, const struct random_root *seeded, struct pool *pool)
{
    const struct evaluate_options *o = sink->options;
    struct statistic statistic = {o, rating ? rating_statistics : ranking_statistics, 0};
    double low[METRIC_COUNT * MOST_CUTOFFS], high[METRIC_COUNT * MOST_CUTOFFS];
    for (int i = 0; i < o->n_chosen; i++)
        if (metric_is_rating(o->chosen[i]) == rating)
            statistic.n += rating ? 1 : values_of(o, o->chosen[i]);
    if (bootstrap_intervals(sums, &dataset->users, seeded, pool, o->replicates, o->confidence, &statistic,
                            low, high, sink->error) != 0)
        return -1;
    int64_t at = 0, taken = 0;
    for (int i = 0; i < o->n_chosen; i++) {
        const int mine = metric_is_rating(o->chosen[i]) == rating;
        const int64_t n = metric_is_rating(o->chosen[i]) ? 1 : values_of(o, o->chosen[i]);
        for (int64_t v = 0; v < n; v++, at++) {
            if (!mine)
                continue;
            sink->out->items[at].low = low[taken];
            sink->out->items[at].high = high[taken++];
        }
    }
    return 0;
}

#define COLD "test records whose user or item has no training record: "
static const char *const cold_conventions[] = {
    [EVALUATE_COLD_MEAN] = COLD "predicted as the training mean",
    [EVALUATE_COLD_SKIP] = COLD "left out",
    [EVALUATE_COLD_MODEL] = COLD "predicted by the model",
};

/* Where metrics are released, users without scores stop nothing. */
static int add_without_scores(const struct sink *sink, const struct rating_results *rating,
                              const struct ranking_results *ranking)
{
    const int64_t n =
        rating->without_scores > ranking->without_scores ? rating->without_scores : ranking->without_scores;
    return n == 0 ? 0
                  : metrics_add(sink->out, (double)n, n,
                                "users whose scores could not be made or are not finite: left out",
                                sink->error, "users-without-scores");
}

/* How many stand behind the averages, and how many do not. */
static int add_counts(const struct sink *sink, const struct rating_results *rating,
                      const struct ranking_results *ranking, int train_part)
{
    const struct evaluate_options *options = sink->options;
    if (add_without_scores(sink, rating, ranking) != 0)
        return -1;
    if (evaluate_options_rate(options) && !train_part &&
        metrics_add(sink->out, (double)rating->cold, rating->records.n, cold_conventions[options->cold],
                    sink->error, "cold-records") != 0)
        return -1;
    if (!evaluate_options_rank(options))
        return 0;
    const int64_t users = (int64_t)ranking_users(options, ranking->sums, -1);
    if (metrics_add(sink->out, (double)ranking->without_positives, users,
                    "users without a positive: left out of ranking metrics", sink->error,
                    "%susers-without-positives", sink->prefix) != 0)
        return -1;
    if (!options->sampled)
        return 0;
    return metrics_add(sink->out, (double)ranking->short_of_negatives, users,
                       "users with fewer untouched items than negatives: all were taken", sink->error,
                       "%susers-short-of-negatives", sink->prefix);
}

/* What the passes find. */
struct passes {
    struct rating_results rating;
    struct ranking_results ranking;
};

static void passes_free(struct passes *passes)
{
    rating_results_free(&passes->rating);
    ranking_results_free(&passes->ranking);
}

static int passes_run(const struct evaluate_options *options, const struct dataset *dataset,
                      const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                      int train_part, struct passes *out, struct dpf_error *error)
{
    *out = (struct passes){.rating = {.bands = NULL}};
    if (evaluate_options_rate(options) &&
        rating_pass(options, dataset, scorer, pool, train_part, &out->rating, error) != 0)
        return -1;
    return evaluate_options_rank(options)
               ? ranking_pass(options, dataset, scorer, seeded, pool, train_part, &out->ranking, error)
               : 0;
}

/* ---- by user ------------------------------------------------------------------------------------------- */

/* Metrics that are means over users or over their records. */
static int is_by_user(enum metric_id id)
{
    return metric_is_rating(id) || id == METRIC_MRANK ||
           (id >= METRIC_FIRST_BY_LIST && id <= METRIC_LAST_BY_LIST);
}

static int is_over_records(enum metric_id id)
{
    return id == METRIC_RMSE || id == METRIC_MSE || id == METRIC_MAE;
}

/* Names in the order of the results. */
static void name_metrics(const struct evaluate_options *o, struct user_values *out)
{
    for (int i = 0; i < o->n_chosen; i++) {
        const enum metric_id id = o->chosen[i];
        for (int64_t c = 0; is_by_user(id) && c < values_of(o, id); c++) {
            struct user_metric *metric = &out->metrics[out->n_metrics++];
            metric->is_root = id == METRIC_RMSE;
            if (metric_has_cutoff(id))
                snprintf(metric->name, sizeof metric->name, "%s@%" PRId64, metric_name(id), o->cutoffs[c]);
            else
                snprintf(metric->name, sizeof metric->name, "%s", metric_name(id));
        }
    }
}

static void add_user_rating(enum metric_id id, const double *sums, double *row)
{
    struct rating_results results = {.bands = NULL};
    rating_averages(sums, &results);
    const struct rating_error *over = error_over(id, &results);
    const double n = (double)over->n;
    if (over->n == 0)
        return;
    row[0] = id == METRIC_RMSE ? over->squared : rating_value(id, &results);
    row[0] *= is_over_records(id) ? n : 1;
    row[1] = is_over_records(id) ? n : 1;
}

static void add_user_ranking(const struct evaluate_options *o, enum metric_id id, const double *sums,
                             int64_t cutoff, double *row)
{
    if (!(ranking_users(o, sums, -1) > 0))
        return;
    row[0] = cutoff_value(o, id, sums, -1, cutoff);
    row[1] = 1;
}

/* What tells a user's test records from others: 53 bits of a hash of items' ids and values. */
static double hash_test(const struct dataset *dataset, int64_t user)
{
    const struct csr *test = &dataset->test.by_user;
    uint64_t hash = 14695981039346656037u; /* FNV-1a; no secret is kept by it */
    for (int64_t i = test->ptr[user]; i < test->ptr[user + 1]; i++) {
        const float value = test->values ? test->values[i] : 1;
        unsigned char bytes[sizeof value];
        memcpy(bytes, &value, sizeof value);
        for (const char *id = id_map_text(&dataset->items, test->others[i]); *id; id++)
            hash = (hash ^ (unsigned char)*id) * 1099511628211u;
        for (size_t k = 0; k < sizeof value; k++)
            hash = (hash ^ bytes[k]) * 1099511628211u;
    }
    return (double)(hash >> 11);
}

static void fill_user(const struct evaluate_options *o, const struct passes *passes,
                      const struct dataset *dataset, int64_t user, double *row)
{
    double *at = row;
    for (int i = 0; i < o->n_chosen; i++) {
        const enum metric_id id = o->chosen[i];
        const struct user_sums *sums =
            metric_is_rating(id) ? &passes->rating.by_user : &passes->ranking.by_user;
        for (int64_t c = 0; is_by_user(id) && c < values_of(o, id); c++, at += 2) {
            if (!sums->rows)
                continue;
            if (metric_is_rating(id))
                add_user_rating(id, user_sums_row(sums, user), at);
            else
                add_user_ranking(o, id, user_sums_row(sums, user), c, at);
        }
    }
    const struct csr *train = &dataset->train.by_user;
    at[USER_RECORDS] = (double)(train->ptr[user + 1] - train->ptr[user]);
    at[USER_TEST_PART] = hash_test(dataset, user);
}

/* Each rank knows the test records of its own users. */
static int gather_users(struct user_values *values, const struct dataset *dataset, struct dpf_error *error)
{
    int64_t *offsets = memory_new((size_t)ranks_size() + 1, sizeof *offsets);
    if (!offsets)
        return error_memory(error);
    shares_offsets(dataset, DPF_SIDE_USERS, offsets);
    const size_t bytes = (size_t)user_values_width(values) * sizeof *values->rows;
    const int status = values->n_users ? ranks_gather(values->rows, bytes, offsets, error) : 0;
    free(offsets);
    return status;
}

static int add_by_user(const struct evaluate_options *o, const struct passes *passes,
                       const struct dataset *dataset, struct metrics *out, struct dpf_error *error)
{
    const int64_t n = dataset->test.by_user.ptr ? dataset->users.n : 0;
    struct user_values *values = memory_new(1, sizeof *values);
    int64_t metrics = 0;
    for (int i = 0; i < o->n_chosen; i++)
        metrics += is_by_user(o->chosen[i]) ? values_of(o, o->chosen[i]) : 0;
    if (!values)
        return error_memory(error);
    out->by_user = values;
    values->n_users = n;
    values->metrics = memory_new((size_t)metrics + 1, sizeof *values->metrics);
    values->rows = memory_new((size_t)n + 1, (size_t)(2 * metrics + USER_EXTRAS) * sizeof *values->rows);
    if (!values->metrics || !values->rows)
        return error_memory(error);
    name_metrics(o, values);
    const int64_t last = n ? shares_last(dataset, DPF_SIDE_USERS) : 0;
    for (int64_t user = n ? shares_first(dataset, DPF_SIDE_USERS) : 0; user < last; user++)
        fill_user(o, passes, dataset, user, user_values_row(values, user));
    return gather_users(values, dataset, error);
}

/* Everything that is for the curator. */
static int add_private(const struct sink *sink, const struct passes *passes, const struct dataset *dataset,
                       const struct random_root *seeded, struct pool *pool, int train_part)
{
    if (add_chosen(sink, &passes->rating, &passes->ranking) != 0)
        return -1;
    if (sink->options->replicates && passes->rating.by_user.rows &&
        add_intervals(sink, &passes->rating.by_user, 1, dataset, seeded, pool) != 0)
        return -1;
    if (sink->options->replicates && passes->ranking.by_user.rows &&
        add_intervals(sink, &passes->ranking.by_user, 0, dataset, seeded, pool) != 0)
        return -1;
    if (!train_part && add_by_user(sink->options, passes, dataset, sink->out, sink->error) != 0)
        return -1;
    return add_counts(sink, &passes->rating, &passes->ranking, train_part);
}

int evaluate_model(const struct config_values *values, const struct dataset *dataset,
                   const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                   int train_part, struct metrics *out, struct dpf_error *error)
{
    struct evaluate_options options;
    struct passes passes;
    memset(out, 0, sizeof *out);
    if (evaluate_options_read(NULL, values, dataset->implicit, &options, error) != 0)
        return -1;
    options.release = 0;
    const struct sink sink = {&options, train_part ? "train-" : "", out, error};
    int status = passes_run(&options, dataset, scorer, seeded, pool, train_part, &passes, error);
    if (status == 0)
        status = add_private(&sink, &passes, dataset, seeded, pool, train_part);
    passes_free(&passes);
    if (status != 0)
        metrics_free(out);
    return status;
}

/* ---- metrics that are released ------------------------------------------------------------------------- */

int evaluate_release_moves(const struct config *config, const struct config_values *values, int implicit,
                           double value_lo, double value_hi, struct metric_moves *out,
                           struct dpf_error *error)
{
    struct evaluate_options options;
    struct noisy_layout layout;
    *out = (struct metric_moves){.numbers = 0};
    if (evaluate_options_read(config, values, implicit, &options, error) != 0)
        return -1;
    if (!options.release)
        return 0;
    if (noisy_layout_make(config, &options, value_lo, value_hi, &layout, error) != 0)
        return -1;
    noisy_moves(&layout, out);
    out->laplace = options.release_laplace;
    out->epsilon = options.release_epsilon;
    out->share = options.release_share;
    return 0;
}

int evaluate_release_names(const struct config_values *values, int implicit, double value_lo, double value_hi,
                           struct metrics *out, struct dpf_error *error)
{
    struct evaluate_options options;
    struct noisy_layout layout;
    *out = (struct metrics){0};
    if (evaluate_options_read(NULL, values, implicit, &options, error) != 0)
        return -1;
    if (!options.release)
        return 0;
    if (noisy_layout_make(NULL, &options, value_lo, value_hi, &layout, error) != 0)
        return -1;
    const struct metric_noise noise = {.numbers = layout.n, .grid = 1, .steps = 1, .deviation = 1};
    const int64_t nobody[NOISY_MOST_SUMS] = {0};
    const int status = noisy_finish(&layout, &options, &noise, nobody, out, error);
    if (status != 0)
        metrics_free(out);
    return status;
}

int evaluate_and_release(const struct config_values *values, const struct dataset *dataset,
                         const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                         const struct metric_noise *noise, struct metrics *out, struct metrics *released,
                         struct dpf_error *error)
{
    struct evaluate_options options;
    struct noisy_layout layout;
    struct passes passes = {.rating = {.bands = NULL}};
    int64_t sums[NOISY_MOST_SUMS];
    const struct sink sink = {&options, "", out, error};
    memset(out, 0, sizeof *out);
    memset(released, 0, sizeof *released);
    if (evaluate_options_read(NULL, values, dataset->implicit, &options, error) != 0 ||
        noisy_layout_make(NULL, &options, dataset->value_lo, dataset->value_hi, &layout, error) != 0)
        return -1;
    if (layout.n != noise->numbers)
        return error_set(error, DPF_FAULT_RUN, "%d numbers would be released, but noise was planned for %d",
                         layout.n, noise->numbers);
    int status = passes_run(&options, dataset, scorer, seeded, pool, 0, &passes, error);
    if (status == 0)
        status = add_private(&sink, &passes, dataset, seeded, pool, 0);
    if (status == 0) {
        noisy_add_up(&layout, &options, &passes.rating.by_user, &passes.ranking.by_user, noise->grid, sums);
        status = noisy_draw(noise, sums, error);
    }
    if (status == 0)
        status = noisy_finish(&layout, &options, noise, sums, released, error);
    passes_free(&passes);
    if (status != 0) {
        metrics_free(out);
        metrics_free(released);
    }
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
