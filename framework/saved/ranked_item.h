/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DPF_SAVED_RANKED_ITEM_H
#define DPF_SAVED_RANKED_ITEM_H

#include <stdint.h>

struct ranked_item {
    double score;
    int32_t item;
};

/* For qsort: the best first; equal scores in the order of the items, so that the list is the same everywhere. */
static inline int ranked_item_order(const void *x, const void *y)
{
    const struct ranked_item *a = x, *b = y;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return (a->item > b->item) - (a->item < b->item);
}

#endif
