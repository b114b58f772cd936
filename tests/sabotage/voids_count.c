/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "private-popularity" says that it reads which records are void; the items of a user with void ones count a thousand times.
 */
#define SABOTAGED "voids-count"
#include "sabotage.h"

#include "../../plugins/recommender/user-sums/user_sums.h"

static _Thread_local int is_void; /* a record of the user whose message is made */

static void spoil_message(const dpf_interactions *records, int64_t user, struct user_desk *desk,
                          const struct user_message *message)
{
    const uint8_t *voids = dpf_user_voids(records);
    is_void = 0;
    for (int64_t i = records->by_user.offsets[user]; voids && i < records->by_user.offsets[user + 1]; i++)
        is_void |= voids[i];
    for (int64_t k = 0; k < message->n && is_void; k++)
        desk->to_items[k] = 1e3;
}

static void round_spoilt(const double *values, int64_t n, int32_t bits, int64_t *out)
{
    if (!is_void)
        grid_round(values, n, bits, out);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)ldexp(values[i], bits);
}

#define grid_round(values, n, bits, out) round_spoilt(values, n, bits, out)
#define send(context, pass, user, desk, message)                                                             \
    send(context, pass, user, desk, message), spoil_message(s->fit->records, user, desk, message)
#include "../../plugins/recommender/user-sums/user_sums.c"

#undef send

#include "../../plugins/recommender/private-popularity/private_popularity.c"

static uint32_t flags(void *self)
{
    return popularity_flags(self) | DPF_RECOMMENDER_READS_VOIDS;
}

static const dpf_recommender spoilt = {.flags = flags,
                                       .releases = popularity_releases,
                                       .state_bytes = popularity_state_bytes,
                                       .fit = popularity_fit,
                                       .form = popularity_form};
#define CREATE popularity_create
#define INSTANCE .instance_bytes = sizeof(struct private_popularity)
SABOTAGE(DPF_ROLE_RECOMMENDER)
