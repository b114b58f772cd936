/* SPDX-License-Identifier: Apache-2.0 */
/* pbm_kernels.h - the steps of encoding many numbers with one trial each, in vectors. */
#ifndef PBM_KERNELS_H
#define PBM_KERNELS_H

#include <stdint.h>

#include "simd_kind.h"

struct pbm_kernels {
    /* theta x / c of n numbers, each x clipped to [-c, c], c = bound; 0 if one of them is not finite. clipped
       counts what leaves [-c, c]. */
    int (*shares)(double theta, double bound, const double *values, int64_t n, double *shares,
                  int64_t *clipped);
    /* Whether each lane is below the first bits of its trial's probability; not 0 if one equals them. */
    int64_t (*compare)(const double *shares, const uint16_t *lanes, int64_t n, int64_t *out);
};

/* For a kind of simd_kind.h; NULL if the processor lacks it. All kinds give the same bytes. */
const struct pbm_kernels *pbm_kernels_find(int wanted);

/* The first 16 bits of 1/2 + share, as they stand in a lane. */
static inline int32_t pbm_first_bits(double share)
{
    return (int32_t)((0.5 + share) * 0x1p16);
}

#endif
