/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift_mixes.h - discrete Gaussian noise, on a coarse grid, against a shift by any vector of integers.
 *
 * What is stated of the vector v is |v|^2 <= m and |v|_1 <= l, in grid steps. The loss of v depends on
 * Y = sum v_i x_i alone: it is (2 Y - |v|^2) / (2 s^2), and under P the law of Y is that under Q, moved by
 * |v|^2. One more coordinate in v adds independent noise to what is seen, which does not lower any divergence
 * (data processing), so the vectors to which no 1 can be added are enough: partitions into squares, few while
 * m is small. Their laws are convolutions of positive masses. The pair that dominates all of them is the
 * largest divergence at each epsilon (pld_table.h), as v may be another one in each release.
 *
 * Left out is what lies beyond 37 deviations: x is sub-Gaussian with parameter s (Canonne, Kamath, Steinke,
 * arXiv 2004.00010, Corollary 17), and so is Y with s |v|.
 */
#ifndef PLD_SHIFT_MIXES_H
#define PLD_SHIFT_MIXES_H

#include "pbm_mixes.h"

/* Where a Gaussian pair is within a thousandth, or the vectors are many, there is no need or no room. */
#define SHIFT_MOST_SCALE 7.0
#define SHIFT_MOST_SQUARE 25

/* Scale in grid steps, 1 <= square <= SHIFT_MOST_SQUARE, l1 >= 1. NULL if memory runs out. */
struct pbm_mixes *shift_mixes_new(const dpf_host *host, double scale, int64_t square, int64_t l1);

#endif
