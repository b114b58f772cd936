/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_case.h - a round for tests: a few clients with inputs, stepped message by message.
 *
 * Scenario:
 *     case_begin(&c, 5, 0, modulus, threshold, flags);
 *     case_phase(&c)     sends, answers and closes one phase; c.lost[i] says who is lost before which
 *     case_end(&c)
 */
#ifndef SECAGG_CASE_H
#define SECAGG_CASE_H

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "kit/test.h"
#include "secagg_server.h"

#define CASE_MAX 24
#define CASE_DIMENSION 37
#define CASE_ROOM 8192

struct secagg_case {
    struct secagg_setup setup;
    struct secagg_server server;
    void *block;
    uint32_t ids[CASE_MAX];
    uint8_t summed[CASE_MAX]; /* its input was taken */
    uint8_t lost[CASE_MAX];
    uint64_t inputs[CASE_MAX][CASE_DIMENSION];
    struct secagg_client clients[CASE_MAX];
    struct secagg_peer peers[CASE_MAX][CASE_MAX];
    uint64_t next_rounds[CASE_MAX];
    uint8_t public_keys[CASE_MAX][32];
    uint8_t secret_keys[CASE_MAX][64];
    uint64_t vector[CASE_DIMENSION];
    uint64_t sums[(CASE_DIMENSION + 63) / 64 * 64];
    secagg_secret coefficients[CASE_MAX];
    struct secagg_work work;
    uint8_t down[CASE_ROOM], up[CASE_ROOM];
};

static inline const uint8_t *case_identity(const void *context, uint32_t id)
{
    const struct secagg_case *c = context;
    for (uint32_t i = 0; i < c->setup.n; i++)
        if (c->ids[i] == id)
            return c->public_keys[i];
    return NULL;
}

static inline void case_client(struct secagg_case *c, uint32_t i)
{
    struct secagg_policy policy = {
        .id = c->ids[i],
        .modulus = c->setup.terms.modulus,
        .dimension = CASE_DIMENSION,
        .least_threshold = c->setup.terms.threshold,
        .malicious = (c->setup.terms.flags & SECAGG_MALICIOUS) != 0,
        .signing_key = c->secret_keys[i],
        .identity = case_identity,
        .identities = c,
        .next_round = &c->next_rounds[i],
    };
    memset(policy.seed, (int)i + 1, sizeof(policy.seed));
    memcpy(policy.context, c->setup.terms.context, sizeof(policy.context));
    memcpy(policy.server_public, c->server.setup.terms.server_public, sizeof(policy.server_public));
    secagg_client_begin(&c->clients[i], &policy, c->peers[i], CASE_MAX);
}

static inline int case_start(void **state)
{
    (void)state;
    return sodium_init() < 0 ? -1 : 0;
}

static inline void case_begin(struct secagg_case *c, uint32_t n, uint32_t degree, uint64_t modulus,
                              uint32_t threshold, uint32_t flags)
{
    struct secagg_group group;
    struct secagg_source source = {.block = 0};
    assert_true(n <= CASE_MAX);
    memset(c, 0, sizeof(*c));
    secagg_group_init(&group, modulus);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t seed[32] = {(uint8_t)i, 77};
        c->ids[i] = 3 + 5 * i;
        c->lost[i] = SERVER_DONE;
        crypto_sign_seed_keypair(c->public_keys[i], c->secret_keys[i], seed);
        for (int k = 0; k < CASE_DIMENSION; k++) {
            secagg_source_bytes(&source, (uint8_t *)&c->inputs[i][k], 8);
            c->inputs[i][k] = secagg_group_residue(&group, (int64_t)c->inputs[i][k]);
        }
    }
    c->setup = (struct secagg_setup){.terms = {.session = {1, 2, 3},
                                               .round = 4,
                                               .context = {9},
                                               .modulus = modulus,
                                               .dimension = CASE_DIMENSION,
                                               .threshold = threshold,
                                               .flags = flags},
                                     .ids = c->ids,
                                     .n = n,
                                     .degree = degree,
                                     .seed = {8},
                                     .secret_key = {6},
                                     .identity = case_identity,
                                     .identities = c};
    c->work = (struct secagg_work){c->vector, c->sums, c->coefficients, CASE_MAX};
    const uint64_t bytes = secagg_server_bytes(&c->setup);
    assert_int_not_equal(bytes, 0);
    c->block = calloc(1, (size_t)bytes);
    assert_non_null(c->block);
    assert_int_equal(secagg_server_begin(&c->server, &c->setup, c->block), SECAGG_OK);
    for (uint32_t i = 0; i < n; i++)
        case_client(c, i);
}

static inline void case_end(struct secagg_case *c)
{
    free(c->block);
}

static inline uint32_t case_index(const struct secagg_case *c, uint32_t id)
{
    return (id - 3) / 5 < c->setup.n ? (id - 3) / 5 : 0;
}

/* Client i takes a message; its answer is in c->up. */
static inline enum secagg_status case_take(struct secagg_case *c, uint32_t i, const uint8_t *message,
                                           size_t n, size_t *up)
{
    memcpy(c->vector, c->inputs[i], sizeof(c->vector));
    return secagg_client_receive(&c->clients[i], &c->work, message, n, c->up, sizeof(c->up), up);
}

/* The message of this phase for the server's member m, in c->down; and which client that is. */
static inline uint32_t case_message(struct secagg_case *c, uint32_t m, size_t *down)
{
    if (secagg_server_send(&c->server, m, c->down, sizeof(c->down), down) != SECAGG_OK)
        *down = 0;
    return case_index(c, c->server.members[m].id);
}

/* Everybody who is not lost answers; the phase stays open. */
static inline void case_answers(struct secagg_case *c)
{
    for (uint32_t m = 0; m < c->server.n; m++) {
        size_t down, up;
        const uint32_t i = case_message(c, m, &down);
        if (down == 0 || c->lost[i] <= c->server.phase)
            continue;
        if (case_take(c, i, c->down, down, &up) != SECAGG_OK)
            continue;
        assert_int_equal(secagg_server_receive(&c->server, c->ids[i], c->up, up), SECAGG_OK);
        c->summed[i] |= c->server.phase == SERVER_INPUT;
    }
}

static inline enum secagg_status case_phase(struct secagg_case *c)
{
    case_answers(c);
    return secagg_server_close(&c->server);
}

/* Up to a phase. */
static inline enum secagg_status case_until(struct secagg_case *c, enum secagg_phase phase)
{
    enum secagg_status status = SECAGG_OK;
    while (status == SECAGG_OK && c->server.phase < phase)
        status = case_phase(c);
    return status;
}

/* The sum is that of the clients whose input was taken. */
static inline void case_check_sum(const struct secagg_case *c)
{
    uint32_t survivors = 0;
    uint64_t sums[CASE_DIMENSION] = {0};
    for (uint32_t i = 0; i < c->setup.n; i++) {
        if (!c->summed[i])
            continue;
        survivors++;
        for (int k = 0; k < CASE_DIMENSION; k++) {
            const uint64_t m = c->setup.terms.modulus, x = c->inputs[i][k];
            sums[k] = m == 0 ? sums[k] + x : sums[k] >= m - x ? sums[k] - (m - x) : sums[k] + x;
        }
    }
    assert_int_equal(c->server.survivors, survivors);
    assert_memory_equal(c->server.sums, sums, sizeof(sums));
}

#endif
