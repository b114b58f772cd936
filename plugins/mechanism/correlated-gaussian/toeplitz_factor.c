/* SPDX-License-Identifier: Apache-2.0 */
#include "toeplitz_factor.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

void toeplitz_square_root(int64_t n, int64_t *out)
{
    double c = 1.0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = (int64_t)floor(c * (double)(INT64_C(1) << TOEPLITZ_BITS) + 0.5);
        c *= (double)(2 * i + 1) / (double)(2 * i + 2);
    }
}

int64_t toeplitz_participations(const struct toeplitz_pattern *pattern)
{
    const int64_t most = (pattern->rounds - 1) / pattern->separation + 1;
    return pattern->participations < most ? pattern->participations : most;
}

/* |C times the sum of columns 0, b, .., (k-1)b|^2, in units of 2^-32. sums are integers below 2^53. */
static wide square_of_columns(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern,
                              double *sums)
{
    const int64_t b = pattern->separation, end = toeplitz_participations(pattern) * b;
    wide square = 0;
    for (int64_t t = 0; t < pattern->rounds; t++) {
        sums[t] = (t < n ? (double)c[t] : 0.0) + (t >= b ? sums[t - b] : 0.0);
        sums[t] -= t >= end && t - end < n ? (double)c[t - end] : 0.0;
        square += (wide)(uint64_t)sums[t] * (uint64_t)sums[t];
    }
    return square;
}

void toeplitz_reach(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern, double *scratch,
                    struct toeplitz_sensitivity *out)
{
    const int64_t k = toeplitz_participations(pattern);
    const double square = (double)square_of_columns(c, n, pattern, scratch);
    double all = 0.0;
    for (int64_t i = 0; i < n; i++)
        all += (double)c[i];
    out->l2 = ldexp(sqrt(square), -TOEPLITZ_BITS) * (1.0 + 1e-12);
    out->l1 = ldexp((double)k * all, -TOEPLITZ_BITS);
    out->linf = ldexp(fmin((double)k * (double)c[0], all), -TOEPLITZ_BITS);
    out->rounds = n < (pattern->rounds + k - 1) / k ? k * n : pattern->rounds;
}
