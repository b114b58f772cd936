/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goodness.h - test statistics as z scores: about standard normal if the hypothesis holds.
 *
 * Keys are fixed, so nothing here is a matter of luck at run time. A fit that is too good is as
 * suspicious as a bad one, so both ends of the chi-square are rejected.
 */
#ifndef DPF_TESTS_GOODNESS_H
#define DPF_TESTS_GOODNESS_H

#include <math.h>
#include <stdlib.h>

#include "kit/test.h"

#define GOODNESS_LIMIT 4.0 /* two-sided probability 6e-5 */

static inline void goodness_assert(double z, const char *what, double parameter)
{
    if (!(fabs(z) < GOODNESS_LIMIT))
        fail_msg("%s, parameter %g: z = %g", what, parameter, z);
}

/*
 * Chi-square of counts against probabilities that add up to 1, by Wilson and Hilferty. Neighbouring
 * cells are joined until each expects at least 10.
 */
static inline double goodness_chi_square(const int64_t *counts, const double *probabilities, int n)
{
    double total = 0, chi = 0, expected = 0, seen = 0, left = 1;
    int cells = 0;
    for (int i = 0; i < n; i++)
        total += (double)counts[i];
    for (int i = 0; i < n; i++) {
        expected += probabilities[i] * total;
        left -= probabilities[i];
        seen += (double)counts[i];
        if ((expected < 10 || left * total < 10) && i < n - 1)
            continue;
        chi += (seen - expected) * (seen - expected) / expected;
        cells++;
        expected = seen = 0;
    }
    assert_true(cells > 2);
    double freedom = cells - 1;
    return (cbrt(chi / freedom) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom));
}

/* Mean of n values against its expectation, given the variance of one. */
static inline double goodness_mean(double sum, double n, double mean, double variance)
{
    return (sum - n * mean) / sqrt(n * variance);
}

/* A count against Binomial(n, p). */
static inline double goodness_count(double count, double n, double p)
{
    return goodness_mean(count, n, p, p * (1 - p));
}

#endif
