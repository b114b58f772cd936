/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics against values of textbooks and of R 4 (t.test, wilcox.test, p.adjust). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/statistics.h"

static void near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", got, expected);
}

/* Cushny and Peebles 1905, in Student 1908 and as "sleep" in R. */
static const double sleep_a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double sleep_b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* Darwin's heights of maize (Fisher 1935), differences of pairs in eighths of an inch. */
static const double darwin[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};

static void means_and_deviations(void **state)
{
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    near(statistics_mean(x, 8), 5, 0);
    near(statistics_deviation(x, 8), sqrt(32.0 / 7), 1e-15);
    assert_true(isnan(statistics_deviation(x, 1)));
    assert_true(isnan(statistics_mean(x, 0)));
}

static void quantiles_of_t(void **state)
{
    (void)state;
    near(statistics_t_tail(12.70620473617471, 1), 0.05, 1e-12);
    near(statistics_t_tail(2.7764451051977987, 4), 0.05, 1e-12);
    near(statistics_t_tail(-4.604094871415897, 4), 0.01, 1e-12);
    near(statistics_t_tail(1.9599639845400545, 1e7), 0.05, 1e-7);
    near(statistics_t_tail(0, 3), 1, 1e-15);
    near(statistics_t_tail(1, 1), 0.5, 1e-14); /* Cauchy */
}

static void t_test_of_sleep(void **state)
{
    (void)state;
    struct paired_test test = statistics_t_test(sleep_a, sleep_b, 10);
    near(test.difference, -1.58, 1e-12);
    near(test.statistic, -4.06212768, 1e-8);
    near(test.p, 0.00283289, 1e-8);
    struct paired_test mirrored = statistics_t_test(sleep_b, sleep_a, 10);
    near(mirrored.p, test.p, 1e-15);
    near(mirrored.difference, 1.58, 1e-12);
}

static void t_tests_that_say_nothing(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3}, b[] = {0, 1, 2};
    assert_true(isnan(statistics_t_test(a, b, 3).p)); /* the same difference three times */
    assert_true(isnan(statistics_t_test(a, a, 3).p));
    assert_true(isnan(statistics_t_test(a, b, 1).p));
    assert_true(isnan(statistics_t_test(a, b, 0).p));
}

static void wilcoxon_of_darwin(void **state)
{
    (void)state;
    const double zero[15] = {0};
    struct paired_test test = statistics_wilcoxon(darwin, zero, 15);
    near(test.statistic, 24, 0);
    near(test.p, 0.041259765625, 1e-15); /* 1352 of 2^15 */
}

static void wilcoxon_of_few(void **state)
{
    (void)state;
    const double a[] = {1.1, 2.2, 3.3, 4.4, 5.5}, b[] = {1, 2, 3, 4, 5};
    near(statistics_wilcoxon(a, b, 5).p, 0.0625, 0); /* the least that five pairs can give */
    near(statistics_wilcoxon(a, b, 2).p, 0.5, 0);
    assert_true(isnan(statistics_wilcoxon(a, a, 5).p));
}

/* Ties and zeros: 1, -1, 2, 2, 0 have the ranks 1.5, 1.5, 3.5, 3.5; W- is 1.5 with 3 of the 16 signs at most.
 */
static void wilcoxon_with_ties(void **state)
{
    (void)state;
    const double a[] = {1, -1, 2, 2, 0}, b[5] = {0};
    struct paired_test test = statistics_wilcoxon(a, b, 5);
    near(test.statistic, 1.5, 0);
    near(test.p, 6.0 / 16, 1e-15);
}

/* Above the exact range the normal law takes over; at its border both must say nearly the same. */
static void wilcoxon_of_many(void **state)
{
    (void)state;
    double a[51], b[51] = {0};
    for (int i = 0; i < 51; i++)
        a[i] = (i % 3 ? 1 : -1) * (1 + i);
    struct paired_test exact = statistics_wilcoxon(a, b, 50), normal = statistics_wilcoxon(a, b, 51);
    near(normal.p, exact.p, 0.02);
    assert_true(exact.p < 0.05);
    assert_true(exact.p > 1e-4);
}

static void holm_of_four(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005};
    statistics_holm(p, 4);
    near(p[0], 0.03, 1e-15);
    near(p[1], 0.06, 1e-15);
    near(p[2], 0.06, 1e-15);
    near(p[3], 0.02, 1e-15);
}

static void holm_leaves_gaps(void **state)
{
    (void)state;
    double p[] = {0.6, (double)NAN, 0.9};
    statistics_holm(p, 3);
    near(p[0], 1, 0); /* 2 * 0.6, at most 1 */
    assert_true(isnan(p[1]));
    near(p[2], 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_deviations), cmocka_unit_test(quantiles_of_t),
        cmocka_unit_test(t_test_of_sleep),      cmocka_unit_test(t_tests_that_say_nothing),
        cmocka_unit_test(wilcoxon_of_darwin),   cmocka_unit_test(wilcoxon_of_few),
        cmocka_unit_test(wilcoxon_with_ties),   cmocka_unit_test(wilcoxon_of_many),
        cmocka_unit_test(holm_of_four),         cmocka_unit_test(holm_leaves_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
