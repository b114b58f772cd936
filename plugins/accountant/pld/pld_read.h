/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_read.h - epsilon and delta of a composition that is in a transform, with all errors on the safe side:
 *
 *   delta(e) = sum over x > e of mass(x) (1 - e^{e-x}) + mass at infinity,
 *   mass(x) = e^{K - t x} times the tilted mass at x.
 *
 * An error of Euclidean norm E of the tilted masses is one of at most N E e^{K - t e} of delta, N the norm of
 * e^{-tkh} (1 - e^{-kh}) over k > 0. With 1 - e^{-kh} at most 1 and at most kh, N^2 is at most 1/(1 - r) and
 * h^2 r (1 + r) / (1 - r)^3, r = e^{-2th}: where t is large, the second is less by a factor t^2. Between two
 * grid points 1 - e^{e-x} falls as e grows, so the bound of the lower one holds. What lies right of the
 * window, and what is folded into it from its left, are bounded by Chernoff.
 *
 * A composition known by its frequencies is summed at the points that are asked for; rounding of such a sum is in units of the
 * norm of e^{-tkh} alone. The grid point where epsilon lies is found by halving: delta's bound on one side of it is
 * allowed and on the other it is not, which is all that a bound of epsilon needs, whether or not delta falls between them.
 */
#ifndef PLD_READ_H
#define PLD_READ_H

#include "pld_transform.h"

struct pld_composed {
    const struct pld_transform *transform;
    const struct pld_window *window;
    const struct pld_losses *losses;
    int64_t n;
    int from_below;
};

/* The bound of N; h > 0, tilt > 0. */
double pld_read_norm(double tilt, double h);
/* The least epsilon of that delta, or a lower bound of it; INFINITY if none is known. *slope is about
   -d ln delta / d epsilon there, NaN if it is not known. */
double pld_read_epsilon(const struct pld_composed *composed, double delta, double *slope);
double pld_read_delta(const struct pld_composed *composed, double epsilon, double *slope);

#endif
