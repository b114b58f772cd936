/* SPDX-License-Identifier: Apache-2.0 */
/* A recommender's sums get noise of half the scale that its events state. */
#define SABOTAGED "sums-half-noise"
#include "sabotage.h"

#include "../../plugins/recommender/user-sums/message_grid.h"

#define discrete_gaussian(cursor, steps, out, n) discrete_gaussian(cursor, (steps) / 2, out, n)
#include "../../plugins/recommender/user-sums/user_sums.c"

#undef discrete_gaussian

#include "../../plugins/recommender/private-als/private_als.c"

static const dpf_recommender spoilt = {.flags = als_flags,
                                       .releases = als_releases,
                                       .state_bytes = als_state_bytes,
                                       .fit = als_fit,
                                       .form = als_form};
#define CREATE als_create
#define INSTANCE .instance_bytes = sizeof(struct private_als)
SABOTAGE(DPF_ROLE_RECOMMENDER)
