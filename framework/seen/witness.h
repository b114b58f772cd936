/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - the releases of a component, as an observer sees them.
 *
 * A component adds its noise itself, so it is asked: dpf_fit.witness receives each release, the same numbers without
 * noise, and the size of the noise of each.
 */
#ifndef DPF_SEEN_WITNESS_H
#define DPF_SEEN_WITNESS_H

#include "seen/seen.h"

struct witness {
    const struct observer *observer;
    const dpf_recommender_release *releases; /* as the component states them */
    int32_t n_releases;
    int64_t told;                      /* releases */
    int strange;                       /* one that was not stated, or of no whole rows */
    dpf_status status;                 /* of the observer */
    int32_t *rounds[DPF_MAX_RELEASES]; /* how often each row of a release was told */
    size_t capacity[DPF_MAX_RELEASES];
    double *deviation;
    size_t n_deviation;
};

/* What is given to fit; w outlives it. One worker. */
dpf_witness witness_begin(struct witness *w, const struct observer *observer,
                          const dpf_recommender_release *releases, int32_t n);
void witness_end(struct witness *w);

#endif
