/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/negatives.h"

#include <stddef.h>

/* What may be drawn: the pool without the excluded items, numbered in ascending order. */
struct eligible {
    const int32_t *pool;
    const int32_t *excluded;
    int64_t n_excluded;
};

static int32_t pool_item(const struct eligible *e, int64_t position)
{
    return e->pool ? e->pool[position] : (int32_t)position;
}

/* Where the pool has the item, or would have it. */
static int64_t pool_position(const struct eligible *e, int32_t item, int64_t end)
{
    if (!e->pool)
        return item;
    int64_t lo = 0, hi = end;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (e->pool[middle] < item)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/*
 * The number-th eligible item lies at position number + c, c being the excluded items before it.
 * Excluded item i stands before it just if its own position less i is at most number.
 */
static int32_t eligible_item(const struct eligible *e, int64_t number, int64_t n_pool)
{
    int64_t lo = 0, hi = e->n_excluded;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (pool_position(e, e->excluded[middle], n_pool) - middle <= number)
            lo = middle + 1;
        else
            hi = middle;
    }
    return pool_item(e, number + lo);
}

/* Robert Floyd's algorithm: every subset is equally likely, one draw per item. */
static void draw_subset(const struct eligible *e, int64_t n_pool, int64_t n, int64_t wanted,
                        dpf_cursor *cursor, uint8_t *marks, uint8_t bit, int32_t *out)
{
    for (int64_t i = 0; i < wanted; i++) {
        int64_t last = n - wanted + i;
        uint64_t number;
        random_below(cursor, (uint64_t)last + 1, &number, 1);
        int32_t item = eligible_item(e, (int64_t)number, n_pool);
        if (marks[item] & bit)
            item = eligible_item(e, last, n_pool);
        marks[item] |= bit;
        out[i] = item;
    }
    for (int64_t i = 0; i < wanted; i++)
        marks[out[i]] &= (uint8_t)~bit;
}

int64_t negatives_draw(const dpf_stream *stream, const char *user, const int32_t *pool, int64_t n_pool,
                       const int32_t *excluded, int64_t n_excluded, int64_t wanted, uint8_t *marks,
                       uint8_t bit, int32_t *out)
{
    const struct eligible e = {pool, excluded, n_excluded};
    int64_t n = n_pool - n_excluded;
    if (n <= wanted) {
        for (int64_t number = 0; number < n; number++)
            out[number] = eligible_item(&e, number, n_pool);
        return n;
    }
    dpf_cursor cursor;
    random_seek_id(stream, user, &cursor);
    draw_subset(&e, n_pool, n, wanted, &cursor, marks, bit, out);
    return wanted;
}
