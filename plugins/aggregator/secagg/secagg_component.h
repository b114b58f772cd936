/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_component.h - what the two halves of the aggregator share: its parameters, and the messages that
 * absorb (secagg.c) keeps for finish (secagg_finish.c).
 */
#ifndef SECAGG_COMPONENT_H
#define SECAGG_COMPONENT_H

#include "dpframe/plugin.h"
#include "dpframe/role/aggregator.h"
#include "secagg_graph.h"
#include "secagg_mask.h"
#include "secagg_wire.h"

enum {
    P_GRAPH,
    P_NEIGHBOURS,
    P_THRESHOLD,
    P_CORRUPT,
    P_LOST,
    P_SURVIVORS,
    P_MALICIOUS,
    P_LOSSES,
    P_SCALE,
    P_COUNT
};
enum { GRAPH_COMPLETE, GRAPH_REGULAR };

struct secagg {
    const dpf_host *host;
    const dpf_random_service *random;
    const dpf_log_service *log;
    dpf_stream *secrets;
    dpf_stream *identities;
    dpf_stream *losses;
    struct secagg_graph given; /* 0: to be chosen */
    int64_t graph;
    double corrupt;
    double lost;
    int64_t survivors;
    int64_t malicious;
    double loss[4]; /* before each of the phases' messages */
    int64_t scale;
};

/* State: how many messages; then the parties' numbers; then their messages, packed. */
struct kept {
    uint64_t n;
    uint64_t unused[7];
};

static inline uint32_t *kept_ids(struct kept *kept)
{
    return (uint32_t *)(kept + 1);
}

static inline uint64_t kept_ids_bytes(int64_t n_parties)
{
    return ((uint64_t)n_parties * sizeof(uint32_t) + 63) / 64 * 64;
}

static inline uint8_t *kept_message(const dpf_aggregation *into, const struct secagg_group *group, uint64_t i)
{
    const uint64_t numbers = (uint64_t)into->rows * (uint64_t)into->width;
    return (uint8_t *)into->state + sizeof(struct kept) + kept_ids_bytes(into->n_parties) +
           i * secagg_packed_bytes(numbers, group->bits);
}

static inline dpf_status secagg_failed(const dpf_call *call, dpf_status code, int32_t param, const char *text)
{
    return call->host->fail(call->host, code, param, text);
}

/* The words of a stream at (draw, party). */
void secagg_read_words(const struct secagg *secagg, const dpf_stream *stream, uint32_t draw, uint32_t party,
                       uint64_t *words, int64_t n);
/* Degree and threshold for the parties that are there; NULL, or why there are none, and the parameter. */
const char *secagg_choose_graph(const struct secagg *secagg, uint32_t n, struct secagg_graph *graph,
                                int32_t *param);
/* Messages without which nothing is opened: what the noise needs, what the configuration asks for, and 2. */
int64_t secagg_least_survivors(const struct secagg *secagg, int64_t needed);

/* dpf_aggregator.finish */
dpf_status secagg_finish(void *self, const dpf_call *call, dpf_aggregation *into);

/* The rounds by messages of dpf_aggregator: secagg_exchange.c. */
uint64_t secagg_exchange_bytes(void *self, const dpf_exchange *empty);
dpf_status secagg_exchange_open(void *self, const dpf_call *call, dpf_exchange *exchange);
uint64_t secagg_exchange_room(void *self, const dpf_exchange *exchange);
dpf_status secagg_party_answer(void *self, const dpf_call *call, dpf_exchange *exchange,
                               const dpf_encoded *own, const uint8_t *message, uint64_t n_message,
                               uint8_t *reply, uint64_t *n_reply, int32_t *outcome);
dpf_status secagg_server_phase_send(void *self, const dpf_call *call, const dpf_exchange *exchange, int64_t i,
                                    uint8_t *message, uint64_t *n_message);
dpf_status secagg_server_phase_take(void *self, const dpf_call *call, dpf_exchange *exchange, uint32_t party,
                                    const uint8_t *message, uint64_t n_message, int32_t *outcome);
dpf_status secagg_server_phase_close(void *self, const dpf_call *call, dpf_exchange *exchange,
                                     dpf_aggregation *into, int32_t *outcome);

/* A party's message as residues below the modulus, all rows of it: -1 if a number is too large for a sum
 * without a modulus. */
int secagg_residues(const struct secagg_group *group, uint64_t modulus, int64_t n_parties,
                    const dpf_encoded *message, int32_t width, uint64_t *vector);
#define SECAGG_TOO_LARGE                                                                                     \
    "a number times the parties exceeds 64 bits, so a sum might; choose a coarser grid in the mechanism, "   \
    "or clip "                                                                                               \
    "the messages"

#endif
