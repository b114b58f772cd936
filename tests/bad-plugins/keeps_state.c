/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen_factors.h"

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    struct specimen *specimen = self;
    (void)call, (void)stride, (void)cols;
    specimen->counter++;
    if (count)
        rows[first] += (float)specimen->counter;
    return DPF_OK;
}
SPECIMEN_OF_FACTORS(factors)
