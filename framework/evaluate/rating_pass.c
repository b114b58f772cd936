/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/rating_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/user_pass.h"

/* Sums of a chunk, in this order; then squared errors and records of each band. */
enum {
    SUM_RECORDS,
    SUM_SQUARED,
    SUM_ABSOLUTE,
    SUM_USERS,
    SUM_USER_MSE,
    SUM_USER_MAE,
    SUM_USER_RMSE,
    SUM_COLD,
    SUM_WITHOUT_SCORES,
    SUM_BANDS
};

struct rating {
    const struct evaluate_options *options;
    const struct dataset *dataset;
    const struct scorer *scorer;
    const struct csr *part;
    int clip;
    double train_mean;
    double **predictions;     /* by worker: room for the longest row */
    struct score_desk *desks; /* by worker */
    int n_predictions;
    double *sums;
    int64_t chunks;
    int64_t width;
    struct user_sums *by_user; /* or NULL */
};

static double value_at(const struct csr *csr, int64_t i)
{
    return csr->values ? (double)csr->values[i] : 1.0;
}

/* Nothing is predicted for a void record, and it has no part in a mean. */
static int is_void(const struct csr *csr, int64_t i)
{
    return csr->voids && csr->voids[i];
}

static int64_t row_length(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] - csr->ptr[row];
}

static int is_cold(const struct rating *r, int64_t user, int32_t item)
{
    return row_length(&r->dataset->train.by_user, user) == 0 ||
           row_length(&r->dataset->train.by_item, item) == 0;
}

static double user_train_mean(const struct rating *r, int64_t user)
{
    const struct csr *train = &r->dataset->train.by_user;
    double sum = 0, n = 0;
    for (int64_t i = train->ptr[user]; i < train->ptr[user + 1]; i++)
        if (!is_void(train, i)) {
            sum += value_at(train, i);
            n++;
        }
    return sum / n;
}

/* What brings the mean of the user's predictions to the mean of the training records. */
static double user_shift(const struct rating *r, int64_t user, const double *predictions)
{
    int64_t start = r->part->ptr[user], n = row_length(r->part, user), counted = 0;
    double sum = 0;
    if (!csr_row_counts(&r->dataset->train.by_user, user))
        return 0;
    for (int64_t i = 0; i < n; i++) {
        if (is_void(r->part, start + i))
            continue;
        if (r->options->cold != EVALUATE_COLD_MODEL && is_cold(r, user, r->part->others[start + i]))
            continue; /* not a prediction of the model */
        sum += predictions[i];
        counted++;
    }
    return counted ? user_train_mean(r, user) - sum / (double)counted : 0;
}

static double clipped(const struct rating *r, double x)
{
    if (!r->clip)
        return x;
    return x < r->dataset->value_lo   ? r->dataset->value_lo
           : x > r->dataset->value_hi ? r->dataset->value_hi
                                      : x;
}

static int64_t band_of(const struct rating *r, int64_t user)
{
    int64_t activity = row_length(&r->dataset->train.by_user, user), band = 0;
    while (band < r->options->n_bands && activity >= r->options->bands[band])
        band++;
    return band;
}

static void add_user(const struct rating *r, int64_t user, int64_t n, double squared, double absolute,
                     double *sums)
{
    if (n == 0)
        return;
    sums[SUM_RECORDS] += (double)n;
    sums[SUM_SQUARED] += squared;
    sums[SUM_ABSOLUTE] += absolute;
    sums[SUM_USERS] += 1;
    sums[SUM_USER_MSE] += squared / (double)n;
    sums[SUM_USER_MAE] += absolute / (double)n;
    sums[SUM_USER_RMSE] += sqrt(squared / (double)n);
    if (r->options->n_bands == 0)
        return;
    int64_t band = band_of(r, user);
    sums[SUM_BANDS + 2 * band] += squared;
    sums[SUM_BANDS + 2 * band + 1] += (double)n;
}

static int64_t chunk_of(const struct rating *r, int64_t user)
{
    return user_pass_chunk(r->dataset->train.by_user.rows, user);
}

