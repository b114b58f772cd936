/* SPDX-License-Identifier: Apache-2.0 */
/* From rows that each rank has of its own users to what the run reads: rows of its items, and numbers of all
 * rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "data/spread.h"
#include "dpframe/privacy.h"

/* ---- numbers of all rows ------------------------------------------------------------------------------- */

/* Rows of which each rank has its own: places of all, counted from the first that is here (struct csr). */
static int place_rows(const struct dataset *dataset, int side, struct csr *csr, struct dpf_error *error)
{
    const int rank = ranks_rank();
    const int64_t first = dataset->shares[side][rank];
    if (!csr->ptr)
        return 0;
    for (int64_t r = csr->rows; r > 0; r--)
        csr->ptr[r] -= csr->ptr[r - 1];
    if (ranks_gather(csr->ptr + 1, sizeof *csr->ptr, dataset->shares[side], error) != 0)
        return -1;
    for (int64_t r = 0; r < csr->rows; r++)
        csr->ptr[r + 1] += csr->ptr[r];
    csr->origin = csr->ptr[first];
    for (int64_t r = 0; r <= csr->rows; r++)
        csr->ptr[r] -= csr->origin;
    return 0;
}

/* ---- rows by item -------------------------------------------------------------------------------------- */

struct item_record {
    int32_t user, item;
    float value, weight;
    int32_t is_void;
};

/* Records pass in slices, so that what is on its way takes the same room for any number of records. */
#define SLICE_RECORDS (INT64_C(1) << 19)

struct passage {
    const int64_t *shares; /* of items */
    int64_t slice;
    int64_t *out_offsets, *in_offsets, *next; /* of a slice, by rank */
    struct item_record *from, *into;
    int64_t into_room;
    int64_t *places;      /* by rank and own item: where that rank's next record of the item goes */
    int64_t user, record; /* what goes next */
};

static void passage_close(struct passage *passage)
{
    free(passage->out_offsets);
    free(passage->in_offsets);
    free(passage->next);
    free(passage->from);
    free(passage->into);
    free(passage->places);
}

static int passage_open(struct passage *passage, const int64_t *shares)
{
    const size_t size = (size_t)ranks_size();
    const int64_t own = shares[ranks_rank() + 1] - shares[ranks_rank()];
    *passage = (struct passage){.shares = shares, .slice = SLICE_RECORDS / ranks_size() + 1};
    passage->out_offsets = memory_new(size + 1, sizeof *passage->out_offsets);
    passage->in_offsets = memory_new(size + 1, sizeof *passage->in_offsets);
    passage->next = memory_new(size + 1, sizeof *passage->next);
    passage->from = memory_raw((size_t)passage->slice, sizeof *passage->from);
    passage->places = memory_new(size * (size_t)own + 1, sizeof *passage->places);
    return passage->out_offsets && passage->in_offsets && passage->next && passage->from && passage->places
               ? 0
               : -1;
}

/* Places of what will come: by item, and of one item in the order of ranks, and so of users. out->ptr: of own rows. */
static int find_places(struct passage *passage, const struct csr *rows, struct csr *out,
                       struct dpf_error *error)
{
    const int size = ranks_size(), rank = ranks_rank();
    const int64_t first = passage->shares[rank], own = passage->shares[rank + 1] - first;
    int64_t *counts = memory_new((size_t)out->rows + 1, sizeof *counts);
    int64_t *offsets = memory_new((size_t)size + 1, sizeof *offsets);
    int status = counts && offsets ? 0 : error_memory(error);
    for (int64_t i = 0; i < rows->ptr[rows->rows] && status == 0; i++)
        counts[rows->others[i]]++;
    for (int r = 0; r <= size && status == 0; r++)
        offsets[r] = r * own;
    if (status == 0)
        status = ranks_exchange(sizeof *counts, counts, passage->shares, passage->places, offsets, error);
    for (int64_t i = 0, at = 0; i < own && status == 0; i++) {
        for (int r = 0; r < size; r++) {
            const int64_t n = passage->places[r * own + i];
            passage->places[r * own + i] = at;
            at += n;
        }
        out->ptr[first + i + 1] = at;
    }
    for (int64_t i = first + own; i < out->rows && status == 0; i++)
        out->ptr[i + 1] = out->ptr[i];
    free(counts);
    free(offsets);
    return status;
}

