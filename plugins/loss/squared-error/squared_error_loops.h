/* SPDX-License-Identifier: Apache-2.0 */
/* squared_error_loops.h - the loops of squared_error_kernels.c for one kind of processor: see simd_loops.h. */
#include "simd_loops.h"

static SIMD_LOOP_TARGET int SIMD_LOOP(exact_rows)(const struct squared_error_task *task, int64_t first,
                                                  int64_t count, double *reg, double *out)
{
    return exact_rows(task, first, count, reg, out);
}

static SIMD_LOOP_TARGET int SIMD_LOOP(local_rows)(const struct squared_error_task *task, int64_t first,
                                                  int64_t count, float *reg, float *out)
{
    return local_rows(task, first, count, reg, out);
}
