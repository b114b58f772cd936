/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective_utility.h - what perturbed objectives cost: Theorems 4 and 5 of DPIMF, as published and as they
 * can be derived.
 *
 * A row q minimises q'Aq - b'q + lambda n |q|^2 over |q| <= N = sqrt(1/lambda), after Laplace noise on A, b
 * and n. The bounds are on the expected excess of the noiseless objective at that q over its minimum. They
 * hold for one row and one solve, with the other side's rows fixed and no entry of them above c.
 *
 * As published (gamma_1 .. gamma_4 for the strawman, com, sym, opt):
 *   gamma_1 = sqrt2 c d N (N + 2 / sqrt d) (d + 1)^2 / epsilon
 *   gamma_2 = sqrt2 c d N (N d^2 (1 - alpha0) / beta_2 + 4 sqrt d / beta_1) / epsilon
 *   gamma_3 = sqrt2 c d N (N d (d + 1) (1 - alpha0) / (2 beta_2) + 4 sqrt d / beta_1) / epsilon
 *   gamma_4 = 4 sqrt(2 d) c d N / epsilon
 * beta_1 is the share of the first-order, beta_2 of the second-order coefficients.
 *
 * The published derivation puts c for c^2, which needs c <= 1; it puts (d + 1)^2 c for (c d + 1)^2, which
 * needs 1 / d^2 <= c <= 1; it drops the noise eta of the count, whose product with |q|^2 has no mean of 0 at
 * the minimiser; and it counts b twice. Derived here, with scales s_2, s_1, s_3 of the three kinds of noise:
 *   N^2 E|B|_F + N E|b|_2 + lambda N^2 E|eta| <= sqrt2 d N^2 s_2 + sqrt(2 d) N s_1 + s_3.
 * For the strawman that is the excess of its own objective, Eq. 6, not of Eq. 13. For sampled records nothing
 * is derived: the sample is random, too, and the minimiser depends on it.
 *
 * Theorem 4 is about the objective without noise: L (Eq. 13) leaves out of L_O (Eq. 6) alpha0 of the cells
 * with records. Published, for the |U| records of a row: L(q*) - L_O(q') <= alpha0 |U| N^2 (lambda + 2 d
 * c^2). Since L <= L_O everywhere, the left side is never above 0. What the new objective costs under the old
 * one, L_O(q*) - L_O(q'), is at most alpha0 |U| (d c^2 + lambda) N^2: L_O - L is alpha0 sum_records ((p.q)^2
 * + lambda |q|^2), which lies between 0 and that on the ball, and L(q*) <= L(q').
 */
#ifndef OBJECTIVE_UTILITY_H
#define OBJECTIVE_UTILITY_H

#include <stdint.h>

enum objective_scheme { OBJECTIVE_STR, OBJECTIVE_COM, OBJECTIVE_SYM, OBJECTIVE_OPT, OBJECTIVE_SCHEMES };

struct objective_setting {
    int64_t d;      /* unknowns of a row, >= 1 */
    double radius;  /* N > 0 */
    double largest; /* c > 0 */
    double epsilon; /* > 0, of one release */
    double alpha0;  /* 0 .. 1 */
    double beta[4]; /* beta_1 .. beta_3 at 1 .. 3: shares of epsilon for first order, second order, count */
};

/* alpha0 * records * N^2 (lambda + 2 d c^2), and what is derived, both at lambda = 1 / N^2. */
struct objective_change {
    double published, derived;
};
struct objective_change objective_change(const struct objective_setting *setting, double records);

struct objective_bounds {
    double published[OBJECTIVE_SCHEMES];
    double derived[OBJECTIVE_SCHEMES];
    int claimed;   /* Corollary 1 says that gamma_1 > gamma_2: alpha0 >= 1 - beta_2, d >= sqrt(1 / beta_1) - 1
                    */
    int separated; /* it follows: alpha0 >= 1 - beta_2 and beta_1 (d + 1)^2 >= 2 d */
};

/* Infinite where a kind of noise has no share of epsilon but has something to hide. */
void objective_bounds(const struct objective_setting *setting, struct objective_bounds *out);

#endif
