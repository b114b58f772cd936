/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - means, paired tests, and the correction for making many of them.
 *
 * Tests are two-sided. A p-value is NaN where a test is undefined: for fewer than two pairs, or if all
 * differences are equal (t) or zero (Wilcoxon).
 */
#ifndef DPF_BASE_STATISTICS_H
#define DPF_BASE_STATISTICS_H

#include <stdint.h>

double statistics_mean(const double *values, int64_t n);
/* Sample standard deviation, n - 1 in the denominator; NaN below two values. */
double statistics_deviation(const double *values, int64_t n);

struct paired_test {
    int64_t n;         /* pairs */
    double difference; /* mean of a - b */
    double statistic;  /* t, or W: the smaller of the two sums of signed ranks */
    double p;
};

/* Student's paired t-test with n - 1 degrees of freedom. */
struct paired_test statistics_t_test(const double *a, const double *b, int64_t n);
/*
 * Wilcoxon's signed-rank test: pairs without a difference are left out, equal differences get their mean
 * rank. p is exact up to 50 pairs, from the distribution over all signs of the ranks as they are, ties
 * included; above, it is normal with the variance corrected for ties.
 */
struct paired_test statistics_wilcoxon(const double *a, const double *b, int64_t n);

/* Holm's step-down correction, in place. NaN are no tests: they are not counted and stay. */
void statistics_holm(double *p, int64_t n);

/* P(|T| >= |t|) for Student's t with that many degrees of freedom. */
double statistics_t_tail(double t, double degrees);

#endif
