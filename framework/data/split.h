/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - training and test parts of one set of records.
 *
 * Every pair of user and item has a draw, prf_value of the two ids under run.seed (see base/prf.h), on which
 * all random kinds but two rest; cold-items has a draw of each item. A record is held out by its own draw
 * (random, k-fold, candidates), or by the rank of its draw among those of its user's records (leave-one-out,
 * per-user). So what other users do changes nothing for a user, and in the kinds of the first sort what a
 * user does elsewhere changes nothing for a record. random-exact permutes all records and has neither
 * property. Splits by time are decided among a user's own records, equal time stamps by the order of their
 * lines.
 */
#ifndef DPF_DATA_SPLIT_H
#define DPF_DATA_SPLIT_H

#include "base/random.h"
#include "reading/data_options.h"
#include "reading/table.h"
#include "dataset/ratings.h"

/* Moves the test part from all to test, and fills candidates and the summary's ties. */
int split_make(const struct data_options *options, struct ratings *all, const struct id_map *users,
               const struct id_map *items, const struct random_root *seeded, struct csr *test,
               struct csr *candidates, struct dataset_summary *summary, struct dpf_error *error);
/* The same flags, before anything is moved: 1 for test records; for tests and split_make. */
int split_flags(const struct data_options *options, const struct ratings *all, const struct id_map *users,
                const struct id_map *items, const struct random_root *seeded, uint8_t *flags,
                struct csr *candidates, struct dataset_summary *summary, struct dpf_error *error);
/* Pairs in both parts, under the policy of split.overlap. Both have the same users. */
int split_overlaps(const struct data_options *options, struct ratings *train, struct ratings *test,
                   const struct id_map *users, const struct id_map *items, const struct table *train_table,
                   const struct table *test_table, struct violations *violations, struct dpf_error *error);

#endif
