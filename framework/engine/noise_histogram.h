/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_histogram.h - the distribution of a run's noise: the last draws for each block of each term, and of
 * its Gram row.
 *
 * The mechanism draws once more, for values of zero and at the indices of the last release: a value depends
 * on its index alone, so the draws are the same. Where parties solve, this is the noise of one party's query,
 * else that of the decoded sum of all messages. A reader who knows the noise can subtract it, so the table is
 * private.
 */
#ifndef DPF_ENGINE_NOISE_HISTOGRAM_H
#define DPF_ENGINE_NOISE_HISTOGRAM_H

#include <stdint.h>

#define NOISE_BINS 121 /* a fifth of the standard deviation wide, the middle one around 0 */
#define NOISE_MAX_HISTOGRAMS 32

struct noise_histogram {
    char term[96];
    int32_t kind; /* DPF_BLOCK_* */
    int32_t gram; /* 1: of the Gram row */
    int64_t n;    /* draws */
    double deviation;
    double width;
    int64_t counts[NOISE_BINS]; /* what lies beyond the ends is in n alone */
};

#endif
