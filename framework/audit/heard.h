/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heard.h - one training of a recommender, and a record of everything that it tells a witness.
 *
 * A recommender adds its noise itself, so the host asks it. dpf_fit.witness receives each release, the same
 * numbers without noise, and the size of the noise of each. The host can *replay* a training with another data
 * set: it replaces every release by the recorded one. The recommender then computes from these releases what it
 * would have computed, and its exact values are those of the other data set. So an audit can score by the ratio
 * of likelihoods and compare moves and noise with the statement, as for a factorization (observe.h, score.h,
 * moves.h, noise_check.h).
 */
#ifndef DPF_AUDIT_HEARD_H
#define DPF_AUDIT_HEARD_H

#include "base/pool.h"
#include "dataset/dataset.h"
#include "plan/plan.h"

struct heard {
    int32_t release;
    int64_t row; /* the user's, or 0 */
    int64_t n, width;
    double *seen, *exact, *scales; /* exact: NULL where the component does not tell; scales: NULL: all 1 */
};

struct hearing {
    struct heard *items;
    size_t n, capacity;
    unsigned char *state; /* what was learnt, state_bytes */
    uint64_t state_bytes;
};

struct hearing_request {
    struct plan *plan;
    const struct dataset *dataset;
    struct pool *pool;           /* of one worker */
    int64_t first_row, n_rows;   /* of users' own rows these alone are written down */
    const struct hearing *given; /* is replayed; NULL: draws noise */
};

/* On failure out is empty. */
int hearing_run(const struct hearing_request *request, struct hearing *out, struct dpf_error *error);
void hearing_free(struct hearing *hearing);

/* Whether both have learnt the same, which must follow from what was released where the state is. */
int hearing_same_state(const struct hearing *a, const struct hearing *b);
/* Whether all that was heard has exact values and noise of a law that this knows. */
int hearing_has_laws(const struct plan *plan, const struct hearing *hearing);
/* ln of the ratio of the densities of what was seen, with the exact values of two[0] over those of two[1]. */
double hearing_ratio(const struct plan *plan, const struct hearing *seen, const struct hearing *const two[2]);
/* The expected ratio of what the first of them gives. */
double hearing_distance(const struct plan *plan, const struct hearing *first, const struct hearing *second);
/* How far one release of the list moved between both, over what its event states; 0 where nothing is stated.
   Infinite: a number that has no noise moved. */
double hearing_move(const struct plan *plan, const struct hearing *first, const struct hearing *second,
                    size_t at);
/* The number's noise over its declared standard deviation, or NaN if none of a known law is declared. */
double hearing_noise(const struct plan *plan, const struct heard *heard, int64_t i);
/* The fourth moment of that. */
double hearing_fourth_moment(const struct plan *plan, const struct heard *heard);
/* The event that states the noise of what was heard. */
const dpf_event *hearing_event(const struct plan *plan, const struct heard *heard);

#endif
