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

void goodness_assert(double z, const char *what, double parameter);

/*
 * Chi-square of counts against probabilities that add up to 1, by Wilson and Hilferty. Neighbouring
 * cells are joined until each expects at least 10.
 */
double goodness_chi_square(const int64_t *counts, const double *probabilities, int n);

/* Mean of n values against its expectation, given the variance of one. */
double goodness_mean(double sum, double n, double mean, double variance);

/* A count against Binomial(n, p). */
double goodness_count(double count, double n, double p);

#endif
