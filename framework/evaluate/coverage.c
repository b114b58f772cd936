/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/coverage.h"

#include <math.h>
#include <stdlib.h>

int64_t coverage_step(double p)
{
    if (p >= 1)
        return COVERAGE_CERTAIN;
    double steps = -log1p(-p) * 0x1p50;
    return steps < (double)COVERAGE_CERTAIN ? (int64_t)(steps + 0.5) : COVERAGE_CERTAIN;
}

double coverage_share(const int64_t *sums, int64_t n)
{
    double covered = 0;
    for (int64_t i = 0; i < n; i++)
        covered += sums[i] < COVERAGE_CERTAIN ? -expm1(-(double)sums[i] * 0x1p-50) : 1.0;
    return n ? covered / (double)n : 0;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

double exposure_gini(int64_t *sums, int64_t n)
{
    double total = 0, weighted = 0;
    qsort(sums, (size_t)n, sizeof *sums, ascending);
    for (int64_t i = 0; i < n; i++) {
        total += (double)sums[i];
        weighted += (double)(2 * i + 1 - n) * (double)sums[i];
    }
    return weighted / total / (double)n;
}
