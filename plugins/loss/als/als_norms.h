/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_norms.h - what one unit can change in the blocks of a quadratic query.
 *
 * A record contributes a y y' to A, t y to b and w to the count. y is bounded in three norms, which
 * bound each other. The norms of y y' count the entries that are released: all d^2 in layout FULL, the
 * lower triangle in PACKED. sum_{j<=i} |y_i y_j| = (|y|_1^2 + |y|_2^2) / 2 and
 * sum_{j<=i} y_i^2 y_j^2 = (|y|_2^4 + |y|_4^4) / 2, with |y|_4^4 <= |y|_2^2 |y|_inf^2.
 */
#ifndef DPF_ALS_NORMS_H
#define DPF_ALS_NORMS_H

#include "dpframe/privacy.h"
#include "dpframe/query.h"

/* Largest contributions of one record to each block, and of a change of its value alone. */
struct als_contribution {
    dpf_norms present[3]; /* A, b, count */
    dpf_norms revalued[3];
    int psd; /* 1 if a >= 0 always: two contributions to A then never point in opposite directions */
};

/* What bounds say about y, made consistent. */
dpf_norms als_vector_norms(const dpf_bounds *bounds);
/* The largest change of one record's value. */
double als_value_change(const dpf_bounds *bounds);
/* Norms of y y' in a layout. */
dpf_norms als_outer_norms(const dpf_norms *y, uint32_t layout, const dpf_bounds *bounds);
dpf_norms als_scaled(dpf_norms norms, double factor); /* 0 times infinity is 0 */

/* Spreads a record's contributions over units and adjacencies; statements not made stay as they are. */
void als_unit_sensitivity(const dpf_query *query, const dpf_bounds *bounds, const struct als_contribution *c,
                          int flip, dpf_sensitivity *blocks);
/*
 * The Gram matrix, factor times the sum of y y' over the other side. Only a user can change it,
 * and only where users are the other side.
 */
void als_gram_sensitivity(const dpf_query *query, const dpf_bounds *bounds, double factor, int flip,
                          dpf_sensitivity *gram);

#endif
