/* SPDX-License-Identifier: Apache-2.0 */
/* pbm_rows.h - four rows of a convolution. A template: see simd_loops.h. No include guard. */
#include "simd_loops.h"

SIMD_LOOP_TARGET static void SIMD_LOOP(add_rows)(const double x[4], const double *restrict b, int64_t width,
                                                 double *restrict to)
{
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    for (int64_t j = 0; j < width; j++)
        to[j] = (((to[j] + x0 * b[j + 3]) + x1 * b[j + 2]) + x2 * b[j + 1]) + x3 * b[j];
}
