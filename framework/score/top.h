/* SPDX-License-Identifier: Apache-2.0 */
/* top.h - the largest of many scores, by selection, and where a score stands among sorted ones. */
#ifndef DPF_SCORE_TOP_H
#define DPF_SCORE_TOP_H

#include <stdint.h>

struct top_entry {
    double score;
    int64_t entry;
};

/* Quickselect: the k largest of n >= k >= 1 come first, the smallest of them at k - 1. Returns its score. */
double top_narrow(struct top_entry *entries, int64_t n, int64_t k);
/* In descending order, ties by entry. */
void top_sort(struct top_entry *entries, int64_t n);

/* First index in from .. to whose score is at least x, or greater than x; to if there is none. */
int64_t top_first_from(const double *ascending, int64_t from, int64_t to, double x, int greater);
/* Of an item's score: 2 for each of the ascending scores below it, 1 for each that is equal. */
int64_t half_places_of(const double *ascending, int64_t n, double score);

#endif