static int make_room(const struct csr *rows, struct csr *out, struct dpf_error *error)
{
    const size_t n = (size_t)out->ptr[out->rows] + 1;
    out->others = memory_raw(n, sizeof *out->others);
    out->values = rows->values ? memory_raw(n, sizeof *out->values) : NULL;
    out->privacy_weights = rows->privacy_weights ? memory_raw(n, sizeof *out->privacy_weights) : NULL;
    out->voids = rows->voids ? memory_raw(n, sizeof *out->voids) : NULL;
    return out->others && (!rows->voids || out->voids) && (!rows->values || out->values) &&
                   (!rows->privacy_weights || out->privacy_weights)
               ? 0
               : error_memory(error);
}

/* The next records of own users, by the rank of their item; users ascend within what goes to a rank. */
static void fill_slice(struct passage *passage, const struct csr *rows)
{
    const int size = ranks_size();
    const int64_t first = passage->record, all = rows->ptr[rows->rows];
    const int64_t end = all - first < passage->slice ? all : first + passage->slice;
    memset(passage->out_offsets, 0, ((size_t)size + 1) * sizeof *passage->out_offsets);
    for (int64_t i = first; i < end; i++)
        passage->out_offsets[shares_rank(passage->shares, rows->others[i]) + 1]++;
    for (int r = 0; r < size; r++) {
        passage->out_offsets[r + 1] += passage->out_offsets[r];
        passage->next[r] = passage->out_offsets[r];
    }
    for (int64_t i = first; i < end; i++) {
        while (rows->ptr[passage->user + 1] <= i)
            passage->user++;
        passage->from[passage->next[shares_rank(passage->shares, rows->others[i])]++] = (struct item_record){
            (int32_t)passage->user, rows->others[i], rows->values ? rows->values[i] : 1,
            rows->privacy_weights ? rows->privacy_weights[i] : 1, rows->voids && rows->voids[i]};
    }
    passage->record = end;
}

static void place_slice(struct passage *passage, struct csr *out)
{
    const int rank = ranks_rank();
    const int64_t first = passage->shares[rank], own = passage->shares[rank + 1] - first;
    for (int r = 0; r < ranks_size(); r++)
        for (int64_t i = passage->in_offsets[r]; i < passage->in_offsets[r + 1]; i++) {
            const struct item_record *record = &passage->into[i];
            const int64_t at = passage->places[r * own + record->item - first]++;
            out->others[at] = record->user;
            if (out->values)
                out->values[at] = record->value;
            if (out->privacy_weights)
                out->privacy_weights[at] = record->weight;
            if (out->voids)
                out->voids[at] = (uint8_t)record->is_void;
        }
}

static int pass_slice(struct passage *passage, const struct csr *rows, struct csr *out,
                      struct dpf_error *error)
{
    void *into = passage->into;
    fill_slice(passage, rows);
    const int status = ranks_pass(sizeof *passage->from, passage->from, passage->out_offsets, &into,
                                  &passage->into_room, passage->in_offsets, error);
    passage->into = into;
    if (status == 0)
        place_slice(passage, out);
    return status;
}

/* Every rank takes part in the slices of the one that has most. */
static int most_slices(const struct passage *passage, int64_t own, int64_t *n, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *records = memory_new((size_t)size + 1, sizeof *records), *each = memory_new((size_t)size + 1, 8);
    int status = records && each ? 0 : error_memory(error);
    *n = 0;
    for (int r = 0; r <= size && status == 0; r++)
        each[r] = r;
    if (status == 0) {
        records[ranks_rank()] = own;
        status = ranks_gather(records, sizeof *records, each, error);
    }
    for (int r = 0; r < size && status == 0; r++) {
        const int64_t slices = (records[r] + passage->slice - 1) / passage->slice;
        *n = *n > slices ? *n : slices;
    }
    free(records);
    free(each);
    return status;
}

/* Whose items are whose, by the numbers of their records. */
static int decide_items(struct dataset *dataset, struct dpf_error *error)
{
    const struct csr *rows = &dataset->train.by_user;
    const int64_t n = dataset->items.n;
    int64_t *counts = memory_new((size_t)n + 1, sizeof *counts);
    if (!counts)
        return error_memory(error);
    for (int64_t i = 0; i < rows->ptr[rows->rows]; i++)
        counts[rows->others[i] + 1]++;
    int status = ranks_sum(counts, n + 1, error);
    for (int64_t i = 0; i < n; i++)
        counts[i + 1] += counts[i];
    if (status == 0)
        status = shares_decide(dataset, DPF_SIDE_ITEMS, counts, n, error);
    free(counts);
    return status;
}

