/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tied_ranking.h - ranking metrics of one list as expectations over the orders of tied items.
 *
 * Items of equal score form a group; every order within a group is equally likely. All metrics
 * follow from each group's size and positives in closed form; no order is drawn.
 */
#ifndef DPF_EVALUATE_TIED_RANKING_H
#define DPF_EVALUATE_TIED_RANKING_H

#include <stdint.h>

#include "evaluate/metric_table.h"

struct rank_group {
    int64_t size;
    int64_t positives;
    int64_t popularity; /* sum over its items */
    double surprise;    /* the same of log2(users / popularity) */
};

/*
 * The metrics METRIC_FIRST_BY_LIST .. METRIC_LAST_BY_LIST at cut-off k, in that order. groups are by
 * descending score and reach at least min(k, length of the list) items; n_positives >= 1 counts the
 * positives of the whole list.
 */
void tied_ranking_at(const struct rank_group *groups, int64_t n_groups, int64_t n_positives, int64_t k,
                     double out[METRIC_N_BY_LIST]);

#endif
