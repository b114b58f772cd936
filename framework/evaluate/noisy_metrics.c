/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/noisy_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"

/* ---- which sums ---------------------------------------------------------------------------------------- */

/* The metric whose sum is released for it, or -1. */
static int summed_for(enum metric_id id)
{
    if (id == METRIC_RMSE)
        return METRIC_MSE;
    return metric_is_rating(id) || metric_is_own(id) ? (int)id : -1;
}

static enum noisy_group group_of(enum metric_id id)
{
    return !metric_is_rating(id) ? NOISY_RANKINGS : id >= METRIC_RMSE_USER ? NOISY_USERS : NOISY_RECORDS;
}

/* The upper end of a metric; the lower one is 0. */
static double largest_value(enum metric_id id, double error_bound)
{
    if (!metric_is_rating(id))
        return 1;
    return id == METRIC_MSE || id == METRIC_MSE_USER ? error_bound * error_bound : error_bound;
}

static int find_sum(const struct noisy_layout *layout, int id, int64_t cutoff)
{
    for (int i = 0; i < layout->n; i++)
        if (!layout->sums[i].is_count && (int)layout->sums[i].id == id && layout->sums[i].cutoff == cutoff)
            return i;
    return -1;
}

static int add_sums(const struct evaluate_options *options, enum noisy_group group, double error_bound,
                    struct noisy_layout *out)
{
    const int first = out->n;
    for (int i = 0; i < options->n_chosen; i++) {
        const int id = summed_for(options->chosen[i]);
        if (id < 0 || group_of((enum metric_id)id) != group)
            continue;
        const int64_t cutoffs = metric_has_cutoff((enum metric_id)id) ? options->n_cutoffs : 1;
        for (int64_t c = 0; c < cutoffs; c++) {
            if (find_sum(out, id, c) >= 0)
                continue;
            if (out->n + 2 > NOISY_MOST_SUMS)
                return -1;
            const double half = largest_value((enum metric_id)id, error_bound) / 2;
            out->sums[out->n++] = (struct noisy_sum){
                .group = group, .id = (enum metric_id)id, .cutoff = c, .middle = half, .half = half};
        }
    }
    out->count_at[group] = -1;
    if (out->n == first)
        return 0;
    out->count_at[group] = out->n;
    out->sums[out->n++] = (struct noisy_sum){.group = group, .is_count = 1};
    return 0;
}

int noisy_layout_make(const struct evaluate_options *options, double value_lo, double value_hi,
                      struct noisy_layout *out, struct dpf_error *error)
{
    const double bound = options->release_error > 0 ? options->release_error : value_hi - value_lo;
    memset(out, 0, sizeof *out);
    out->most_records = (double)options->release_records;
    for (int group = 0; group < NOISY_N_GROUPS; group++)
        if (add_sums(options, (enum noisy_group)group, bound, out) != 0)
            return config_value_error(
                options->values, "release", error,
                "more than 120 figures would be released, and each would have much noise: name the "
                "few [evaluate] metrics and cut-offs k that matter");
    if (out->n == 0)
        return config_value_error(
            options->values, "release", error,
            "none of the metrics is a mean over users or records, such as rmse, hr or ndcg, so "
            "there is nothing that could be released with noise");
    if ((out->count_at[NOISY_RECORDS] >= 0 || out->count_at[NOISY_USERS] >= 0) &&
        !(bound > 0 && isfinite(bound)))
        return config_value_error(
            options->values, "release-error", error,
            "nothing bounds an error of a predicted value: declare the range of values ([data] "
            "value-min and value-max), or set release-error");
    return 0;
}

void noisy_moves(const struct noisy_layout *layout, struct metric_moves *out)
{
    int groups = 0;
    for (int group = 0; group < NOISY_N_GROUPS; group++)
        groups += layout->count_at[group] >= 0;
    const double all = layout->n, metrics = layout->n - groups;
    *out = (struct metric_moves){
        .numbers = layout->n, .comes = {all, sqrt(all), 1}, .changes = {2 * metrics, 2 * sqrt(metrics), 2}};
}

/* ---- a user -------------------------------------------------------------------------------------------- */

static double rating_of(const struct rating_results *user, enum metric_id id)
{
    switch (id) {
    case METRIC_MSE:
        return user->records.squared;
    case METRIC_MAE:
        return user->records.absolute;
    case METRIC_RMSE_USER:
        return user->rmse_by_user;
    case METRIC_MAE_USER:
        return user->users.absolute;
    default:
        return user->users.squared;
    }
}

/* Between -1 and 1 for every value; NaN becomes the lower end. */
static double centred(const struct noisy_sum *sum, double value)
{
    const double y = (value - sum->middle) / sum->half;
    return y > 1 ? 1 : y >= -1 ? y : -1;
}

void noisy_contribution(const struct noisy_layout *layout, const struct evaluate_options *options,
                        const double *rating, const double *ranking, double grid, int64_t *out)
{
    struct rating_results user = {.bands = NULL};
    double count[NOISY_N_GROUPS] = {0};
    if (rating)
        rating_averages(rating, &user);
    if (user.records.n > 0) {
        count[NOISY_RECORDS] = fmin((double)user.records.n, layout->most_records) / layout->most_records;
        count[NOISY_USERS] = 1;
    }
    count[NOISY_RANKINGS] = ranking && ranking_users(options, ranking, -1) > 0;
    for (int i = 0; i < layout->n; i++) {
        const struct noisy_sum *sum = &layout->sums[i];
        const double c = count[sum->group];
        double y = 1;
        if (!sum->is_count && c > 0)
            y = centred(sum, sum->group != NOISY_RANKINGS ? rating_of(&user, sum->id)
                             : sum->id == METRIC_MRANK
                                 ? ranking_relative_rank(ranking)
                                 : ranking_mean(options, ranking, -1, sum->id, sum->cutoff));
        out[i] = llround(c * y / grid);
    }
}

