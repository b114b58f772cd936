/* SPDX-License-Identifier: Apache-2.0 */
/* engine_stats.h - the time that a training took, and what it sent. */
#ifndef DPF_ENGINE_ENGINE_STATS_H
#define DPF_ENGINE_ENGINE_STATS_H

#include <stdint.h>

#include "engine/noise_histogram.h"

struct engine_stats {
    double seconds[2]; /* in side steps, by side */
    int64_t rounds_done;
    uint64_t bytes_up, bytes_down; /* as the aggregators count them */
    int64_t messages;              /* that entered sums */
    int64_t violations;            /* faults of protected records that stopped nothing */
    /* Processor seconds of all workers where parties solve: loss, mechanism, solver. */
    double cpu_sums, cpu_noise, cpu_solves;
    /* Of the last release of each term, if [run] noise asks for it. */
    struct noise_histogram noise[NOISE_MAX_HISTOGRAMS];
    int n_noise;
};

#endif
