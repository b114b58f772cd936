/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_role.h - the plugin around a role's table, for components without parameters. */
#ifndef DPF_TESTS_SPECIMEN_ROLE_H
#define DPF_TESTS_SPECIMEN_ROLE_H

#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"

struct specimen {
    const dpf_host *host;
    dpf_stream *stream;
    int64_t counter;
};

static inline dpf_status specimen_create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct specimen *specimen = dpf_memory(host)->allocate(host, sizeof *specimen);
    if (!specimen)
        return DPF_E_MEMORY;
    specimen->host = host;
    dpf_status status = dpf_random(host)->open(host, "specimen", &specimen->stream);
    if (status != DPF_OK) {
        dpf_memory(host)->release(host, specimen);
        return status;
    }
    *self = specimen;
    return DPF_OK;
}

static inline void specimen_destroy(void *self)
{
    struct specimen *specimen = self;
    dpf_memory(specimen->host)->release(specimen->host, specimen);
}

#define SPECIMEN_WITH(ROLE, FUNCTIONS, CREATE, DESTROY)                                                      \
    static const dpf_component specimen_component = {                                                        \
        .size = sizeof(dpf_component),                                                                       \
        .role = ROLE,                                                                                        \
        .id = "specimen",                                                                                    \
        .version = "1.0.0",                                                                                  \
        .summary = "breaks a rule",                                                                          \
        .citation = "",                                                                                      \
        .param_stride = sizeof(dpf_param),                                                                   \
        .create = CREATE,                                                                                    \
        .destroy = DESTROY,                                                                                  \
        .functions = &(FUNCTIONS),                                                                           \
    };                                                                                                       \
    DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.test.specimen", "1.0.0", "Apache-2.0", specimen_component)
#define SPECIMEN_OF(ROLE, FUNCTIONS) SPECIMEN_WITH(ROLE, FUNCTIONS, specimen_create, specimen_destroy)

#endif
