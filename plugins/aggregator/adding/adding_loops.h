/* SPDX-License-Identifier: Apache-2.0 */
/* adding_loops.h - sums for one kind of processor. A kernel of loops: see simd_loops.h. */
#include "simd_loops.h"

/* Adds n numbers; 1 if a sum leaves the range of int64. */
static SIMD_LOOP_TARGET int SIMD_LOOP(add_plain)(int64_t *restrict to, const int64_t *restrict from,
                                                 int64_t n)
{
    int64_t overflow = 0; /* the sign; of the numbers' width, so that the compiler makes vectors of it */
    for (int64_t i = 0; i < n; i++) {
        /* Wrapping addition overflowed iff both terms differ in sign from the result. */
        const int64_t s = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
        overflow |= (to[i] ^ s) & (from[i] ^ s);
        to[i] = s;
    }
    return overflow < 0;
}
