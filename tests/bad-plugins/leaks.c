/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen_factors.h"

static void forget(void *self)
{
    (void)self;
}

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    (void)self, (void)call, (void)rows, (void)count, (void)stride, (void)first, (void)cols;
    return DPF_OK;
}
SPECIMEN_FACTORS_WITH(factors, specimen_create, forget)