static int rate_user(void *context, int64_t user, int64_t end, int worker, struct dpf_error *error)
{
    const struct rating *r = context;
    (void)end;
    double *all = r->sums + chunk_of(r, user) * r->width;
    double *sums = r->by_user ? user_sums_row(r->by_user, user) : all;
    double *predictions = r->predictions[worker];
    int64_t start = r->part->ptr[user], n = row_length(r->part, user), counted = 0;
    struct dpf_error fault = {0};
    if (scorer_scores(r->scorer, &r->desks[worker], user, r->part->others + start, n, predictions, &fault) !=
        0) {
        if (!r->options->release) {
            *error = fault;
            return -1;
        }
        all[SUM_WITHOUT_SCORES] += 1;
        return 0;
    }
    double shift = r->options->shift ? user_shift(r, user, predictions) : 0;
    double squared = 0, absolute = 0;
    for (int64_t i = 0; i < n; i++) {
        double prediction = predictions[i] + shift;
        if (is_void(r->part, start + i))
            continue;
        if (is_cold(r, user, r->part->others[start + i])) {
            sums[SUM_COLD] += 1;
            if (r->options->cold == EVALUATE_COLD_SKIP)
                continue;
            if (r->options->cold == EVALUATE_COLD_MEAN)
                prediction = r->train_mean;
        }
        double difference = clipped(r, prediction) - value_at(r->part, start + i);
        squared += difference * difference;
        absolute += fabs(difference);
        counted++;
    }
    add_user(r, user, counted, squared, absolute, sums);
    if (r->by_user)
        user_sums_add(r->by_user, user, all);
    return 0;
}

static int sum_user_values(void *context, int64_t user, int64_t end, int worker, struct dpf_error *error)
{
    const struct rating *r = context;
    const struct csr *train = &r->dataset->train.by_user;
    double *sums = r->sums + chunk_of(r, user) * r->width;
    (void)end;
    (void)worker;
    (void)error;
    for (int64_t i = train->ptr[user]; i < train->ptr[user + 1]; i++)
        if (!is_void(train, i)) {
            sums[0] += value_at(train, i);
            sums[1]++;
        }
    return 0;
}

static void clear_sums(struct rating *r)
{
    memset(r->sums, 0, (size_t)(r->chunks * r->width) * sizeof *r->sums);
}

static int find_train_mean(struct rating *r, struct pool *pool, int64_t n_users, struct dpf_error *error)
{
    if (!r->dataset->train.by_user.values || r->dataset->train.n == 0) {
        /* Of nothing, the middle of the range; it only serves a data set without training part. */
        double middle = (r->dataset->value_lo + r->dataset->value_hi) / 2;
        r->train_mean = r->dataset->train.n ? 1 : isfinite(middle) ? middle : 0;
        return 0;
    }
    if (user_pass_run(pool, r->dataset, n_users, sum_user_values, r, error) != 0 ||
        user_pass_sum(r->dataset, n_users, r->sums, r->width, error) != 0)
        return -1;
    r->train_mean = r->sums[1] > 0 ? r->sums[0] / r->sums[1] : 0;
    clear_sums(r);
    return 0;
}

static int rating_init(struct rating *r, struct pool *pool, int64_t n_users, struct dpf_error *error)
{
    int64_t longest = 0;
    for (int64_t user = 0; user < n_users; user++)
        if (row_length(r->part, user) > longest)
            longest = row_length(r->part, user);
    r->chunks = user_pass_chunks(n_users) > 0 ? user_pass_chunks(n_users) : 1;
    r->width = SUM_BANDS + 2 * (r->options->n_bands + 1);
    r->sums = memory_need((size_t)r->chunks, (size_t)r->width * sizeof *r->sums);
    if (r->by_user && user_sums_init(r->by_user, n_users, r->width, error) != 0)
        return -1;
    r->n_predictions = pool_workers(pool);
    r->predictions = memory_need((size_t)r->n_predictions, sizeof *r->predictions);
    r->desks = memory_need((size_t)r->n_predictions, sizeof *r->desks);
    for (int w = 0; w < r->n_predictions; w++)
        r->predictions[w] = memory_need((size_t)longest, sizeof **r->predictions);
    return 0;
}

