/* SPDX-License-Identifier: Apache-2.0 */
/* engine_stats.h - the time that a training took, what it sent, and how its noise was distributed. */
#ifndef DPF_ENGINE_ENGINE_STATS_H
#define DPF_ENGINE_ENGINE_STATS_H

#include <stdint.h>

#define NOISE_BINS 121 /* a fifth of the declared standard deviation wide, the middle one around 0 */
#define NOISE_MAX_HISTOGRAMS 32

struct noise_histogram {
    char term[96];
    int32_t kind;     /* DPF_BLOCK_* */
    int32_t gram;     /* 1: of the Gram row */
    int64_t n;        /* numbers */
    double deviation; /* root of their mean square */
    double width;
    int64_t counts[NOISE_BINS]; /* what lies beyond the ends is in n alone */
};

struct engine_stats {
    double seconds[2]; /* in side steps, by side */
    int64_t rounds_done;
    uint64_t bytes_up, bytes_down; /* as the aggregators count them */
    int64_t messages;              /* that entered sums */
    int64_t violations;            /* faults of protected records that stopped nothing */
    /* Processor seconds of all workers where parties solve: loss, mechanism, solver. */
    double cpu_sums, cpu_noise, cpu_solves;
    /* Of the last release of each term, if [run] noise asks for it: noise_histogram.h. */
    struct noise_histogram noise[NOISE_MAX_HISTOGRAMS];
    int n_noise;
};

#endif
