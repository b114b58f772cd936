/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - one end of a round's protocol: the aggregator's machine, with its memory. */
#ifndef DPF_FEDERATION_EXCHANGE_H
#define DPF_FEDERATION_EXCHANGE_H

#include "engine/remote.h"

struct exchange {
    dpf_exchange x;
    struct instance *instance;
    const dpf_aggregator *functions;
    struct worker *worker;
    uint32_t party;   /* DPF_PARTY_AGGREGATE: the server */
    uint8_t *message; /* room for one */
    uint64_t room, bytes;
    uint8_t *in_sum; /* of each party: see dpf_exchange */
};

struct exchange_setup {
    uint32_t party;
    const uint32_t *parties; /* the server's */
    int64_t n_parties;
    uint8_t agreed[32];
    uint8_t server_key[32];                  /* a party's */
    uint64_t next_round;                     /* a party's */
    const uint8_t *identities, *signing_key; /* known beforehand, or NULL */
    int64_t n_identities;
};

/* End it with exchange_end, on failure too, which wipes all of it. */
int exchange_begin(struct exchange *exchange, const struct remote_release *release,
                   const struct exchange_setup *setup, struct dpf_error *error);
void exchange_end(struct exchange *exchange);
/* The call for a function of the component. */
dpf_call *exchange_call(struct exchange *exchange);
int exchange_result(struct exchange *exchange, dpf_status status, struct dpf_error *error);

#endif
