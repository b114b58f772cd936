/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares_law.h - sums of parties' shares against the exact law of their sum, by chi-square, for any number of
 * sums. The shares are those that the built mechanisms add to empty messages.
 *
 * The law of Skellam shares comes from Bessel functions: the sum of t differences of Poisson numbers of mean
 * m has Pr[k] = exp(-2 t m) I_k(2 t m) (Skellam, 1946). That of gamma shares is the discrete Laplace law,
 * Pr[|X| >= k] in closed form. Neither uses what the mechanisms or their samplers compute.
 */
#ifndef DPF_TESTS_SHARES_LAW_H
#define DPF_TESTS_SHARES_LAW_H

#include "kit/plain_random.h"
#include "kit/plain_release.h"
#include "kit/goodness.h"

#define LAW_WIDTH 10
#define LAW_ROWS 400
#define LAW_CELLS (LAW_WIDTH * LAW_ROWS)
#define LAW_BINS 81 /* of equal width; the outer ones are open */
#define LAW_MOST 65536

/* tail[k] = Pr[X >= k], k = 0 .. LAW_MOST. */
struct law_tail {
    double at[LAW_MOST + 2];
};

void law_check_skellam(int parties, int64_t sums);

void law_check_laplace(int parties, int64_t sums);

int law_start(void **state);

#endif
