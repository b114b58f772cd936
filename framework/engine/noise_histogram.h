/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_histogram.h - how the noise of a run is distributed: of each block of each term, its last draws.
 *
 * The draws are made once more, from the mechanism itself at the indices that the last release used, around
 * zeros: a value depends on where it is read and on nothing else. Where parties solve, the noise is that of
 * one party's query, else that of the decoded sum of all messages. Whoever knows noise can take it off: the
 * table is private.
 */
#ifndef DPF_ENGINE_NOISE_HISTOGRAM_H
#define DPF_ENGINE_NOISE_HISTOGRAM_H

#include <stdint.h>

#define NOISE_BINS 121 /* a fifth of the standard deviation wide, the middle one around 0 */
#define NOISE_MAX_HISTOGRAMS 16

struct noise_histogram {
    char term[96];
    int32_t kind; /* DPF_BLOCK_* */
    int64_t n;    /* draws */
    double deviation;
    double width;
    int64_t counts[NOISE_BINS]; /* what lies beyond the ends is in n alone */
};

#endif
