/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_check.h - is the noise of a training what the plan declares?
 *
 * A lower bound of epsilon sees the noise through one unit's eyes: half of it looks like a somewhat smaller
 * epsilon, and noise that is used twice like none of its business. Here the difference between what was
 * released and what it would have been without noise is looked at itself, over all coordinates: its variance
 * against the declared one, its mean, and its correlation with the same coordinate a round before, with the
 * next row and with the next column. Sums are looked at where noise is added to the sum, or in shares of
 * messages that are dense; messages where each has noise of its own. Noise that is declared to stay for the
 * run may be the same in all rounds. The Poisson binomial mechanism's noise is that of the messages, whose
 * variance follows from what each of them holds. Of a recommender all releases are looked at of which it
 * tells what they are without noise (heard.h).
 */
#ifndef DPF_AUDIT_NOISE_CHECK_H
#define DPF_AUDIT_NOISE_CHECK_H

#include "audit/noise_tally.h"
#include "audit/trials.h"

#define NOISE_MAX_FINDINGS 128

struct noise_check {
    struct noise_finding findings[NOISE_MAX_FINDINGS];
    int n, failed;
};

/* Trains with the data set until there is enough to see. */
int noise_check_run(struct plan *plan, const struct dataset *dataset, struct pool *pool,
                    struct noise_check *out, struct dpf_error *error);

#endif
