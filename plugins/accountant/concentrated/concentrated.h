/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concentrated.h - zero-concentrated differential privacy and what it says of delta at epsilon.
 *
 * A release is (xi, rho)-zCDP if its Renyi divergences are at most xi + rho a for every order a > 1 (Bun,
 * Steinke, arXiv 1605.02065, Definition 8.1; they compose by Lemma 8.2). Then delta is at most e^{(a-1)(xi +
 * rho a - epsilon)} (1 - 1/a)^a / (a - 1) at every order (Canonne, Kamath, Steinke, arXiv 2004.00010,
 * Proposition 12). The logarithm is convex in a, so its minimum is bisected; every order is a valid bound.
 */
#ifndef DPF_PLUGINS_CONCENTRATED_H
#define DPF_PLUGINS_CONCENTRATED_H

struct concentrated {
    double xi;
    double rho;
};

/* At most 0. */
double concentrated_log_delta(const struct concentrated *bound, double epsilon);
/* In grid steps: variance, and the norms of a shift. See dpf_skellam_line. */
struct concentrated concentrated_skellam(double variance, double l1, double l2);

#endif
