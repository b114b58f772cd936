/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler that states three rounds between two participations of a user, and lets everybody take part each
 * time. */
#include "stateless.h"

static int32_t lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static dpf_status prepare(void *self, const dpf_sampler_setup *setup)
{
    (void)self;
    (void)setup;
    return DPF_OK;
}

static dpf_status describe(void *self, dpf_sampling *out)
{
    (void)self;
    out->kind = DPF_SAMPLING_CYCLIC;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = -1;
    out->rate = 1;
    out->weight_max = 1;
    out->separation = 3;
    return DPF_OK;
}

static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *users, float *weights)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < users->n; i++)
        weights[i] = 1;
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY, .lifetime = lifetime, .prepare = prepare, .describe = describe, .draw = draw};

STATELESS_PLUGIN(DPF_ROLE_SAMPLER, "test-hasty", NULL, 0, functions)
