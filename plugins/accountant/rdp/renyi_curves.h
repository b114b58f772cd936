/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_curves.h - Renyi divergence of one release, as a function of the order.
 *
 * Every function is an upper bound of max(D_a(P||Q), D_a(Q||P)) in nats for an order a > 1, over all
 * neighbours; rounding errors are added on the safe side where cancellation makes them matter. a may
 * be INFINITY: the pure epsilon, or INFINITY if there is none. A result that cannot be computed is NaN.
 */
#ifndef RENYI_CURVES_H
#define RENYI_CURVES_H

/* A mechanism as its curve sees it. */
struct renyi_curve {
    double (*at)(const struct renyi_curve *curve, double order);
    double epsilon; /* pure epsilon of the whole, INFINITY if none */
    double ratio;   /* kind-specific, see the makers below */
    double offset;
    double variance;
};

/* Noise N(0, (z d)^2) against a shift of L2 norm d. Continuous, or on a grid. */
struct renyi_curve renyi_gaussian(double z);
/* Skellam noise of that variance against shifts of norms l1 and l2, all in grid steps. */
struct renyi_curve renyi_skellam(double variance, double l1, double l2);
/* Laplace noise; epsilon = L1 sensitivity / scale. */
struct renyi_curve renyi_laplace(double epsilon);
/* Discrete Laplace noise; step = grid / scale. */
struct renyi_curve renyi_discrete_laplace(double epsilon, double step);
/* Any epsilon-DP release. */
struct renyi_curve renyi_pure(double epsilon);
/* bits independent bits, each flipped with that probability, differ. */
struct renyi_curve renyi_response(double flip, double bits);
/* xi + rho * order. */
struct renyi_curve renyi_concentrated(double xi, double rho);

/* Epsilon of an epsilon-DP mechanism under a Poisson draw with rate q. */
double renyi_amplified_pure(double epsilon, double q);
/*
 * Poisson sampling with rate q of a mechanism whose dominating pairs are exchanged by an involution
 * (all additive symmetric noise, and bit flips): the one-sided divergence then is the larger one
 * (Mironov, Talwar, Zhang, arXiv 1908.10530, Theorem 5).
 */
double renyi_poisson(const struct renyi_curve *curve, double q, double order);
/* The same for continuous Gaussian noise, exact at fractional orders too (ibid., section 3.3). */
double renyi_poisson_gaussian(double z, double q, double order);

#endif