/* ---- all users ----------------------------------------------------------------------------------------- */

void noisy_add_up(const struct noisy_layout *layout, const struct evaluate_options *options,
                  const struct user_sums *rating, const struct user_sums *ranking, double grid, int64_t *sums)
{
    const int64_t users = rating->rows ? rating->n_users : ranking->rows ? ranking->n_users : 0;
    int64_t own[NOISY_MOST_SUMS];
    memset(sums, 0, (size_t)layout->n * sizeof *sums);
    for (int64_t user = 0; user < users; user++) {
        noisy_contribution(layout, options, rating->rows ? user_sums_row(rating, user) : NULL,
                           ranking->rows ? user_sums_row(ranking, user) : NULL, grid, own);
        for (int i = 0; i < layout->n; i++)
            sums[i] += own[i];
    }
}

int noisy_draw(const struct metric_noise *noise, int64_t *sums, struct dpf_error *error)
{
    int64_t drawn[NOISY_MOST_SUMS];
    dpf_cursor cursor;
    dpf_stream *stream = random_stream_open(noise->root, "evaluate", "released metrics", error);
    if (!stream)
        return -1;
    random_seek(stream, 0, DPF_PARTY_AGGREGATE, 0, &cursor);
    const dpf_status status = noise->laplace
                                  ? random_discrete_laplace(&cursor, noise->steps, drawn, noise->numbers)
                                  : random_discrete_gaussian(&cursor, noise->steps, drawn, noise->numbers);
    for (int i = 0; i < noise->numbers && status == DPF_OK; i++)
        sums[i] += drawn[i];
    random_stream_free(stream);
    return status == DPF_OK ? 0
                            : error_set(error, DPF_FAULT_RUN, "noise for released metrics cannot be drawn");
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* A mean with noise, and the standard deviation of that, to first order in both sums. */
struct noisy_mean {
    double value, noise;
    int64_t n;
};

static struct noisy_mean mean_of(const struct noisy_layout *layout, int at, const struct metric_noise *noise,
                                 const int64_t *sums)
{
    const struct noisy_sum *sum = &layout->sums[at];
    const double count = (double)sums[layout->count_at[sum->group]] * noise->grid;
    const double each = sum->group == NOISY_RECORDS ? layout->most_records : 1;
    if (!(count > 0))
        return (struct noisy_mean){NAN, NAN, 0};
    const double ratio = fmax(-1, fmin(1, (double)sums[at] * noise->grid / count));
    return (struct noisy_mean){sum->middle + sum->half * ratio,
                               sum->half * noise->deviation / count * sqrt(1 + ratio * ratio),
                               llround(count * each)};
}

static struct noisy_mean root_of(struct noisy_mean square)
{
    const double root = sqrt(square.value);
    return (struct noisy_mean){root, root > 0 ? square.noise / (2 * root) : (double)NAN, square.n};
}

/* 2PR/(P + R), and its gradient. */
static struct noisy_mean harmonic(struct noisy_mean p, struct noisy_mean r)
{
    const double sum = p.value + r.value;
    if (!(sum > 0))
        return (struct noisy_mean){sum, NAN, p.n};
    const double by_p = 2 * r.value * r.value / (sum * sum), by_r = 2 * p.value * p.value / (sum * sum);
    return (struct noisy_mean){2 * p.value * r.value / sum, hypot(by_p * p.noise, by_r * r.noise), p.n};
}

/* 0: the metric is not among what is released. */
static int find_mean(const struct noisy_layout *layout, enum metric_id id, int64_t cutoff,
                     const struct metric_noise *noise, const int64_t *sums, struct noisy_mean *out)
{
    if (id == METRIC_F1_OF_MEANS) {
        const int p = find_sum(layout, METRIC_PRECISION, cutoff), r = find_sum(layout, METRIC_RECALL, cutoff);
        if (p < 0 || r < 0)
            return 0;
        *out = harmonic(mean_of(layout, p, noise, sums), mean_of(layout, r, noise, sums));
        return 1;
    }
    const int at = find_sum(layout, summed_for(id), cutoff);
    if (at < 0)
        return 0;
    *out = mean_of(layout, at, noise, sums);
    if (id == METRIC_RMSE)
        *out = root_of(*out);
    return 1;
}

void noisy_finish(const struct noisy_layout *layout, const struct evaluate_options *options,
                  const struct metric_noise *noise, const int64_t *sums, struct metrics *out)
{
    for (int i = 0; i < options->n_chosen; i++) {
        const enum metric_id id = options->chosen[i];
        const int64_t cutoffs = metric_has_cutoff(id) ? options->n_cutoffs : 1;
        for (int64_t c = 0; c < cutoffs; c++) {
            struct noisy_mean mean;
            char at[24] = "";
            if (!find_mean(layout, id, c, noise, sums, &mean))
                continue;
            if (metric_has_cutoff(id))
                snprintf(at, sizeof at, "@%lld", (long long)options->cutoffs[c]);
            metrics_add(out, mean.value, mean.n, metric_convention(id, options->sampled), "%s%s",
                        metric_name(id), at);
            out->items[out->n - 1].noise = mean.noise;
        }
    }
}
