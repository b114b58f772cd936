/* SPDX-License-Identifier: Apache-2.0 */
/* full.c - everybody takes part in every step, with weight 1. Nothing is amplified. */
#include "dpframe/plugin.h"
#include "dpframe/role/sampler.h"

/* The instance has no state, but the host wants a pointer of its own. */
struct full {
    const dpf_host *host;
};

static dpf_status full_create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct full *full = dpf_memory(host)->allocate(host, sizeof(*full));
    if (!full)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    full->host = host;
    *self = full;
    return DPF_OK;
}

static void full_destroy(void *self)
{
    struct full *full = self;
    dpf_memory(full->host)->release(full->host, full);
}

static int32_t full_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_RUN;
}

static dpf_status full_prepare(void *self, const dpf_sampler_setup *setup)
{
    (void)self;
    (void)setup;
    return DPF_OK;
}

static dpf_status full_describe(void *self, dpf_sampling *out)
{
    (void)self;
    out->kind = DPF_SAMPLING_NONE;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = -1;
    out->rate = 1;
    out->weight_max = 1;
    return DPF_OK;
}

static dpf_status full_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < draw->n; i++)
        weights[i] = 1;
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY,
    .lifetime = full_lifetime,
    .prepare = full_prepare,
    .describe = full_describe,
    .draw = full_draw,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_SAMPLER,
    .id = "full",
    .version = "1.0.0",
    .summary = "Everybody takes part in every step",
    .citation = "",
    .params = NULL,
    .n_params = 0,
    .param_stride = sizeof(dpf_param),
    .create = full_create,
    .destroy = full_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.full", "1.0.0", "Apache-2.0", component)
