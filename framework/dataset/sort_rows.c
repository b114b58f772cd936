/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/sort_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ROWS_PER_TASK 1024

static void insertion(uint64_t *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

void sort_keys(uint64_t *keys, uint64_t *scratch, int64_t n)
{
    if (n <= 32) { /* the lower bits ascend in input order, so plain order is stable order */
        uint64_t lower = 0;
        int ascending = 1;
        for (int64_t i = 0; i < n; i++) {
            ascending &= i == 0 || (keys[i] & UINT32_MAX) > lower;
            lower = keys[i] & UINT32_MAX;
        }
        if (ascending) {
            insertion(keys, n);
            return;
        }
    }
    uint64_t all = 0;
    for (int64_t i = 0; i < n; i++)
        all |= keys[i];
    uint64_t *from = keys, *to = scratch;
    for (int shift = 32; shift < 64 && all >> shift; shift += 8) {
        int64_t starts[256] = {0};
        for (int64_t i = 0; i < n; i++)
            starts[from[i] >> shift & 255]++;
        int64_t total = 0;
        for (int b = 0; b < 256; b++) {
            int64_t count = starts[b];
            starts[b] = total;
            total += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[starts[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)n * sizeof *keys);
}

/* Brings array[0..n) into the order of the keys' lower halves; size 1, 4 or 8 bytes. */
static void permute(void *array, size_t size, const uint64_t *keys, void *scratch, int64_t n)
{
    if (!array)
        return;
    memcpy(scratch, array, (size_t)n * size);
    if (size == 1) {
        uint8_t *out = array;
        const uint8_t *in = scratch;
        for (int64_t i = 0; i < n; i++)
            out[i] = in[keys[i] & UINT32_MAX];
    } else if (size == 4) {
        uint32_t *out = array;
        const uint32_t *in = scratch;
        for (int64_t i = 0; i < n; i++)
            out[i] = in[keys[i] & UINT32_MAX];
    } else {
        uint64_t *out = array;
        const uint64_t *in = scratch;
        for (int64_t i = 0; i < n; i++)
            out[i] = in[keys[i] & UINT32_MAX];
    }
}

static void *offset(void *array, size_t size, int64_t start)
{
    return array ? (char *)array + (size_t)start * size : NULL;
}

static void sort_row(struct ratings *ratings, int64_t start, int64_t n, uint64_t *keys, uint64_t *scratch)
{
    struct csr *csr = &ratings->csr;
    int32_t *others = csr->others + start;
    int sorted = 1;
    for (int64_t i = 0; i < n; i++) {
        keys[i] = (uint64_t)(uint32_t)others[i] << 32 | (uint64_t)i;
        sorted &= i == 0 || others[i - 1] <= others[i];
        if (ratings->order)
            ratings->order[start + i] = (int32_t)i;
    }
    if (sorted)
        return;
    sort_keys(keys, scratch, n);
    for (int64_t i = 0; i < n; i++)
        others[i] = (int32_t)(keys[i] >> 32);
    permute(offset(csr->values, 4, start), 4, keys, scratch, n);
    permute(offset(csr->privacy_weights, 4, start), 4, keys, scratch, n);
    if (csr->voids && memchr(csr->voids + start, 1, (size_t)n)) /* there are few */
        permute(csr->voids + start, 1, keys, scratch, n);
    permute(offset(ratings->times, 8, start), 8, keys, scratch, n);
    permute(offset(ratings->order, 4, start), 4, keys, scratch, n);
}

static int sort_task(void *context, int64_t task, int worker)
{
    struct ratings *ratings = context;
    const struct csr *csr = &ratings->csr;
    (void)worker;
    int64_t first = task * ROWS_PER_TASK;
    int64_t last = first + ROWS_PER_TASK < csr->rows ? first + ROWS_PER_TASK : csr->rows;
    int64_t longest = 0;
    for (int64_t r = first; r < last; r++)
        if (csr->ptr[r + 1] - csr->ptr[r] > longest)
            longest = csr->ptr[r + 1] - csr->ptr[r];
    uint64_t *keys = memory_raw(2 * (size_t)longest, sizeof *keys);
    if (!keys)
        return -1;
    for (int64_t r = first; r < last; r++)
        sort_row(ratings, csr->ptr[r], csr->ptr[r + 1] - csr->ptr[r], keys, keys + longest);
    free(keys);
    return 0;
}

int sort_rows(struct ratings *ratings, struct pool *pool, struct dpf_error *error)
{
    int64_t tasks = (ratings->csr.rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    int status = 0;
    if (pool)
        status = pool_run(pool, tasks, sort_task, ratings);
    for (int64_t t = 0; !pool && t < tasks && status == 0; t++)
        status = sort_task(ratings, t, 0);
    return status == 0 ? 0 : error_memory(error);
}
