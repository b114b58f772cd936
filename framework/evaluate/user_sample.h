/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_sample.h - the test records of some users: a draw by their ids, from run.seed.
 *
 * Whether a user is drawn does not depend on the order of users, nor on what a model says. Draws are nested: those of fewer
 * users are among those of more.
 */
#ifndef DPF_EVALUATE_USER_SAMPLE_H
#define DPF_EVALUATE_USER_SAMPLE_H

#include "base/random.h"
#include "dataset/dataset.h"

/* The rows of `test` of at most so many users who have records; other rows are empty. left_out: how many users have records
   and were not drawn. */
int user_sample(const struct dataset *dataset, const struct csr *test, int64_t users,
                const struct random_root *seeded, struct csr *out, int64_t *left_out,
                struct dpf_error *error);

#endif
