/* SPDX-License-Identifier: Apache-2.0 */
/* row_power_loops.h - row_power for one kind of processor. A kernel of loops: see simd_loops.h. */
#include "simd_loops.h"

#define LANES 32 /* sums of their own: none waits for another */

static SIMD_LOOP_TARGET double SIMD_LOOP(squares)(const double *x, int64_t n, double unit)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t k = 0; k < LANES; k++)
            lane[k] += (unit * x[i + k]) * (unit * x[i + k]);
    for (int64_t k = 0; k < n - i; k++)
        lane[k] += (unit * x[i + k]) * (unit * x[i + k]);
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        for (int64_t k = 0; k < half; k++)
            lane[k] += lane[k + half];
    return lane[0];
}

static SIMD_LOOP_TARGET double SIMD_LOOP(sizes)(const double *x, int64_t n, double unit)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t k = 0; k < LANES; k++)
            lane[k] += __builtin_fabs(unit * x[i + k]);
    for (int64_t k = 0; k < n - i; k++)
        lane[k] += __builtin_fabs(unit * x[i + k]);
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        for (int64_t k = 0; k < half; k++)
            lane[k] += lane[k + half];
    return lane[0];
}

static double SIMD_LOOP(row_power)(const double *x, int64_t n, double unit, int32_t p)
{
    return p == 1 ? SIMD_LOOP(sizes)(x, n, unit) : SIMD_LOOP(squares)(x, n, unit);
}

#undef LANES
