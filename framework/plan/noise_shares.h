/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_shares.h - how many parties noise in shares counts on: [privacy] min-honest and max-curious, for all mechanisms and models.
 * Where no noise is in shares nothing rests on the two, and they are not refused: another mechanism can be tried.
 */
#ifndef DPF_PLAN_NOISE_SHARES_H
#define DPF_PLAN_NOISE_SHARES_H

#include "plan/plan.h"

struct noise_shares {
    int64_t
        honest; /* parties whose messages are in each sum, at least; at least 1 if noise_shares_check passes */
    int64_t curious; /* more parties, who may know, choose or withhold their own */
};

/* Of parties of which so many are certain to be in a sum. */
struct noise_shares noise_shares_of(const struct plan *plan, int64_t certain);
/* Whether there are as many parties; `what` sends the messages: a term, or a model. */
int noise_shares_check(const struct plan *plan, const char *what, const struct noise_shares *shares,
                       int64_t parties, struct dpf_error *error);

#endif
