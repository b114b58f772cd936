/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalists.h - finds the items that can be among a user's first k, and those whose scores are near a
 * positive's.
 *
 * Where scores are products of rows, a fast kernel computes those of several users at a time, with
 * another order of additions than the scorer's. Such near scores differ from the scorer's by at most e, a
 * bound on rounding errors that follows from the rows' norms; so
 *
 *   an item whose near score is more than 2 e below the k-th largest near score is below k others, and tied
 *   with none of the first k; all others are finalists, which the scorer scores;
 *   an item whose near score is more than e from a positive's score is above or below it; the scorer
 *   decides about all others.
 *
 * So lists, ties and ranks are exactly those of the scorer's scores. If e is not finite for a user, the
 * scorer scores all items. Items whose scores are bounded below both of a user's marks, that of the k-th score and that of the lowest
 * positive, are not scored for that user (panels.h).
 */
#ifndef DPF_SCORE_FINALISTS_H
#define DPF_SCORE_FINALISTS_H

#include "score/panels.h"
#include "score/top.h"

/* What does not depend on the user; shared by workers. */
struct finalist_items {
    const struct scorer *scorer;
    int64_t n_items;
    int64_t k;
    struct score_panels panels;
    const struct near_kernels *kernels;
    int group; /* users that are looked at together, at most */
    /* The order of those whose row is 1 in `column` and 0 elsewhere: base/1 has nothing else, in ease/1 those without a record that
       has a column. Items by score, of equal ones the first; and of each item the number above it plus the number that is not below it. */
    int64_t column;
    struct top_entry *order;
    int64_t n_ordered;
    int64_t *above;
};
/* barred: by item, 1 for what is in nobody's list; NULL: none. kernel: of simd/simd_kind.h, of those that this processor has. k >= 1. */
int finalist_items_open(struct finalist_items *items, const struct scorer *scorer, int64_t n_items,
                        const uint8_t *barred, int64_t k, int kernel, struct dpf_error *error);
void finalist_items_close(struct finalist_items *items);

/* A user of a group. */
struct finalist_user {
    int32_t user;
    const int32_t *masked; /* items that are not ranked for this user, ascending, none of them barred */
    int64_t n_masked;
    int32_t *positives; /* ranked items; for places, in any order */
    int64_t n_positives;
    /* Found: */
    int left;        /* to the scorer: nothing below is known */
    int32_t *items;  /* the finalists, ascending */
    double *scores;  /* theirs, exact */
    int64_t n_items; /* of them */
    int64_t places;  /* over positives and ranked items: 2 for an item above a positive, 1 for a tie */
    size_t room[3];  /* of positives, items, scores */
    struct score_desk desk;
};

/* One worker's memory for a group of users. */
struct finalists {
    const struct finalist_items *shared;
    struct finalist_user *users; /* shared->group, and so are: */
    struct near_user *near;
    double *squares; /* x (stride + 1), see score_panels_measure */
    float *block;    /* x items of a block */
    int n_users;
    int wants_places;
    uint32_t fetched; /* of no use but that panels have been read, see fetch_panel */
    float *rows;      /* stride x NEAR_USERS, unless rows are 0 in most columns */
    int32_t *hits;
    uint64_t *bits; /* by item */
};
int finalists_init(struct finalists *f, const struct finalist_items *shared, int wants_places,
                   struct dpf_error *error);
void finalists_free(struct finalists *f);
/* Room for n positives of users[i]. */
int finalists_reserve(struct finalists *f, int i, int64_t n, struct dpf_error *error);
/* For users[0 .. n_users-1]. */
int finalists_find(struct finalists *f, struct dpf_error *error);

#endif
