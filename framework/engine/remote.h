/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - a run in which each party is a separate process: what the engine needs from the code that
 * connects them.
 *
 * Both ends run the same plan. The server has no records: where messages are summed, it asks for the sum.
 * A party has its own records: in each round that asks for it, it takes the released rows, makes its
 * message, and answers with it.
 */
#ifndef DPF_ENGINE_REMOTE_H
#define DPF_ENGINE_REMOTE_H

#include "plan/plan.h"

/* Numbers that all ends know, since they are released: float32, or integers of two words each. */
struct remote_rows {
    void *data;
    int64_t rows, stride; /* the stride in words of 4 bytes */
    int columns;          /* words of a row */
    int integers;         /* 1: any words; 0: finite float32 */
};

/* The messages of one round. */
struct remote_release {
    struct instance *aggregator;
    int64_t round;
    struct remote_rows rows; /* that the messages are made from */
    dpf_aggregation *sums;   /* server: to be filled; party: their shape */
    const float *weights;    /* server: of each party, 0: takes no part; NULL: all take part */
    int64_t n_parties;
    uint64_t limit;             /* most that a number of a message is, its sign aside; 0: not stated */
    const dpf_encoded *message; /* party */
};

struct engine_remote {
    void *context;
    int64_t party; /* the party whose records are here; -1: the server */
    /* Party: rounds of this run that it has taken part in before it was started again, or before the server has begun a
       round again. They count against a limit on participations. */
    int64_t answered;
    /* Server: fills the sums. */
    int (*gather)(void *context, const struct remote_release *release, struct dpf_error *error);
    /* Party: waits for a round. 0: take part; 1: the run is over. The same round once more: the server has stopped, and
       makes it again, and the party has paid for that; what it has sent for it counts no more. */
    int (*await)(void *context, int64_t *round, struct dpf_error *error);
    /* Party: what came with the round, or at the end, into rows, which say what is expected; with integers, rows
     * beyond those that came are an error, and fewer may be taken. */
    int (*take)(void *context, const struct remote_rows *rows, struct dpf_error *error);
    /* Party: sends the message. */
    int (*answer)(void *context, const struct remote_release *release, struct dpf_error *error);
};

/* What the parties' messages are summed for. */
struct remote_sum {
    const struct term_plan *term; /* of the released side; NULL: a recommender's releases */
    struct instance *aggregator;
    int64_t least_survivors;
};
struct remote_sum remote_sum(const struct plan *plan);
/* The side whose messages are summed. */
int remote_side(const struct plan *plan);
/* Whether parties solve the released side's rows themselves. */
int remote_solves(const struct plan *plan);
/* Messages that each party sends at most, one in each round: a recommender sends one for each sum, and makes some sums
   more than once. */
int64_t remote_rounds(const struct plan *plan);
/* A side's rows, as both ends have them. */
struct remote_rows remote_floats(float *data, int64_t rows, int64_t stride, int columns);
struct remote_rows remote_sums(int64_t *data, int64_t n);

#endif
