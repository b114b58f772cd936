/* SPDX-License-Identifier: Apache-2.0 */
#include "specimen_factors.h"

static dpf_status create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct specimen *specimen = dpf_memory(host)->allocate(host, sizeof *specimen);
    if (!specimen)
        return DPF_E_MEMORY;
    specimen->host = host;
    if (dpf_random(host)->open(host, "specimen", &specimen->stream) != DPF_OK)
        return DPF_E_MEMORY; /* and keeps what it has */
    *self = specimen;
    return DPF_OK;
}

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    (void)self, (void)call, (void)rows, (void)count, (void)stride, (void)first, (void)cols;
    return DPF_OK;
}
SPECIMEN_FACTORS_WITH(factors, create, specimen_destroy)
