/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_estimate.h - how many users have both, one, or none of two items, from reported bits.
 *
 * n users have the true bits (x, y) for the two items, and report each through the channel of
 * bit_response.h. Cells are numbered 2x + y: 0 neither, 1 the second alone, 2 the first alone, 3 both.
 */
#ifndef DPF_NEIGHBOURS_PAIR_ESTIMATE_H
#define DPF_NEIGHBOURS_PAIR_ESTIMATE_H

#include "bit_response.h"

enum { PAIR_NEITHER, PAIR_SECOND, PAIR_FIRST, PAIR_BOTH, PAIR_CELLS };

/*
 * The inverse of the channel: unbiased, since E[(report - invent) / (keep - invent)] is the bit and coins of
 * the two bits are independent. Estimates may be negative or exceed n.
 */
void pair_estimate_inverse(const struct bit_response *channel, const double reported[PAIR_CELLS],
                           double estimate[PAIR_CELLS]);

/*
 * The cells of largest likelihood among those that can be: not negative, of sum n. Where the inverse is
 * such, it is the answer; else the iterative Bayesian update from equal cells, which ascends the likelihood
 * (Agrawal, Aggarwal, PODS 2001), at most `iterations` steps.
 */
void pair_estimate_bayes(const struct bit_response *channel, const double reported[PAIR_CELLS],
                         int64_t iterations, double estimate[PAIR_CELLS]);

/*
 * The same for PAIR_LANES pairs at once, cell c of pair l at [c][l], which compilers turn into vector
 * instructions. The bits are those of one pair alone, whatever the others are.
 */
#define PAIR_LANES 4
void pair_estimate_bayes_lanes(const struct bit_response *channel, double reported[PAIR_CELLS][PAIR_LANES],
                               int64_t iterations, double estimate[PAIR_CELLS][PAIR_LANES]);

/* Of the sets of users that have each: the shared part of both together, and the cosine of their bit vectors.
   In [0, 1]; 0 where the estimated sets are empty. */
double pair_jaccard(const double cells[PAIR_CELLS]);
double pair_cosine(const double cells[PAIR_CELLS]);

/*
 * The inverse's estimates and their similarity for PAIR_ROW pairs of an item, of `first` reports among n_users, with others: `second` of
 * these and `both` of each pair. The bits are those of the functions above. kind: SIMD_KIND_...
 */
#define PAIR_ROW 64
struct pair_row {
    const struct bit_response *channel;
    double n_users, first;
    const double *second, *both;
    int is_cosine;
};
void pair_similarities(int kind, const struct pair_row *row, float similarities[PAIR_ROW]);

#endif
