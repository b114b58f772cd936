/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_pass.h - a pass over all users in parallel whose sums do not depend on the workers.
 *
 * Users are cut into chunks by their number alone; each chunk has sums of its own, which the caller
 * adds up in the order of chunks.
 */
#ifndef DPF_EVALUATE_USER_PASS_H
#define DPF_EVALUATE_USER_PASS_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"

/* The users of a chunk come one after the other, on one worker. */
typedef int (*user_task)(void *context, int64_t user, int64_t chunk, int worker, struct dpf_error *error);

int64_t user_pass_chunks(int64_t n_users);
/* One past the last user of a chunk. */
int64_t user_pass_chunk_end(int64_t n_users, int64_t chunk);
/* The error is that of the first user that fails, as chunks before that user's are never skipped. */
int user_pass_run(struct pool *pool, int64_t n_users, user_task task, void *context, struct dpf_error *error);
/* sums is chunks x width: adds row after row to the first row. */
void user_pass_sum(double *sums, int64_t chunks, int64_t width);

#endif
