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
        keep_array((void **)&csr->privacy_weights, sizeof *csr->privacy_weights, begin, n) != 0)
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
