/* SPDX-License-Identifier: Apache-2.0 */
/*
 * component_sums.h - users' messages of a recommender, summed by the aggregator of [model] aggregator: here, over ranks,
 * or by parties elsewhere.
 *
 * Here, messages are made by all workers, a batch at a time, and added in the order of users. With users in processes of
 * their own, the i-th sum is round i of the run. What all ends know, and messages are made from, is all sums so far, one
 * behind the other, so that a party that has missed a round can go on.
 */
#ifndef DPF_ENGINE_COMPONENT_SUMS_H
#define DPF_ENGINE_COMPONENT_SUMS_H

#include "engine/sum.h"

struct component_sums {
    const struct plan *plan;
    struct pool *pool;
    struct worker *worker;              /* of the aggregator's calls, which come while fit's is open */
    const struct engine_remote *remote; /* NULL: all users are here, or on other ranks */
    int64_t n_users, first, last;       /* those whose messages are made here */
    int32_t made;                       /* sums so far: each has draws of its own */
    int64_t at; /* party: the round that the server has announced; -1: none; COMPONENT_SUMS_OVER */
    int64_t *told,
        n_told; /* with links: all sums so far, of which each is a count and its numbers; the caller frees */
    struct sum_bound bound; /* of this sum's numbers */
    struct engine_stats *stats;
    struct dpf_error *error; /* why a sum failed */
};
#define COMPONENT_SUMS_OVER INT64_MAX

/* dpf_summing.sum; context is a struct component_sums. */
dpf_status component_sums_make(void *context, dpf_user_sum *sum);

#endif
