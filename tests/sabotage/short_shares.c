/* SPDX-License-Identifier: Apache-2.0 */
/* Each party adds a share as if four times as many shared the noise: the sum has a quarter of its variance.
 */
#define SABOTAGED "short-shares"
#include "sabotage.h"

#include "../../plugins/mechanism/discrete-gaussian/discrete_gaussian.c"

static dpf_status short_of(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                           const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    dpf_noise_plan less = *plan;
    for (size_t i = 2; i < sizeof less.opaque / sizeof less.opaque[0]; i++)
        less.opaque[i] = (plan->opaque[i] + 1) / 2;
    return shares_encode(self, call, &less, query, values, stride, out);
}

static const dpf_mechanism spoilt = {.lifetime = noise_shares_lifetime,
                                     .budget = shares_budget,
                                     .plan = shares_plan,
                                     .events = shares_events,
                                     .encode = short_of,
                                     .decode = shares_decode,
                                     .flags = DPF_MECHANISM_DENSE};
#define CREATE noise_shares_create
#define DESTROY noise_shares_destroy
SABOTAGE(DPF_ROLE_MECHANISM)
