/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - training and test parts of one set of records.
 *
 * Every pair of user and item has a draw, prf_value of the two ids under run.seed (see base/prf.h). All
 * random kinds but two use it; cold-items draws each item. A record is held out by its own draw (random,
 * k-fold, candidates), or by the rank of its draw among those of its user's records (leave-one-out,
 * per-user). So other users' records change nothing for a user, and in the first three kinds a user's other
 * records change nothing for a record. random-exact permutes all records and has neither property. Leave-one-out
 * by time compares a user's own records; the order of lines decides between equal time stamps. In kind = time each
 * record has its own time, and in kind = users each user the draw of its id.
 */
#ifndef DPF_DATA_SPLIT_H
#define DPF_DATA_SPLIT_H

#include "base/random.h"
#include "dataset/ratings.h"
#include "reading/data_options.h"
#include "reading/table.h"

/* Moves the test part from all to test and what is known of held-out users to known, and fills candidates and the
   summary's ties. pool may be NULL. */
int split_make(const struct data_options *options, struct ratings *all, const struct id_map *users,
               const struct id_map *items, const struct random_root *seeded, struct pool *pool,
               struct csr *test, struct csr *known, struct user_candidates *candidates,
               struct dataset_summary *summary, struct dpf_error *error);
/* Pairs in both parts, under the policy of split.overlap. Both have the same users. */
int split_overlaps(const struct data_options *options, struct ratings *train, struct ratings *test,
                   const struct id_map *users, const struct id_map *items, const struct table *train_table,
                   const struct table *test_table, struct violations *violations, struct dpf_error *error);

#endif
