/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - training and test parts of one set of records.
 *
 * Random choices are keyed by run.seed and read at the user's index, or permute the records in order of
 * (user, item); so they depend on the set of ids, not on lines or threads. Only equal time stamps are
 * decided by the order of lines.
 */
#ifndef DPF_DATA_SPLIT_H
#define DPF_DATA_SPLIT_H

#include "base/random.h"
#include "data/data_options.h"
#include "data/ratings.h"

/* Moves the test part from all to test, and fills candidates and the summary's ties. */
int split_make(const struct data_options *options, struct ratings *all, int64_t items,
               const struct random_root *seeded, struct csr *test, struct csr *candidates,
               struct dataset_summary *summary, struct dpf_error *error);
/* The same flags, before anything is moved: 1 for test records; for tests and split_make. */
int split_flags(const struct data_options *options, const struct ratings *all, int64_t items,
                const struct random_root *seeded, uint8_t *flags, struct csr *candidates,
                struct dataset_summary *summary, struct dpf_error *error);
/* Pairs in both parts, under the policy of split.overlap. Both have the same users. */
int split_overlaps(const struct data_options *options, struct ratings *train, struct ratings *test,
                   const struct id_map *users, const struct id_map *items, const struct table *train_table,
                   const struct table *test_table, struct dpf_error *error);

#endif
