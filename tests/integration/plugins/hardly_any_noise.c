/* SPDX-License-Identifier: Apache-2.0 */
/* hardly_any_noise.c - gaussian, but sums get a hundredth of the noise that is stated: for attacks. */
#define SABOTAGED "hardly-any-noise"
#include "../../sabotage/sabotage.h"

#include "../../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status hardly(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                         const dpf_encoded *sums, double *out, int64_t stride)
{
    dpf_noise_plan less = *plan;
    for (int32_t b = 0; b < DPF_MAX_BLOCKS; b++) {
        less.scale[b] /= 128;
        less.gram_scale[b] /= 128;
    }
    return dpf_additive_mechanism_decode(self, call, &less, query, sums, out, stride);
}

static const dpf_mechanism spoilt = {.lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = dpf_additive_mechanism_events,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = hardly};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
