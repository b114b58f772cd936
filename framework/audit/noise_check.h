/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_check.h - is the noise of a training what the plan declares?
 *
 * A lower bound of epsilon sees the noise through one unit's eyes: half of it looks like a somewhat smaller
 * epsilon, and noise that is used twice like none of its business. Here the difference between what was
 * released and what it would have been without noise is looked at itself, over all coordinates: its variance
 * against the declared one, and its correlation with the same coordinate a round before, with the next row
 * and with the next column. Sums are looked at where noise is added to the sum, or in shares of messages that
 * are dense; messages where each has noise of its own. Noise that is declared to stay for the run may be the
 * same in all rounds.
 */
#ifndef DPF_AUDIT_NOISE_CHECK_H
#define DPF_AUDIT_NOISE_CHECK_H

#include "audit/trials.h"

enum noise_aspect { NOISE_VARIANCE, NOISE_ROUNDS, NOISE_ROWS, NOISE_COLUMNS, NOISE_ASPECTS };

/* Of one term. value: the variance over the declared one, or a correlation; deviations: how many standard
   deviations it is from 1 (below) or from 0, were the noise as declared. */
struct noise_finding {
    int side, term;
    enum noise_aspect aspect;
    int64_t n;
    double value, deviations;
    int failed;
};

#define NOISE_MAX_FINDINGS 64
/* A sound mechanism is beyond this once in a thousand million tests. */
#define NOISE_ALARM 6.0

struct noise_check {
    struct noise_finding findings[NOISE_MAX_FINDINGS];
    int n, failed;
};

/* Trains with the data set until there is enough to see. Recommenders have no findings. */
int noise_check_run(struct plan *plan, const struct dataset *dataset, struct pool *pool,
                    struct noise_check *out, struct dpf_error *error);
const char *noise_aspect_name(enum noise_aspect aspect);

#endif
