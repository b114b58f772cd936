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

struct passage {
    int64_t *from_offsets, *into_offsets; /* by rank */
    struct item_record *from, *into;
};

static void passage_close(struct passage *passage)
{
    free(passage->from_offsets);
    free(passage->into_offsets);
    free(passage->from);
    free(passage->into);
}

static int rank_of_item(const int64_t *shares, int32_t item)
{
    int low = 0, high = ranks_size() - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (item < shares[middle + 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many records go where, and come from where. */
static int count_passage(struct passage *passage, const struct csr *rows, const int64_t *shares,
                         struct dpf_error *error)
{
    const int size = ranks_size();
    const int64_t n = rows->ptr[rows->rows];
    int64_t *counts = memory_new((size_t)size, sizeof *counts),
            *ones = memory_new((size_t)size + 1, sizeof *ones);
    passage->from_offsets = memory_new((size_t)size + 1, sizeof *passage->from_offsets);
    passage->into_offsets = memory_new((size_t)size + 1, sizeof *passage->into_offsets);
    int status = counts && ones && passage->from_offsets && passage->into_offsets ? 0 : error_memory(error);
    for (int64_t i = 0; i < n && status == 0; i++)
        counts[rank_of_item(shares, rows->others[i])]++;
    for (int r = 0; r < size && status == 0; r++) {
        ones[r + 1] = r + 1;
        passage->from_offsets[r + 1] = passage->from_offsets[r] + counts[r];
    }
    if (status == 0)
        status = ranks_exchange(sizeof *counts, counts, ones, passage->into_offsets + 1, ones, error);
    for (int r = 0; r < size && status == 0; r++)
        passage->into_offsets[r + 1] += passage->into_offsets[r];
    free(counts);
    free(ones);
    return status;
}

/* Users ascend within what goes to a rank, and so in all that comes, as ranks have ascending ranges of users.
 */
static int send_rows(struct passage *passage, const struct csr *rows, const int64_t *shares,
                     struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *next = memory_new((size_t)size + 1, sizeof *next);
    passage->from = memory_raw((size_t)passage->from_offsets[size] + 1, sizeof *passage->from);
    passage->into = memory_raw((size_t)passage->into_offsets[size] + 1, sizeof *passage->into);
    int status = next && passage->from && passage->into ? 0 : error_memory(error);
    if (status == 0)
        memcpy(next, passage->from_offsets, (size_t)size * sizeof *next);
    for (int64_t r = 0; r < rows->rows && status == 0; r++)
        for (int64_t i = rows->ptr[r]; i < rows->ptr[r + 1]; i++)
            passage->from[next[rank_of_item(shares, rows->others[i])]++] = (struct item_record){
                (int32_t)r, rows->others[i], rows->values ? rows->values[i] : 1,
                rows->privacy_weights ? rows->privacy_weights[i] : 1, rows->voids && rows->voids[i]};
    free(next);
    if (status == 0)
        status = ranks_exchange(sizeof *passage->from, passage->from, passage->from_offsets, passage->into,
                                passage->into_offsets, error);
    free(passage->from);
    passage->from = NULL;
    return status;
}

/* A counting sort of what has come; ptr is of the rank's own rows then. */
static int build_rows(const struct passage *passage, const struct csr *rows, struct csr *out,
                      struct dpf_error *error)
{
    const int64_t n = passage->into_offsets[ranks_size()];
    const int values = rows->values != NULL, weights = rows->privacy_weights != NULL;
    int64_t *next = memory_new((size_t)out->rows + 1, sizeof *next);
    out->others = memory_raw((size_t)n + 1, sizeof *out->others);
    out->values = values ? memory_raw((size_t)n + 1, sizeof *out->values) : NULL;
    out->privacy_weights = weights ? memory_raw((size_t)n + 1, sizeof *out->privacy_weights) : NULL;
    out->voids = rows->voids ? memory_raw((size_t)n + 1, sizeof *out->voids) : NULL;
    if (!next || !out->others || (values && !out->values) || (weights && !out->privacy_weights) ||
        (rows->voids && !out->voids)) {
        free(next);
        return error_memory(error);
    }
    for (int64_t i = 0; i < n; i++)
        out->ptr[passage->into[i].item + 1]++;
    for (int64_t r = 0; r < out->rows; r++) {
        out->ptr[r + 1] += out->ptr[r];
        next[r] = out->ptr[r];
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = next[passage->into[i].item]++;
        out->others[at] = passage->into[i].user;
        if (values)
            out->values[at] = passage->into[i].value;
        if (weights)
            out->privacy_weights[at] = passage->into[i].weight;
        if (out->voids)
            out->voids[at] = (uint8_t)passage->into[i].is_void;
    }
    free(next);
    return 0;
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
    struct passage passage = {NULL, NULL, NULL, NULL};
    if (agree_on_columns(rows, error) != 0 || decide_items(dataset, error) != 0)
        return -1;
    const int64_t *shares = dataset->shares[DPF_SIDE_ITEMS];
    *out = (struct csr){.rows = dataset->items.n};
    out->ptr = memory_new((size_t)out->rows + 1, sizeof *out->ptr);
    int status = out->ptr ? count_passage(&passage, rows, shares, error) : error_memory(error);
    if (status == 0)
        status = send_rows(&passage, rows, shares, error);
    if (status == 0)
        status = build_rows(&passage, rows, out, error);
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
