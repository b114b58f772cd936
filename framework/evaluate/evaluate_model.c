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
#include "evaluate/by_user.h"
#include "evaluate/evaluate_options.h"
#include "evaluate/noisy_metrics.h"
#include "evaluate/user_sample.h"

/* What the results are added to. */
struct sink {
    const struct evaluate_options *options;
    const char *prefix; /* "train-", so that no training error passes for a test error */
    struct metrics *out;
    struct dpf_error *error;
};

static void add_rating(const struct sink *sink, enum metric_id id, const struct rating_results *results)
{
    metrics_add(sink->out, value_of_rating(id, results), value_error_over(id, results)->n,
                metric_convention(id, 0), "%s%s", sink->prefix, metric_name(id));
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

static void add_bands(const struct sink *sink, const struct rating_results *results)
{
    static const char convention[] =
        "mean squared error over the records of users with so many training records";
    char name[48];
    int64_t n = sink->options->n_bands, used;
    for (int64_t band = 0; band <= n; band++) {
        const struct rating_error *result = &results->bands[band];
        metrics_add(sink->out, result->squared, result->n, convention, "%smse-activity-%s", sink->prefix,
                    band_name(sink->options->bands, n, band, name));
    }
    double variance = rating_band_variance(results->bands, n + 1, &used);
    metrics_add(sink->out, variance, used, "variance of the MSE between the bands that have records",
                "%smse-activity-variance", sink->prefix);
}

static void add_ranking(const struct sink *sink, enum metric_id id, const struct ranking_results *results)
{
    const char *convention = metric_convention(id, sink->options->sampled);
    const int64_t users = (int64_t)ranking_users(sink->options, results->sums, -1);
    if (!metric_has_cutoff(id)) {
        metrics_add(sink->out, ranking_relative_rank(results->sums), users, convention, "%s%s", sink->prefix,
                    metric_name(id));
        return;
    }
    for (int64_t i = 0; i < sink->options->n_cutoffs; i++) {
        const double value = id == METRIC_COVERAGE ? results->coverage[i]
                             : id == METRIC_GINI   ? results->gini[i]
                                                 : value_of_ranking(sink->options, id, results->sums, -1, i);
        metrics_add(sink->out, value, users, convention, "%s%s@%" PRId64, sink->prefix, metric_name(id),
                    sink->options->cutoffs[i]);
    }
}

/* The chosen metrics by list of the users of each band of activity. */
static void add_activity(const struct sink *sink, enum metric_id id, const struct ranking_results *results)
{
    const struct evaluate_options *o = sink->options;
    char name[48];
    if (!metric_has_cutoff(id) || id == METRIC_COVERAGE || id == METRIC_GINI)
        return;
    for (int64_t band = 0; o->n_bands && band <= o->n_bands; band++)
        for (int64_t i = 0; i < o->n_cutoffs; i++)
            metrics_add(sink->out, value_of_ranking(o, id, results->sums, band, i),
                        (int64_t)ranking_users(o, results->sums, band), metric_convention(id, o->sampled),
                        "%s%s-activity-%s@%" PRId64, sink->prefix, metric_name(id),
                        band_name(o->bands, o->n_bands, band, name), o->cutoffs[i]);
}

static void add_popularity(const struct sink *sink, const struct ranking_results *results)
{
    static const char convention[] =
        "of all positives that are items with so many training records, the share among the first k";
    const struct evaluate_options *o = sink->options;
    char name[48];
    for (int64_t band = 0; o->n_popularity_bands && band <= o->n_popularity_bands; band++)
        for (int64_t i = 0; i < o->n_cutoffs; i++)
            metrics_add(sink->out, ranking_found(o, results->sums, band, i),
                        (int64_t)ranking_positives(o, results->sums, band), convention,
                        "%srecall-popularity-%s@%" PRId64, sink->prefix,
                        band_name(o->popularity_bands, o->n_popularity_bands, band, name), o->cutoffs[i]);
}

/* What the lists have besides the chosen metrics of all users. */
static void add_list_bands(const struct sink *sink, const struct ranking_results *ranking)
{
    for (int i = 0; i < sink->options->n_chosen; i++)
        if (!metric_is_rating(sink->options->chosen[i]))
            add_activity(sink, sink->options->chosen[i], ranking);
    add_popularity(sink, ranking);
}

static void add_chosen(const struct sink *sink, const struct rating_results *rating,
                       const struct ranking_results *ranking)
{
    for (int i = 0; i < sink->options->n_chosen; i++) {
        enum metric_id id = sink->options->chosen[i];
        if (metric_is_rating(id))
            add_rating(sink, id, rating);
        else
            add_ranking(sink, id, ranking);
    }
    if (rating->bands)
        add_bands(sink, rating);
    if (ranking->sums)
        add_list_bands(sink, ranking);
}

/* The values of the chosen rating or ranking metrics, in the order in which they stand in the results. */
static void rating_statistics(const void *context, const double *sums, double *out)
{
    const struct evaluate_options *options = context;
    struct rating_results results = {.bands = NULL};
    rating_averages(sums, &results);
    for (int i = 0; i < options->n_chosen; i++)
        if (metric_is_rating(options->chosen[i]))
            *out++ = value_of_rating(options->chosen[i], &results);
}

static void ranking_statistics(const void *context, const double *sums, double *out)
{
    const struct evaluate_options *options = context;
    for (int i = 0; i < options->n_chosen; i++)
        for (int64_t c = 0;
             !metric_is_rating(options->chosen[i]) && c < values_of(options, options->chosen[i]); c++)
            *out++ = value_of_ranking(options, options->chosen[i], sums, -1, c);
}

/* Intervals of the chosen metrics of one kind, which stand in the results from `at` on: kinds mixed as chosen, or that
   of lists alone. */
static int add_intervals(const struct sink *sink, const struct user_sums *sums, int rating, int alone,
                         int64_t at, const struct dataset *dataset, const struct random_root *seeded,
                         struct pool *pool)
{
    const struct evaluate_options *o = sink->options;
    struct statistic statistic = {o, rating ? rating_statistics : ranking_statistics, 0};
    double low[METRIC_COUNT * MOST_CUTOFFS], high[METRIC_COUNT * MOST_CUTOFFS];
    if (!o->replicates || !sums->rows)
        return 0;
    for (int i = 0; i < o->n_chosen; i++)
        if (metric_is_rating(o->chosen[i]) == rating)
            statistic.n += values_of(o, o->chosen[i]);
    if (bootstrap_intervals(sums, &dataset->users, seeded, pool, o->replicates, o->confidence, &statistic,
                            low, high, sink->error) != 0)
        return -1;
    for (int64_t i = 0, taken = 0; i < o->n_chosen; i++) {
        const int mine = metric_is_rating(o->chosen[i]) == rating;
        const int64_t n = mine || !alone ? values_of(o, o->chosen[i]) : 0;
        for (int64_t v = 0; v < n; v++, at++) {
            if (!mine)
                continue;
            sink->out->items[at].low = low[taken];
            sink->out->items[at].high = high[taken++];
        }
    }
    return 0;
}

/* The full ranking beside that of sampled negatives: the same metrics, under names of their own. */
static int add_full(const struct sink *sink, const struct ranking_results *full,
                    const struct dataset *dataset, const struct random_root *seeded, struct pool *pool)
{
    struct evaluate_options options = *sink->options;
    const struct sink beside = {&options, FULL_PREFIX, sink->out, sink->error};
    const int64_t first = sink->out->n;
    options.sampled = 0;
    if (!full->sums)
        return 0;
    for (int i = 0; i < options.n_chosen; i++)
        if (!metric_is_rating(options.chosen[i]))
            add_ranking(&beside, options.chosen[i], full);
    add_list_bands(&beside, full);
    return add_intervals(&beside, &full->by_user, 0, 1, first, dataset, seeded, pool);
}

#define COLD "test records whose user or item has no training record: "
static const char *const cold_conventions[] = {
    [EVALUATE_COLD_MEAN] = COLD "predicted as the training mean",
    [EVALUATE_COLD_SKIP] = COLD "left out",
    [EVALUATE_COLD_MODEL] = COLD "predicted by the model",
};

/* How many stand behind the averages, and how many do not. Where metrics are released, users without scores stop nothing. */
static void add_counts(const struct sink *sink, const struct rating_results *rating,
                       const struct ranking_results *ranking, int train_part)
{
    const struct evaluate_options *options = sink->options;
    const int64_t without =
        rating->without_scores > ranking->without_scores ? rating->without_scores : ranking->without_scores;
    if (without > 0)
        metrics_add(sink->out, (double)without, without,
                    "users whose scores could not be made or are not finite: left out",
                    "users-without-scores");
    if (evaluate_options_rate(options) && !train_part)
        metrics_add(sink->out, (double)rating->cold, rating->records.n, cold_conventions[options->cold],
                    "cold-records");
    if (!evaluate_options_rank(options))
        return;
    const int64_t users = (int64_t)ranking_users(options, ranking->sums, -1);
    metrics_add(sink->out, (double)ranking->without_positives, users,
                "users without a positive: left out of ranking metrics", "%susers-without-positives",
                sink->prefix);
    if (options->sampled)
        metrics_add(sink->out, (double)ranking->short_of_negatives, users,
                    "users with fewer untouched items than negatives: all were taken",
                    "%susers-short-of-negatives", sink->prefix);
}

static void passes_free(struct passes *passes)
{
    rating_results_free(&passes->rating);
    ranking_results_free(&passes->ranking);
    ranking_results_free(&passes->full);
}

static int passes_run(const struct evaluate_options *options, const struct dataset *dataset,
                      const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                      int train_part, struct passes *out, struct dpf_error *error)
{
    *out = (struct passes){.rating = {.bands = NULL}};
    if (evaluate_options_rate(options) &&
        rating_pass(options, dataset, scorer, pool, train_part, &out->rating, error) != 0)
        return -1;
    if (!evaluate_options_rank(options))
        return 0;
    if (ranking_pass(options, dataset, scorer, seeded, pool, train_part, &out->ranking, error) != 0)
        return -1;
    struct evaluate_options full = *options;
    full.sampled = 0;
    return options->beside_full && !train_part
               ? ranking_pass(&full, dataset, scorer, seeded, pool, 0, &out->full, error)
               : 0;
}

/* Everything that is for the curator. */
static int add_private(const struct sink *sink, const struct passes *passes, const struct dataset *dataset,
                       const struct random_root *seeded, struct pool *pool, int train_part)
{
    add_chosen(sink, &passes->rating, &passes->ranking);
    if (add_intervals(sink, &passes->rating.by_user, 1, 0, 0, dataset, seeded, pool) != 0 ||
        add_intervals(sink, &passes->ranking.by_user, 0, 0, 0, dataset, seeded, pool) != 0 ||
        add_full(sink, &passes->full, dataset, seeded, pool) != 0)
        return -1;
    if (!train_part && by_user_fill(sink->options, passes, dataset, sink->out, sink->error) != 0)
        return -1;
    add_counts(sink, &passes->rating, &passes->ranking, train_part);
    return 0;
}

int evaluate_model(const struct config_values *values, const struct dataset *dataset,
                   const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                   int train_part, struct metrics *out, struct dpf_error *error)
{
    struct evaluate_options options;
    struct passes passes;
    memset(out, 0, sizeof *out);
    if (evaluate_options_read(values, dataset->implicit, &options, error) != 0)
        return -1;
    options.release = 0;
    const struct sink sink = {&options, train_part ? "train-" : "", out, error};
    struct dataset view = *dataset;
    struct csr sample = {0};
    int64_t left_out = 0;
    if (options.users > 0 && !train_part && dataset->test.by_user.ptr) {
        if (user_sample(dataset, &dataset->test.by_user, options.users, seeded, &sample, &left_out, error) !=
            0)
            return -1;
        view.test.by_user = sample;
        view.test.n = sample.ptr[sample.rows];
    }
    int status = passes_run(&options, &view, scorer, seeded, pool, train_part, &passes, error);
    passes.ranking.without_positives -=
        status == 0 ? left_out : 0; /* their rows are empty, whatever they have */
    if (status == 0)
        status = add_private(&sink, &passes, &view, seeded, pool, train_part);
    if (status == 0 && left_out > 0)
        metrics_add(out, (double)left_out, left_out,
                    "users with test records whom [evaluate] users leaves out: intervals cover the draw",
                    "users-left-out");
    passes_free(&passes);
    csr_free(&sample);
    if (status != 0)
        metrics_free(out);
    return status;
}

/* ---- metrics that are released ------------------------------------------------------------------------- */

int evaluate_release_moves(const struct config_values *values, int implicit, double value_lo, double value_hi,
                           struct metric_moves *out, struct dpf_error *error)
{
    struct evaluate_options options;
    struct noisy_layout layout;
    *out = (struct metric_moves){.numbers = 0};
    if (evaluate_options_read(values, implicit, &options, error) != 0)
        return -1;
    if (!options.release)
        return 0;
    if (noisy_layout_make(&options, value_lo, value_hi, &layout, error) != 0)
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
    if (evaluate_options_read(values, implicit, &options, error) != 0)
        return -1;
    if (!options.release)
        return 0;
    if (noisy_layout_make(&options, value_lo, value_hi, &layout, error) != 0)
        return -1;
    const struct metric_noise noise = {.numbers = layout.n, .grid = 1, .steps = 1, .deviation = 1};
    const int64_t nobody[NOISY_MOST_SUMS] = {0};
    noisy_finish(&layout, &options, &noise, nobody, out);
    return 0;
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
    if (evaluate_options_read(values, dataset->implicit, &options, error) != 0 ||
        noisy_layout_make(&options, dataset->value_lo, dataset->value_hi, &layout, error) != 0)
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
        noisy_finish(&layout, &options, noise, sums, released);
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
