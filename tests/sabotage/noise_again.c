/* SPDX-License-Identifier: Apache-2.0 */
/* Every round draws the noise of the first one again. */
#define SABOTAGED "noise-again"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status again(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                        const dpf_encoded *sums, double *out, int64_t stride)
{
    dpf_call first = *call;
    first.draw = 0;
    return dpf_additive_mechanism_decode(self, &first, plan, query, sums, out, stride);
}

static const dpf_mechanism spoilt = {.flags = DPF_MECHANISM_DIVIDES,
                                     .lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = dpf_additive_mechanism_events,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = again};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
