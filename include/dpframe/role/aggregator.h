/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/aggregator.h - sums of the parties' integers, and who sees which messages.
 */
#ifndef DPFRAME_ROLE_AGGREGATOR_H
#define DPFRAME_ROLE_AGGREGATOR_H

#include "mechanism.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_AGGREGATOR "dpframe.aggregator/1"

/* What the server sees. */
#define DPF_SEES_MESSAGES 1 /* each party's message */
#define DPF_SEES_SUM 2      /* only the sum */

/* Flags. */
#define DPF_AGGREGATOR_BY_ROWS UINT32_C(1) /* ranges of rows can be aggregated independently */
#define DPF_AGGREGATOR_DENSE UINT32_C(2)   /* needs every party's message with all rows */
/* Without a modulus, absorb adds a message's integers to the sums and the message to survivors, counts 8
   bytes for each number and 4 for each row that is named, and does nothing else. The host may do it in its
   place. */
#define DPF_AGGREGATOR_ADDS UINT32_C(4)
/* absorb takes a message that lacks rows for one with zeros in them, and counts the bytes of all rows. Where
   messages carry no noise the host may leave out rows of zeros, although DENSE asks for all. */
#define DPF_AGGREGATOR_FILLS UINT32_C(8)

/* One aggregation: the host allocates, the aggregator fills. */
typedef struct dpf_aggregation {
    uint32_t size;
    int32_t width;
    int64_t rows;            /* of the range, or all */
    int64_t n_parties;       /* invited */
    uint64_t modulus;        /* from the noise plan; 0: not modular */
    int64_t least_survivors; /* from the noise plan: do not open a sum of fewer messages */
    int64_t *sums;           /* rows x width, zero at the start */
    void *state;             /* state_bytes() bytes, zero at the start */
    int64_t survivors;       /* out: messages in the sum */
    uint64_t bytes_up;       /* out: bytes that the parties sent */
    uint64_t bytes_down;     /* out: bytes that they received for the aggregation */
} dpf_aggregation;

/* What an aggregation assumes, and when it stops. */
typedef struct dpf_aggregator_limits {
    uint32_t size;
    int32_t reserved;
    int64_t corrupt;   /* out: how many parties may collude with the server; 0: not stated */
    int64_t survivors; /* out: fewest messages by the configuration; 0: as many as the noise needs */
    int64_t parties;   /* out: the protocol stops with fewer parties than this; at least 1 */
} dpf_aggregator_limits;

/*
 * One round between a server and parties in separate processes. The host carries the messages without reading
 * them, and both ends allocate. Both ends agree on all fields but server_key before the round.
 */
#define DPF_END_SERVER 0
#define DPF_END_PARTY 1
typedef struct dpf_exchange {
    uint32_t size;
    int32_t end; /* DPF_END_* */
    int32_t width;
    int32_t reserved;
    int64_t rows;
    int64_t n_parties;       /* server: of this round. party: the most that there can be */
    uint64_t modulus;        /* from the noise plan; 0: not modular */
    int64_t least_survivors; /* from the noise plan; a party gives nothing away for a sum of fewer */
    uint64_t round;          /* of the run: a party refuses a round before next_round */
    uint64_t next_round;     /* party: in and out; the host keeps it on disk before a reply leaves */
    uint8_t agreed[32];      /* digest of all that messages depend on: a peer with another one is refused */
    uint8_t server_key[32];  /* server: out of exchange_open. party: the server's, as the host was told */
    const uint32_t *parties; /* server: their numbers, ascending */
    void *state;             /* exchange_bytes() bytes, zero at the start, wiped by the host at the end */
    uint64_t limit;          /* most that a number of a message is, its sign aside; 0: not stated */
    uint8_t *in_sum; /* server: of each of `parties`, out of the last server_close: 1 if its message is in */
    /* Ed25519, known beforehand; NULL where none are. */
    const uint8_t *identities;  /* public keys of all parties, 32 bytes each, by their numbers */
    const uint8_t *signing_key; /* party: its own secret key, 64 bytes */
    int64_t n_identities;
} dpf_exchange;

