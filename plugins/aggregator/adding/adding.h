/* SPDX-License-Identifier: Apache-2.0 */
/* adding.h - what aggregators that add the parties' integers in the open share. */
#ifndef DPF_ADDING_H
#define DPF_ADDING_H

#include "dpframe/dpframe.h"

/* See role/aggregator.h and dpf_component. */
dpf_status adding_absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message);
dpf_status adding_merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from);

/* A round by messages: adding_exchange.c. */
uint64_t adding_exchange_bytes(void *self, const dpf_exchange *empty);
uint64_t adding_exchange_room(void *self, const dpf_exchange *x);
dpf_status adding_exchange_open(void *self, const dpf_call *call, dpf_exchange *x);
dpf_status adding_party_answer(void *self, const dpf_call *call, dpf_exchange *x, const dpf_encoded *own,
                               const uint8_t *message, uint64_t n_message, uint8_t *reply, uint64_t *n_reply,
                               int32_t *outcome);
dpf_status adding_server_send(void *self, const dpf_call *call, const dpf_exchange *x, int64_t i,
                              uint8_t *message, uint64_t *n_message);
dpf_status adding_server_take(void *self, const dpf_call *call, dpf_exchange *x, uint32_t party,
                              const uint8_t *message, uint64_t n_message, int32_t *outcome);
dpf_status adding_server_close(void *self, const dpf_call *call, dpf_exchange *x, dpf_aggregation *into,
                               int32_t *outcome);
#define ADDING_EXCHANGE                                                                                      \
    .exchange_bytes = adding_exchange_bytes, .exchange_open = adding_exchange_open,                          \
    .exchange_room = adding_exchange_room, .party_answer = adding_party_answer,                              \
    .server_send = adding_server_send, .server_take = adding_server_take,                                    \
    .server_close = adding_server_close

/* The plugin of an aggregator without parameters: whoever adds sees every message, and takes rows in any order. */
#define ADDING_PLUGIN(ID, SCALE, SUMMARY, CITATION)                                                          \
    static const dpf_aggregator functions = {.sees = DPF_SEES_MESSAGES,                                      \
                                             .flags = DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_ADDS,          \
                                             .absorb = adding_absorb,                                        \
                                             .merge = adding_merge,                                          \
                                             .scale = SCALE,                                                 \
                                             ADDING_EXCHANGE};                                               \
    DPF_COMPONENT(component, DPF_ROLE_AGGREGATOR, functions, .id = ID, .version = "1.0.0",                   \
                  .summary = SUMMARY, .citation = CITATION)                                                  \
    DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe." ID, "1.0.0", "Apache-2.0", component)

#endif
