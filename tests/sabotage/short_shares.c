/* SPDX-License-Identifier: Apache-2.0 */
/* Each party adds a share as if four times as many shared the noise: the sum has a quarter of its variance.
 */
#define SABOTAGED "short-shares"
#include "sabotage.h"

#include "../../plugins/mechanism/discrete-gaussian/discrete_gaussian.c"
#include "../../sdk/additive_parts.h"

static dpf_status short_of(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                           const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    dpf_noise_plan less = *plan;
    for (int32_t b = 0; b < plan->n_blocks; b++)
        less.opaque[DPF_ADDITIVE_KEEPS_STEPS + b] = (dpf_additive_plan_steps(plan, b, 0) + 1) / 2;
    return dpf_additive_mechanism_encode(self, call, &less, query, values, stride, out);
}

static const dpf_mechanism spoilt = {.lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = dpf_additive_mechanism_events,
                                     .encode = short_of,
                                     .decode = dpf_additive_mechanism_decode,
                                     .flags =
                                         DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
