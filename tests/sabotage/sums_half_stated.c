/* SPDX-License-Identifier: Apache-2.0 */
/* A recommender's events state half of the sensitivity. */
#define SABOTAGED "sums-half-stated"
#include "sabotage.h"

#include "../../plugins/recommender/user-sums/message_grid.h"

#include "../../plugins/recommender/user-sums/user_sums.c"

#include "../../plugins/recommender/private-als/private_als.c"

static dpf_status stated(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                         int32_t capacity, int32_t *n)
{
    const dpf_status status = als_releases(self, setup, out, capacity, n);
    for (int32_t r = 0; status == DPF_OK && r < *n; r++)
        for (int32_t u = 0; u < DPF_N_UNITS; u++)
            for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
                out[r].event.sensitivity.at[u][a].l1 /= 2;
                out[r].event.sensitivity.at[u][a].l2 /= 2;
            }
    return status;
}

static const dpf_recommender spoilt = {
    .flags = als_flags, .releases = stated, .state_bytes = als_state_bytes, .fit = als_fit, .form = als_form};
#define CREATE als_create
#define INSTANCE .instance_bytes = sizeof(struct private_als)
SABOTAGE(DPF_ROLE_RECOMMENDER)
