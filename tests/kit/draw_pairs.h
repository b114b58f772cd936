/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_pairs.h - neighbouring data sets for what a drawing promises: one unit is there or not, or other.
 *
 * A pair hinges on something that all records could decide together: its pivot. The unit's record is the first line,
 * the only one of an item, of a file, with a time; it makes a count reach a number of the configuration; it looks like
 * the beginning of a file of another form. Without pivots faults of that kind are found by luck alone.
 */
#ifndef DPF_TEST_DRAW_PAIRS_H
#define DPF_TEST_DRAW_PAIRS_H

#include "kit/draw_data.h"
#include "plan/plan.h"

/* What is promised, and which lists are public. */
struct draw_promise {
    int unit, adjacency, same_cells, implicit;
    int ids_public, listed[2]; /* declared; by a catalogue of users, of items */
    const struct plan *plan;
};
void draw_promise_of(const struct plan *plan, struct draw_promise *promise);

struct draw_pair {
    struct draw_data data;
    int user, item; /* the unit: a user, or (unit record) a pair */
    const char *pivot, *change;
    int names_users; /* it has given users other ids (draw_name_users) */
};
/* 1, or 0 if what was drawn is no pair of neighbours. pivot: its index, or -1 for any. Free the data in any case. */
int draw_pair_make(struct draw_pair *pair, struct draw_random *random, const struct drawing *drawing,
                   const struct draw_promise *promise, int pivot);
int draw_pivot_named(const char *name); /* or -1 */
/* Whether it is about a number of users, items or records that the unit makes or breaks. */
int draw_pivot_is_number(const char *name);
/* With fewer messages than this a sum of the plan stops the run; 0: never, or there are not so many users. */
int64_t draw_stops_below(const struct draw_promise *promise);
/* Whether users take turns by ids that nobody has listed, so that "take-turns-together" has a place. */
int draw_takes_turns(const struct draw_promise *promise);
/* A pivot that is about the key, or -1. */
int draw_pivot_for(struct draw_random *random, const struct draw_key *key);

#endif
