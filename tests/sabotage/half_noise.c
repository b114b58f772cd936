/* SPDX-License-Identifier: Apache-2.0 */
/* Sums get noise of half the scale that the plan and the events state. */
#define SABOTAGED "half-noise"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status half(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                       const dpf_encoded *sums, double *out, int64_t stride)
{
    dpf_noise_plan less = *plan;
    for (int32_t b = 0; b < DPF_MAX_BLOCKS; b++) {
        less.scale[b] /= 2;
        less.gram_scale[b] /= 2;
    }
    return dpf_additive_mechanism_decode(self, call, &less, query, sums, out, stride);
}

static const dpf_mechanism spoilt = {.flags = DPF_MECHANISM_DIVIDES,
                                     .lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = dpf_additive_mechanism_events,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = half};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
