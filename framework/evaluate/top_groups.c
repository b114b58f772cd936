/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/top_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void top_groups_init(struct top_groups *top, int64_t limit, int64_t longest)
{
    memset(top, 0, sizeof *top);
    top->limit = limit;
    /* Room beyond k, so that narrowing down costs little per entry that comes in. */
    top->capacity = limit + (limit > 64 ? limit : 64);
    top->entries = memory_need((size_t)top->capacity, sizeof *top->entries);
    top->groups = memory_need((size_t)limit + 1, sizeof *top->groups);
    top->ties = memory_need((size_t)longest, sizeof *top->ties);
}

void top_groups_free(struct top_groups *top)
{
    free(top->entries);
    free(top->groups);
    free(top->ties);
    memset(top, 0, sizeof *top);
}

/*
 * Leaves the k largest scores in the entries, some with others below them, and returns the k-th
 * largest. An entry at or below the k-th largest so far cannot change it, whatever follows.
 */
static double sweep(struct top_groups *top, const struct ranked_list *list, int64_t k, int64_t *n)
{
    double bar = -INFINITY;
    int64_t fill = 0;
    for (int64_t i = 0; i < list->n; i++) {
        if (!(list->scores[i] > bar))
            continue;
        top->entries[fill++] = (struct top_entry){list->scores[i], i};
        if (fill == top->capacity) {
            bar = top_narrow(top->entries, fill, k);
            fill = k;
        }
    }
    *n = fill;
    return top_narrow(top->entries, fill, k);
}

static void add_item(struct rank_group *group, const struct ranked_list *list, int64_t entry,
                     const struct item_counts *counts)
{
    int64_t item = ranked_item(list, entry);
    group->size++;
    group->positives += list->marks[item] & MARK_POSITIVE;
    group->popularity += counts->ptr[item + 1] - counts->ptr[item];
    if (counts->surprise)
        group->surprise += counts->surprise[item];
}

static struct rank_group *new_group(struct top_groups *top)
{
    struct rank_group *group = &top->groups[top->n_groups++];
    *group = (struct rank_group){0, 0, 0, 0};
    return group;
}

static void add_ties(struct top_groups *top, const struct ranked_list *list, double score,
                     const struct item_counts *counts)
{
    struct rank_group *group = new_group(top);
    for (int64_t i = 0; i < list->n; i++) {
        if (list->scores[i] != score)
            continue;
        top->ties[group->size] = (int32_t)i;
        add_item(group, list, i, counts);
    }
}

void top_groups_find(struct top_groups *top, const struct ranked_list *list, const struct item_counts *counts)
{
    int64_t k = top->limit < list->n_candidates ? top->limit : list->n_candidates;
    top->n_above = top->n_groups = 0;
    if (k == 0)
        return;
    int64_t n = 0;
    double last = sweep(top, list, k, &n);
    for (int64_t i = 0; i < n; i++)
        if (top->entries[i].score > last)
            top->entries[top->n_above++] = top->entries[i];
    top_sort(top->entries, top->n_above);

    struct rank_group *group = NULL;
    for (int64_t i = 0; i < top->n_above; i++) {
        if (i == 0 || top->entries[i].score != top->entries[i - 1].score)
            group = new_group(top);
        add_item(group, list, top->entries[i].entry, counts);
    }
    add_ties(top, list, last, counts);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Positives by equal intervals of score between the least and the largest of them. */
#define BINS 1024
struct bins {
    double least;
    double largest;
    double scale;
    int64_t start[BINS + 1]; /* positives of all bins before */
};

/* Monotone in the score, so that bins never cross, however the product rounds. */
static int64_t bin_of(const struct bins *bins, double score)
{
    double bin = (score - bins->least) * bins->scale;
    return bin < BINS ? (int64_t)bin : BINS - 1;
}

static void bins_fill(struct bins *bins, const double *positives, int64_t n)
{
    bins->least = positives[0];
    bins->largest = positives[n - 1];
    bins->scale = BINS / (bins->largest - bins->least);
    if (!isfinite(bins->scale))
        bins->scale = 0;
    int64_t p = 0;
    for (int64_t b = 0; b <= BINS; b++) {
        while (p < n && bin_of(bins, positives[p]) < b)
            p++;
        bins->start[b] = p;
    }
}

/* Most scores fall into bins without a positive, which takes no search. */
static int64_t binned_half_places(const struct ranked_list *list, const double *positives, int64_t n)
{
    struct bins bins;
    int64_t sum = 0;
    bins_fill(&bins, positives, n);
    for (int64_t i = 0; i < list->n; i++) {
        double x = list->scores[i];
        if (x < bins.least)
            continue;
        int64_t from = n, to = n;
        if (x <= bins.largest) {
            int64_t b = bin_of(&bins, x);
            from = bins.start[b];
            to = bins.start[b + 1];
        }
        if (from == to)
            sum += 2 * from;
        else
            sum += top_first_from(positives, from, to, x, 0) + top_first_from(positives, from, to, x, 1);
    }
    return sum;
}

/* A candidate puts each positive below it back by one place and each tied one by half a place. */
static int64_t half_places(const struct ranked_list *list, const double *positives, int64_t n)
{
    static const int64_t few = 4; /* where counting beats looking up */
    if (n > few)
        return binned_half_places(list, positives, n);
    int64_t sum = 0;
    for (int64_t p = 0; p < n; p++)
        for (int64_t i = 0; i < list->n; i++)
            sum += (positives[p] < list->scores[i]) + (positives[p] <= list->scores[i]);
    return sum;
}

double relative_rank(const struct ranked_list *list, double *work)
{
    int64_t n = list->n_positives;
    int64_t halves = list->places;
    if (list->n_candidates < 2)
        return 0;
    if (halves < 0) {
        for (int64_t i = 0; i < n; i++)
            work[i] = list->scores[list->positives[i]];
        qsort(work, (size_t)n, sizeof *work, ascending);
        halves = half_places(list, work, n);
    }
    /* Each positive ties with itself. */
    const double places = (double)(halves - n) / 2;
    return places / (double)n / (double)(list->n_candidates - 1);
}
