/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_check.h - is the noise of a training what the plan declares?
 *
 * A lower bound of epsilon hardly shows faults of the noise: half of the noise gives a somewhat larger bound,
 * and noise that is used twice may not show at all. So these tests take the noise itself, the difference
 * between a release and the same release without noise, block by block, the Gram row apart. They compare its
 * variance with the declared one and test its mean and its correlation with the same number a round before, in the
 * next row, in the next column or block, and in another user's message. They test sums where noise is added to the
 * sum, or in shares of dense messages; and messages where each has its own noise. Noise declared to stay for the run
 * may be the same in all rounds. The noise of the Poisson binomial mechanism is that of its messages, whose variance
 * follows from their values. Of a recommender they test all releases for which it gives the values without noise.
 */
#ifndef DPF_AUDIT_NOISE_CHECK_H
#define DPF_AUDIT_NOISE_CHECK_H

#include "audit/noise_tally.h"
#include "audit/trials.h"

struct noise_check {
    struct noise_finding *findings;
    size_t n, capacity;
    int failed;
    double alarm; /* standard deviations; see NOISE_FALSE_ALARMS */
};
void noise_check_free(struct noise_check *check);

/* Trains with the data set until there is enough to see. Free out, also after a failure. */
int noise_check_run(struct plan *plan, const struct dataset *dataset, struct pool *pool,
                    struct noise_check *out, struct dpf_error *error);

#endif
