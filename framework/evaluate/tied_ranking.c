/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/tied_ranking.h"

#include <math.h>

/*
 * A group as the cut-off leaves it: its items hold the ranks before + 1 .. before + size, of which
 * the first `slots` lie within the first k.
 */
struct window {
    int64_t before;
    int64_t size;
    int64_t positives;
    int64_t slots;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static double discount(int64_t rank)
{
    return 1.0 / log2((double)rank + 1.0);
}

/* Each rank of the group holds a positive with probability positives / size. */
static double expected_gain(const struct window *w)
{
    double sum = 0;
    for (int64_t j = 1; j <= w->slots; j++)
        sum += discount(w->before + j);
    return sum * (double)w->positives / (double)w->size;
}

/* No positive within the slots: hypergeometric. */
static double chance_of_none(const struct window *w)
{
    double chance = 1;
    for (int64_t i = 0; i < w->slots && chance > 0; i++) {
        int64_t others = w->size - w->positives - i;
        chance *= others <= 0 ? 0.0 : (double)others / (double)(w->size - i);
    }
    return chance;
}

/* 1 / rank of the group's first positive, 0 beyond the slots. */
static double expected_reciprocal(const struct window *w)
{
    double sum = 0, none_yet = 1;
    for (int64_t j = 1; j <= w->slots && none_yet > 0; j++) {
        double remaining = (double)(w->size - j + 1);
        sum += none_yet * ((double)w->positives / remaining) / (double)(w->before + j);
        none_yet *= (remaining - (double)w->positives) / remaining;
    }
    return sum;
}

/*
 * Sum over the window's slots of [positive there] (positives so far) / rank, when `among` positives
 * are in random order over `places` places that begin at the window. By linearity: slot j holds one
 * with probability among/places, and given that, each earlier place of the window holds one with
 * probability (among - 1)/(places - 1). first and pairs are the sums of 1/rank and (j - 1)/rank.
 */
static double expected_precisions(double among, double places, double hits_before, double first, double pairs)
{
    double here = among / places;
    double sum = here * (hits_before + 1) * first;
    return places > 1 ? sum + here * (among - 1) / (places - 1) * pairs : sum;
}

static void rank_sums(const struct window *w, double *first, double *pairs)
{
    *first = *pairs = 0;
    for (int64_t j = 1; j <= w->slots; j++) {
        double rank = (double)(w->before + j);
        *first += 1 / rank;
        *pairs += (double)(j - 1) / rank;
    }
}

/* Ratio of the hypergeometric probabilities of x + 1 and x positives within the slots. */
static double next_ratio(const struct window *w, int64_t x)
{
    return (double)(w->positives - x) * (double)(w->slots - x) /
           ((double)(x + 1) * (double)(w->size - w->positives - w->slots + x + 1));
}

/* The mean of AP / hits over the number of hits in the last group. */
struct mixture {
    const struct window *last;
    double first, pairs;
    double sum_before; /* of precisions, in the groups before */
    double hits_before;
    double total, sum;
};

static void add_hits(struct mixture *m, double weight, int64_t x)
{
    double hits = m->hits_before + (double)x;
    m->total += weight;
    if (hits > 0)
        m->sum += weight / hits *
                  (m->sum_before + expected_precisions((double)x, (double)m->last->slots, m->hits_before,
                                                       m->first, m->pairs));
}

/*
 * Average precision divided by the number of hits, which is random in the last group: given x
 * positives in its slots their order is uniform, so the sum over x is exact. Probabilities are built
 * outwards from the mode, where they cannot underflow, and normalised.
 */
static double precision_over_hits(const struct window *last, double sum_before, int64_t hits_before)
{
    struct mixture m = {.last = last, .sum_before = sum_before, .hits_before = (double)hits_before};
    rank_sums(last, &m.first, &m.pairs);
    int64_t others = last->size - last->positives;
    int64_t lo = last->slots > others ? last->slots - others : 0;
    int64_t hi = smaller(last->slots, last->positives);
    double peak = (double)(last->slots + 1) * (double)(last->positives + 1) / (double)(last->size + 2);
    int64_t mode = (int64_t)peak;
    mode = mode < lo ? lo : smaller(mode, hi);
    double weight = 1;
    add_hits(&m, weight, mode);
    for (int64_t x = mode; x < hi; x++) {
        weight *= next_ratio(last, x);
        add_hits(&m, weight, x + 1);
    }
    weight = 1;
    for (int64_t x = mode - 1; x >= lo; x--) {
        weight /= next_ratio(last, x);
        add_hits(&m, weight, x);
    }
    return m.sum / m.total;
}

/* Sums over the groups within the first k. */
struct totals {
    double gain;
    double precisions; /* of average precision */
    double precision_over_hits;
    double reciprocal;
    double none; /* probability of no hit */
    double hits;
    double popularity;
    double surprise;
    int64_t length; /* of the list within k */
};

static void add_group(struct totals *t, const struct window *w, const struct rank_group *group, int64_t hits)
{
    double share = (double)w->slots / (double)w->size;
    if (w->positives > 0) {
        double first, pairs;
        rank_sums(w, &first, &pairs);
        if (hits == 0)
            t->reciprocal = expected_reciprocal(w);
        t->none *= chance_of_none(w);
        t->gain += expected_gain(w);
        t->precision_over_hits = precision_over_hits(w, t->precisions, hits);
        t->precisions +=
            expected_precisions((double)w->positives, (double)w->size, (double)hits, first, pairs);
        t->hits += share * (double)w->positives;
    }
    t->popularity += share * (double)group->popularity;
    t->surprise += share * group->surprise;
    t->length += w->slots;
}

static double ideal_gain(int64_t hits)
{
    double sum = 0;
    for (int64_t rank = 1; rank <= hits; rank++)
        sum += discount(rank);
    return sum;
}

void tied_ranking_at(const struct rank_group *groups, int64_t n_groups, int64_t n_positives, int64_t k,
                     double out[METRIC_N_BY_LIST])
{
    struct totals t = {.none = 1};
    int64_t hits = 0; /* in the groups before: whole groups, so no expectation */
    for (int64_t g = 0; g < n_groups && t.length < k; g++) {
        struct window w = {t.length, groups[g].size, groups[g].positives,
                           smaller(groups[g].size, k - t.length)};
        add_group(&t, &w, &groups[g], hits);
        hits += w.positives;
    }
    double cut = (double)k, positives = (double)n_positives;
    double best = (double)smaller(k, n_positives);
    out[METRIC_HR - METRIC_FIRST_BY_LIST] = 1 - t.none;
    out[METRIC_NDCG - METRIC_FIRST_BY_LIST] = t.gain / ideal_gain(smaller(k, n_positives));
    out[METRIC_PRECISION - METRIC_FIRST_BY_LIST] = t.hits / cut;
    out[METRIC_RECALL - METRIC_FIRST_BY_LIST] = t.hits / positives;
    out[METRIC_RECALL_CAPPED - METRIC_FIRST_BY_LIST] = t.hits / best;
    out[METRIC_F1 - METRIC_FIRST_BY_LIST] = 2 * t.hits / (cut + positives);
    out[METRIC_MAP - METRIC_FIRST_BY_LIST] = t.precisions / best;
    out[METRIC_MAP_HITS - METRIC_FIRST_BY_LIST] = t.precision_over_hits;
    out[METRIC_MAP_RELEVANT - METRIC_FIRST_BY_LIST] = t.precisions / positives;
    out[METRIC_MRR - METRIC_FIRST_BY_LIST] = t.reciprocal;
    out[METRIC_POPULARITY - METRIC_FIRST_BY_LIST] = t.length ? t.popularity / (double)t.length : 0;
    out[METRIC_NOVELTY - METRIC_FIRST_BY_LIST] = t.length ? t.surprise / (double)t.length : 0;
}
