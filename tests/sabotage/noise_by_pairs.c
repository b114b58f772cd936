/* SPDX-License-Identifier: Apache-2.0 */
/* Two rows share the noise of one: their difference has none. */
#define SABOTAGED "noise-by-pairs"
#include "sabotage.h"

#include "../../plugins/mechanism/gaussian/gaussian.c"

static dpf_status pairs(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                        const dpf_encoded *sums, double *out, int64_t stride)
{
    dpf_encoded one = *sums;
    dpf_status status = DPF_OK;
    one.n_rows = 1;
    one.rows = NULL;
    for (int64_t r = 0; r < sums->n_rows && status == DPF_OK; r++) {
        const int64_t row = sums->rows ? sums->rows[r] : sums->first_row + r;
        one.first_row = row - row % 2;
        one.values = sums->values + r * sums->stride;
        status = dpf_additive_mechanism_decode(self, call, plan, query, &one, out + r * stride, stride);
    }
    return status;
}

static const dpf_mechanism spoilt = {.flags = DPF_MECHANISM_DIVIDES,
                                     .lifetime = dpf_additive_mechanism_lifetime,
                                     .budget = dpf_additive_mechanism_budget,
                                     .plan = dpf_additive_mechanism_plan,
                                     .events = dpf_additive_mechanism_events,
                                     .encode = dpf_additive_mechanism_encode,
                                     .decode = pairs};
#define CREATE component_create
#define INSTANCE .instance_bytes = sizeof(dpf_additive_instance)
SABOTAGE(DPF_ROLE_MECHANISM)
