/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toeplitz_factor.h - a public lower triangular Toeplitz matrix C in fixed point, and how far C x moves if
 * one unit's parts of x do.
 *
 * C has T rows, one for each round, and the first column c_0 = 1, c_1, .., c_{p-1}, 0, .. of p bands, in
 * whole multiples of 2^-16, that fall: c_0 >= c_1 >= .. >= 0. All sums below are over these integers, so a sensitivity is
 * that of the matrix that is applied, not of the one that it was rounded from.
 *
 * A unit takes part in rounds S, any two of them at least b apart, at most k of them: an admissible pattern.
 * Its parts x_s, s in S, are vectors within a norm of 1, whatever was released before. With G = C'C,
 *
 *   |C x|^2 = sum over s, r in S of G_sr <x_s, x_r>  <=  sum over s, r in S of G_sr,
 *
 * with equality for equal unit vectors. Which pattern has the largest sum: let the later one of two rounds be t (from 0)
 * and their distance be d: G is the sum over i = 0 .. T-1-t of c_i c_{i+d}, which falls in t and in d. The j-th round of
 * any pattern (from 0) is jb or later, and the i-th and the j-th are (j-i)b apart or more. So each term of its sum is at
 * most the one of S* = {0, b, 2b, ..}, which has as many rounds as any. S* is the worst, and its sum is attained.
 * (Kalinin and Lampert, arXiv 2405.13763, Theorem 2.)
 *
 * No zero of the polynomial c is inside of the unit circle (Enestrom, Kakeya), so C^-1 does not grow exponentially.
 */
#ifndef DPF_MECHANISM_TOEPLITZ_FACTOR_H
#define DPF_MECHANISM_TOEPLITZ_FACTOR_H

#include <stdint.h>

#define TOEPLITZ_BITS 16 /* of the fraction of a coefficient */
#define TOEPLITZ_MOST_ROUNDS (INT64_C(1) << 20)
#define TOEPLITZ_MOST_BANDS 16384

/* How a unit takes part: in rounds at least separation apart, of `rounds`, participations of them at most. */
struct toeplitz_pattern {
    int64_t rounds;
    int64_t separation;
    int64_t participations;
};

struct toeplitz_sensitivity {
    double l2;      /* of C x, where no part of x has an L2 norm above 1 */
    double l1;      /* a bound in L1, for parts within 1 in L1 */
    double linf;    /* and in the maximum norm */
    int64_t rounds; /* in which C x moves at most */
};

/* The integers of the square root of the matrix of ones, 4^-i (2i over i), 0 <= i < n, rounded. */
void toeplitz_square_root(int64_t n, int64_t *out);
/* Rounds in the worst pattern: min(participations, ceil(rounds / separation)). */
int64_t toeplitz_participations(const struct toeplitz_pattern *pattern);
/*
 * c has n numbers, the bands, which fall; 1 <= n <= rounds <= TOEPLITZ_MOST_ROUNDS, n <= TOEPLITZ_MOST_BANDS. scratch has
 * room for a number of each round. l2 is rounded up.
 */
void toeplitz_reach(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern, double *scratch,
                    struct toeplitz_sensitivity *out);

#endif
