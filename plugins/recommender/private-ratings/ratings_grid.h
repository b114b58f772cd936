/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings_grid.h - a message of norm 1 as integers of norm 2^bits at most.
 *
 * Values are rounded toward zero, which lengthens nothing. Norms that floating point has made a little longer
 * than 1 are caught on the integers, whose norm is exact: so the bound that noise is chosen for holds
 * whatever was computed before. Numbers that are not finite become 0.
 */
#ifndef DPF_PRIVATE_RATINGS_GRID_H
#define DPF_PRIVATE_RATINGS_GRID_H

#include <math.h>
#include <stdint.h>

static inline int64_t ratings_step(double value, double scale)
{
    const double steps = value * scale;
    return isfinite(steps) ? (int64_t)fmax(fmin(steps, scale), -scale) : 0;
}

/* Whether the sum of squares is at most 2^(2 bits), bits at most 24. */
static inline int ratings_norm_fits(const int64_t *steps, int64_t n, int32_t bits)
{
    const int64_t most = INT64_C(1) << (2 * bits);
    int64_t sum = 0; /* at most 2^48 + 2^48 */
    for (int64_t i = 0; i < n && sum <= most; i++)
        sum += steps[i] * steps[i];
    return sum <= most;
}

/* values[i] 2^bits, rounded toward zero, of norm 2^bits at most. */
static inline void ratings_round(const double *values, int64_t n, int32_t bits, int64_t *out)
{
    const double scale = (double)(INT64_C(1) << bits);
    for (int64_t i = 0; i < n; i++)
        out[i] = ratings_step(values[i], scale);
    for (int tries = 0; !ratings_norm_fits(out, n, bits); tries++)
        for (int64_t i = 0; i < n; i++)
            out[i] = tries < 4 ? out[i] - (out[i] > 0) + (out[i] < 0) : 0;
}

#endif
