/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dpframe/privacy.h"

#define SMALLEST_CHUNK 16
#define MOST_CHUNKS 4096
#define ROW_COST 8 /* of a row beside its records, in records: rows without any are solved, too */

int64_t shares_chunk(int64_t n_users)
{
    const int64_t users = (n_users + MOST_CHUNKS - 1) / MOST_CHUNKS;
    return users < SMALLEST_CHUNK ? SMALLEST_CHUNK : users;
}

int shares_rank(const int64_t *offsets, int64_t row)
{
    int low = 0, high = ranks_size() - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (row < offsets[middle + 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void shares_even(int64_t n, int64_t *offsets)
{
    const int size = ranks_size();
    for (int r = 0; r <= size; r++)
        offsets[r] = (int64_t)((__int128)n * r / size);
}

/* Ranges of whole units of rows, of about as many records each. */
static void balance(const int64_t *ptr, int64_t rows, int64_t unit, int64_t *bounds)
{
    const int size = ranks_size();
    const int64_t all = ptr[rows] + ROW_COST * rows;
    int64_t row = 0;
    bounds[0] = 0;
    for (int r = 1; r <= size; r++) {
        const int64_t target = (int64_t)((__int128)all * r / size);
        while (row < rows && (r == size || ptr[row] + ROW_COST * row < target))
            row = row + unit < rows ? row + unit : rows;
        bounds[r] = row;
    }
}

static int keep_array(void **array, size_t size, int64_t first, int64_t n)
{
    if (!*array)
        return 0;
    void *own = memory_raw((size_t)n + 1, size);
    if (!own)
        return -1;
    memcpy(own, (char *)*array + (size_t)first * size, (size_t)n * size);
    free(*array);
    *array = own;
    return 0;
}

/* Places of records then count from the first that is here, and are negative before it. */
static int keep_rows(struct csr *csr, int64_t first, int64_t last, struct dpf_error *error)
{
    if (!csr->ptr)
        return 0;
    const int64_t begin = csr->ptr[first], n = csr->ptr[last] - begin;
    if (keep_array((void **)&csr->others, sizeof *csr->others, begin, n) != 0 ||
        keep_array((void **)&csr->values, sizeof *csr->values, begin, n) != 0 ||
        keep_array((void **)&csr->privacy_weights, sizeof *csr->privacy_weights, begin, n) != 0 ||
        keep_array((void **)&csr->voids, sizeof *csr->voids, begin, n) != 0)
        return error_memory(error);
    for (int64_t r = 0; r <= csr->rows; r++)
        csr->ptr[r] -= begin;
    csr->origin += begin;
    return 0;
}

int shares_decide(struct dataset *dataset, int side, const int64_t *ptr, int64_t n, struct dpf_error *error)
{
    dataset->shares[side] = memory_new((size_t)ranks_size() + 1, sizeof **dataset->shares);
    if (!dataset->shares[side])
        return error_memory(error);
    balance(ptr, n, side == DPF_SIDE_USERS ? shares_chunk(n) : 1, dataset->shares[side]);
    return 0;
}

int shares_keep_own(struct dataset *dataset, struct dpf_error *error)
{
    const int rank = ranks_rank();
    if (ranks_size() == 1 || dataset->shares[DPF_SIDE_USERS])
        return 0;
    if (shares_decide(dataset, DPF_SIDE_USERS, dataset->train.by_user.ptr, dataset->users.n, error) != 0 ||
        shares_decide(dataset, DPF_SIDE_ITEMS, dataset->train.by_item.ptr, dataset->items.n, error) != 0)
        return -1;
    const int64_t *users = dataset->shares[DPF_SIDE_USERS], *items = dataset->shares[DPF_SIDE_ITEMS];
    if (keep_rows(&dataset->train.by_user, users[rank], users[rank + 1], error) != 0 ||
        keep_rows(&dataset->test.by_user, users[rank], users[rank + 1], error) != 0)
        return -1;
    return keep_rows(&dataset->train.by_item, items[rank], items[rank + 1], error);
}

int64_t shares_first(const struct dataset *dataset, int side)
{
    return dataset->shares[side] ? dataset->shares[side][ranks_rank()] : 0;
}

int64_t shares_last(const struct dataset *dataset, int side)
{
    if (dataset->shares[side])
        return dataset->shares[side][ranks_rank() + 1];
    return side == DPF_SIDE_USERS ? dataset->users.n : dataset->items.n;
}

void shares_offsets(const struct dataset *dataset, int side, int64_t *offsets)
{
    if (dataset->shares[side]) {
        memcpy(offsets, dataset->shares[side], ((size_t)ranks_size() + 1) * sizeof *offsets);
        return;
    }
    offsets[0] = 0;
    for (int r = 1; r <= ranks_size(); r++)
        offsets[r] = side == DPF_SIDE_USERS ? dataset->users.n : dataset->items.n;
}

/* ---- records that are not void ------------------------------------------------------------------------- */

static int reserve_like(const struct csr *from, int64_t n, struct csr *out)
{
    const size_t count = (size_t)n + 1;
    *out = (struct csr){.rows = from->rows, .ptr = memory_new((size_t)from->rows + 1, sizeof *out->ptr)};
    out->others = memory_raw(count, sizeof *out->others);
    out->values = from->values ? memory_raw(count, sizeof *out->values) : NULL;
    out->privacy_weights = from->privacy_weights ? memory_raw(count, sizeof *out->privacy_weights) : NULL;
    return out->ptr && out->others && (!from->values || out->values) &&
                   (!from->privacy_weights || out->privacy_weights)
               ? 0
               : -1;
}

static void copy_entry(const struct csr *from, int64_t i, struct csr *out, int64_t at)
{
    out->others[at] = from->others[i];
    if (from->values)
        out->values[at] = from->values[i];
    if (from->privacy_weights)
        out->privacy_weights[at] = from->privacy_weights[i];
}

/* Rows first .. last-1 are here. Numbers of records become places, those of all ranks' rows. */
static int take_sound(const struct dataset *dataset, int side, const struct csr *from, struct csr *out,
                      struct dpf_error *error)
{
    const int64_t first = shares_first(dataset, side), last = shares_last(dataset, side);
    int64_t n = 0;
    if (reserve_like(from, from->ptr[last] - from->ptr[first], out) != 0)
        return error_memory(error);
    for (int64_t r = first; r < last; r++)
        for (int64_t i = from->ptr[r]; i < from->ptr[r + 1]; i++)
            if (!from->voids[i]) {
                copy_entry(from, i, out, n++);
                out->ptr[r + 1]++;
            }
    if (dataset->shares[side] &&
        ranks_gather(out->ptr + 1, sizeof *out->ptr, dataset->shares[side], error) != 0)
        return -1;
    for (int64_t r = 0; r < out->rows; r++)
        out->ptr[r + 1] += out->ptr[r];
    out->origin = out->ptr[first];
    for (int64_t r = 0; r <= out->rows; r++)
        out->ptr[r] -= out->origin;
    return 0;
}

int shares_sound_records(const struct dataset *dataset, struct records *out, struct dpf_error *error)
{
    const struct records *all = &dataset->train;
    memset(out, 0, sizeof *out);
    if (take_sound(dataset, DPF_SIDE_USERS, &all->by_user, &out->by_user, error) == 0 &&
        take_sound(dataset, DPF_SIDE_ITEMS, &all->by_item, &out->by_item, error) == 0) {
        out->n = out->by_user.ptr[out->by_user.rows] - out->by_user.ptr[0];
        return 0;
    }
    records_free(out);
    return -1;
}
