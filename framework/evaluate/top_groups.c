/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/top_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int top_groups_init(struct top_groups *top, int64_t limit, struct dpf_error *error)
{
    memset(top, 0, sizeof *top);
    top->limit = limit;
    /* Room beyond k, so that narrowing down costs little per entry that comes in. */
    top->capacity = limit + (limit > 64 ? limit : 64);
    top->entries = memory_raw((size_t)top->capacity, sizeof *top->entries);
    top->groups = memory_raw((size_t)limit + 1, sizeof *top->groups);
    if (top->entries && top->groups)
        return 0;
    top_groups_free(top);
    return error_memory(error);
}

void top_groups_free(struct top_groups *top)
{
    free(top->entries);
    free(top->groups);
    memset(top, 0, sizeof *top);
}

static void swap_entries(struct top_entry *a, struct top_entry *b)
{
    struct top_entry t = *a;
    *a = *b;
    *b = t;
}

static double median(double a, double b, double c)
{
    double lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}

/* Quickselect: the k largest come first, the smallest of them at k - 1. Returns that one's score. */
static double narrow(struct top_entry *e, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1, target = k - 1;
    while (lo < hi) {
        double pivot = median(e[lo].score, e[lo + (hi - lo) / 2].score, e[hi].score);
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (e[i].score > pivot)
                i++;
            while (e[j].score < pivot)
                j--;
            if (i <= j)
                swap_entries(&e[i++], &e[j--]);
        }
        if (target <= j)
            hi = j;
        else if (target >= i)
            lo = i;
        else
            break;
    }
    return e[target].score;
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
            bar = narrow(top->entries, fill, k);
            fill = k;
        }
    }
    *n = fill;
    return narrow(top->entries, fill, k);
}

static int descending(const void *a, const void *b)
{
    const struct top_entry *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void add_item(struct rank_group *group, const struct ranked_list *list, int64_t entry,
                     const int64_t *item_ptr)
{
    int64_t item = ranked_item(list, entry);
    group->size++;
    group->positives += list->marks[item] & MARK_POSITIVE;
    group->popularity += item_ptr[item + 1] - item_ptr[item];
}

void top_groups_find(struct top_groups *top, const struct ranked_list *list, const int64_t *item_ptr)
{
    int64_t k = top->limit < list->n_candidates ? top->limit : list->n_candidates;
    top->n_above = top->n_groups = 0;
    if (k == 0)
        return;
    int64_t n = 0;
    top->threshold = sweep(top, list, k, &n);
    for (int64_t i = 0; i < n; i++)
        if (top->entries[i].score > top->threshold)
            top->entries[top->n_above++] = top->entries[i];
    qsort(top->entries, (size_t)top->n_above, sizeof *top->entries, descending);

    for (int64_t i = 0; i < top->n_above; i++) {
        if (i == 0 || top->entries[i].score != top->entries[i - 1].score)
            top->groups[top->n_groups++] = (struct rank_group){0, 0, 0};
        add_item(&top->groups[top->n_groups - 1], list, top->entries[i].entry, item_ptr);
    }
    struct rank_group *last = &top->groups[top->n_groups++];
    *last = (struct rank_group){0, 0, 0};
    for (int64_t i = 0; i < list->n; i++)
        if (list->scores[i] == top->threshold)
            add_item(last, list, i, item_ptr);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How many of the sorted scores are below x, or at most x. */
static int64_t count_below(const double *sorted, int64_t n, double x, int or_equal)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* A candidate puts each positive below it back by one place and each tied one by half a place. */
static int64_t half_places(const struct ranked_list *list, const double *positives, int64_t n)
{
    static const int64_t few = 8; /* where counting beats searching */
    int64_t sum = 0;
    if (n <= few) {
        for (int64_t p = 0; p < n; p++)
            for (int64_t i = 0; i < list->n; i++)
                sum += (positives[p] < list->scores[i]) + (positives[p] <= list->scores[i]);
        return sum;
    }
    for (int64_t i = 0; i < list->n; i++) {
        double x = list->scores[i];
        if (x >= positives[0])
            sum += count_below(positives, n, x, 0) + count_below(positives, n, x, 1);
    }
    return sum;
}

double relative_rank(const struct ranked_list *list, double *positives, int64_t n)
{
    if (list->n_candidates < 2)
        return 0;
    qsort(positives, (size_t)n, sizeof *positives, ascending);
    /* Each positive ties with itself. */
    double places = (double)(half_places(list, positives, n) - n) / 2;
    return places / (double)n / (double)(list->n_candidates - 1);
}
