/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen_factors.h"

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    const struct specimen *specimen = self;
    (void)call, (void)rows, (void)count, (void)stride, (void)first, (void)cols;
    if (!dpf_memory(specimen->host)->allocate(specimen->host, 64))
        return DPF_E_MEMORY;
    return DPF_OK;
}
SPECIMEN_OF_FACTORS(factors)
