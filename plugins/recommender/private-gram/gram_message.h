/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_message.h - what one user adds to a sum, in integers: whoever sums, and wherever, uses these.
 *
 * Integers of a row have 2^13 at most, products 2^26.
 */
#ifndef PRIVATE_GRAM_MESSAGE_H
#define PRIVATE_GRAM_MESSAGE_H

#include "centred_row.h"
#include "gram_plan.h"

/* Which items have a column in a release, and what each weighs in a user's row. */
struct gram_columns {
    int64_t n_items, m;
    const int32_t *column; /* of each item, ascending with it; -1: none */
    const double *weight;  /* of each column, above 0 */
    int32_t bits;
    const struct value_weights *values; /* NULL: all records weigh the same */
    const struct row_centre *centre;    /* NULL: rows of norm 2^bits, of the user's own columns alone */
};

/* Directions of a user's row over some columns: d numbers for each of them. See gram_sum_projected. */
struct gram_directions {
    const struct gram_columns *columns;
    const double *basis;
    int32_t d;
    double least;
    const double *levels; /* CENTRE_LEVELS x d: the centre's levels along the directions; NULL: no centre */
};

/* One worker's room for a user's row: of n columns `at`, integers `row`; then the d of its projection. */
struct gram_desk {
    int32_t *at, *row;
    double *values;
    int32_t level; /* whose row has all columns that are not in `at`; -1: they are 0 */
};

/* Of so many numbers, m + d; n of them from the scratch of the call. -1: no memory. */
int gram_desks_open(const dpf_call *call, int32_t n, int64_t numbers, struct gram_desk **out);

/* Adds to out: n_items integers, or those of the user's items alone. */
void gram_message_counts(const dpf_csr *by_user, int64_t user, int32_t bits, int64_t *out);
/* Fills the desk with the user's row; how many columns it has. */
int64_t gram_message_row(const struct gram_columns *columns, const dpf_csr *by_user, int64_t user,
                         struct gram_desk *desk);
/* Takes the row of the user's level off: what is left in the user's own columns. Returns the level's row, or NULL. */
const int32_t *gram_message_split(const struct gram_columns *columns, int64_t n, struct gram_desk *desk);
/* Adds y_i y_j, i <= j, of a row of n columns to out, the upper triangle row by row (gram_triangle_at). */
void gram_message_pairs(const struct gram_columns *columns, struct gram_desk *desk, int64_t n, int64_t *out);
/* Fills the desk with the user's row, split, and its d integers along the directions after what rows need of the
   desk; how many columns it has. */
int64_t gram_message_along(const struct gram_directions *directions, const struct gram_columns *columns,
                           const dpf_csr *by_user, int64_t user, struct gram_desk *desk,
                           const int32_t **along);
/* Adds y_i w_k to out: m x d integers. The desk has room for gram_message_room numbers. */
void gram_message_projected(const struct gram_directions *directions, const struct gram_columns *columns,
                            const dpf_csr *by_user, int64_t user, struct gram_desk *desk, int64_t *out);

/* Numbers of a desk; directions may be NULL. */
static inline int64_t gram_message_room(const struct gram_columns *columns,
                                        const struct gram_directions *directions)
{
    if (!directions)
        return columns->m;
    return (columns->m > directions->columns->m ? columns->m : directions->columns->m) + directions->d;
}

/* Where z_i z_i stands in an upper triangle of m rows; z_i z_j follows it by j - i. */
static inline int64_t gram_triangle_at(int64_t i, int64_t m)
{
    return i * m - i * (i - 1) / 2;
}

#endif
