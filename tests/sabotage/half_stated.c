/* SPDX-License-Identifier: Apache-2.0 */
/* Events state half of the sensitivity, as if one unit moved a sum by half as much. */
#define SABOTAGED "half-stated"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status stated(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    const dpf_status status = gaussian_events(self, release, plan, out, capacity, n);
    for (int32_t e = 0; status == DPF_OK && e < *n; e++)
        for (int32_t u = 0; u < DPF_N_UNITS; u++)
            for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
                out[e].sensitivity.at[u][a].l1 /= 2;
                out[e].sensitivity.at[u][a].l2 /= 2;
            }
    return status;
}

static const dpf_mechanism spoilt = {.lifetime = gaussian_lifetime,
                                     .budget = gaussian_budget,
                                     .plan = gaussian_plan,
                                     .events = stated,
                                     .encode = gaussian_encode,
                                     .decode = gaussian_decode};
#define CREATE gaussian_create
#define DESTROY gaussian_destroy
SABOTAGE(DPF_ROLE_MECHANISM)