/* What became of a message. */
#define DPF_EXCHANGE_GOES_ON 0
#define DPF_EXCHANGE_REFUSED                                                                                 \
    1                       /* party: it takes no further part in the round. server: as if it had not come */
#define DPF_EXCHANGE_OVER 2 /* party: it has answered all there is to answer */
/* server: as refused, but no party that keeps to the protocol sends such a message, in any state of the round: it is
   named, and not waited for. */
#define DPF_EXCHANGE_LIES 3

typedef struct dpf_aggregator {
    int32_t sees;   /* DPF_SEES_* */
    uint32_t flags; /* DPF_AGGREGATOR_* */
    /* [run, optional] Bytes of state for an aggregation; width, rows, n_parties and modulus are set in
     * `empty`. NULL: none. */
    uint64_t (*state_bytes)(void *self, const dpf_aggregation *empty);
    /*
     * [run, required] Adds call.party's message. Each worker has its own aggregation, and merge joins them; a
     * component without merge gets all messages on one worker, in the order of parties.
     */
    dpf_status (*absorb)(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message);
    /* [run, optional] Adds from to into. NULL: see absorb. */
    dpf_status (*merge)(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from);
    /*
     * [run, optional] Ends the aggregation: into->sums and survivors are final. NULL: nothing to do. If the
     * server may see only the sum, return DPF_E_PRIVACY for fewer survivors than into->least_survivors before
     * anything is opened. Divide long work into tasks (dpf_run_tasks).
     */
    dpf_status (*finish)(void *self, const dpf_call *call, dpf_aggregation *into);
    /* [any, required] The factor that turns a sum of that many messages into the estimate: 1, or 1/n. */
    double (*scale)(void *self, int64_t survivors);
    /*
     * [any, optional] The limits of an aggregation with n_parties invited. The host refuses more corrupt
     * parties than the noise tolerates, and fewer survivors than it needs. NULL: no assumption, no limit.
     */
    void (*limits)(void *self, int64_t n_parties, dpf_aggregator_limits *out);
    /*
     * [run, optional] A round by messages, all of these or none. Bytes of state of an end.
     */
    uint64_t (*exchange_bytes)(void *self, const dpf_exchange *empty);
    /* Begins a round at one end; call.party is the party's number, or DPF_PARTY_AGGREGATE at the server.
     * Secrets come from the component's own streams at (draw, party), which are nobody else's. */
    dpf_status (*exchange_open)(void *self, const dpf_call *call, dpf_exchange *exchange);
    /* Most bytes of a message of either end. */
    uint64_t (*exchange_room)(void *self, const dpf_exchange *exchange);
    /* Party: the answer to a message of the server. own is its encoded message, all rows. */
    dpf_status (*party_answer)(void *self, const dpf_call *call, dpf_exchange *exchange,
                               const dpf_encoded *own, const uint8_t *message, uint64_t n_message,
                               uint8_t *reply, uint64_t *n_reply, int32_t *outcome);
    /* Server: what this phase sends to the i-th party; 0 bytes: nothing. */
    dpf_status (*server_send)(void *self, const dpf_call *call, const dpf_exchange *exchange, int64_t i,
                              uint8_t *message, uint64_t *n_message);
    /* Server: what a party has sent. A message that is refused changes nothing. */
    dpf_status (*server_take)(void *self, const dpf_call *call, dpf_exchange *exchange, uint32_t party,
                              const uint8_t *message, uint64_t n_message, int32_t *outcome);
    /*
     * Server: ends a phase; parties that have not answered are lost. After the last one, outcome is
     * DPF_EXCHANGE_OVER and into has sums and survivors. Too few survivors are DPF_E_PRIVACY, before anything
     * is opened.
     */
    dpf_status (*server_close)(void *self, const dpf_call *call, dpf_exchange *exchange,
                               dpf_aggregation *into, int32_t *outcome);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[1])(void);
} dpf_aggregator;

#ifdef __cplusplus
}
#endif
#endif
