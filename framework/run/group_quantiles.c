/* SPDX-License-Identifier: Apache-2.0 */
#include "run/group_quantiles.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

/* Intervals of equal width, and one for what is infinite. Only those with a quantile are looked into. */
#define INTERVALS 4096
#define ROW (INTERVALS + 1)

struct intervals {
    double least, scale;
    int n_sets;
    int64_t *counts; /* n_sets x ROW */
    int32_t *slots;  /* the same: 1 + the slot that collects the interval, or 0 */
    int n_slots;
    int64_t fill[MOST_SETS * MOST_SHARES];
    int64_t start[MOST_SETS * MOST_SHARES + 1];
    double *collected;
};

/* Monotone in the value, however the product rounds. */
static int64_t interval_of(const struct intervals *v, double value)
{
    const double at = (value - v->least) * v->scale;
    if (!(value < INFINITY))
        return INTERVALS;
    return at < INTERVALS ? (int64_t)at : INTERVALS - 1;
}

/* The first set of a kind of groups. */
static int first_set(const struct quantile_question *q, int kind)
{
    return kind == 0 ? 1 : 1 + q->n_groups[0];
}

static void find_range(const struct quantile_question *q, struct intervals *v)
{
    double least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < q->n; i++) {
        const double value = q->values[i];
        least = value < least ? value : least;
        largest = value < INFINITY && value > largest ? value : largest;
    }
    v->least = least < INFINITY ? least : 0;
    v->scale = largest > least ? INTERVALS / (largest - least) : 0;
    if (!isfinite(v->scale))
        v->scale = 0;
}

/* Where the quantile is among a group's values in ascending order. */
static int64_t rank_of(double share, int64_t n)
{
    const int64_t at = (int64_t)ceil(share * (double)n) - 1;
    return at < 0 ? 0 : at;
}

/* The interval that holds the value of the rank; how many values of the group are in intervals before. */
static int64_t interval_at(const int64_t *counts, int64_t rank, int64_t *before)
{
    int64_t at = 0;
    for (*before = 0; *before + counts[at] <= rank; at++)
        *before += counts[at];
    return at;
}

/* All values are those of the groups of a kind, if there is one. */
static void count_values(const struct quantile_question *q, struct intervals *v, int64_t *sizes)
{
    const uint8_t *of_first = q->groups[0], *of_second = q->groups[1];
    int64_t *first = v->counts + (ptrdiff_t)first_set(q, 0) * ROW,
            *second = v->counts + (ptrdiff_t)first_set(q, 1) * ROW;
    for (int64_t i = 0; i < q->n; i++) {
        const int64_t at = interval_of(v, q->values[i]);
        if (of_first)
            first[of_first[i] * ROW + at]++;
        else
            v->counts[at]++;
        if (of_second)
            second[of_second[i] * ROW + at]++;
    }
    for (int g = 0; of_first && g < q->n_groups[0]; g++)
        for (int64_t at = 0; at < ROW; at++)
            v->counts[at] += first[g * ROW + at];
    for (int g = 0; g < v->n_sets; g++) {
        sizes[g] = 0;
        for (int64_t at = 0; at < ROW; at++)
            sizes[g] += v->counts[g * ROW + at];
    }
}

static void choose_slots(const struct quantile_question *q, struct intervals *v, const int64_t *sizes)
{
    for (int g = 0; g < v->n_sets; g++)
        for (int s = 0; s < q->n_shares && sizes[g]; s++) {
            int64_t before, *counts = v->counts + (int64_t)g * ROW;
            const int64_t at = interval_at(counts, rank_of(q->shares[s], sizes[g]), &before);
            int32_t *slot = &v->slots[(int64_t)g * ROW + at];
            if (*slot)
                continue;
            *slot = ++v->n_slots;
            v->start[v->n_slots] = v->start[v->n_slots - 1] + counts[at];
        }
}

static void put(struct intervals *v, int32_t slot, double value)
{
    if (slot)
        v->collected[v->start[slot - 1] + v->fill[slot - 1]++] = value;
}

static int collect(const struct quantile_question *q, struct intervals *v)
{
    const int32_t *first = v->slots + (ptrdiff_t)first_set(q, 0) * ROW,
                  *second = v->slots + (ptrdiff_t)first_set(q, 1) * ROW;
    v->collected = memory_raw((size_t)v->start[v->n_slots] + 1, sizeof *v->collected);
    for (int64_t i = 0; v->collected && i < q->n; i++) {
        const double value = q->values[i];
        const int64_t at = interval_of(v, value);
        put(v, v->slots[at], value);
        if (q->groups[0])
            put(v, first[q->groups[0][i] * ROW + at], value);
        if (q->groups[1])
            put(v, second[q->groups[1][i] * ROW + at], value);
    }
    return v->collected ? 0 : -1;
}

static double median(double a, double b, double c)
{
    const double lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}

/* Quickselect: the value of the rank in ascending order. */
static double select_rank(double *x, int64_t n, int64_t rank)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const double pivot = median(x[lo], x[lo + (hi - lo) / 2], x[hi]);
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                const double value = x[i];
                x[i++] = x[j];
                x[j--] = value;
            }
        }
        if (rank <= j)
            hi = j;
        else if (rank >= i)
            lo = i;
        else
            break;
    }
    return x[rank];
}

static void read_slots(const struct quantile_question *q, struct intervals *v, const int64_t *sizes,
                       double *out)
{
    for (int g = 0; g < v->n_sets; g++)
        for (int s = 0; s < q->n_shares && sizes[g]; s++) {
            const int64_t rank = rank_of(q->shares[s], sizes[g]);
            int64_t before;
            const int64_t at = interval_at(v->counts + (int64_t)g * ROW, rank, &before);
            const int32_t slot = v->slots[(int64_t)g * ROW + at] - 1;
            out[g * q->n_shares + s] =
                select_rank(v->collected + v->start[slot], v->fill[slot], rank - before);
        }
}

int group_quantiles(const struct quantile_question *q, int64_t *sizes, double *out, struct dpf_error *error)
{
    struct intervals *v = memory_new(1, sizeof *v);
    int status = v ? 0 : -1;
    if (v) {
        v->n_sets = first_set(q, 1) + q->n_groups[1];
        v->counts = memory_new((size_t)v->n_sets, ROW * sizeof *v->counts);
        v->slots = memory_new((size_t)v->n_sets, ROW * sizeof *v->slots);
        status = v->counts && v->slots ? 0 : -1;
    }
    if (status == 0) {
        find_range(q, v);
        count_values(q, v, sizes);
        choose_slots(q, v, sizes);
        status = collect(q, v);
    }
    if (status == 0)
        read_slots(q, v, sizes, out);
    if (v) {
        free(v->counts);
        free(v->slots);
        free(v->collected);
    }
    free(v);
    return status == 0 ? 0 : error_memory(error);
}
