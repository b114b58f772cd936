/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_plan.h - what private-gram releases, how much of the budget each release gets, and what else is chosen
 * before any data is read.
 *
 * Noise of all releases together is that of one Gaussian mechanism of multiplier z: the counts get sigma =
 * z / sqrt(share), the second release z / sqrt(1 - share), and mu^2 = share/z^2 + (1-share)/z^2 = 1/z^2
 * composes. Everything that has a default "by rule" depends on users x mu alone, the public bound on the
 * number of users over the multiplier: how far sums of that many rows of norm 1 stand above the noise. The
 * rules are fitted on MovieLens 100K, Last.fm and generated data; docs/accuracy.md has the measurements.
 */
#ifndef PRIVATE_GRAM_PLAN_H
#define PRIVATE_GRAM_PLAN_H

#include "dpframe/role/recommender.h"

enum gram_form { FORM_AUTO, FORM_GRAM, FORM_PROJECTED };

#define GRAM_MOST_ITEMS 5000 /* whose Gram is released, by rule */
#define GRAM_MOST_SPAN 64    /* columns of the projection */

/* As configured; "by rule" is 0 for sizes and shares, a negative number for exponents and ridges. */
struct gram_options {
    double multiplier;
    int32_t form;
    int64_t items;
    double count_share;
    double weight_exponent, weight_offset;
    double ridge, diagonal, rescale;
};

/* Noise of one release: integers of that scale, on sums of integers whose unit is 2^bits. */
struct gram_noise {
    int32_t bits;        /* a row of norm 1 has the integer norm 2^bits at most */
    uint64_t steps;      /* scale of the discrete Gaussian in the sum; 0: none */
    uint64_t steps_diag; /* on the diagonal of the Gram */
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
    double count_share;
    double weight_exponent, weight_offset; /* weights are (count + offset)^-exponent */
    double ridge, diagonal, rescale;
    struct gram_noise counts, second;
};

/* Clipping of the projection: rows are scaled up to norm 1, but by 1/GRAM_LEAST_PROJECTED at most. */
#define GRAM_LEAST_PROJECTED 0.15

/* NULL, or why there is no such plan. */
const char *gram_plan_make(const struct gram_options *options, const dpf_recommender_setup *setup,
                           struct gram_plan *out);
/* Fills in both releases. */
void gram_plan_state(const struct gram_plan *plan, const dpf_recommender_setup *setup,
                     dpf_recommender_release releases[2]);

#endif
