/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.h - how far one unit moves releases, against what the ledger states.
 *
 * A release is made twice, with each data set of a pair, all earlier releases being those that were seen. The
 * difference of the two exact values, in units of the noise and in the norm that its law counts in, may not
 * exceed the stated sensitivity in the same units. Where it does, a bound is not enforced, an event is
 * missing, or a sensitivity is understated, whatever the noise hides of it. Where noise is correlated between
 * rounds, the move is that of all rounds together, of C times the sums.
 */
#ifndef DPF_AUDIT_MOVES_H
#define DPF_AUDIT_MOVES_H

#include "audit/trials.h"

struct move {
    double share;   /* of what is stated; 0: nothing moved, or nothing is stated */
    int side, term; /* of a recommender term is the release */
    int32_t round;
};

/* The largest move that the pair of the trials makes, noise of that number apart. */
int moves_find(struct trials *trials, struct pool *pool, int64_t number, struct move *out,
               struct dpf_error *error);

#endif
