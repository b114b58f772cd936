/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - records that are left out before the split: [data] filter.*.
 *
 * A range of time and a fraction of the users look at a record, or at a user's id, alone. Numbers of ratings
 * of a user look at that user's records. Numbers of ratings of an item, and cores, look at everybody's, and
 * in a core one record can take many others along: no proof covers them.
 */
#ifndef DPF_DATA_FILTER_H
#define DPF_DATA_FILTER_H

#include "base/random.h"
#include "reading/data_options.h"
#include "dataset/ratings.h"

/* In the order: time, users, items, numbers of ratings. Users and items stay in their lists. *removed counts
   records. Faults: DPF_FAULT_DATA without time stamps that are asked for. */
int filter_apply(const struct filter_options *options, struct ratings *all, const struct id_map *users,
                 const struct id_map *items, const struct random_root *seeded, int64_t *removed,
                 struct dpf_error *error);
/* Whether anything is asked for at all. */
int filter_is_set(const struct filter_options *options);

#endif
