/* SPDX-License-Identifier: Apache-2.0 */
/* duplicates.h - keeps one record for each pair of user and item. */
#ifndef DPF_DATA_DUPLICATES_H
#define DPF_DATA_DUPLICATES_H

#include "dataset/ratings.h"
#include "reading/data_options.h"
#include "reading/table.h"

/* What became of records that were not the only ones of their pair. */
struct resolved {
    int64_t removed; /* duplicates */
    int64_t dropped; /* pairs whose sum lies outside of the declared range, or that are at fault, */
    int64_t clipped; /* or whose sum was moved to an end of it */
};

/* Whether a pair has several records; rows are in the order of items. */
int ratings_has_duplicates(const struct ratings *ratings);
/* Leaves one record a pair, and increases the counts. The table names lines in messages; NULL: no duplicates
 * occur. Pairs that are at fault are listed and left out; violations NULL: the first is an error. */
int ratings_resolve(struct ratings *ratings, const struct data_options *options, const struct table *table,
                    const struct id_map *users, const struct id_map *items, struct resolved *counts,
                    struct violations *violations, struct dpf_error *error);

#endif
