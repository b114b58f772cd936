/* SPDX-License-Identifier: Apache-2.0 */
/*
 * specimen.h - a sound plugin of which each file beside this one breaks one thing.
 *
 * It is a factor transform that halves rows. A bad plugin defines some of the macros below before
 * it includes this file.
 */
#ifndef DPF_TESTS_SPECIMEN_H
#define DPF_TESTS_SPECIMEN_H

#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"

#ifndef SPECIMEN_ID
#define SPECIMEN_ID "specimen"
#endif
#ifndef SPECIMEN_PLUGIN_ID
#define SPECIMEN_PLUGIN_ID "org.dpframe.test.specimen"
#endif
#ifndef SPECIMEN_SUMMARY
#define SPECIMEN_SUMMARY "multiplies factors by a constant"
#endif
#ifndef SPECIMEN_ROLE
#define SPECIMEN_ROLE DPF_ROLE_TRANSFORM
#endif
#ifndef SPECIMEN_MAGIC
#define SPECIMEN_MAGIC DPF_PLUGIN_MAGIC
#endif
#ifndef SPECIMEN_SIZE
#define SPECIMEN_SIZE sizeof(dpf_plugin)
#endif
#ifndef SPECIMEN_MINOR
#define SPECIMEN_MINOR 0
#endif
#ifndef SPECIMEN_RESERVED
#define SPECIMEN_RESERVED                                                                                    \
    {                                                                                                        \
        NULL                                                                                                 \
    }
#endif
#ifndef SPECIMEN_KIND
#define SPECIMEN_KIND DPF_TRANSFORM_FACTOR
#endif

#ifndef SPECIMEN_PARAMS
static const dpf_param specimen_params[] = {
    DPF_PARAM_REAL_F("factor", 0.5, 0.0, 1.0, DPF_PARAM_OPEN_LO, "", "what rows are multiplied by"),
};
#endif

struct specimen {
    const dpf_host *host;
    double factor;
};

#ifndef SPECIMEN_CREATE
static dpf_status specimen_create(const dpf_host *host, const dpf_params *params, void **self)
{
    struct specimen *specimen = dpf_memory(host)->allocate(host, sizeof *specimen);
    if (!specimen)
        return DPF_E_MEMORY;
    specimen->host = host;
    specimen->factor = params->n_values ? params->values[0].real : 0.5;
    *self = specimen;
    return DPF_OK;
}
#define SPECIMEN_CREATE specimen_create
#endif

#ifndef SPECIMEN_DESTROY
static void specimen_destroy(void *self)
{
    struct specimen *specimen = self;
    dpf_memory(specimen->host)->release(specimen->host, specimen);
}
#define SPECIMEN_DESTROY specimen_destroy
#endif

#ifndef SPECIMEN_FACTORS
static dpf_status specimen_factors(void *self, const dpf_call *call, float *rows, int64_t count,
                                   int64_t stride, int32_t first, int32_t cols)
{
    const struct specimen *specimen = self;
    (void)call;
    for (int64_t r = 0; r < count; r++)
        for (int32_t c = first; c < first + cols; c++)
            rows[r * stride + c] *= (float)specimen->factor;
    return DPF_OK;
}
#define SPECIMEN_FACTORS specimen_factors
#endif

static const dpf_transform specimen_functions = {
    .kind = SPECIMEN_KIND,
    .factors = SPECIMEN_FACTORS,
    .reserved_slots = SPECIMEN_RESERVED,
};

static const dpf_component specimen_component = {
    .size = sizeof(dpf_component),
    .role = SPECIMEN_ROLE,
    .id = SPECIMEN_ID,
    .version = "1.0.0",
    .summary = SPECIMEN_SUMMARY,
    .citation = "",
    .params = specimen_params,
    .n_params = sizeof specimen_params / sizeof specimen_params[0],
    .param_stride = sizeof(dpf_param),
    .create = SPECIMEN_CREATE,
    .destroy = SPECIMEN_DESTROY,
    .functions = &specimen_functions,
};

#ifndef SPECIMEN_COMPONENTS
static const dpf_component *const specimen_components[] = {&specimen_component};
#endif

static const dpf_plugin specimen_plugin = {
    .magic = SPECIMEN_MAGIC,
    .size = SPECIMEN_SIZE,
    .abi_minor_needed = SPECIMEN_MINOR,
    .n_components = sizeof specimen_components / sizeof specimen_components[0],
    .id = SPECIMEN_PLUGIN_ID,
    .version = "1.0.0",
    .licence = "Apache-2.0",
    .components = specimen_components,
};

#ifndef SPECIMEN_NO_ENTRY
DPF_PLUGIN_ENTRY(specimen_plugin)
#endif

#endif
