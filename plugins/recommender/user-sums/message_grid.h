/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_grid.h - a message of norm 1 as integers of norm 2^bits at most.
 *
 * Values are rounded toward zero, which lengthens nothing. Norms that floating point has made a little longer
 * than 1 are caught on the integers, whose norm is exact: so the bound that noise is chosen for holds
 * whatever was computed before. Numbers that are not finite become 0.
 */
#ifndef DPF_USER_SUMS_MESSAGE_GRID_H
#define DPF_USER_SUMS_MESSAGE_GRID_H

#include <math.h>
#include <stdint.h>

#include "noise_share.h"

/* The grid of one release: integers are multiples of 2^-bits. */
struct noise_grid {
    int32_t bits;
    int32_t reserved;
    uint64_t steps; /* noise that is added to the sum, in grid steps; 0: none */
    uint64_t share; /* noise that each user adds, likewise */
    double scale;   /* of all noise that counts, where a message has norm 1: what is stated */
    double sigma;   /* of all noise that a sum has; tiny if there is none, so that it may divide */
};

#define GRID_MOST_STEPS 0x1p24 /* of dpf_random_service.discrete_gaussian */
#define GRID_MOST_BITS 24
#define GRID_LEAST_BITS 10 /* for messages of many small values; a message of a 1 needs none */
#define GRID_SILENT 1e-6

/* The finest grid on which sigma has at most 2^24 steps, but no finer than 2^-24; sigma is rounded up. -1 if
   that is too coarse for messages or for the noise. */
static inline int noise_grid_choose(double sigma, int32_t least_bits, struct noise_grid *out)
{
    int32_t bits = GRID_MOST_BITS;
    const double least = sigma * (1.0 + 4e-15);
    while (bits >= least_bits && !(ceil(ldexp(least, bits)) <= GRID_MOST_STEPS))
        bits--;
    if (bits < least_bits || !(ldexp(least, bits) >= 1024))
        return -1;
    *out = (struct noise_grid){.bits = bits, .steps = (uint64_t)ceil(ldexp(least, bits))};
    out->scale = out->sigma = ldexp((double)out->steps, -bits);
    return 0;
}

/* The noise of that grid in shares, those of t of n users making up all of it; -1 if shares are too small. */
static inline int noise_grid_divide(int64_t t, int64_t n, struct noise_grid *grid)
{
    grid->share = noise_share_of(grid->steps, t);
    grid->steps = 0;
    grid->scale = ldexp(noise_share_sum(grid->share, t), -grid->bits);
    grid->sigma = ldexp(noise_share_sum(grid->share, n), -grid->bits);
    return grid->share > 0 ? 0 : -1;
}

static inline void noise_grid_silent(struct noise_grid *out)
{
    *out = (struct noise_grid){.bits = GRID_MOST_BITS, .scale = GRID_SILENT, .sigma = GRID_SILENT};
}

static inline double noise_grid_size(const struct noise_grid *grid)
{
    return ldexp(1.0, -grid->bits);
}

static inline int64_t grid_step(double value, double scale)
{
    const double steps = value * scale;
    return isfinite(steps) ? (int64_t)fmax(fmin(steps, scale), -scale) : 0;
}

/* Whether the sum of squares is at most 2^(2 bits), bits at most 24. */
static inline int grid_norm_fits(const int64_t *steps, int64_t n, int32_t bits)
{
    const int64_t most = INT64_C(1) << (2 * bits);
    int64_t sum = 0; /* at most 2^48 + 2^48 */
    for (int64_t i = 0; i < n && sum <= most; i++)
        sum += steps[i] * steps[i];
    return sum <= most;
}

/* values[i] 2^bits, rounded toward zero, of norm 2^bits at most. */
static inline void grid_round(const double *values, int64_t n, int32_t bits, int64_t *out)
{
    const double scale = (double)(INT64_C(1) << bits);
    for (int64_t i = 0; i < n; i++)
        out[i] = grid_step(values[i], scale);
    for (int tries = 0; !grid_norm_fits(out, n, bits); tries++)
        for (int64_t i = 0; i < n; i++)
            out[i] = tries < 4 ? out[i] - (out[i] > 0) + (out[i] < 0) : 0;
}

#endif
