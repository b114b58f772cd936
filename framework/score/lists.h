/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h - the items with the highest scores, for many users at a time. */
#ifndef DPF_SCORE_LISTS_H
#define DPF_SCORE_LISTS_H

#include "base/pool.h"
#include "score/scorer.h"

/* Which items a list can have: all n_items but those that are left out. */
struct list_query {
    int64_t k, n_items;
    const struct csr *without[2]; /* items of the user's row are left out; NULL or no rows: none */
    const uint8_t *barred;        /* by item: 1 leaves it out of all lists; NULL: none */
};

/* A user's list, best first; equal scores in the order of items. Valid during the call. */
struct score_list {
    int64_t user;
    int64_t n; /* k, or all candidates */
    int64_t n_candidates;
    const int32_t *items;
    const double *scores;
    int same; /* 1: several candidates, all with one score, so there is no order */
};
/* Lists of a batch come in order, on one worker; batches come in any order. */
typedef int (*list_task)(void *context, const struct score_list *list, int worker, struct dpf_error *error);

#define LIST_BATCH 64 /* users */
/*
 * Makes the lists of users[first] .. users[end-1] (users NULL: of first .. end-1). Returns -1 with the error of the first
 * user that failed, among those that were looked at.
 */
int scorer_lists(const struct scorer *scorer, struct pool *pool, const int32_t *users, int64_t first,
                 int64_t end, const struct list_query *query, list_task take, void *context,
                 struct dpf_error *error);
/* Puts the k best of n scores of items 0 .. n-1 into items and best; returns how many there are. Items whose score is -infinity
   are not listed. */
int64_t list_choose(const double *scores, int64_t n, int64_t k, int32_t *items, double *best);

#endif
