/* SPDX-License-Identifier: Apache-2.0 */
/* How recommendations are spread over items: against values worked out by hand. */
#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "run/recommended_items.h"
#include "run/training_curve.h"

TEST(gini_is_that_of_the_textbook)
{
    static const int64_t even[] = {3, 3, 3, 3}, one[] = {0, 0, 8, 0}, some[] = {1, 2, 3, 4}, none[] = {0, 0};
    assert_float_equal(recommended_items_gini(even, 4), 0, 1e-12);
    assert_float_equal(recommended_items_gini(one, 4), 0.75, 1e-12);
    /* Half of the mean absolute difference of two draws over the mean: (20 / 16) / (2 * 2.5). */
    assert_float_equal(recommended_items_gini(some, 4), 0.25, 1e-12);
    assert_true(isnan(recommended_items_gini(none, 2)));
}

TEST(shares_and_coverage_are_counted)
{
    static const int64_t counts[] = {5, 0, 1, 5, 9};
    assert_int_equal(recommended_items_covered(counts, 5), 4);
    assert_float_equal(recommended_items_share(counts, 5, 1), 0.45, 1e-12);
    assert_float_equal(recommended_items_share(counts, 5, 2), 0.7, 1e-12);
    assert_float_equal(recommended_items_share(counts, 5, 99), 1, 1e-12);
    int64_t *order = recommended_items_order(counts, 5);
    static const int64_t expected[] = {4, 0, 3, 2, 1};
    assert_memory_equal(order, expected, sizeof expected);
    free(order);
}

TEST(a_missing_curve_has_no_rounds)
{
    double values[4];
    assert_int_equal(training_curve_read("/nowhere/metrics.csv", values, 4), 0);
    assert_true(isnan(values[0]));
    assert_true(isnan(values[3]));
}
