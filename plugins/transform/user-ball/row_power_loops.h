/* SPDX-License-Identifier: Apache-2.0 */
/* row_power_loops.h - row_power for one kind of processor. A kernel of loops: see simd_loops.h. */
#include "simd_loops.h"

#define LANES 32 /* sums of their own: none waits for another */

/* Halves onto each other, with lengths that the compiler knows. */
static inline __attribute__((always_inline)) double SIMD_LOOP(sum_of_lanes)(double lane[LANES])
{
    for (int64_t k = 0; k < 16; k++)
        lane[k] += lane[k + 16];
    for (int64_t k = 0; k < 8; k++)
        lane[k] += lane[k + 8];
    for (int64_t k = 0; k < 4; k++)
        lane[k] += lane[k + 4];
    for (int64_t k = 0; k < 2; k++)
        lane[k] += lane[k + 2];
    return lane[0] + lane[1];
}

static SIMD_LOOP_TARGET double SIMD_LOOP(squares)(const double *x, int64_t n, double unit)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t k = 0; k < LANES; k++)
            lane[k] += (unit * x[i + k]) * (unit * x[i + k]);
    for (int64_t k = 0; k < n - i; k++)
        lane[k] += (unit * x[i + k]) * (unit * x[i + k]);
    return SIMD_LOOP(sum_of_lanes)(lane);
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
    return SIMD_LOOP(sum_of_lanes)(lane);
}

static double SIMD_LOOP(row_power)(const double *x, int64_t n, double unit, int32_t p)
{
    return p == 1 ? SIMD_LOOP(sizes)(x, n, unit) : SIMD_LOOP(squares)(x, n, unit);
}

#undef LANES
