/* SPDX-License-Identifier: Apache-2.0 */
#include "concentrated.h"

#include <float.h>
#include <math.h>

/* ln of the bound on delta at order 1 + x. Its derivative in x is slope_at. */
static double log_delta_at(const struct concentrated *bound, double epsilon, double x)
{
    const double power = x * (bound->xi + bound->rho * (1.0 + x) - epsilon);
    const double rest = -(1.0 + x) * log1p(1.0 / x) - log(x);
    return power + rest + 8.0 * DBL_EPSILON * (fabs(power) + fabs(rest) + fabs(log(x)) + 1.0);
}

static double slope_at(const struct concentrated *bound, double epsilon, double x)
{
    return bound->xi + bound->rho * (1.0 + 2.0 * x) - epsilon - log1p(1.0 / x);
}

/* The least ln delta; the search is over ln x. */
double concentrated_log_delta(const struct concentrated *bound, double epsilon)
{
    if (bound->rho == 0.0 && epsilon >= bound->xi)
        return -INFINITY;
    double low = -700.0, high = 700.0;
    for (int i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2.0;
        if (slope_at(bound, epsilon, exp(middle)) < 0.0)
            low = middle;
        else
            high = middle;
    }
    const double least = log_delta_at(bound, epsilon, exp(high));
    return least < 0.0 ? least : 0.0;
}

struct concentrated concentrated_skellam(double variance, double l1, double l2)
{
    const double rho = l2 * l2 / (2.0 * variance);
    const double near = (6.0 * l1 - l2 * l2) / (4.0 * variance * variance), far = 1.5 * l1 / variance;
    struct concentrated fine = {near > 0.0 ? near : 0.0, rho * (1.0 + 1.0 / variance)};
    struct concentrated coarse = {far, rho};
    fine.xi += fine.rho;
    coarse.xi += coarse.rho;
    /* Where the first is no larger at order 1, it is the one for noise worth the name. */
    return fine.xi + fine.rho <= coarse.xi + coarse.rho ? fine : coarse;
}
