/* SPDX-License-Identifier: Apache-2.0 */
/* Events say of every block that it is public. */
#define SABOTAGED "says-public"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status public(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    const dpf_status status = dpf_additive_mechanism_events(self, release, plan, out, capacity, n);
    for (int32_t e = 0; status == DPF_OK && e < *n; e++) {
        out[e].kind = DPF_EVENT_NON_PRIVATE;
        out[e].flags = DPF_EVENT_DATA_BLIND;
    }
    return status;
}

static const dpf_mechanism spoilt = {.flags = DPF_MECHANISM_DIVIDES,
                                     .lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = public,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = dpf_additive_mechanism_decode};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
