/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_pair.h - the pair of distributions that one release is judged by.
 *
 * A dominating pair (P, Q) has at least the hockey-stick divergence of the release for any two neighbours, at
 * every epsilon, and so have its products (Zhu, Dong, Wang, arXiv 2106.08567, Theorem 10). All that is needed
 * of it is how much of P and of Q lies above and below a privacy loss ln(P/Q).
 *
 *   Gaussian      N(mu, 1) against N(0, 1); under a rotation every shift of norm mu is this one.
 *   Laplace       a shift by E scales in one coordinate. It dominates the product of shifts by a and b with
 *                 a + b = E: with D(x) = 1 - e^{(x-E)/2} the divergence of one shift, the product's is
 *                 1 - (1 + a/2 - c) e^{(x-E)/2}, where c = ((a+x-b)_+ + (a-x-b)_+)/4 <= a/2 for |x| <= E.
 *   discrete      on a grid of s scales, shifts by m steps. D has the same values as Laplace with E = sm at
 *   Laplace       x = s(m-2j) and is linear in e^x between them; the same computation with sums for integrals
 *                 gives 1 - (1 + ta - t((a-j)_+ + (j-b)_+)) e^{-sj}, t = tanh(s/2).
 *   response      two points, which dominate every (E, 0)-DP release (Kairouz, Oh, Viswanath, arXiv
 *                 1311.0776), and with mass delta apart every (E, delta)-DP one.
 *   discrete      a shift by one step, exactly; larger ones by the points of shift_mixes.h on a coarse grid,
 *   Gaussian      and from above as in integer_noise.h on a fine one. From below: a
 *   Gaussian      discrete Gaussian, s >= 6 grid steps, with a continuous one of variance 9 added to it is a
 *                 continuous one of variance s^2 + 9 but for a factor within 1 +- 5 e^{-2 pi^2 v}, v = 9 s^2
 * / (s^2 + 9) > 7, which is below 1 +- 1e-59 for each coordinate (Poisson summation). Skellam       a
 * Gaussian pair from above, see integer_noise.h; nothing from below.
 *
 *   points        see pld_table.h.
 *
 * Every pair but one of points is exchanged by an involution. A Poisson draw breaks that: removing the unit
 * gives ((1-q) Q + q P against Q), adding it the reverse; both are dominating pairs of their direction
 * (ibid., Theorem 11).
 */
#ifndef PLD_PAIR_H
#define PLD_PAIR_H

#include "dpframe/accounting.h"
#include "pld_table.h"

enum pld_shape {
    PLD_GAUSSIAN,
    PLD_LAPLACE,
    PLD_DISCRETE_LAPLACE,
    PLD_RESPONSE,
    PLD_DISCRETE_GAUSSIAN,
    PLD_POINTS
};

struct pld_pair {
    enum pld_shape shape;
    double size;  /* mu, or E */
    double step;  /* grid steps in scales; of the discrete Gaussian its scale in grid steps */
    double steps; /* m */
    double lost;  /* mass of P where Q has none, and the reverse */
    double norm;  /* of the discrete Gaussian */
    double rate;  /* of a Poisson draw, 1 for none */
    int adding;   /* the direction, where that matters */
    const struct pld_table *table; /* of the points, not owned */
};

/* Masses of a loss at most x, and above it. */
struct pld_tails {
    double p_low, q_low;
    double p_high, q_high;
    double error; /* bound on the relative error of those below 1/2 */
};

/*
 * Pairs of a charge: one from above, one from below; *copies is the number of copies. Returns NULL, or why
 * there is none. A pair from below with copies 0 says nothing.
 */
const char *pld_pair_make(const dpf_charge *charge, int from_below, struct pld_pair *out, double *copies);

struct pld_tails pld_pair_tails(const struct pld_pair *pair, double loss);
/* Mass of P where the loss is infinite. */
double pld_pair_infinite(const struct pld_pair *pair);
/* The largest finite loss, or INFINITY; with lost mass it is that of the rest. */
double pld_pair_largest(const struct pld_pair *pair);
/* The smallest loss that has mass of P, or -INFINITY. */
double pld_pair_smallest(const struct pld_pair *pair);

/* The pair of a table, without a draw. */
struct pld_pair pld_pair_points(const struct pld_table *table);

#endif
