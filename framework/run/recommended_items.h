/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommended_items.h - how recommendations are spread over items: in how many users' lists each is.
 *
 * Private: lists are made from users' own factors and records.
 */
#ifndef DPF_RUN_RECOMMENDED_ITEMS_H
#define DPF_RUN_RECOMMENDED_ITEMS_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "dataset/dataset.h"
#include "engine/model.h"

struct recommended_items {
    int64_t k;     /* items in a list */
    int64_t users; /* that were looked at */
    int64_t lists; /* made: others have seen everything, or the model scores all items alike for them */
    int64_t n;     /* items */
    int64_t little_known; /* of these, in no list: score/little_known.h */
    int64_t *in_lists;    /* of each item */
    int64_t *records;     /* of each item in the training part */
};

/*
 * Makes the lists that "dpframe recommend" would: the k items with the highest scores among those that a user
 * has no record of. Of more than most_users users as many, at equal distances in the order of ids. On failure
 * out is empty.
 */
int recommended_items_count(const struct dataset *dataset, struct model *model, struct pool *pool, int64_t k,
                            int64_t most_users, struct recommended_items *out, struct dpf_error *error);
void recommended_items_free(struct recommended_items *items);

/* Gini coefficient of counts: 0 where all items have the same, near 1 where few have all. NaN without any. */
double recommended_items_gini(const int64_t *counts, int64_t n);
/* Items that have any. */
int64_t recommended_items_covered(const int64_t *counts, int64_t n);
/* The share of all that the m items with most have. NaN without any. */
double recommended_items_share(const int64_t *counts, int64_t n, int64_t m);
/* Indices of items, those with most first, equal ones in the order of ids. Free it; NULL if memory is short.
 */
int64_t *recommended_items_order(const int64_t *counts, int64_t n);

#endif
