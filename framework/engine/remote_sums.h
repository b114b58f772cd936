/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_sums.h - a recommender whose users are processes of their own: its sums are the rounds of a run.
 *
 * Round i makes the i-th sum. What all ends know, and messages are made from, is all sums so far, one
 * behind the other, so that a party that has missed a round can go on.
 */
#ifndef DPF_ENGINE_REMOTE_SUMS_H
#define DPF_ENGINE_REMOTE_SUMS_H

#include "engine/engine_stats.h"
#include "engine/remote.h"

struct remote_sums {
    const struct engine_remote *remote;
    const struct plan *plan;
    int64_t n_users;
    int64_t *released, n; /* all releases so far */
    int64_t made;         /* sums so far */
    int64_t at;           /* party: the round that the server has announced; -1: none; REMOTE_SUMS_OVER */
    struct engine_stats *stats;
    struct dpf_error *error;
};
#define REMOTE_SUMS_OVER INT64_MAX

/* For fit. Free it with remote_sums_free, on failure too. */
dpf_summing remote_sums_begin(struct remote_sums *sums, const struct engine_remote *remote,
                              const struct plan *plan, int64_t n_users, struct engine_stats *stats,
                              struct dpf_error *error);
/* All releases, for those who hear of the end. */
struct remote_rows remote_sums_rows(struct remote_sums *sums);
void remote_sums_free(struct remote_sums *sums);

#endif
