/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - leaves records out before the split: [data] filter.*.
 *
 * A range of time depends on a record alone, a fraction of the users on a user's id, and limits for the ratings
 * of a user on that user's records. Limits for the ratings of an item, and cores, depend on all users' records,
 * and in a core the loss of one record can cascade to many others: no proof covers them.
 */
#ifndef DPF_DATA_FILTER_H
#define DPF_DATA_FILTER_H

#include "base/random.h"
#include "dataset/ratings.h"
#include "reading/data_options.h"

/* In the order: time, users, items, numbers of ratings. Users and items stay in their lists. *removed counts
   records. Faults: DPF_FAULT_DATA without time stamps that are asked for. */
int filter_apply(const struct filter_options *options, struct ratings *all, const struct id_map *users,
                 const struct id_map *items, const struct random_root *seeded, int64_t *removed,
                 struct dpf_error *error);
/* Whether anything is asked for at all. */
int filter_is_set(const struct filter_options *options);

#endif
