/* SPDX-License-Identifier: Apache-2.0 */
/* full.c - everybody takes part in every step, with weight 1. Nothing is amplified. */
#include "dpframe/plugin.h"
#include "dpframe/role/sampler.h"

static int32_t full_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_RUN;
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
    .level = DPF_LEVEL_PARTY, .lifetime = full_lifetime, .describe = full_describe, .draw = full_draw};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "full", .version = "1.0.0",
              .summary = "Everybody takes part in every step", .citation = "")
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.full", "1.0.0", "Apache-2.0", component)
