/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_laws.h - draws from the discrete laws in interval arithmetic, with as many digits as a draw needs.
 *
 * These functions define the draws; noise_discrete.c nearly always finds the same numbers faster. MPFR rounds
 * every operation in the given direction, so an interval contains the true value. Where its two ends lead to
 * different answers, the function makes more digits of the uniform reals and raises the precision. The number
 * sought is irrational for all but a null set of reals, so this ends.
 */
#ifndef DPF_BASE_EXACT_LAWS_H
#define DPF_BASE_EXACT_LAWS_H

#include "base/exact_cell.h"

/* |X| of the discrete Laplace law of scale t: floor of t ln(2 / (1 + exp(-1/t))) - t ln v. */
uint64_t exact_laplace(const struct exact_real *v, uint64_t t);

/* |X| of the discrete Gaussian law of scale s: how many k >= 1 have v < Pr[|X| >= k]. guess is where to
 * begin. */
uint64_t exact_gaussian_inverse(const struct exact_real *v, uint64_t s, uint64_t guess);
/* floor(2^63 Pr[|X| >= k]) for k = 1 .. n. Returns 0, or -1 when out of memory. */
int exact_gaussian_table(uint64_t s, uint64_t *heads, int n);

/*
 * The proposal and the decision of rejection. The normal number is sqrt(-2 ln u1) times the cosine (sine: 1)
 * of (u2 - 1/8) 2 pi; *k is the integer nearest to it times sqrt(s^2 + s/2). u3 decides whether it is kept.
 */
void exact_gaussian_proposal(const struct exact_real *u1, const struct exact_real *u2, int sine, uint64_t s,
                             int64_t *k);
int exact_gaussian_keeps(const struct exact_real *u1, const struct exact_real *u2, int sine,
                         const struct exact_real *u3, uint64_t s, int64_t k);

/* How many j >= 1 have v < e^(2 - j) / (2 e - 1): floor(2 - ln(2 e - 1) - ln v). */
uint64_t exact_poisson_block(const struct exact_real *v);
/*
 * Whether u < e^paid mass, where mass is the probability of the Poisson law of that mean at mean + k (left:
 * at mean - 1 - k), as a part of that at its modes mean and mean - 1.
 */
int exact_poisson_keeps(const struct exact_real *u, uint64_t mean, uint64_t k, int left, uint64_t paid);

#endif
