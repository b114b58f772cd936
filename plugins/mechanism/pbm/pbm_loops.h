/* SPDX-License-Identifier: Apache-2.0 */
/* pbm_loops.h - what encodes many numbers, for one kind of processor: loops, see simd_loops.h. */
#include "simd_loops.h"

/* Sizes are compared as integers, without branches that nobody could predict. */
static SIMD_LOOP_TARGET int SIMD_LOOP(shares)(double theta, double bound, const double *values, int64_t n,
                                              double *shares, int64_t *clipped)
{
    int64_t outside = 0, odd = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t value, size;
        double share = values[i] / bound;
        memcpy(&value, &values[i], sizeof(value));
        memcpy(&size, &share, sizeof(size));
        const uint64_t sign = size & SIGN_BIT;
        size &= ~SIGN_BIT;
        odd += (value & ~SIGN_BIT) >= INFINITE_BITS;
        outside += size > ONE_BITS;
        size = sign | (size < ONE_BITS ? size : ONE_BITS);
        memcpy(&share, &size, sizeof(share));
        shares[i] = share * theta;
    }
    *clipped += outside;
    return odd == 0;
}

static SIMD_LOOP_TARGET int64_t SIMD_LOOP(compare)(const double *shares, const uint16_t *lanes, int64_t n,
                                                   int64_t *out)
{
    int64_t ties = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t lane = lanes[i], limit = pbm_first_bits(shares[i]);
        out[i] = lane < limit;
        ties |= lane == limit;
    }
    return ties;
}

static const struct pbm_kernels SIMD_LOOP(pbm_kernels) = {SIMD_LOOP(shares), SIMD_LOOP(compare)};
