/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_check.h - is the noise of a training what the plan declares?
 *
 * A lower bound of epsilon hardly shows faults of the noise: half of the noise gives a somewhat larger bound, and
 * noise that is used twice may not show at all. So these tests take the noise itself, the difference between a
 * release and the same release without noise, over all coordinates. They compare its variance with the declared
 * one and test its mean and its correlation with the same coordinate a round before, with the next row and with
 * the next column. They test sums where noise is added to the sum, or in shares of dense messages; and messages
 * where each has its own noise. Noise declared to stay for the run may be the same in all rounds. The noise of
 * the Poisson binomial mechanism is that of its messages, whose variance follows from their values. Of a
 * recommender they test all releases for which it gives the values without noise (heard.h).
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
