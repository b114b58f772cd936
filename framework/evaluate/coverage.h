/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - over all lists: the expected share of items that appear in a list, and how evenly they appear.
 *
 * An item is missing from all lists with the probability prod_u (1 - p_u), where p_u is its chance to be in the
 * first k of user u. Logarithms are added as saturating integers, so the result does not depend on the order of
 * users.
 */
#ifndef DPF_EVALUATE_COVERAGE_H
#define DPF_EVALUATE_COVERAGE_H

#include <stdint.h>

/* -log of the chance to be missing, in steps of 2^-50; COVERAGE_CERTAIN: in a list for certain. */
#define COVERAGE_CERTAIN (INT64_C(1) << 56)

/* The step for an item that is among the first k with probability p in (0, 1]. */
int64_t coverage_step(double p);
static inline void coverage_add(int64_t *sum, int64_t step)
{
    int64_t added = *sum + step; /* both at most 2^56 */
    *sum = added < COVERAGE_CERTAIN ? added : COVERAGE_CERTAIN;
}
/* The expected share, from the sums of n items. */
double coverage_share(const int64_t *sums, int64_t n);

/* How often an item is in a list, in steps of 2^-32: the step for probability p. */
static inline int64_t exposure_step(double p)
{
    return (int64_t)(p * 0x1p32 + 0.5);
}
/* Gini index of the sums of n items, which are sorted in place: 0 if all are equal, 1 - 1/n if one has all;
   NaN if all are 0. */
double exposure_gini(int64_t *sums, int64_t n);

#endif
