/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - means, paired tests, and the correction for making many of them.
 *
 * Tests are two-sided.
 */
#ifndef DPF_BASE_STATISTICS_H
#define DPF_BASE_STATISTICS_H

#include <stdint.h>

double statistics_mean(const double *values, int64_t n);
/* Sample standard deviation, n - 1 in the denominator; NaN below two values. */
double statistics_deviation(const double *values, int64_t n);

/*
 * Repetitions a[i] and b[i] of two methods, on the same split each.
 *
 * overlap corrects for repetitions that share records: with random splits and folds, training parts overlap, so that
 * repetitions are correlated and an ordinary t-test finds differences where there are none. The variance of the mean
 * is taken as (1/n + overlap) s^2 with overlap = size of the test part / size of the training part (Nadeau and
 * Bengio, Inference for the Generalization Error, Machine Learning 52, 2003, section 3). 0: independent repetitions,
 * Student's test.
 */
struct paired_test {
    int64_t n;                    /* pairs */
    double difference, low, high; /* mean of a - b, with its 95 % interval */
    double statistic, p;          /* t with n - 1 degrees of freedom, two-sided */
    double deviation;             /* of the differences */
    int64_t needed;               /* see statistics_needed, for this difference and deviation */
};

/* Numbers are NaN where they are undefined: interval and p below two pairs, or where all differences are equal. */
struct paired_test statistics_paired(const double *a, const double *b, int64_t n, double overlap);

/* The probability with which such a test at level 5 % finds a true difference. */
double statistics_power(double difference, double deviation, double overlap, int64_t n);
/*
 * The least number of repetitions that finds such a difference with probability .8; 0 where no number does, because
 * repetitions on the same records share their chance (more test records would help), or where a number is not finite.
 */
int64_t statistics_needed(double difference, double deviation, double overlap);

/* Holm's step-down correction, in place. NaN are no tests: they are not counted and stay. */
void statistics_holm(double *p, int64_t n);

/* P(|T| >= |t|) for Student's t with that many degrees of freedom, and the t > 0 of a two-sided tail 0 < p < 1. */
double statistics_t_tail(double t, double degrees);
double statistics_t_quantile(double p, double degrees);

#endif
