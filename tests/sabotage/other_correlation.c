/* SPDX-License-Identifier: Apache-2.0 */
/* Says that the noise of each round is independent, although it is correlated. */
#define SABOTAGED "other-correlation"
#include "sabotage.h"

#include "../../plugins/mechanism/correlated-gaussian/correlated_gaussian.c"

static void independent(void *self, const dpf_noise_plan *plan, double *out, int64_t n)
{
    (void)self;
    (void)plan;
    for (int64_t i = 0; i < n; i++)
        out[i] = i == 0;
}

static const dpf_mechanism spoilt = {.plan = correlated_plan,
                                     .events = correlated_events,
                                     .encode = correlated_encode,
                                     .decode = correlated_decode,
                                     .row_state = correlated_row_state,
                                     .correlation = independent};
#define CREATE correlated_create
#define INSTANCE .destroy = correlated_destroy
SABOTAGE(DPF_ROLE_MECHANISM)
