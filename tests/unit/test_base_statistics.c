/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics against values of textbooks and of R 4 (t.test, p.adjust). */
#include <math.h>

#include "kit/test.h"
#include "base/statistics.h"

static void near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", got, expected);
}

/* Cushny and Peebles 1905, in Student 1908 and as "sleep" in R. */
static const double sleep_a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double sleep_b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(means_and_deviations)
{
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    near(statistics_mean(x, 8), 5, 0);
    near(statistics_deviation(x, 8), sqrt(32.0 / 7), 1e-15);
    assert_true(isnan(statistics_deviation(x, 1)));
    assert_true(isnan(statistics_mean(x, 0)));
}

TEST(quantiles_of_t)
{
    near(statistics_t_tail(12.70620473617471, 1), 0.05, 1e-12);
    near(statistics_t_tail(2.7764451051977987, 4), 0.05, 1e-12);
    near(statistics_t_tail(-4.604094871415897, 4), 0.01, 1e-12);
    near(statistics_t_tail(1.9599639845400545, 1e7), 0.05, 1e-7);
    near(statistics_t_tail(0, 3), 1, 1e-15);
    near(statistics_t_tail(1, 1), 0.5, 1e-14); /* Cauchy */
    near(statistics_t_quantile(0.05, 1), 12.70620473617471, 1e-10);
    near(statistics_t_quantile(0.01, 4), 4.604094871415897, 1e-9);
}

/* t.test of R 4; intervals and the corrected test by scipy 1.10. */
TEST(pairs_of_sleep)
{
    const struct paired_test test = statistics_paired(sleep_a, sleep_b, 10, 0);
    near(test.difference, -1.58, 1e-12);
    near(test.deviation, 1.2299954832798732, 1e-12);
    near(test.statistic, -4.062127683382037, 1e-12);
    near(test.p, 0.00283289019738427, 1e-14);
    near(test.low, -2.459885763254729, 1e-9);
    near(test.high, -0.7001142367452712, 1e-9);
    const struct paired_test mirrored = statistics_paired(sleep_b, sleep_a, 10, 0);
    near(mirrored.p, test.p, 1e-15);
    near(mirrored.difference, 1.58, 1e-12);
    const struct paired_test folds = statistics_paired(sleep_a, sleep_b, 10, 0.25);
    near(folds.difference, -1.58, 1e-12);
    near(folds.p, 0.05799070626865599, 1e-14);
    near(folds.low, -3.226115532799642, 1e-9);
    near(folds.high, 0.06611553279964166, 1e-9);
}

TEST(pairs_that_say_nothing)
{
    const double a[] = {1, 2, 3}, b[] = {0, 1, 2}, tenths[] = {0.3, 0.4, 0.7}, less[] = {0.2, 0.3, 0.6};
    assert_true(isnan(statistics_paired(a, b, 3, 0).p));         /* the same difference three times */
    assert_true(isnan(statistics_paired(tenths, less, 3, 0).p)); /* but for rounding */
    assert_true(isnan(statistics_paired(a, a, 3, 0).p));
    assert_true(isnan(statistics_paired(a, b, 1, 0).p));
    assert_true(isnan(statistics_paired(a, b, 0, 0).difference));
    assert_int_equal(statistics_paired(a, a, 3, 0).needed, 0);
}

/* The noncentral t of scipy 1.10. */
TEST(power_of_the_test)
{
    near(statistics_power(1, 1, 0, 2), 0.09280915505447437, 1e-6);
    near(statistics_power(1, 1, 0, 3), 0.1792553937653944, 1e-6);
    near(statistics_power(-1, 1, 0, 5), 0.40138991737179386, 1e-6);
    near(statistics_power(10, 10, 0, 10), 0.8030968566475513, 1e-6);
    near(statistics_power(0.5, 1, 0, 34), 0.8077775012792738, 1e-6);
    near(statistics_power(0.2, 1, 0.25, 10), 0.06062485918217711, 1e-6);
    near(statistics_power(3, 1, 0.25, 10), 0.9941140119430124, 1e-6);
    assert_true(isnan(statistics_power(1, 0, 0, 10)));
    assert_true(isnan(statistics_power(1, 1, 0, 1)));
}

TEST(repetitions_that_find_a_difference)
{
    assert_int_equal(statistics_needed(20, 1, 0), 2);
    assert_int_equal(statistics_needed(5, 1, 0), 3);
    assert_int_equal(statistics_needed(-1, 1, 0), 10);
    assert_int_equal(statistics_needed(0.5, 1, 0), 34);
    assert_int_equal(statistics_needed(0.1, 1, 0), 787);
    assert_int_equal(statistics_needed(2, 1, 0.25), 9);
    assert_int_equal(statistics_needed(1, 1, 0.25), 0); /* 1 / sqrt(.25) = 2 < 2.8: no number does */
    assert_int_equal(statistics_needed(0, 1, 0), 0);
    assert_int_equal(statistics_needed((double)NAN, 1, 0), 0);
}

TEST(holm_of_four)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    statistics_holm(p, 4);
    near(p[0], 0.03, 1e-15);
    near(p[1], 0.06, 1e-15);
    near(p[2], 0.06, 1e-15);
    near(p[3], 0.02, 1e-15);
}

TEST(holm_leaves_gaps)
{
    double p[] = {0.6, (double)NAN, 0.9};
    statistics_holm(p, 3);
    near(p[0], 1, 0); /* 2 * 0.6, at most 1 */
    assert_true(isnan(p[1]));
    near(p[2], 1, 0);
}
