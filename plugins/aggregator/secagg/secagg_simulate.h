/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_simulate.h - one round in one process: a server and all clients, joined by messages alone.
 *
 * The messages are the bytes that a network would carry. A client reads nothing of the server's or of
 * another client's memory, nor the server of a client's; what they share is the code, and a table by which the secret of two
 * clients is computed at one end alone (secagg_agreed.h).
 */
#ifndef SECAGG_SIMULATE_H
#define SECAGG_SIMULATE_H

#include "secagg_server.h"

struct secagg_round {
    struct secagg_setup setup;
    /* For each client the phase (enum secagg_phase) whose message it fails to send; SERVER_DONE: none. */
    const uint8_t *lost;
    void *context; /* of what follows */
    void (*seed)(void *context, uint32_t client, uint8_t seed[32]);
    /* The client's numbers, below the modulus. Called once for each client that gets that far. */
    void (*input)(void *context, uint32_t client, uint64_t *vector);
    const uint8_t *(*signing_key)(void *context, uint32_t client); /* malicious server only */
    /* 1: stop. NULL: never. */
    int (*cancelled)(void *context);

    uint64_t bytes[SECAGG_N_KINDS]; /* out: of all messages of a kind */
    uint32_t survivors;             /* out: inputs in the sum */
    const uint64_t *sums;           /* out: in the block */
};

uint64_t secagg_round_bytes(const struct secagg_round *round);
/*
 * block: zeroed, 64-byte aligned; holds secrets afterwards that the caller wipes. SECAGG_OK and sums; or
 * why the round failed, with *phase the phase in which it did. Cancelled: SECAGG_OUT_OF_ORDER.
 */
enum secagg_status secagg_round_run(struct secagg_round *round, void *block, enum secagg_phase *phase);

#endif
