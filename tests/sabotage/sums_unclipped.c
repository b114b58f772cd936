/* SPDX-License-Identifier: Apache-2.0 */
/* Users' messages to a recommender's sums are twice as long as they may be. */
#define SABOTAGED "sums-unclipped"
#include "sabotage.h"

#include "../../plugins/recommender/user-sums/message_grid.h"

static void round_spoilt(const double *values, int64_t n, int32_t bits, int64_t *out)
{
    grid_round(values, n, bits, out);
    for (int64_t i = 0; i < n; i++)
        out[i] *= 2;
}
#define grid_round(values, n, bits, out) round_spoilt(values, n, bits, out)
#include "../../plugins/recommender/user-sums/user_sums.c"

#undef grid_round

#include "../../plugins/recommender/private-als/private_als.c"

static const dpf_recommender spoilt = {.flags = als_flags,
                                       .releases = als_releases,
                                       .state_bytes = als_state_bytes,
                                       .fit = als_fit,
                                       .form = als_form};
#define CREATE als_create
#define INSTANCE .instance_bytes = sizeof(struct private_als)
SABOTAGE(DPF_ROLE_RECOMMENDER)
