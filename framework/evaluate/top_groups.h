/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_groups.h - finds the groups of equal scores at the head of a list, in time linear in its length.
 *
 * It sorts the head alone: one sweep finds the k-th largest score, a second one counts its ties.
 */
#ifndef DPF_EVALUATE_TOP_GROUPS_H
#define DPF_EVALUATE_TOP_GROUPS_H

#include <stdint.h>

#include "base/error.h"
#include "evaluate/tied_ranking.h"
#include "score/top.h"

/*
 * A user's list. Entry i is item items[i], or i if items is NULL. Entries that do not take part have
 * the score -infinity; all others are finite.
 */
struct ranked_list {
    const int32_t *items;
    const double *scores;
    int64_t n;                /* entries; where places are known, all that can be among the first k will do */
    int64_t n_candidates;     /* that take part */
    const uint8_t *marks;     /* by item: MARK_POSITIVE set for positives */
    const int32_t *positives; /* their entries, unless places are known */
    int64_t n_positives;      /* at least 1 */
    int64_t places; /* over positives and candidates: 2 for a candidate above a positive, 1 for a tie;
                       -1: not known */
};
#define MARK_POSITIVE 1
#define MARK_OTHER 2 /* free for the list's maker */

static inline int64_t ranked_item(const struct ranked_list *list, int64_t entry)
{
    return list->items ? list->items[entry] : entry;
}

/* Work space of one worker, and the result of the last call. */
struct top_groups {
    int64_t limit; /* largest k that may be asked for */
    struct top_entry *entries;
    int64_t capacity;
    int64_t n_above; /* entries above the k-th largest score, in descending order */
    int32_t *ties;   /* entries at the k-th largest score */
    /* The groups of the entries above, and last the group of the ties. */
    struct rank_group *groups;
    int64_t n_groups;
};

/* longest: most entries of a list. */
void top_groups_init(struct top_groups *top, int64_t limit, int64_t longest);
void top_groups_free(struct top_groups *top);
/* Item i has ptr[i+1] - ptr[i] training records, its popularity, and surprise[i] bits of novelty. */
struct item_counts {
    const int64_t *ptr;
    const double *surprise; /* NULL: nobody asks */
};
void top_groups_find(struct top_groups *top, const struct ranked_list *list,
                     const struct item_counts *counts);

/*
 * Mean over positives of (better + (tied - 1)/2) / (candidates - 1), which is the expectation of
 * (rank - 1) / (candidates - 1); 0 for a single candidate. work has room for a score per positive.
 */
double relative_rank(const struct ranked_list *list, double *work);

#endif
