/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/by_user.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "evaluate/user_values.h"

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

/* Columns of a metric, among those of the full ranking beside a sampled one or among all others. */
static int64_t columns_of(const struct evaluate_options *o, enum metric_id id, int full)
{
    return is_by_user(id) && !(full && metric_is_rating(id)) ? values_of(o, id) : 0;
}

/* Names in the order of the results. */
static void name_metrics(const struct evaluate_options *o, int full, struct user_values *out)
{
    for (int i = 0; i < o->n_chosen; i++) {
        const enum metric_id id = o->chosen[i];
        for (int64_t c = 0; c < columns_of(o, id, full); c++) {
            struct user_metric *metric = &out->metrics[out->n_metrics++];
            metric->is_root = id == METRIC_RMSE;
            if (metric_has_cutoff(id))
                snprintf(metric->name, sizeof metric->name, "%s%s@%" PRId64, full ? FULL_PREFIX : "",
                         metric_name(id), o->cutoffs[c]);
            else
                snprintf(metric->name, sizeof metric->name, "%s%s", full ? FULL_PREFIX : "", metric_name(id));
        }
    }
}

static void add_user_rating(enum metric_id id, const double *sums, double *row)
{
    struct rating_results results = {.bands = NULL};
    rating_averages(sums, &results);
    const struct rating_error *over = value_error_over(id, &results);
    const double n = (double)over->n;
    if (over->n == 0)
        return;
    row[0] = id == METRIC_RMSE ? over->squared : value_of_rating(id, &results);
    row[0] *= is_over_records(id) ? n : 1;
    row[1] = is_over_records(id) ? n : 1;
}

static void add_user_ranking(const struct evaluate_options *o, enum metric_id id, const double *sums,
                             int64_t cutoff, double *row)
{
    if (!(ranking_users(o, sums, -1) > 0))
        return;
    row[0] = value_of_ranking(o, id, sums, -1, cutoff);
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

/* The columns of one kind; returns where the next begin. */
static double *fill_metrics(const struct evaluate_options *o, const struct passes *passes, int full,
                            int64_t user, double *at)
{
    for (int i = 0; i < o->n_chosen; i++) {
        const enum metric_id id = o->chosen[i];
        const struct user_sums *sums = metric_is_rating(id) ? &passes->rating.by_user
                                       : full               ? &passes->full.by_user
                                                            : &passes->ranking.by_user;
        for (int64_t c = 0; c < columns_of(o, id, full); c++, at += 2) {
            if (!sums->rows)
                continue;
            if (metric_is_rating(id))
                add_user_rating(id, user_sums_row(sums, user), at);
            else
                add_user_ranking(o, id, user_sums_row(sums, user), c, at);
        }
    }
    return at;
}

static void fill_user(const struct evaluate_options *o, const struct passes *passes,
                      const struct dataset *dataset, int64_t user, double *row)
{
    double *at = fill_metrics(o, passes, 0, user, row);
    if (passes->full.sums)
        at = fill_metrics(o, passes, 1, user, at);
    const struct csr *train = &dataset->train.by_user;
    at[USER_RECORDS] = (double)(train->ptr[user + 1] - train->ptr[user]);
    at[USER_TEST_PART] = hash_test(dataset, user);
}

/* Each rank knows the test records of its own users. */
static int gather_users(struct user_values *values, const struct dataset *dataset, struct dpf_error *error)
{
    int64_t *offsets = memory_need((size_t)ranks_size() + 1, sizeof *offsets);
    shares_offsets(dataset, DPF_SIDE_USERS, offsets);
    const size_t bytes = (size_t)user_values_width(values) * sizeof *values->rows;
    const int status = values->n_users ? ranks_gather(values->rows, bytes, offsets, error) : 0;
    free(offsets);
    return status;
}

int by_user_fill(const struct evaluate_options *o, const struct passes *passes, const struct dataset *dataset,
                 struct metrics *out, struct dpf_error *error)
{
    const int64_t n = dataset->test.by_user.ptr ? dataset->users.n : 0;
    struct user_values *values = memory_need(1, sizeof *values);
    int64_t metrics = 0;
    const int kinds = passes->full.sums ? 2 : 1;
    for (int i = 0; i < o->n_chosen; i++)
        for (int full = 0; full < kinds; full++)
            metrics += columns_of(o, o->chosen[i], full);
    out->by_user = values;
    values->n_users = n;
    values->metrics = memory_need((size_t)metrics + 1, sizeof *values->metrics);
    values->rows = memory_new((size_t)n + 1, (size_t)(2 * metrics + USER_EXTRAS) * sizeof *values->rows);
    if (!values->rows)
        return error_memory(error);
    for (int full = 0; full < kinds; full++)
        name_metrics(o, full, values);
    const int64_t last = n ? shares_last(dataset, DPF_SIDE_USERS) : 0;
    for (int64_t user = n ? shares_first(dataset, DPF_SIDE_USERS) : 0; user < last; user++)
        fill_user(o, passes, dataset, user, user_values_row(values, user));
    return gather_users(values, dataset, error);
}
