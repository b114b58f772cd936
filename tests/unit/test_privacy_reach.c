/* SPDX-License-Identifier: Apache-2.0 */
/* The trade-off curve of a list of (epsilon, delta), against that of a Gaussian mechanism in closed form. */
#include <math.h>

#include "kit/test.h"
#include "privacy/guarantee.h"

#define POINTS 400

static double above(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* x with above(x) = p. */
static double quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        *(above(middle) > p ? &low : &high) = middle;
    }
    return low;
}

TEST(a_gaussian_curve_is_found_from_below)
{
    static const double mus[] = {0.1, 1, 3}, rates[] = {0.001, 0.05, 0.3, 0.9};
    for (size_t m = 0; m < sizeof mus / sizeof *mus; m++) {
        double epsilon[POINTS], delta[POINTS];
        for (int i = 0; i < POINTS; i++) {
            epsilon[i] = 30.0 * i / POINTS;
            delta[i] = above(epsilon[i] / mus[m] - mus[m] / 2) -
                       exp(epsilon[i]) * above(epsilon[i] / mus[m] + mus[m] / 2);
        }
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            const double exact = above(mus[m] - quantile(rates[r]));
            const double found = reach_missed(epsilon, delta, POINTS, rates[r]);
            if (!(found <= exact * (1 + 1e-9) && found >= exact * 0.98 - 0.005))
                fail_msg("mu %g, false alarms %g: %.9g, exactly %.9g", mus[m], rates[r], found, exact);
            assert_true(reach_missed(epsilon, delta, 3, rates[r]) <= found * (1 + 1e-12));
        }
    }
}

TEST(nothing_known_bounds_nothing)
{
    const double epsilon[1] = {0}, delta[1] = {1};
    assert_true(reach_missed(epsilon, delta, 1, 0.05) == 0.0);
    assert_true(reach_missed(epsilon, delta, 0, 0.05) == 0.0);
}
