/* SPDX-License-Identifier: Apache-2.0 */
/* The recommender "private-popularity", one noisy sum over users, with one fault each. */
#include "faults.h"

#include "../../plugins/recommender/user-sums/user_sums.h"

enum { SOUND, NO_CAP, LESS_NOISE, NOISE_AGAIN, KEEPS_COUNT, RAW_ITEM, ONE_USER, HALF_STATED };
static int fault; /* a process trains with one of them */

/* Users' items count in full, or those of one user of seven a thousand times. */
static void spoil_message(int64_t user, struct user_desk *desk, const struct user_message *message)
{
    for (int64_t k = 0; k < message->n && fault == NO_CAP; k++)
        desk->to_items[k] = 1;
    for (int64_t k = 0; k < message->n && fault == ONE_USER && user % 7 == 3; k++)
        desk->to_items[k] *= 1e3;
}

static void round_spoilt(const double *values, int64_t n, int32_t bits, int64_t *out)
{
    if (fault != NO_CAP && fault != ONE_USER)
        grid_round(values, n, bits, out);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)ldexp(values[i], bits);
}

#define grid_round(values, n, bits, out) round_spoilt(values, n, bits, out)
#define send(context, pass, user, desk, message)                                                             \
    send(context, pass, user, desk, message), spoil_message(user, desk, message)
#define discrete_gaussian(cursor, steps, out, n)                                                             \
    discrete_gaussian(cursor, fault == LESS_NOISE ? (steps) / 3 : (steps), out, n)
#define seek(stream, draw, party, position, cursor)                                                          \
    seek(stream, draw, party, fault == NOISE_AGAIN ? 0 : (position), cursor)
#include "../../plugins/recommender/user-sums/user_sums.c"

#undef send
#undef seek

#include "../../plugins/recommender/private-popularity/private_popularity.c"

static dpf_status fit_with(int which, void *self, const dpf_call *call, dpf_fit *fit)
{
    fault = which;
    const dpf_status status = popularity_fit(self, call, fit);
    fault = SOUND;
    return status;
}

#define FIT(NAME, WHICH)                                                                                     \
    static dpf_status NAME(void *self, const dpf_call *call, dpf_fit *fit)                                   \
    {                                                                                                        \
        return fit_with(WHICH, self, call, fit);                                                             \
    }
FIT(without_cap, NO_CAP)
FIT(with_less_noise, LESS_NOISE)
FIT(with_noise_again, NOISE_AGAIN)
FIT(with_one_user, ONE_USER)

/* The released state has the exact number of records. */
static dpf_status keeping_count(void *self, const dpf_call *call, dpf_fit *fit)
{
    const dpf_status status = popularity_fit(self, call, fit);
    if (status == DPF_OK)
        ((struct popularity_header *)fit->state)->reserved[0] = (uint64_t)fit->records->n;
    return status;
}

/* One item's number holds its exact count. */
static dpf_status with_raw_item(void *self, const dpf_call *call, dpf_fit *fit)
{
    const dpf_status status = popularity_fit(self, call, fit);
    int64_t count = 0;
    for (int64_t k = 0; k < fit->records->n; k++)
        count += fit->records->by_user.others[k] == 1;
    if (status == DPF_OK && fit->records->n_items > 1)
        ((double *)(void *)((unsigned char *)fit->state + sizeof(struct popularity_header)))[1] +=
            1e6 * (double)count;
    return status;
}

static dpf_status half_stated(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                              int32_t capacity, int32_t *n)
{
    const dpf_status status = popularity_releases(self, setup, out, capacity, n);
    for (int32_t u = 0; status == DPF_OK && u < DPF_N_UNITS; u++)
        for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
            out->event.sensitivity.at[u][a].l1 /= 2;
            out->event.sensitivity.at[u][a].l2 /= 2;
        }
    return status;
}

#define RECOMMENDER(RELEASES, FIT)                                                                           \
    {                                                                                                        \
        .flags = popularity_flags, .releases = (RELEASES), .state_bytes = popularity_state_bytes,            \
        .fit = (FIT), .form = popularity_form                                                                \
    }
static const dpf_recommender tables[] = {
    RECOMMENDER(half_stated, popularity_fit),          RECOMMENDER(popularity_releases, without_cap),
    RECOMMENDER(popularity_releases, with_less_noise), RECOMMENDER(popularity_releases, with_noise_again),
    RECOMMENDER(popularity_releases, keeping_count),   RECOMMENDER(popularity_releases, with_raw_item),
    RECOMMENDER(popularity_releases, with_one_user)};
#define SPOILT(NAME, I)                                                                                      \
    FAULT_COMPONENT(NAME, DPF_ROLE_RECOMMENDER, &tables[I], params, P_COUNT, popularity_create,              \
                    sizeof(struct private_popularity))
static const dpf_component faults[] = {SPOILT("counts-half-stated", 0),  SPOILT("counts-no-cap", 1),
                                       SPOILT("counts-less-noise", 2),   SPOILT("counts-noise-again", 3),
                                       SPOILT("counts-keep-records", 4), SPOILT("counts-raw-item", 5),
                                       SPOILT("counts-one-user", 6)};
SEVEN_FAULTS("recommender")
