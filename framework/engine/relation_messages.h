/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relation_messages.h - messages from users to those who link to them, for terms over a relation that have a
 * mechanism.
 *
 * send = rows    a user encodes the current row once, and everybody who links to the user reads the
 *                decoded copy; the loss then runs on copies, without further noise (post-processing);
 * send = links   for each link the friend encodes its part of the loss, as if the row that is solved were 0,
 *                with noise at (draw, friend, row); the user who links adds these parts and its own.
 *
 * In both cases no user computes with a friend's row that the friend has not encoded.
 */
#ifndef DPF_ENGINE_RELATION_MESSAGES_H
#define DPF_ENGINE_RELATION_MESSAGES_H

#include "engine/messages.h"

/* Makes a zero row for each user, for send = links. Before any message. */
int relation_prepare(struct engine *engine, struct term_run *term, struct dpf_error *error);
/* The party's own row as its message, or zeros. 0, or -1 with the worker's error. */
int relation_own_row(struct messages_work *work, int64_t party, int zeros, int worker, struct draft *draft);
/* Sends the messages of all links of `row`. 0, or -1 with the worker's error. */
int relation_send_links(struct messages_work *work, int64_t row, int worker);
/* Messages that are in the sum of a row. */
int64_t relation_survivors(const struct engine *engine, const struct term_run *term, int64_t row);
/* The term's other rows become what has been sent, put back into the public ball. */
int relation_receive_rows(struct engine *engine, struct term_run *term, const dpf_message *estimate,
                          struct dpf_error *error);
/* The term's other rows become zeros: what remains of the loss is the part of those who link. */
void relation_receive_links(struct term_run *term);

#endif
