/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbm_trials.h - exact Bernoulli trials at 16 random bits each.
 *
 * A trial of probability t / 2^64 succeeds if a uniform 64-bit integer is below t. Its first 16 bits, a
 * lane, decide unless they equal those of t; only then, once in 65536 trials, the other 48 are drawn, from a
 * stream of their own. The probability is t / 2^64 exactly, at a quarter of the random bits.
 *
 * Which lanes a row has depends on draw, party, row, and the numbers of a row alone: rows are taken together
 * into groups of at most 512 lanes, each group read from an index of its own. The rare bits have the index
 * of their row and are taken in the order of its trials.
 */
#ifndef PBM_TRIALS_H
#define PBM_TRIALS_H

#include "dpframe/host.h"
#include "pbm_kernels.h"

#define PBM_LANES 512

struct pbm_trials {
    const dpf_random_service *random;
    dpf_stream *lanes, *ties;
    const struct pbm_kernels *kernels;
    uint32_t draw, party;
    int64_t row_lanes; /* of a row */
    int64_t together;  /* rows of a group */
    int64_t group;     /* that the cursor stands in; -1: none */
    int64_t row;
    int64_t tie_row; /* the last row that had a tie; -1: none */
    dpf_cursor cursor, tie_cursor;
    int32_t at; /* next lane of the block */
    uint64_t block[PBM_LANES / 4];
};

/* row_lanes: the trials of a row, at least 1. The fields random, lanes, ties, kernels, draw and party are set. */
void pbm_trials_start(struct pbm_trials *trials, int64_t row_lanes);
/* Goes to the first trial of a row. Behind it are those of the rows that follow, up to the group's end. */
void pbm_trials_seek(struct pbm_trials *trials, int64_t row);
/* n trials of probability 1/2 + shares[i] each, with 1/4 <= 1/2 + shares[i] <= 3/4: out[i] is 0 or 1. */
void pbm_trials_each(struct pbm_trials *trials, const double *shares, int64_t n, int64_t *out);
/* Successes in n trials of probability 1/2 + share. */
int64_t pbm_trials_count(struct pbm_trials *trials, double share, int64_t n);

#endif
