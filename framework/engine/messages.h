/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - one party's message of a released term: its groups to a query, transformed, encoded, and
 * absorbed by an aggregation.
 */
#ifndef DPF_ENGINE_MESSAGES_H
#define DPF_ENGINE_MESSAGES_H

#include "engine/step.h"

struct messages_work {
    struct engine *engine;
    struct term_run *term;
    int64_t n_parties;
    int64_t per_task;
    int dense;          /* every message has all rows */
    int gram_inside;    /* the Gram row is part of the messages */
    int64_t query_rows; /* before transforms, with the Gram row */
    /* Contributions are rounded before they are summed. A user's clip rounds afterwards, and a user has at
       most one record in a row of the items. */
    int on_grid;
    double *gram_parts;            /* of each silo, where its part of the Gram row is in its message */
    dpf_aggregation *aggregations; /* one for each worker; or one if the aggregator cannot merge */
};

/* A message under construction. */
struct draft {
    dpf_message message;
    int32_t *rows; /* of a sparse message */
};

/* Makes the parties' messages of one task and adds them to the worker's aggregation: a pool_task. */
int messages_task(void *context, int64_t task, int worker);
/* Encodes the message as party's, into the worker's buffers; adds it to the worker's aggregation. 0, or -1
   with the worker's error. */
int messages_encode(struct messages_work *work, int64_t party, int worker, const dpf_message *message,
                    dpf_encoded *out);
int messages_absorb(struct messages_work *work, int64_t party, int worker, const dpf_encoded *message);
/*
 * Applies one transform in direction apply to the message in buffer *slot. A message whose rows change moves
 * to the other wide buffer. 0, or -1 with the worker's error.
 */
int messages_apply(struct engine *engine, int worker, struct instance *instance, int side,
                   dpf_status (*apply)(void *self, const dpf_call *call, const dpf_message *in,
                                       dpf_message *out),
                   int64_t rows_out, dpf_message *message, enum buffer_slot *slot);

#endif
