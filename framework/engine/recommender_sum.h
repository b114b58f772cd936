/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender_sum.h - users' messages of a recommender, summed by the aggregator of [model] aggregator, all in
 * this process.
 *
 * Messages are made by all workers, a batch at a time, and absorbed in the order of users.
 */
#ifndef DPF_ENGINE_RECOMMENDER_SUM_H
#define DPF_ENGINE_RECOMMENDER_SUM_H

#include "base/pool.h"
#include "engine/engine_stats.h"
#include "plan/plan.h"

struct worker;

struct recommender_sum {
    const struct plan *plan;
    struct pool *pool;
    struct worker *worker; /* of the aggregator's calls */
    int64_t n_users;
    uint32_t made;              /* sums so far: each has draws of its own */
    struct engine_stats *stats; /* messages and bytes are added */
    struct dpf_error *error;    /* why a sum failed */
};

/* Takes over what an aggregator has opened: numbers by a modulus as the integers nearest to zero. Adds messages and
   bytes to the stats. */
void recommender_sum_opened(const dpf_aggregation *from, dpf_user_sum *sum, struct engine_stats *stats);
/* dpf_summing.sum; context is a struct recommender_sum. */
dpf_status recommender_sum_users(void *context, dpf_user_sum *sum);

#endif
