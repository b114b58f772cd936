/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concentrated.h - zero-concentrated differential privacy and what it says of delta at epsilon.
 *
 * A release is (xi, rho)-zCDP if its Renyi divergences are at most xi + rho a for every order a > 1 (Bun,
 * Steinke, arXiv 1605.02065, Definition 8.1; they compose by Lemma 8.2). Then delta is at most e^{(a-1)(xi +
 * rho a - epsilon)} (1 - 1/a)^a / (a - 1) at every order (Canonne, Kamath, Steinke, arXiv 2004.00010,
 * Proposition 12). The logarithm is convex in a, so its minimum is bisected; every order is a valid bound.
 *
 * Skellam noise of variance V (in grid steps) has, at integer orders, a divergence of at most
 *   a L2^2/(2V) + min(((2a-1) L2^2 + 6 L1)/(4V^2), 3 L1/(2V))
 * (Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5), that is xi + rho a with either
 *   rho = L2^2/(2V) (1 + 1/V), xi = (6 L1 - L2^2)/(4V^2),   or   rho = L2^2/(2V), xi = 3 L1/(2V).
 * Divergences grow with the order, so at any order the one at the next integer is a bound: xi + rho more does
 * for all of them.
 */
#ifndef DPF_PLUGINS_CONCENTRATED_H
#define DPF_PLUGINS_CONCENTRATED_H

struct concentrated {
    double xi;
    double rho;
};

/* At most 0. */
double concentrated_log_delta(const struct concentrated *bound, double epsilon);
/* In grid steps: variance, and the norms of a shift. */
struct concentrated concentrated_skellam(double variance, double l1, double l2);

#endif
