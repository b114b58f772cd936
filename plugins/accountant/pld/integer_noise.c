/* SPDX-License-Identifier: Apache-2.0 */
#include "integer_noise.h"

#include <math.h>

/* From here on the continued fraction gains nothing. */
#define MUCH_VARIANCE 1000.0
#define MOST_LEVELS 63

/* The least K with K^2 (1 - K^2/12) >= c. */
static double shift_of(double c)
{
    const double rest = 1.0 - c / 3.0;
    return rest > 0.0 ? sqrt(2.0 * c / (1.0 + sqrt(rest))) * (1.0 + 1e-14) : INFINITY;
}

double integer_noise_gaussian(double scale)
{
    return shift_of(1.0 / (scale * scale) * (1.0 + 1e-15));
}

/* I_1/I_0 at least, from Amos's bound at an odd order: each step back turns a bound from below into one from
   above. */
static double least_ratio(double variance, int order)
{
    const double v = variance;
    double ratio = v / (order - 0.5 + sqrt((order + 0.5) * (order + 0.5) + v * v));
    for (int k = order - 1; k >= 1; k--)
        ratio = 1.0 / (2.0 * k / v + ratio);
    return ratio;
}

double integer_noise_skellam(double variance)
{
    /* Amos's bound at order 1, and sqrt(V^2 + 9/4) <= V + 9/(8 V). */
    double c = 2.0 * log1p(1.0 / (2.0 * variance) + 9.0 / (8.0 * variance * variance)) * (1.0 + 1e-14);
    for (int order = 1; variance < MUCH_VARIANCE && order <= MOST_LEVELS; order += 2)
        c = fmin(c, -2.0 * log(least_ratio(variance, order) * (1.0 - 1e-14)));
    return shift_of(c);
}
