/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust_region.h - minimise x'T x - 2 c'x over |x|_2 <= radius, T symmetric tridiagonal, definite or not.
 *
 * x is the minimiser if and only if (T + s I) x = c for some s >= 0 with T + s I positive semidefinite and
 * s (radius - |x|) = 0 (More and Sorensen, SIAM J. Sci. Stat. Comput. 4, 1983, Lemmas 2.1 and 2.3).
 */
#ifndef DPF_TRUST_REGION_H
#define DPF_TRUST_REGION_H

#include "tridiagonal.h"

/* Doubles of work for order d. */
static inline int64_t trust_region_size(int64_t d)
{
    return 4 * d;
}

/*
 * c and x have d numbers and may not overlap. Returns the multiplier s, or NAN if no bracket of it was found,
 * which takes numbers near the ends of the range of float64.
 */
double trust_region(const struct tridiagonal *t, const double *c, double radius, double *x, double *work);

#endif
