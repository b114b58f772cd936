/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record sampler that takes the records with user + item + draw even, and says that it draws half of them
 * in secret. With weight = 2 or -1 it gives a weight that it does not state.
 */
#include "stateless.h"

static const dpf_enum_value lifetimes[] = {{"round", "one draw a round"}, {"run", "one draw"}};
static const dpf_param params[] = {DPF_PARAM_ENUM_F("lifetime", 0, lifetimes, 0, "How long a draw lasts."),
                                   DPF_PARAM_INT_F("weight", 1, -1, 2, 0, "", "Weight of what is taken.")};

static int32_t lifetime(void *self)
{
    return ((struct stateless *)self)->first == 1 ? DPF_LIFETIME_RUN : DPF_LIFETIME_ROUND;
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
    out->kind = DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = DPF_OBSERVER_SERVER;
    out->rate = 0.5;
    out->weight_max = 1;
    return DPF_OK;
}

static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *records, float *weights)
{
    const struct stateless *even = self;
    for (int64_t i = 0; i < records->n; i++) {
        int64_t sum = (int64_t)records->users[i] + records->items[i] + call->draw;
        weights[i] = sum % 2 == 0 ? (float)even->second : 0.0f;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD, .lifetime = lifetime, .prepare = prepare, .describe = describe, .draw = draw};

STATELESS_PLUGIN(DPF_ROLE_SAMPLER, "test-even", params, 2, functions)
