/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define EXACT_PAIRS 50

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

struct paired_test statistics_t_test(const double *a, const double *b, int64_t n)
{
    struct paired_test test = {.n = n, .difference = (double)NAN, .statistic = (double)NAN, .p = (double)NAN};
    double *differences = memory_new((size_t)n + 1, sizeof *differences);
    if (!differences)
        return test;
    for (int64_t i = 0; i < n; i++)
        differences[i] = a[i] - b[i];
    test.difference = statistics_mean(differences, n);
    double error = statistics_deviation(differences, n) / sqrt((double)n);
    if (n >= 2 && error > 0) {
        test.statistic = test.difference / error;
        test.p = statistics_t_tail(test.statistic, (double)(n - 1));
    }
    free(differences);
    return test;
}

/* ---- Wilcoxon ----------------------------------------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
    double a = fabs(*(const double *)x), b = fabs(*(const double *)y);
    return (a > b) - (a < b);
}

/* Twice the ranks, which are whole numbers also for ties; returns the sum of t^3 - t over groups of ties. */
static double double_ranks(const double *differences, int64_t n, int64_t *ranks)
{
    double ties = 0;
    for (int64_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && fabs(differences[last]) == fabs(differences[first]);)
            last++;
        for (int64_t i = first; i < last; i++)
            ranks[i] = first + 1 + last;
        double t = (double)(last - first);
        ties += t * t * t - t;
    }
    return ties;
}

/* P(twice the sum of positive ranks <= limit), all signs being equally likely. */
static double exact_tail(const int64_t *ranks, int64_t n, int64_t limit)
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += ranks[i];
    double *chance = memory_new((size_t)total + 1, sizeof *chance);
    if (!chance)
        return (double)NAN;
    chance[0] = 1;
    int64_t reached = 0;
    for (int64_t i = 0; i < n; i++) {
        reached += ranks[i];
        for (int64_t s = reached; s >= 0; s--)
            chance[s] = 0.5 * (chance[s] + (s >= ranks[i] ? chance[s - ranks[i]] : 0));
    }
    double tail = 0;
    for (int64_t s = 0; s <= limit && s <= total; s++)
        tail += chance[s];
    free(chance);
    return tail;
}

static double normal_tail(double w, int64_t n, double ties)
{
    double m = (double)n, mean = m * (m + 1) / 4;
    double variance = m * (m + 1) * (2 * m + 1) / 24 - ties / 48;
    return erfc((mean - w) / sqrt(2 * variance));
}

static void signed_ranks(double *differences, int64_t n, struct paired_test *test)
{
    int64_t *ranks = memory_new((size_t)n + 1, sizeof *ranks);
    if (!ranks)
        return;
    qsort(differences, (size_t)n, sizeof *differences, by_size);
    double ties = double_ranks(differences, n, ranks);
    int64_t positive = 0, negative = 0;
    for (int64_t i = 0; i < n; i++)
        *(differences[i] > 0 ? &positive : &negative) += ranks[i];
    int64_t least = positive < negative ? positive : negative;
    test->statistic = (double)least / 2;
    test->p = n <= EXACT_PAIRS ? fmin(1, 2 * exact_tail(ranks, n, least))
                               : fmin(1, normal_tail(test->statistic, n, ties));
    free(ranks);
}

struct paired_test statistics_wilcoxon(const double *a, const double *b, int64_t n)
{
    struct paired_test test = {.n = n, .difference = (double)NAN, .statistic = (double)NAN, .p = (double)NAN};
    double *differences = memory_new((size_t)n + 1, sizeof *differences);
    if (!differences)
        return test;
    int64_t kept = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] - b[i];
        if (a[i] != b[i])
            differences[kept++] = a[i] - b[i];
    }
    if (n > 0)
        test.difference = sum / (double)n;
    if (n >= 2 && kept > 0)
        signed_ranks(differences, kept, &test);
    free(differences);
    return test;
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
