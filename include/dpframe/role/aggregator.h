/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/aggregator.h - sums of the parties' integers, and what an observer of the channel sees.
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
#define DPF_AGGREGATOR_BY_ROWS UINT32_C(1) /* works on any range of rows independently */
#define DPF_AGGREGATOR_DENSE UINT32_C(2)   /* needs every party's message with all rows */
/* Without a modulus, absorb adds a message's integers to the sums and the message to survivors, counts 8
   bytes for each number and 4 for each row that is named, and does nothing else. The host may do it in its
   place. */
#define DPF_AGGREGATOR_ADDS UINT32_C(4)

/* One aggregation: the host allocates, the aggregator fills. */
typedef struct dpf_aggregation {
    uint32_t size;
    int32_t width;
    int64_t rows;            /* of the range, or all */
    int64_t n_parties;       /* invited */
    uint64_t modulus;        /* from the noise plan; 0: not modular */
    int64_t least_survivors; /* from the noise plan: a sum of fewer messages must not be opened */
    int64_t *sums;           /* rows x width, zero at the start */
    void *state;             /* state_bytes() bytes, zero at the start */
    int64_t survivors;       /* out: messages in the sum */
    uint64_t bytes_up;       /* out: bytes that the parties sent */
    uint64_t bytes_down;     /* out: bytes that they received for the aggregation itself */
} dpf_aggregation;

/* What an aggregation by so many parties assumes, and where it gives up. */
typedef struct dpf_aggregator_limits {
    uint32_t size;
    int32_t reserved;
    int64_t corrupt;   /* out: most parties that may work with the server; 0: not stated */
    int64_t survivors; /* out: fewest messages that the configuration asks for; 0: what the noise needs */
    int64_t parties;   /* out: it stops with fewer parties than this, whatever the noise needs; at least 1 */
} dpf_aggregator_limits;

typedef struct dpf_aggregator {
    int32_t sees;   /* DPF_SEES_* */
    uint32_t flags; /* DPF_AGGREGATOR_* */
    /* [run, optional] Bytes of state for an aggregation, of which width, rows, n_parties and modulus are set.
     * NULL: none. */
    uint64_t (*state_bytes)(void *self, const dpf_aggregation *empty);
    /*
     * [run, required] Takes call.party's message. Workers have aggregations of their own, joined by merge; a
     * component without merge gets all messages on one worker, in the order of parties.
     */
    dpf_status (*absorb)(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message);
    /* [run, optional] Adds from to into. NULL: see absorb. */
    dpf_status (*merge)(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from);
    /*
     * [run, optional] Ends the aggregation: into->sums and survivors are final. NULL: nothing to do. If only
     * the sum is to be seen, fewer survivors than into->least_survivors are DPF_E_PRIVACY, before anything is
     * opened. Long work is worth being divided into tasks: dpf_run_tasks.
     */
    dpf_status (*finish)(void *self, const dpf_call *call, dpf_aggregation *into);
    /* [any, required] The factor that turns a sum of that many messages into the estimate: 1, or 1/n. */
    double (*scale)(void *self, int64_t survivors);
    /*
     * [any, optional] Of an aggregation that n_parties are invited to. The host refuses more corrupt parties
     * than the noise bears, and fewer survivors than it needs. NULL: nothing is assumed, and nothing stops
     * it.
     */
    void (*limits)(void *self, int64_t n_parties, dpf_aggregator_limits *out);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[8])(void);
} dpf_aggregator;

#ifdef __cplusplus
}
#endif
#endif
