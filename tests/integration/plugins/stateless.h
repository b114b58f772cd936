/* SPDX-License-Identifier: Apache-2.0 */
/* stateless.h - components of the tests that keep nothing but their host and first parameter. */
#ifndef STATELESS_H
#define STATELESS_H

#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"

struct stateless {
    const dpf_host *host;
    int64_t first; /* value of the first parameter, if it is an integer or enum */
    int64_t second;
};

static dpf_status stateless_create(const dpf_host *host, const dpf_params *params, void **self)
{
    struct stateless *out = dpf_memory(host)->allocate(host, sizeof(*out));
    if (!out)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    out->host = host;
    out->first = params->n_values > 0 ? params->values[0].integer : 0;
    out->second = params->n_values > 1 ? params->values[1].integer : 0;
    *self = out;
    return DPF_OK;
}

static void stateless_destroy(void *self)
{
    struct stateless *stateless = self;
    dpf_memory(stateless->host)->release(stateless->host, stateless);
}

/* A plugin "test-..." with one component. PARAMS is an array or NULL. */
#define STATELESS_PLUGIN(ROLE, ID, PARAMS, N_PARAMS, FUNCTIONS)                                              \
    static const dpf_component component = {                                                                 \
        .size = sizeof(dpf_component),                                                                       \
        .role = ROLE,                                                                                        \
        .id = ID,                                                                                            \
        .version = "1.0.0",                                                                                  \
        .summary = "For tests of the engine",                                                                \
        .citation = "",                                                                                      \
        .params = PARAMS,                                                                                    \
        .n_params = N_PARAMS,                                                                                \
        .param_stride = sizeof(dpf_param),                                                                   \
        .create = stateless_create,                                                                          \
        .destroy = stateless_destroy,                                                                        \
        .functions = &(FUNCTIONS),                                                                           \
    };                                                                                                       \
    DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe." ID, "1.0.0", "Apache-2.0", component)

#endif