/* A rank without records has no values either; it must not take that for "all are 1". */
static int agree_on_columns(struct csr *csr, struct dpf_error *error)
{
    int64_t has[2] = {csr->values != NULL, csr->privacy_weights != NULL};
    const int64_t n = csr->ptr[csr->rows];
    if (ranks_sum(has, 2, error) != 0)
        return -1;
    if (has[0] && !csr->values && !(csr->values = memory_new((size_t)n + 1, sizeof *csr->values)))
        return error_memory(error);
    if (has[1] && !csr->privacy_weights &&
        !(csr->privacy_weights = memory_new((size_t)n + 1, sizeof *csr->privacy_weights)))
        return error_memory(error);
    return 0;
}

int spread_items(struct dataset *dataset, struct dpf_error *error)
{
    struct csr *rows = &dataset->train.by_user, *out = &dataset->train.by_item;
    struct passage passage = {.shares = NULL};
    int64_t slices = 0;
    if (agree_on_columns(rows, error) != 0 || decide_items(dataset, error) != 0)
        return -1;
    *out = (struct csr){.rows = dataset->items.n};
    out->ptr = memory_new((size_t)out->rows + 1, sizeof *out->ptr);
    int status =
        passage_open(&passage, dataset->shares[DPF_SIDE_ITEMS]) == 0 && out->ptr ? 0 : error_memory(error);
    if (status == 0)
        status = find_places(&passage, rows, out, error);
    if (status == 0)
        status = make_room(rows, out, error);
    if (status == 0)
        status = most_slices(&passage, rows->ptr[rows->rows], &slices, error);
    for (int64_t i = 0; i < slices && status == 0; i++)
        status = pass_slice(&passage, rows, out, error);
    passage_close(&passage);
    return status == 0 ? place_rows(dataset, DPF_SIDE_ITEMS, out, error) : -1;
}

/* ---- what was counted ---------------------------------------------------------------------------------- */

static int add_up_counts(struct dataset *dataset, struct dpf_error *error)
{
    struct dataset_summary *s = &dataset->summary;
    int64_t *const counts[] = {&s->lines,         &s->empty_lines,       &s->ratings,
                               &s->duplicates,    &s->time_ties_decided, &s->cold_users,
                               &s->cold_records,  &s->below_threshold,   &s->out_of_range,
                               &s->filtered,      &s->out_of_catalogue,  &s->clipped,
                               &dataset->train.n, &dataset->test.n};
    enum { N = sizeof counts / sizeof counts[0] };
    int64_t values[N];
    for (int i = 0; i < N; i++)
        values[i] = *counts[i];
    if (ranks_sum(values, N, error) != 0)
        return -1;
    for (int i = 0; i < N; i++)
        *counts[i] = values[i];
    return 0;
}

/* Of values: what each rank has found. */
struct range {
    double sum, least, most, distinct, n;
};

static int join_ranges(struct dataset *dataset, double own_ratings, struct dpf_error *error)
{
    struct dataset_summary *s = &dataset->summary;
    const int size = ranks_size(), rank = ranks_rank();
    struct range *ranges = memory_new((size_t)size, sizeof *ranges);
    int64_t *even = memory_new((size_t)size + 1, sizeof *even);
    int status = ranges && even ? 0 : error_memory(error);
    for (int r = 0; r <= size && status == 0; r++)
        even[r] = r;
    if (status == 0) {
        ranges[rank] = (struct range){s->value_mean * own_ratings, s->value_min, s->value_max,
                                      (double)s->distinct_values, own_ratings};
        status = ranks_gather(ranges, sizeof *ranges, even, error);
    }
    double sum = 0, least = INFINITY, most = -INFINITY, distinct = 0, n = 0;
    for (int r = 0; r < size && status == 0; r++) {
        sum += ranges[r].sum;
        n += ranges[r].n;
        least = ranges[r].n > 0 ? fmin(least, ranges[r].least) : least;
        most = ranges[r].n > 0 ? fmax(most, ranges[r].most) : most;
        distinct = fmax(distinct, ranges[r].distinct); /* of one rank: for a warning */
    }
    if (status == 0 && n > 0) {
        s->value_mean = sum / n;
        s->value_min = least;
        s->value_max = most;
        s->distinct_values = (int64_t)distinct;
    }
    free(ranges);
    free(even);
    return status;
}

int spread_finish(struct dataset *dataset, struct dpf_error *error)
{
    const double own_ratings = (double)dataset->summary.ratings;
    if ((dataset->test.by_user.ptr && agree_on_columns(&dataset->test.by_user, error) != 0) ||
        place_rows(dataset, DPF_SIDE_USERS, &dataset->train.by_user, error) != 0 ||
        place_rows(dataset, DPF_SIDE_USERS, &dataset->test.by_user, error) != 0 ||
        violations_gather(&dataset->violations, error) != 0)
        return -1;
    return add_up_counts(dataset, error) == 0 ? join_ranges(dataset, own_ratings, error) : -1;
}
