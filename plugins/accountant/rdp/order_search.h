/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order_search.h - the least value of a function of the Renyi order.
 *
 * Any order gives a valid bound, so the search may be heuristic: the configured orders first, then a
 * golden-section search between the neighbours of the best one, and beyond the list as long as that helps.
 */
#ifndef ORDER_SEARCH_H
#define ORDER_SEARCH_H

#include <stdint.h>

/* The search may leave the list up to these orders. */
#define ORDER_LEAST 1.001
#define ORDER_MOST 16384.0
/* From here on the search tries integers only: fractions gain nothing and cost a second sum. */
#define ORDER_WHOLE 64.0

struct order_list {
    const double *orders; /* ascending, at least one */
    int64_t n;
    int32_t refine; /* 0: these orders only */
};

struct order_best {
    double value; /* infinity to begin with */
    double order;
    int32_t invalid; /* the function gave NaN somewhere */
};

typedef double (*order_goal)(const void *context, double order);

/* Returns 1 if the best order is at an end of what was searched. */
int32_t order_search(const struct order_list *list, order_goal goal, const void *context,
                     struct order_best *best);

#endif