static void rating_free(struct rating *r)
{
    for (int w = 0; r->predictions && w < r->n_predictions; w++)
        free(r->predictions[w]);
    for (int w = 0; r->desks && w < r->n_predictions; w++)
        score_desk_free(&r->desks[w]);
    free(r->desks);
    free(r->predictions);
    free(r->sums);
}

static struct rating_error mean_error(double n, double squared, double absolute)
{
    return (struct rating_error){(int64_t)n, squared / n, absolute / n};
}

void rating_averages(const double *s, struct rating_results *out)
{
    out->records = mean_error(s[SUM_RECORDS], s[SUM_SQUARED], s[SUM_ABSOLUTE]);
    out->users = mean_error(s[SUM_USERS], s[SUM_USER_MSE], s[SUM_USER_MAE]);
    out->rmse_by_user = s[SUM_USER_RMSE] / s[SUM_USERS];
    out->cold = (int64_t)s[SUM_COLD];
    out->without_scores = (int64_t)s[SUM_WITHOUT_SCORES];
}

static int collect(const struct rating *r, int64_t n_users, struct rating_results *out,
                   struct dpf_error *error)
{
    if (user_pass_sum(r->dataset, n_users, r->sums, r->width, error) != 0 ||
        (r->by_user && n_users && user_sums_gather(r->by_user, r->dataset, error) != 0))
        return -1;
    const double *s = r->sums;
    rating_averages(s, out);
    if (r->options->n_bands == 0)
        return 0;
    out->bands = memory_need((size_t)r->options->n_bands + 1, sizeof *out->bands);
    for (int64_t band = 0; band <= r->options->n_bands; band++)
        out->bands[band] = mean_error(s[SUM_BANDS + 2 * band + 1], s[SUM_BANDS + 2 * band], NAN);
    return 0;
}

static int wants_clip(const struct evaluate_options *options, const struct dataset *dataset, int *clip,
                      struct dpf_error *error)
{
    int declared = isfinite(dataset->value_lo) && isfinite(dataset->value_hi);
    *clip = options->clip == EVALUATE_CLIP_YES ||
            (options->clip == EVALUATE_CLIP_AUTO && !dataset->implicit && declared);
    if (*clip && !declared)
        return config_value_error(options->values, "clip-predictions", error,
                                  "this needs the range of values: set [data] value-min and value-max");
    return 0;
}

int rating_pass(const struct evaluate_options *options, const struct dataset *dataset,
                const struct scorer *scorer, struct pool *pool, int train_part, struct rating_results *out,
                struct dpf_error *error)
{
    const struct records *part = train_part ? &dataset->train : &dataset->test;
    struct rating r = {.options = options, .dataset = dataset, .scorer = scorer, .part = &part->by_user};
    int64_t n_users = part->by_user.ptr ? dataset->train.by_user.rows : 0;
    memset(out, 0, sizeof *out);
    r.by_user = train_part && !options->replicates ? NULL : &out->by_user;
    if (wants_clip(options, dataset, &r.clip, error) != 0)
        return -1;
    int status = rating_init(&r, pool, n_users, error);
    if (status == 0 && options->cold == EVALUATE_COLD_MEAN && !train_part)
        status = find_train_mean(&r, pool, n_users, error);
    if (status == 0)
        status = user_pass_run(pool, dataset, n_users, rate_user, &r, error);
    if (status == 0)
        status = collect(&r, n_users, out, error);
    rating_free(&r);
    return status;
}

void rating_results_free(struct rating_results *results)
{
    free(results->bands);
    user_sums_free(&results->by_user);
    memset(results, 0, sizeof *results);
}

double rating_band_variance(const struct rating_error *bands, int64_t n, int64_t *used)
{
    double sum = 0;
    *used = 0;
    for (int64_t k = 0; k < n; k++) {
        *used += bands[k].n > 0;
        for (int64_t l = k + 1; l < n; l++)
            if (bands[k].n > 0 && bands[l].n > 0)
                sum += (bands[k].squared - bands[l].squared) * (bands[k].squared - bands[l].squared);
    }
    return *used ? sum / ((double)*used * (double)*used) : (double)NAN;
}
