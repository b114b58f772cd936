/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/binomial_sum.h"

#include <math.h>

/*
 * By inversion of the characteristic function under an exponential tilt. Tilted by l, a trial succeeds with
 * probability p e^l / (1 - p + p e^l), and
 *     P[Z = k] = exp(sum of trials ln(1 - p + p e^l) - l k) P_l[Z = k].
 * With l such that k is the mean, P_l[Z = k] is of the order of 1 / deviation, so its sum over roots of unity
 * loses no digits, however far k was in the tail before. That sum over M roots is P_l[Z = k] + P_l[Z = k + M]
 * + P_l[Z = k - M] + ..., which is exact with M > n trials, and to far below 1e-16 with M = 20 deviations +
 * 40: the other terms are more than twenty deviations from the mean (Bernstein's inequality: below 2 e^-100).
 */
#define PI 3.14159265358979323846
#define MARGIN_DEVIATIONS 20.0
#define MARGIN 40.0

static double tilted(double p, double tilt)
{
    return 1.0 / (1.0 + (1.0 - p) / p * exp(-tilt));
}

static double mean_of(const double *p, int64_t n, double trials, double tilt)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += trials * tilted(p[i], tilt);
    return sum;
}

/* The mean rises with the tilt. To the mean within a thousandth of a trial: any tilt near it serves. */
static double tilt_to(const double *p, int64_t n, double trials, double k)
{
    double low = -1, high = 1;
    while (mean_of(p, n, trials, low) > k)
        low *= 2;
    while (mean_of(p, n, trials, high) < k)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2, mean = mean_of(p, n, trials, middle);
        if (fabs(mean - k) < 1e-3)
            return middle;
        *(mean < k ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static int64_t roots(double most, double deviation)
{
    return (int64_t)fmin(most + 1, ceil(MARGIN_DEVIATIONS * deviation + MARGIN));
}

/* P_l[Z = k]. */
static double invert(const double *p, int64_t n, double trials, double tilt, double k)
{
    double variance = 0, sum = 1; /* the root 1 */
    for (int64_t i = 0; i < n; i++) {
        const double t = tilted(p[i], tilt);
        variance += trials * t * (1 - t);
    }
    const int64_t m = roots((double)n * trials, sqrt(variance));
    for (int64_t j = 1; 2 * j <= m; j++) {
        const double angle = 2 * PI * (double)j / (double)m, c = cos(angle), s = sin(angle);
        double size = 0, turn = -angle * k;
        for (int64_t i = 0; i < n && size > -45; i++) {
            const double t = tilted(p[i], tilt), re = 1 - t + t * c, im = t * s;
            size += trials / 2 * log(re * re + im * im);
            turn += trials * atan2(im, re);
        }
        sum += (2 * j == m ? 1 : 2) * exp(size) * cos(turn); /* with the conjugate root */
    }
    return sum / (double)m;
}

double binomial_sum_log(const double *p, int64_t n, int64_t trials, int64_t k)
{
    const double q = (double)trials;
    double ends[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        ends[0] += q * log1p(-p[i]);
        ends[1] += q * log(p[i]);
    }
    if (k < 0 || k > n * trials)
        return -INFINITY;
    if (k == 0 || k == n * trials)
        return ends[k > 0];
    const double tilt = tilt_to(p, n, q, (double)k);
    double moments = -tilt * (double)k;
    for (int64_t i = 0; i < n; i++)
        moments += q * log1p(p[i] * expm1(tilt));
    return moments + log(invert(p, n, q, tilt, (double)k));
}

double binomial_sum_cost(int64_t n, int64_t trials)
{
    const double most = (double)n * (double)trials;
    return (double)roots(most, sqrt(most) / 2) / 2 * (double)n;
}
