/* SPDX-License-Identifier: Apache-2.0 */
#include "concentrated.h"

#include <float.h>
#include <math.h>

#include "dpframe/accounting.h"

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
    struct concentrated line;
    dpf_skellam_line(variance, l1, l2, &line.xi, &line.rho);
    return line;
}
