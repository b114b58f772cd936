/* SPDX-License-Identifier: Apache-2.0 */
/* Events state half of the sensitivity, as if one unit moved a sum by half as much. */
#define SABOTAGED "half-stated"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status stated(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    const dpf_status status = dpf_additive_mechanism_events(self, release, plan, out, capacity, n);
    for (int32_t e = 0; status == DPF_OK && e < *n; e++)
        for (int32_t u = 0; u < DPF_N_UNITS; u++)
            for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
                out[e].sensitivity.at[u][a].l1 /= 2;
                out[e].sensitivity.at[u][a].l2 /= 2;
            }
    return status;
}

static const dpf_mechanism spoilt = {.flags = DPF_MECHANISM_DIVIDES,
                                     .lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = stated,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = dpf_additive_mechanism_decode};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
