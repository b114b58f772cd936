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
#include "secagg_wire.h"

enum {
    P_GRAPH,
    P_NEIGHBOURS,
    P_THRESHOLD,
    P_CORRUPT,
    P_LOST,
    P_SURVIVORS,
    P_MALICIOUS,
    P_LOST_KEYS,
    P_LOST_SHARES,
    P_LOST_INPUT,
    P_LOST_UNMASK,
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

/* dpf_aggregator.finish */
dpf_status secagg_finish(void *self, const dpf_call *call, dpf_aggregation *into);

#endif
