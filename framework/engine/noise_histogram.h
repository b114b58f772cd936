/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_histogram.h - the distribution of a run's noise: what the last release added to each block of each term, and of
 * its Gram row.
 *
 * An observer of the training (seen/seen.h) subtracts the sum without noise from what was released. Where parties
 * solve, this is the noise of one party's query, else that of the decoded sum of all messages. A reader who knows the
 * noise can subtract it, so the table is private.
 */
#ifndef DPF_ENGINE_NOISE_HISTOGRAM_H
#define DPF_ENGINE_NOISE_HISTOGRAM_H

#include "base/error.h"
#include "dpframe/query.h"
#include "engine/engine_stats.h"
#include "seen/seen.h"

struct engine;

/* One source's histograms: of its rows' blocks and of its Gram row's, and which release each is of. */
struct noise_source {
    const char *name;
    struct noise_histogram blocks[2][DPF_MAX_BLOCKS];
    struct noise_release {
        int32_t round;
        uint32_t party, index;
    } of[2];
};

struct noise_counter {
    struct observer observer;
    struct noise_source *sources; /* by side and term; NULL: nobody counts */
    int first[2], n;              /* a side's first one; of all */
};

/* Whether [run] noise asks for it, and something is released with noise. */
int noise_counter_wanted(const struct engine *engine);
/* An observer that counts. The counter stays where it is until it is closed. */
int noise_counter_open(struct noise_counter *counter, const struct engine *engine, struct dpf_error *error);
/* Hands the histograms to the stats, which have those of blocks with noise. */
void noise_counter_close(struct noise_counter *counter, struct engine_stats *stats);

#endif
