/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_seen.h - a training as an observer sees it, from releases that are given.
 *
 * The second of two neighbours is handed every release of the first. What others send is then the same to the bit,
 * numbers have noise of the same size, and rows that the unit does not touch have the same exact sums, round by round.
 */
#ifndef DPF_TEST_DRAWN_SEEN_H
#define DPF_TEST_DRAWN_SEEN_H

#include "kit/drawn_compare.h"
#include "seen/trace.h"

/* What one party adds to a sum, as a hash. */
struct drawn_part {
    int side, term;
    int32_t round;
    uint32_t party;
    uint64_t hash;
};

struct drawn_seen {
    struct trace trace;
    struct drawn_part *parts;
    size_t n_parts, parts_capacity;
    int status;                     /* 0: the training has ended */
    int64_t n_users, n_items, user; /* the unit's user, as an index, or -1 */
    char error[256];
};
void drawn_seen_free(struct drawn_seen *seen);
/* Trains on the files that are written, by config.ini; given: whose releases are handed over, or NULL. */
void drawn_seen_train(const struct drawn *drawn, const struct draw_pair *pair, const struct drawn_seen *given,
                      struct drawn_seen *out);
/* Whether what is seen of both is the same but for the unit; the plan is of the drawing. 1: what differs. */
int drawn_seen_differs(const struct plan *plan, const struct draw_promise *promise,
                       const struct draw_pair *pair, const struct drawn_seen *a, const struct drawn_seen *b,
                       char what[DRAWN_WHAT]);

#endif
