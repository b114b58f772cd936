/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_fuzz_round.h - the round of three clients whose states fuzz_secagg_machines attacks and from whose
 * messages seed_secagg makes the corpora. All its secrets are fixed, so that recorded bodies fit.
 */
#ifndef SECAGG_FUZZ_ROUND_H
#define SECAGG_FUZZ_ROUND_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "secagg_server.h"

enum { CLIENTS = 3, DIMENSION = 5, ROOM = 2048, PHASES = 5, MODULUS = 46 };

/* The whole of a round; a server's pointers lead into its own block, a client's into its own peers. */
struct stage {
    struct secagg_server server;
    _Alignas(64) uint8_t block[8192];
    struct secagg_client clients[CLIENTS];
    struct secagg_peer peers[CLIENTS][CLIENTS];
    uint64_t next_rounds[CLIENTS];
};

static const uint32_t ids[CLIENTS] = {1, 4, 9};
static uint8_t public_keys[CLIENTS][32], secret_keys[CLIENTS][64];
static struct stage stage;

static void require(int truth)
{
    if (!truth)
        abort();
}

static const uint8_t *identity(const void *context, uint32_t id)
{
    (void)context;
    for (int i = 0; i < CLIENTS; i++)
        if (ids[i] == id)
            return public_keys[i];
    return NULL;
}

static enum secagg_status take(uint32_t i, const uint8_t *message, size_t n, uint8_t *reply, size_t *up)
{
    uint64_t vector[DIMENSION] = {i, 1, 2, 3, MODULUS - 1};
    secagg_secret coefficients[CLIENTS];
    uint64_t sums[(DIMENSION + 63) / 64 * 64];
    const struct secagg_work work = {vector, sums, coefficients, CLIENTS};
    return secagg_client_receive(&stage.clients[i], &work, message, n, reply, ROOM, up);
}

static void begin(uint32_t flags)
{
    struct secagg_setup setup = {
        .terms = {.session = {7}, .modulus = MODULUS, .dimension = DIMENSION, .threshold = 2, .flags = flags},
        .ids = ids,
        .n = CLIENTS,
        .secret_key = {5},
        .identity = identity};
    memset(&stage, 0, sizeof(stage));
    require(secagg_server_bytes(&setup) <= sizeof(stage.block));
    require(secagg_server_begin(&stage.server, &setup, stage.block) == SECAGG_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct secagg_policy policy = {.id = ids[i],
                                       .seed = {(uint8_t)(i + 1)},
                                       .modulus = MODULUS,
                                       .dimension = DIMENSION,
                                       .least_threshold = 2,
                                       .malicious = flags != 0,
                                       .signing_key = secret_keys[i],
                                       .identity = identity,
                                       .next_round = &stage.next_rounds[i]};
        memcpy(policy.server_public, stage.server.setup.terms.server_public, 32);
        secagg_client_begin(&stage.clients[i], &policy, stage.peers[i], CLIENTS);
    }
}

static void make_identities(void)
{
    require(sodium_init() >= 0);
    for (int i = 0; i < CLIENTS; i++) {
        const uint8_t seed[32] = {(uint8_t)(40 + i)};
        crypto_sign_seed_keypair(public_keys[i], secret_keys[i], seed);
    }
}

#endif
