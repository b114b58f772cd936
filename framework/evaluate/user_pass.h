/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_pass.h - a pass over all users in parallel whose sums do not depend on the workers.
 *
 * Users are cut into chunks by their number alone (shares.h); each chunk has its own sums, which are added
 * in the order of chunks. Each rank has whole chunks.
 */
#ifndef DPF_EVALUATE_USER_PASS_H
#define DPF_EVALUATE_USER_PASS_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "dataset/dataset.h"

/* All users up to `end` come one after the other, on one worker. */
typedef int (*user_task)(void *context, int64_t user, int64_t end, int worker, struct dpf_error *error);

int64_t user_pass_chunks(int64_t n_users);
int64_t user_pass_chunk(int64_t n_users, int64_t user);
/* All users of this rank, of n_users in the part that is looked at: all of the data set's, or none. The error
   is that of the first user that fails, as chunks before that user's are never skipped. */
int user_pass_run(struct pool *pool, const struct dataset *dataset, int64_t n_users, user_task task,
                  void *context, struct dpf_error *error);
/* sums has a row of that width for each chunk: the ranks' rows are brought together, and row after row is
   added to the first row. */
int user_pass_sum(const struct dataset *dataset, int64_t n_users, double *sums, int64_t width,
                  struct dpf_error *error);

#endif
