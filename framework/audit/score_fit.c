/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/score_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define FARTHEST 1e6 /* of one number's part of a score: a number without spread tells all */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_column(const double *sample, int64_t n, int64_t width, int64_t column, double *out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = sample[k * width + column];
}

/* The mean and the deviation. */
static void fit_mean(const double *values, int64_t n, double *centre, double *spread)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; k++)
        sum += values[k];
    *centre = sum / (double)n;
    for (int64_t k = 0; k < n; k++)
        squares += (values[k] - *centre) * (values[k] - *centre);
    *spread = sqrt(squares / (double)n);
}

/* The most likely Laplace law: the median, and the mean distance from it. */
static void fit_laplace(double *values, int64_t n, double *centre, double *spread)
{
    double sum = 0;
    qsort(values, (size_t)n, sizeof *values, compare);
    *centre = values[n / 2];
    for (int64_t k = 0; k < n; k++)
        sum += fabs(values[k] - *centre);
    *spread = sum / (double)n;
}

/* How many deviations of chance the two centres, or the logarithms of the two spreads, are apart. */
static double evidence(const struct learnt *l, int64_t n)
{
    const double spread = fmax(l->spread[0], l->spread[1]), apart = fabs(l->centre[0] - l->centre[1]);
    if (!(spread > 0))
        return apart > 0 ? INFINITY : 0;
    const double shift = apart * sqrt((double)n / 2) / spread;
    if (!(fmin(l->spread[0], l->spread[1]) > 0))
        return INFINITY;
    return fmax(shift, fabs(log(l->spread[0] / l->spread[1])) * sqrt((double)n / 2));
}

/* Of many numbers that tell nothing some seem to: those that chance explains are left out, unless all are. */
static void leave_out_chance(struct learnt *out, int64_t n, int64_t width)
{
    const double limit = width > 1 ? sqrt(2 * log((double)width)) + 0.5 : 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < width; i++) {
        out[i].counts = evidence(&out[i], n) > limit;
        kept += out[i].counts;
    }
    for (int64_t i = 0; i < width && !kept; i++)
        out[i].counts = 1;
}

int learn_from(enum learn_kind kind, const double *const samples[2], int64_t n, int64_t width,
               struct learnt *out)
{
    double *column = memory_raw((size_t)n + 1, sizeof *column);
    if (!column)
        return -1;
    for (int64_t i = 0; i < width; i++) {
        for (int s = 0; s < 2; s++) {
            take_column(samples[s], n, width, i, column);
            if (kind == LEARN_DENSITIES)
                fit_laplace(column, n, &out[i].centre[s], &out[i].spread[s]);
            else
                fit_mean(column, n, &out[i].centre[s], &out[i].spread[s]);
        }
        if (kind == LEARN_MEANS)
            out[i].spread[0] = out[i].spread[1] = hypot(out[i].spread[0], out[i].spread[1]) / M_SQRT2;
    }
    free(column);
    leave_out_chance(out, n, width);
    return 0;
}

/* A spread of nothing is taken for a small part of what the number varies by otherwise. */
static double floor_of(const struct learnt *l)
{
    return 1e-6 * (fabs(l->centre[0] - l->centre[1]) + l->spread[0] + l->spread[1]);
}

static double part(enum learn_kind kind, const struct learnt *l, double x)
{
    const double least = floor_of(l);
    if (!(least > 0)) /* it is always the same */
        return 0;
    if (kind == LEARN_MEANS) {
        const double spread = fmax(l->spread[0], least);
        return (l->centre[0] - l->centre[1]) / spread * ((x - (l->centre[0] + l->centre[1]) / 2) / spread);
    }
    const double first = fmax(l->spread[0], least), second = fmax(l->spread[1], least);
    return fabs(x - l->centre[1]) / second - fabs(x - l->centre[0]) / first + log(second / first);
}

double learn_score(enum learn_kind kind, const struct learnt *learnt, const double *vector, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++)
        if (learnt[i].counts)
            sum += fmax(-FARTHEST, fmin(FARTHEST, part(kind, &learnt[i], vector[i])));
    return sum;
}
