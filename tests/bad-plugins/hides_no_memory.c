/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen_factors.h"

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    (void)self;
    if (!call->scratch(call, 64)) /* and goes on without */
        return DPF_OK;
    for (int64_t r = 0; r < count; r++)
        for (int32_t c = first; c < first + cols; c++)
            rows[r * stride + c] *= 2;
    return DPF_OK;
}
SPECIMEN_OF_FACTORS(factors)
