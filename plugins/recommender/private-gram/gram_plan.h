/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_plan.h - what private-gram releases, how much of the budget each release gets, and what else is chosen
 * before any data is read.
 *
 * Noise of all releases together is that of one Gaussian mechanism of multiplier z: a release with a share of
 * mu^2 gets sigma = z / sqrt(share), and mu^2 = sum of share / z^2 = 1/z^2 composes: the counts, the tail, and
 * the second release, which has the rest. Everything that has a default "by rule" depends on users x mu alone, the public bound on the
 * number of users over the multiplier: how far sums of that many rows of norm 1 stand above the noise. The
 * rules are fitted on MovieLens 100K, Last.fm and generated data; docs/accuracy.md has the measurements.
 */
#ifndef PRIVATE_GRAM_PLAN_H
#define PRIVATE_GRAM_PLAN_H

#include "dpframe/role/recommender.h"

enum gram_form { FORM_AUTO, FORM_GRAM, FORM_PROJECTED };

#define GRAM_MOST_ITEMS 5000 /* whose Gram is released, by rule */
#define GRAM_MOST_SPAN 64    /* columns of the projection */
#define GRAM_DIRECTIONS 16   /* of the items with columns, along which all others are released */
#define GRAM_MOST_CROSSING (GRAM_MOST_SPAN + GRAM_DIRECTIONS)

/* Hundredths: 100 (1 - t^2), 1/t = 10/3 times the noise being on the diagonal of the Gram. Tuned on MovieLens 1M. */
#define GRAM_SPARED 91

/* As configured; "by rule" is 0 for sizes and the counts' share, a negative number for all else. */
struct gram_options {
    double multiplier;
    int32_t form;
    int64_t items;
    double count_share, tail_share;
    double weight_exponent, weight_offset;
    double lowest_weight;
    double ridge, diagonal, rescale, discount;
};

/* What a record weighs in its user's row besides its item's weight: `lowest` for the lowest value of the
   declared range, 1 for the highest, linear in between. */
struct value_weights {
    float lo, hi, lowest; /* lo = hi: always 1 */
};

/* Noise of one release: integers of that scale, on sums of integers whose unit is 2^bits. */
struct gram_noise {
    int32_t bits;        /* a row of norm 1 has the integer norm 2^bits at most */
    uint64_t steps;      /* scale of the discrete Gaussian in the sum; 0: none */
    uint64_t steps_diag; /* on the diagonal of the Gram; 0: it is no Gram */
    uint64_t share;      /* scale of what each user adds; 0: noise is added to the sum */
    uint64_t share_diag;
    double scale; /* what the event states, in these integers: steps, or that of the shares that count */
    double grid;  /* the value of one integer of the sum */
};

struct gram_plan {
    int32_t projected;
    int32_t noisy;
    int64_t items; /* m */
    double reach;  /* users x mu; infinite without noise */
    double count_share, tail_share;
    double weight_exponent, weight_offset; /* weights are (count + offset)^-exponent */
    double ridge, diagonal, rescale, discount;
    struct value_weights values;
    int32_t tail; /* whether items without a column have a release of their own */
    struct gram_noise counts, second, rest;
};

/* Clipping of the projection: rows are scaled up to norm 1, but by 1/GRAM_LEAST_PROJECTED at most. */
#define GRAM_LEAST_PROJECTED 0.15

/* NULL, or why there is no such plan. */
const char *gram_plan_make(const struct gram_options *options, const dpf_recommender_setup *setup,
                           struct gram_plan *out);
/* s of centred_row.h for the second release, after the counts: part of what users share that rows keep. */
double gram_plan_kept(const struct gram_plan *plan, double usual_history);
#define GRAM_MOST_RELEASES 3
/* Fills in the releases, and says how many they are. */
int32_t gram_plan_state(const struct gram_plan *plan, const dpf_recommender_setup *setup,
                        dpf_recommender_release releases[GRAM_MOST_RELEASES]);

/* 1 without values, and for values that are no numbers. */
static inline float value_weight(const struct value_weights *w, const float *values, int64_t i)
{
    if (!values || !(w->lo < w->hi) || !(values[i] < w->hi))
        return 1.0F;
    return values[i] > w->lo ? w->lowest + (1.0F - w->lowest) * ((values[i] - w->lo) / (w->hi - w->lo))
                             : w->lowest;
}

#endif
