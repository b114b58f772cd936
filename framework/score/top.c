/* SPDX-License-Identifier: Apache-2.0 */
#include "score/top.h"

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

double top_narrow(struct top_entry *e, int64_t n, int64_t k)
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

static int comes_before(const struct top_entry *a, const struct top_entry *b)
{
    return a->score > b->score || (a->score == b->score && a->entry < b->entry);
}

/* Insertion for a few; more are parted by a middle one (quicksort). */
void top_sort(struct top_entry *e, int64_t n)
{
    while (n > 16) {
        const struct top_entry middle = e[n / 2];
        int64_t i = 0, j = n - 1;
        while (i <= j) {
            while (comes_before(&e[i], &middle))
                i++;
            while (comes_before(&middle, &e[j]))
                j--;
            if (i <= j)
                swap_entries(&e[i++], &e[j--]);
        }
        /* The shorter part first: the stack stays small. */
        if (j + 1 < n - i) {
            top_sort(e, j + 1);
            e += i;
            n -= i;
        } else {
            top_sort(e + i, n - i);
            n = j + 1;
        }
    }
    for (int64_t i = 1; i < n; i++) {
        const struct top_entry entry = e[i];
        int64_t at = i;
        for (; at > 0 && comes_before(&entry, &e[at - 1]); at--)
            e[at] = e[at - 1];
        e[at] = entry;
    }
}

int64_t top_first_from(const double *sorted, int64_t from, int64_t to, double x, int greater)
{
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (sorted[middle] < x || (greater && sorted[middle] == x))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t half_places_of(const double *sorted, int64_t n, double score)
{
    const int64_t below = top_first_from(sorted, 0, n, score, 0);
    const int tied = below < n && sorted[below] == score;
    return below + (tied ? top_first_from(sorted, below, n, score, 1) : below);
}
