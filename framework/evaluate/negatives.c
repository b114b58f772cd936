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

/* ---- by records ---------------------------------------------------------------------------------------- */

#define TRIES 64 /* after so many items that cannot be drawn, those that can are added up */

struct by_records {
    struct eligible of;
    int64_t n_pool, n_items;
    const int64_t *ptr;
    const uint8_t *marks; /* with `bit`: excluded, or drawn before */
    uint8_t bit;
};

static int64_t records_of(const struct by_records *b, int32_t item)
{
    return b->ptr[item + 1] - b->ptr[item];
}

static int is_left(const struct by_records *b, int32_t item)
{
    if (b->marks[item] & b->bit)
        return 0;
    const int64_t at = pool_position(&b->of, item, b->n_pool);
    return !b->of.pool || (at < b->n_pool && b->of.pool[at] == item);
}

/* The item that has a record, by its number among all. */
static int32_t item_of_record(const struct by_records *b, int64_t record)
{
    int64_t lo = 0, hi = b->n_items - 1;
    while (lo < hi) {
        const int64_t middle = hi - (hi - lo) / 2;
        if (b->ptr[middle] <= record)
            lo = middle;
        else
            hi = middle - 1;
    }
    return (int32_t)lo;
}

static int64_t records_left(const struct by_records *b)
{
    int64_t left = b->of.pool ? 0 : b->ptr[b->n_items];
    for (int64_t i = 0; b->of.pool && i < b->n_pool; i++)
        left += is_left(b, b->of.pool[i]) ? records_of(b, b->of.pool[i]) : 0;
    for (int64_t i = 0; !b->of.pool && i < b->of.n_excluded; i++)
        left -= records_of(b, b->of.excluded[i]);
    return left;
}

/* Of `left` records of items that can be drawn: an item that cannot is drawn again, which leaves the odds as they are. */
static int32_t draw_one(const struct by_records *b, int64_t left, dpf_cursor *cursor)
{
    uint64_t record;
    for (int i = 0; i < TRIES; i++) {
        random_below(cursor, (uint64_t)b->ptr[b->n_items], &record, 1);
        const int32_t item = item_of_record(b, (int64_t)record);
        if (is_left(b, item))
            return item;
    }
    random_below(cursor, (uint64_t)left, &record, 1);
    int64_t at = 0;
    for (int64_t before = 0;; at++) {
        const int32_t item = pool_item(&b->of, at);
        before += is_left(b, item) ? records_of(b, item) : 0;
        if (before > (int64_t)record)
            return item;
    }
}

int64_t negatives_draw_by_records(const dpf_stream *stream, const char *user, const int64_t *ptr,
                                  int64_t n_items, const int32_t *pool, int64_t n_pool,
                                  const int32_t *excluded, int64_t n_excluded, int64_t wanted, uint8_t *marks,
                                  uint8_t bit, int32_t *out)
{
    const struct by_records b = {{pool, excluded, n_excluded}, n_pool, n_items, ptr, marks, bit};
    int64_t n = 0;
    dpf_cursor cursor;
    random_seek_id(stream, user, &cursor);
    for (int64_t i = 0; i < n_excluded; i++)
        marks[excluded[i]] |= bit;
    for (int64_t left = records_left(&b); n < wanted && left > 0; n++) {
        out[n] = draw_one(&b, left, &cursor);
        left -= records_of(&b, out[n]);
        marks[out[n]] |= bit;
    }
    for (int64_t i = 0; i < n; i++)
        marks[out[i]] &= (uint8_t)~bit;
    for (int64_t i = 0; i < n_excluded; i++)
        marks[excluded[i]] &= (uint8_t)~bit;
    return n;
}
