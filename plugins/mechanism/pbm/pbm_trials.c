/* SPDX-License-Identifier: Apache-2.0 */
#include "pbm_trials.h"

#include <string.h>

#define LANE_BITS 16
#define TIE_BITS 48

void pbm_trials_start(struct pbm_trials *trials, int64_t row_lanes)
{
    trials->row_lanes = row_lanes;
    trials->together = row_lanes < PBM_LANES ? PBM_LANES / row_lanes : 1;
    trials->group = trials->tie_row = -1;
}

/* The next block of lanes; the last of a group may be longer than what is used of it. */
static void refill(struct pbm_trials *trials)
{
    trials->random->bits(&trials->cursor, trials->block, PBM_LANES / 4);
    trials->at = 0;
}

void pbm_trials_seek(struct pbm_trials *trials, int64_t row)
{
    const int64_t group = row / trials->together;
    trials->row = row;
    trials->tie_row = -1;
    if (group != trials->group || trials->row_lanes > PBM_LANES) {
        trials->random->seek(trials->lanes, trials->draw, trials->party, (uint32_t)group, &trials->cursor);
        refill(trials);
        trials->group = group;
    }
    if (trials->row_lanes <= PBM_LANES)
        trials->at = (int32_t)(row % trials->together * trials->row_lanes);
}

/* How many of n lanes stand in the block; at least one, for n > 0. */
static int64_t available(struct pbm_trials *trials, int64_t n)
{
    if (trials->at == PBM_LANES)
        refill(trials);
    return n < PBM_LANES - trials->at ? n : PBM_LANES - trials->at;
}

/* The lanes that come next; the caller takes n of them. Words are little-endian, as abi.h demands. */
static void take(struct pbm_trials *trials, int64_t n, uint16_t *lanes)
{
    memcpy(lanes, (const char *)trials->block + 2 * (int64_t)trials->at, (size_t)n * sizeof(*lanes));
    trials->at += (int32_t)n;
}

/* 2^64 p: an integer, since p >= 1/4 is a multiple of 2^-54. */
static uint64_t threshold_of(double share)
{
    return (uint64_t)((0.5 + share) * 0x1p64);
}

/* lane: its place in the block. */
static int break_tie(struct pbm_trials *trials, int64_t lane, double share)
{
    uint64_t word;
    const int64_t row = trials->row_lanes <= PBM_LANES
                            ? trials->group * trials->together + lane / trials->row_lanes
                            : trials->row;
    if (row != trials->tie_row)
        trials->random->seek(trials->ties, trials->draw, trials->party, (uint32_t)row, &trials->tie_cursor);
    trials->tie_row = row;
    trials->random->bits(&trials->tie_cursor, &word, 1);
    return word >> LANE_BITS < (threshold_of(share) & ((UINT64_C(1) << TIE_BITS) - 1));
}

void pbm_trials_each(struct pbm_trials *trials, const double *shares, int64_t n, int64_t *out)
{
    uint16_t lanes[PBM_LANES];
    while (n > 0) {
        const int64_t some = available(trials, n), first = trials->at;
        take(trials, some, lanes);
        const int64_t ties = trials->kernels->compare(shares, lanes, some, out);
        for (int64_t i = 0; ties && i < some; i++)
            if (lanes[i] == pbm_first_bits(shares[i]))
                out[i] = break_tie(trials, first + i, shares[i]);
        shares += some;
        out += some;
        n -= some;
    }
}

int64_t pbm_trials_count(struct pbm_trials *trials, double share, int64_t n)
{
    uint16_t lanes[PBM_LANES];
    const int32_t limit = pbm_first_bits(share);
    int64_t count = 0;
    while (n > 0) {
        const int64_t some = available(trials, n), first = trials->at;
        int32_t below = 0, ties = 0;
        take(trials, some, lanes);
        for (int64_t i = 0; i < some; i++) {
            below += lanes[i] < limit;
            ties += lanes[i] == limit;
        }
        for (; ties > 0; ties--)
            count += break_tie(trials, first, share);
        count += below;
        n -= some;
    }
    return count;
}
