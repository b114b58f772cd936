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
    return gaussian_decode(self, &first, plan, query, sums, out, stride);
}

static const dpf_mechanism spoilt = {.lifetime = gaussian_lifetime,
                                     .budget = gaussian_budget,
                                     .plan = gaussian_plan,
                                     .events = gaussian_events,
                                     .encode = gaussian_encode,
                                     .decode = again};
#define CREATE gaussian_create
#define DESTROY gaussian_destroy
SABOTAGE(DPF_ROLE_MECHANISM)
