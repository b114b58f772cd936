/* SPDX-License-Identifier: Apache-2.0 */
/*
 * centred_row.h - a user's row with less of what all users share, as integers with an exact bound.
 *
 * z is the user's row of norm 1, and q the row, also of norm 1, that the released counts lead one to expect of
 * anybody. Most of z lies along q, which is known already. So the user sends less of it:
 *     y = L z - beta q,    beta about L (1 - s) (z q),
 * with L such that y just meets the bound
 *     (sum y^2)^2 - (1 - t^2) sum y^4 <= 2^(4 bits).
 * With t = 1 the norm is 2^bits at most. t < 1 is for a sum of y_i y_j, i <= j, whose diagonal has 1/t times the
 * noise of a plain Gram (gram_plan.c). The left side rises in every |y_i|, so moving numbers toward zero ends within the
 * bound. That happens last, and in integers, so the bound holds whatever the numbers before were.
 *
 * y has a number for every column. To keep sums as cheap as those of z, beta is one of a few levels. Outside of the
 * user's own columns y equals the row of its level, which is known, and which all users of that level share.
 */
#ifndef PRIVATE_GRAM_CENTRED_ROW_H
#define PRIVATE_GRAM_CENTRED_ROW_H

#include "dpframe/host.h"

#define CENTRE_LEVELS 128

/* Exact sums over the integers of a row. */
__extension__ typedef __int128 row_sum;
struct row_sums {
    row_sum squares, fourths;
};

struct row_centre {
    int64_t m;
    int32_t bits;
    int32_t spared;      /* hundredths: 100 (1 - t^2) */
    double part;         /* 1 - s; 0: rows stay as they are, and no level is used */
    const double *along; /* q: m */
    double beta[CENTRE_LEVELS];
    int32_t *level; /* CENTRE_LEVELS rows of m integers: -beta q, rounded */
    struct row_sums sums[CENTRE_LEVELS];
    double fourths; /* sum of q^4 */
};

/* 0; -1: no memory. `along` stays the caller's, and may be NULL where part is 0. */
int row_centre_make(const dpf_call *call, int64_t m, int32_t bits, int32_t spared, double part,
                    const double *along, struct row_centre *out);

/* The row of a user with `values` in n columns, scaled to norm 1: the integers of these columns, and the
   level whose row has the others; -1: they are 0. */
int32_t row_centre_apply(const struct row_centre *centre, const int32_t *at, double *values, int64_t n,
                         int32_t *out);

/* The integers of a level, or NULL for -1. */
static inline const int32_t *row_centre_level(const struct row_centre *centre, int32_t level)
{
    return level < 0 ? NULL : centre->level + level * centre->m;
}

#endif
