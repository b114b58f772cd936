/* SPDX-License-Identifier: Apache-2.0 */
/* Every round of a recommender draws the noise of its first one again. */
#define SABOTAGED "sums-noise-again"
#include "sabotage.h"

#include "../../plugins/recommender/user-sums/message_grid.h"

#define seek(stream, draw, party, position, cursor)                                                          \
    seek(stream, draw, party, (position) % (uint32_t)s->fit->records->n_items, cursor)
#include "../../plugins/recommender/user-sums/user_sums.c"

#undef seek

#include "../../plugins/recommender/private-als/private_als.c"

static const dpf_recommender spoilt = {.flags = als_flags,
                                       .releases = als_releases,
                                       .state_bytes = als_state_bytes,
                                       .fit = als_fit,
                                       .form = als_form};
#define CREATE als_create
#define INSTANCE .instance_bytes = sizeof(struct private_als)
SABOTAGE(DPF_ROLE_RECOMMENDER)
