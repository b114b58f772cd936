/* SPDX-License-Identifier: Apache-2.0 */
/* tridiagonal_loops.h - the reduction of tridiagonal.c for one kind of processor: see simd_loops.h. */
#include "simd_loops.h"

static SIMD_LOOP_TARGET void SIMD_LOOP(reduce)(struct tridiagonal *t, double *a, double *work)
{
    reduce(t, a, work);
}
