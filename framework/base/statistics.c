/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LEVEL 0.95 /* of intervals; tests are at 1 - LEVEL */
#define POWER 0.8
#define ROUNDING 1e-13 /* of the largest value: differences that vary less are equal */
#define MOST_REPETITIONS 65536

double statistics_mean(const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : (double)NAN;
}

double statistics_deviation(const double *values, int64_t n)
{
    if (n < 2)
        return (double)NAN;
    double mean = statistics_mean(values, n), squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

/* ---- Student's t -------------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
 */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = value;
        for (int step = 0; step < 2; step++) {
            double factor = step ? odd : even;
            d = 1 + factor * d;
            c = 1 + factor / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(value - before) <= 1e-15 * fabs(value))
            break;
    }
    return value;
}

/* The regularised incomplete beta function. */
static double beta_regularised(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_t_tail(double t, double degrees)
{
    return beta_regularised(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double statistics_t_quantile(double p, double degrees)
{
    double low = 0, high = 1;
    while (statistics_t_tail(high, degrees) > p && high < 1e300)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        const double middle = low + (high - low) / 2;
        *(statistics_t_tail(middle, degrees) > p ? &low : &high) = middle;
    }
    return high;
}

/* ---- pairs -------------------------------------------------------------------------------------------- */

struct paired_test statistics_paired(const double *a, const double *b, int64_t n, double overlap)
{
    struct paired_test test = {.n = n,
                               .difference = (double)NAN,
                               .low = (double)NAN,
                               .high = (double)NAN,
                               .statistic = (double)NAN,
                               .p = (double)NAN,
                               .deviation = (double)NAN};
    double *differences = memory_new((size_t)n + 1, sizeof *differences);
    if (!differences)
        return test;
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        differences[i] = a[i] - b[i];
        largest = fmax(largest, fmax(fabs(a[i]), fabs(b[i])));
    }
    test.difference = statistics_mean(differences, n);
    test.deviation = statistics_deviation(differences, n);
    free(differences);
    const double error = test.deviation * sqrt(1 / (double)n + overlap);
    if (n < 2 || !(test.deviation > ROUNDING * largest))
        return test;
    const double reach = error * statistics_t_quantile(1 - LEVEL, (double)(n - 1));
    test.low = test.difference - reach;
    test.high = test.difference + reach;
    test.statistic = test.difference / error;
    test.p = statistics_t_tail(test.statistic, (double)(n - 1));
    test.needed = statistics_needed(test.difference, test.deviation, overlap);
    return test;
}

/* ---- power -------------------------------------------------------------------------------------------- */

static double normal_above(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/*
 * P(|T| > t) for T = (Z + shift) / sqrt(chi2 / degrees), by Simpson's rule over u = sqrt(chi2 / degrees), whose
 * density lies within 12 deviations of about 1 / sqrt(2 degrees) around 1.
 */
static double shifted_t_tail(double t, double degrees, double shift)
{
    enum { STEPS = 2000 };
    const double spread = 12 / sqrt(2 * degrees), from = fmax(0, 1 - spread), to = 1 + 2 * spread;
    const double constant = log(2) + degrees / 2 * log(degrees / 2) - lgamma(degrees / 2);
    const double width = (to - from) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double u = from + i * width;
        const double density = u > 0          ? exp(constant + (degrees - 1) * log(u) - degrees * u * u / 2)
                               : degrees == 1 ? exp(constant)
                                              : 0;
        const double found = normal_above(t * u - shift) + normal_above(t * u + shift);
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * density * found;
    }
    return fmin(1, sum * width / 3);
}

double statistics_power(double difference, double deviation, double overlap, int64_t n)
{
    if (n < 2 || !(deviation > 0) || !isfinite(difference))
        return (double)NAN;
    const double shift = fabs(difference) / (deviation * sqrt(1 / (double)n + overlap));
    return shifted_t_tail(statistics_t_quantile(1 - LEVEL, (double)(n - 1)), (double)(n - 1), shift);
}

int64_t statistics_needed(double difference, double deviation, double overlap)
{
    int64_t low = 1, high = 2;
    if (!(fabs(difference) > 0) || !(deviation > 0) || !isfinite(difference))
        return 0;
    for (; !(statistics_power(difference, deviation, overlap, high) >= POWER); high *= 2) {
        if (high >= MOST_REPETITIONS)
            return 0;
        low = high;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(statistics_power(difference, deviation, overlap, middle) >= POWER ? &high : &low) = middle;
    }
    return high;
}

/* ---- many tests --------------------------------------------------------------------------------------- */

struct ranked {
    double p;
    int64_t index;
};

static int by_p(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return a->p != b->p ? (a->p > b->p) - (a->p < b->p) : (a->index > b->index) - (a->index < b->index);
}

void statistics_holm(double *p, int64_t n)
{
    struct ranked *order = memory_new((size_t)n + 1, sizeof *order);
    int64_t tests = 0;
    for (int64_t i = 0; i < n && order; i++)
        if (!isnan(p[i]))
            order[tests++] = (struct ranked){p[i], i};
    if (order)
        qsort(order, (size_t)tests, sizeof *order, by_p);
    double largest = 0;
    for (int64_t k = 0; k < tests; k++) {
        largest = fmax(largest, fmin(1, (double)(tests - k) * order[k].p));
        p[order[k].index] = largest;
    }
    for (int64_t i = 0; i < n && !order; i++)
        p[i] = (double)NAN; /* uncorrected values must not pass for corrected ones */
    free(order);
}
