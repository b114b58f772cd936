/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_seen.h - a training as an observer sees it, from releases that are given.
 *
 * The second of two neighbours is handed every release of the first, and so are two further trainings, with the
 * records of the unit's user alone in each. Users are drawn alike: independent draws do not know anybody. Then, round by round: what other users send is the same to the bit; numbers
 * have noise of the same size; and the exact sums of the neighbours differ by what the unit's user adds, and by nothing
 * else.
 */
#ifndef DPF_TEST_DRAWN_SEEN_H
#define DPF_TEST_DRAWN_SEEN_H

#include "kit/drawn_compare.h"
#include "seen/trace.h"

/* Whom a sum draws, or which record, of those draws that are independent of each other. */
struct drawn_draw {
    int side, term, item; /* item -1: the user */
    int32_t round;
    int64_t user;
    float weight;
};

struct drawn_seen {
    struct trace trace;
    struct observations parts; /* what parties add to sums */
    struct drawn_draw *draws;
    size_t n_draws, draws_capacity;
    int status;                     /* 0: the training has ended */
    int64_t n_users, n_items, user; /* the unit's user, as an index, or -1 */
    char error[256];
};
void drawn_seen_free(struct drawn_seen *seen);
/* Trains on the files that are written, by config.ini. given: whose releases are handed over, or NULL; alone: without
   the records of all other users. */
void drawn_seen_train(const struct drawn *drawn, const struct draw_pair *pair, const struct drawn_seen *given,
                      int alone, struct drawn_seen *out);
/* Whether what is seen of both is the same but for the unit; the plan is of the drawing. 1: what differs. */
int drawn_seen_differs(const struct plan *plan, const struct drawn_seen *a, const struct drawn_seen *b,
                       char what[DRAWN_WHAT]);
/* Whether the sums of a and b differ by those of the unit's user, alone[0] and alone[1], and by nothing else. Numbers
   that were compared are added to *n. 1: what differs. */
int drawn_seen_adds_more(const struct drawn_seen *a, const struct drawn_seen *b,
                         const struct drawn_seen alone[2], int64_t *n, char what[DRAWN_WHAT]);

#endif
