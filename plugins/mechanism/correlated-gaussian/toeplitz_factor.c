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

int toeplitz_is_falling(const int64_t *c, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (c[i] < 0 || (i > 0 && c[i] > c[i - 1]))
            return 0;
    return 1;
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

/* The sum of |column s|^2 over columns 0, b, .., (k-1)b, in units of 2^-32. */
static wide sum_of_squares(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern)
{
    const int64_t k = toeplitz_participations(pattern);
    wide square = 0;
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < n && i < pattern->rounds - j * pattern->separation; i++)
            square += (wide)((uint64_t)(c[i] < 0 ? -c[i] : c[i])) * (uint64_t)(c[i] < 0 ? -c[i] : c[i]);
    return square;
}

static double at(const int64_t *c, int64_t n, int64_t i)
{
    return i < n ? (double)c[i] : 0.0;
}

/*
 * The sum of E(t, d) over pairs of S*, each of different rounds twice; where all rounds are the only pattern,
 * of |G|. G(t, d) adds a product for each row from t on, so g[d] holds it while t falls; e[d] the largest
 * |g[d']| so far, d' >= d. They are integers below 2^52: float64 is exact.
 */
static wide sum_of_envelope(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern, double *g,
                            double *e, int *negative)
{
    const int64_t rounds = pattern->rounds, k = toeplitz_participations(pattern), b = pattern->separation;
    wide sum = 0;
    *negative = 0;
    for (int64_t d = 0; d <= rounds; d++)
        g[d] = e[d] = 0.0;
    for (int64_t t = rounds - 1; t >= 0; t--) {
        const int64_t i = rounds - 1 - t;
        for (int64_t d = t; d >= 0; d--) {
            g[d] += at(c, n, i) * at(c, n, i + d);
            *negative |= g[d] < 0.0;
            e[d] = k == rounds ? fabs(g[d]) : fmax(fmax(e[d], fabs(g[d])), e[d + 1]);
        }
        for (int64_t d = 0; t % b == 0 && t / b < k && d <= t; d += b)
            sum += (wide)(uint64_t)e[d] * (d == 0 ? 1 : 2);
    }
    return sum;
}

void toeplitz_reach(const int64_t *c, int64_t n, const struct toeplitz_pattern *pattern, double *scratch,
                    struct toeplitz_sensitivity *out)
{
    const int64_t k = toeplitz_participations(pattern);
    double square, most = 0.0, all = 0.0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)c[i]));
        all += fabs((double)c[i]);
    }
    out->attained = 1;
    if (n <= pattern->separation) {
        square = (double)sum_of_squares(c, n, pattern);
    } else if (toeplitz_is_falling(c, n)) {
        square = (double)square_of_columns(c, n, pattern, scratch);
    } else {
        int negative;
        square = (double)sum_of_envelope(c, n, pattern, scratch, scratch + pattern->rounds + 1, &negative);
        out->attained = k == 1 || (k == pattern->rounds && !negative);
    }
    out->l2 = ldexp(sqrt(square), -TOEPLITZ_BITS) * (1.0 + 1e-12);
    out->l1 = ldexp((double)k * all, -TOEPLITZ_BITS);
    out->linf = ldexp(fmin((double)k * most, all), -TOEPLITZ_BITS);
    out->rounds = n < (pattern->rounds + k - 1) / k ? k * n : pattern->rounds;
}

double toeplitz_inverse_sum(const int64_t *c, int64_t n, int64_t rounds, double *scratch)
{
    double sum = 0.0;
    for (int64_t t = 0; t < rounds; t++) {
        double d = t == 0 ? 1.0 : 0.0;
        for (int64_t i = 1; i <= t && i < n; i++)
            d -= ldexp((double)c[i], -TOEPLITZ_BITS) * scratch[t - i];
        scratch[t] = d;
        sum += fabs(d);
    }
    return sum;
}
