/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a run counts one participation of a user, however many there are. */
#define SABOTAGED "one-participation"
#include "sabotage.h"

#include "../../plugins/mechanism/correlated-gaussian/correlated_gaussian.c"

static dpf_status one(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                      int32_t capacity, int32_t *n)
{
    dpf_release fewer = *release;
    fewer.participations = 1;
    const dpf_status status = correlated_events(self, &fewer, plan, out, capacity, n);
    if (status == DPF_OK)
        out[0].p.correlated.participations = (double)release->participations;
    return status;
}

static const dpf_mechanism spoilt = {.plan = correlated_plan,
                                     .events = one,
                                     .encode = correlated_encode,
                                     .decode = correlated_decode,
                                     .row_state = correlated_row_state,
                                     .correlation = correlated_correlation};
#define CREATE correlated_create
#define INSTANCE .destroy = correlated_destroy
SABOTAGE(DPF_ROLE_MECHANISM)
