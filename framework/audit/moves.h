/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.h - compares how far one unit moves releases with the ledger.
 *
 * The audit makes a release twice, with each data set of a pair and the same earlier releases. The difference of
 * the two exact values, in units of the noise and in the norm of its law, must not exceed the stated sensitivity
 * in the same units. If it does, a bound is not enforced, an event is missing, or a sensitivity is understated,
 * even where the noise hides it. Where noise is correlated between rounds, the move is that of all rounds
 * together, of C times the sums.
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
