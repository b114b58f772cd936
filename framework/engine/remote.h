/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - a run in which each user is a separate process: what the engine needs from the code that connects
 * them.
 *
 * Both ends run the same plan. The server has no records: it makes no local step, asks for the sum of a released
 * term's messages, and solves from it. A party has the records of one user: in each round that asks for it, it
 * takes the released rows, solves its own row, and answers with its message.
 */
#ifndef DPF_ENGINE_REMOTE_H
#define DPF_ENGINE_REMOTE_H

#include "plan/plan.h"

/* The rows of the released side, as the model has them. */
struct remote_rows {
    float *data;
    int64_t rows, stride;
    int columns;
};

/* The messages of a term in one round. */
struct remote_release {
    const struct term_plan *term;
    int64_t round;
    struct remote_rows rows; /* that the messages are made from */
    dpf_aggregation *sums;   /* server: to be filled; party: their shape */
    const float *weights;    /* server: of each user, 0: takes no part; NULL: all take part */
    int64_t n_users;
    const dpf_encoded *message; /* party */
};

struct engine_remote {
    void *context;
    int64_t party; /* the user whose records are here; -1: the server */
    /* Party: rounds of this run that it has taken part in before it was started again. They count against a limit
       on participations. */
    int64_t answered;
    /* Server: fills the sums. */
    int (*gather)(void *context, const struct remote_release *release, struct dpf_error *error);
    /* Party: waits for a round, and fills its rows. 0: take part; 1: the run is over, the rows are its last.
     */
    int (*await)(void *context, int64_t *round, const struct remote_rows *rows, struct dpf_error *error);
    /* Party: sends the message. */
    int (*answer)(void *context, const struct remote_release *release, struct dpf_error *error);
};

/* The side whose messages are summed. */
int remote_side(const struct plan *plan);

#endif
