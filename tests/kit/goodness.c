/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/goodness.h"

void goodness_assert(double z, const char *what, double parameter)
{
    if (!(fabs(z) < GOODNESS_LIMIT))
        fail_msg("%s, parameter %g: z = %g", what, parameter, z);
}

double goodness_chi_square(const int64_t *counts, const double *probabilities, int n)
{
    double total = 0, chi = 0, expected = 0, seen = 0, left = 1;
    int cells = 0;
    for (int i = 0; i < n; i++)
        total += (double)counts[i];
    for (int i = 0; i < n; i++) {
        expected += probabilities[i] * total;
        left -= probabilities[i];
        seen += (double)counts[i];
        if ((expected < 10 || left * total < 10) && i < n - 1)
            continue;
        chi += (seen - expected) * (seen - expected) / expected;
        cells++;
        expected = seen = 0;
    }
    assert_true(cells > 2);
    double freedom = cells - 1;
    return (cbrt(chi / freedom) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom));
}

double goodness_mean(double sum, double n, double mean, double variance)
{
    return (sum - n * mean) / sqrt(n * variance);
}

double goodness_count(double count, double n, double p)
{
    return goodness_mean(count, n, p, p * (1 - p));
}
