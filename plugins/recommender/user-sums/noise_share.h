/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_share.h - discrete Gaussian noise in shares of the users, for sums through an aggregator.
 *
 * Each user adds discrete Gaussian noise of an integer scale s to every number of its message. The shares of t
 * users add up to noise that stands for a discrete Gaussian of scale s sqrt(t), and further ones are
 * independent of it and do no harm (Kairouz, Liu, Steinke, arXiv 2102.06387; mechanism discrete-gaussian has
 * the argument, which needs s to be at least 2^8). t is of honest users, whose shares nobody knows.
 */
#ifndef DPF_USER_SUMS_NOISE_SHARE_H
#define DPF_USER_SUMS_NOISE_SHARE_H

#include <math.h>
#include <stdint.h>

#define NOISE_SHARE_LEAST 256
#define NOISE_SHARE_TOO_FEW                                                                                  \
    "a user's share of the noise has less than 2^8 steps of the grid: lower [privacy] min-honest, or "       \
    "declare [model] "                                                                                       \
    "users"

/* The least s with s^2 t >= steps^2, steps at most 2^24; 0 if it is too small to be a share. */
static inline uint64_t noise_share_of(uint64_t steps, int64_t t)
{
    const uint64_t shares = (uint64_t)t;
    uint64_t s = (uint64_t)((double)steps / sqrt((double)t));
    while (s * s * shares < steps * steps)
        s++;
    return s >= NOISE_SHARE_LEAST ? s : 0;
}

/* Scale of the noise of n shares together, in steps of the grid; not rounded up. */
static inline double noise_share_sum(uint64_t share, int64_t n)
{
    return (double)share * sqrt((double)n) * (1.0 - 0x1p-50);
}

#endif
