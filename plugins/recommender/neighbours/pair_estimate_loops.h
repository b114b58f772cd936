/* SPDX-License-Identifier: Apache-2.0 */
/* pair_estimate_loops.h - the ascent of pair_estimate.c for one kind of processor: see simd_loops.h. */
#include "simd_loops.h"

static SIMD_LOOP_TARGET void SIMD_LOOP(climb_all)(struct climb *climb, int64_t iterations)
{
    climb_all(climb, iterations);
}
