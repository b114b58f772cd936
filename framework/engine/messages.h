/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - one party's message of a released term: computes the query of its groups, transforms and
 * encodes it, and passes it to an aggregation.
 */
#ifndef DPF_ENGINE_MESSAGES_H
#define DPF_ENGINE_MESSAGES_H

#include "engine/step.h"
#include "engine/sum.h"

struct messages_work {
    struct engine *engine;
    struct term_run *term;
    int64_t n_parties;
    int64_t first, last; /* the rank's parties */
    int64_t per_task;
    int dense;          /* every message has all rows */
    int leaves_zeros;   /* it would have, but rows of zeros are left out */
    int gram_inside;    /* the Gram row is part of the messages */
    int64_t query_rows; /* before transforms, with the Gram row */
    /* Contributions are rounded before they are summed. A user's clip rounds afterwards, and a user has at
       most one record in a row of the items. */
    int on_grid;
    int pooled;         /* a party is a silo, whose message is the sum of its users' */
    double *gram_parts; /* of each silo, where its part of the Gram row is in its message */
    struct sum sum;
};

/* A message under construction. */
struct draft {
    dpf_message message;
    int32_t *rows; /* NULL: all */
};

/* Groups of the party's records, of all rows of its message. */
int messages_groups(struct messages_work *work, int64_t party, int worker, dpf_groups *groups);
/* The party's sums (of zeros, if asked for) as a message. */
int messages_of_query(struct messages_work *work, int64_t party, int zeros, int worker, struct draft *draft);
/* A message with all rows, in the buffer of that slot. */
int messages_densify(struct engine *engine, int worker, dpf_message *message, enum buffer_slot slot);
/* Applies the term's transforms. slot: a buffer that the message does not use. */
int messages_transform(struct messages_work *work, int worker, dpf_message *message, enum buffer_slot slot);
/* Encodes the message as party's, into the worker's buffers; adds it to the sum. 0, or -1
   with the worker's error. */
int messages_encode(struct messages_work *work, int64_t party, int worker, const dpf_message *message,
                    dpf_encoded *out);
int messages_add(struct messages_work *work, int64_t party, int worker, const dpf_encoded *message);
/*
 * Applies one transform in direction apply to the message in buffer *slot. A message whose rows change moves
 * to the other wide buffer. 0, or -1 with the worker's error.
 */
int messages_apply(struct engine *engine, int worker, struct instance *instance, int side,
                   dpf_status (*apply)(void *self, const dpf_call *call, const dpf_message *in,
                                       dpf_message *out),
                   int64_t rows_out, dpf_message *message, enum buffer_slot *slot);

#endif
