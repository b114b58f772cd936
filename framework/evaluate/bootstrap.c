/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "dpframe/privacy.h"

/* Users are added up in so many parts, whatever the number of workers, so that results have the same bytes.
 */
#define PARTS 16

int user_sums_init(struct user_sums *sums, int64_t n_users, int64_t width, struct dpf_error *error)
{
    sums->rows = memory_new((size_t)n_users + 1, (size_t)width * sizeof *sums->rows);
    sums->n_users = n_users;
    sums->width = width;
    return sums->rows ? 0 : error_memory(error);
}

void user_sums_free(struct user_sums *sums)
{
    free(sums->rows);
    memset(sums, 0, sizeof *sums);
}

double *user_sums_row(const struct user_sums *sums, int64_t user)
{
    return sums->rows + user * sums->width;
}

void user_sums_add(const struct user_sums *sums, int64_t user, double *into)
{
    const double *row = user_sums_row(sums, user);
    for (int64_t i = 0; i < sums->width; i++)
        into[i] += row[i];
}

int user_sums_gather(struct user_sums *sums, const struct dataset *dataset, struct dpf_error *error)
{
    int64_t *offsets = memory_need((size_t)ranks_size() + 1, sizeof *offsets);
    shares_offsets(dataset, DPF_SIDE_USERS, offsets);
    const int status = ranks_gather(sums->rows, (size_t)sums->width * sizeof *sums->rows, offsets, error);
    free(offsets);
    return status;
}

struct resampling {
    const struct user_sums *sums;
    const struct id_map *users;
    const dpf_stream *stream;
    int64_t replicates;
    double *totals;  /* parts x replicates x width */
    double *uniform; /* parts x replicates x 2: work */
};

enum { MOST_COPIES = 20, FEW_COPIES = 4 };

/* How many of the cumulative probabilities of Poisson(1) each has passed. Nearly all pass few of them, which takes no branch. */
void bootstrap_copies(const double *uniform, int64_t n, double *copies)
{
    double below[MOST_COPIES], mass = exp(-1), sum = mass;
    for (int k = 0; k < MOST_COPIES; k++, mass /= k, sum += mass)
        below[k] = sum;
    for (int64_t i = 0; i < n; i++) {
        double passed = 0;
        for (int k = 0; k < FEW_COPIES; k++)
            passed += uniform[i] >= below[k] ? 1.0 : 0.0;
        copies[i] = passed;
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = FEW_COPIES; uniform[i] >= below[k - 1] && k < MOST_COPIES; k++)
            copies[i] += uniform[i] >= below[k] ? 1.0 : 0.0;
}

/* Of a user without results, as all are that are not drawn: their numbers need not be either. */
static int adds_nothing(const double *row, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        if (row[i] != 0)
            return 0;
    return 1;
}

static int add_part(void *context, int64_t part, int worker)
{
    const struct resampling *r = context;
    const int64_t n = r->sums->n_users, width = r->sums->width;
    double *uniform = r->uniform + 2 * part * r->replicates, *copies = uniform + r->replicates;
    double *totals = r->totals + part * r->replicates * width;
    (void)worker;
    for (int64_t user = part * n / PARTS; user < (part + 1) * n / PARTS; user++) {
        const double *row = user_sums_row(r->sums, user);
        dpf_cursor cursor;
        if (adds_nothing(row, width))
            continue;
        random_seek_id(r->stream, id_map_text(r->users, user), &cursor);
        random_uniform(&cursor, uniform, r->replicates);
        bootstrap_copies(uniform, r->replicates, copies);
        for (int64_t b = 0; b < r->replicates; b++)
            for (int64_t i = 0; copies[b] > 0 && i < width; i++)
                totals[b * width + i] += copies[b] * row[i];
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Between the order statistics around p (n - 1). */
static double quantile(const double *sorted, int64_t n, double p)
{
    const double at = p * (double)(n - 1);
    const int64_t below = (int64_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static void find_intervals(const struct resampling *r, double level, const struct statistic *statistic,
                           double *values, double *column, double *low, double *high)
{
    const int64_t width = r->sums->width;
    for (int64_t part = 1; part < PARTS; part++)
        for (int64_t i = 0; i < r->replicates * width; i++)
            r->totals[i] += r->totals[part * r->replicates * width + i];
    for (int64_t b = 0; b < r->replicates; b++)
        statistic->values(statistic->context, r->totals + b * width, values + b * statistic->n);
    for (int64_t v = 0; v < statistic->n; v++) {
        int64_t n = 0;
        for (int64_t b = 0; b < r->replicates; b++)
            if (!isnan(values[b * statistic->n + v]))
                column[n++] = values[b * statistic->n + v];
        low[v] = high[v] = NAN;
        if (n == 0)
            continue;
        qsort(column, (size_t)n, sizeof *column, ascending);
        low[v] = quantile(column, n, (1 - level) / 2);
        high[v] = quantile(column, n, (1 + level) / 2);
    }
}

int bootstrap_intervals(const struct user_sums *sums, const struct id_map *users,
                        const struct random_root *seeded, struct pool *pool, int64_t replicates, double level,
                        const struct statistic *statistic, double *low, double *high, struct dpf_error *error)
{
    const size_t n = (size_t)replicates;
    struct resampling r = {sums, users, NULL, replicates, NULL, NULL};
    dpf_stream *stream = random_stream_open(seeded, "evaluate", "bootstrap", error);
    double *values = memory_need(n * (size_t)(statistic->n + 1), sizeof *values);
    double *column = memory_need(n, sizeof *column);
    r.stream = stream;
    r.totals = memory_need(PARTS * n, (size_t)sums->width * sizeof *r.totals);
    r.uniform = memory_need(PARTS * n, 2 * sizeof *r.uniform);
    int status = stream ? 0 : -1;
    if (status == 0 && pool_run(pool, PARTS, add_part, &r) != 0)
        status = error_set(error, DPF_FAULT_RUN, "the bootstrap of [evaluate] was interrupted");
    if (status == 0)
        find_intervals(&r, level, statistic, values, column, low, high);
    free(r.totals);
    free(r.uniform);
    free(values);
    free(column);
    random_stream_free(stream);
    return status;
}
