/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h - the items with the highest scores, for many users at a time. */
#ifndef DPF_SCORE_LISTS_H
#define DPF_SCORE_LISTS_H

#include "base/pool.h"
#include "score/scorer.h"

/* What a list is made of: all n_items but those that leave it. */
struct list_query {
    int64_t k, n_items;
    const struct csr *without[2]; /* rows of the user that leave the user's list; NULL or no rows: none */
    const uint8_t *barred;        /* by item: leaves everybody's list; NULL: none does */
};

/* A user's list: best first, of equal scores the item that comes first. Valid during the call. */
struct score_list {
    int64_t user;
    int64_t n; /* k, or all candidates */
    int64_t n_candidates;
    const int32_t *items;
    const double *scores;
    int same; /* there are several candidates, and all have one score: no order */
};
/* Lists of a batch come in order, on one worker; batches come in any order. */
typedef int (*list_task)(void *context, const struct score_list *list, int worker, struct dpf_error *error);

#define LIST_BATCH 64 /* users */
/*
 * Lists of the users users[first] .. users[end-1] (NULL: first .. end-1). -1 with the error of the first user that failed, of
 * those that were looked at.
 */
int scorer_lists(const struct scorer *scorer, struct pool *pool, const int32_t *users, int64_t first,
                 int64_t end, const struct list_query *query, list_task take, void *context,
                 struct dpf_error *error);
/* Of one user, or of n scores of items 0 .. n-1 that are known: the k best into items and their scores; returns how many. Scores
   that are -infinity are not listed. */
int64_t list_choose(const double *scores, int64_t n, int64_t k, int32_t *items, double *best);

#endif
