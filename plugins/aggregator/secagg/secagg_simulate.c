/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_simulate.h"

#include <sodium.h>
#include <string.h>

typedef enum secagg_status status_t;

#define STEPS_PER_WORKER 8 /* clients that are stepped before the server takes their answers */

/* A client's step: what it was sent and what it answered. */
struct step {
    uint8_t *reply;
    size_t down, up; /* bytes; 0: nothing */
    uint32_t client;
};

struct worker {
    uint8_t *message;
    struct secagg_work work;
};

struct stage {
    struct secagg_round *round;
    struct secagg_server server;
    struct secagg_client *clients;
    struct secagg_peer *peers;
    uint64_t *next_rounds;
    uint32_t *client_of; /* a member's client */
    struct secagg_agreed agreed;
    struct worker *workers;
    struct step *steps;
    size_t room; /* of a message */
    uint32_t peers_each;
    int64_t n_steps;
    uint32_t first; /* member of the first step */
};

/* ---- memory ------------------------------------------------------------------------------------- */

static void *part(uint8_t *block, uint64_t *used, uint64_t count, uint64_t each)
{
    uint64_t bytes;
    void *at = block ? block + *used : NULL;
    if (*used == UINT64_MAX || __builtin_mul_overflow(count, each, &bytes) ||
        bytes > UINT64_MAX / 4 - *used) {
        *used = UINT64_MAX;
        return NULL;
    }
    *used += (bytes + 63) / 64 * 64;
    return at;
}

static uint64_t lay_out_workers(const struct secagg_round *round, struct stage *stage, uint8_t *block,
                                uint64_t used)
{
    const struct secagg_terms *terms = &round->setup.terms;
    const int n_workers = secagg_setup_workers(&round->setup);
    struct secagg_group group;
    secagg_group_init(&group, terms->modulus);
    stage->n_steps = n_workers == 1 ? 1 : n_workers * STEPS_PER_WORKER;
    stage->workers = part(block, &used, (uint64_t)n_workers, sizeof(*stage->workers));
    stage->steps = part(block, &used, (uint64_t)stage->n_steps, sizeof(*stage->steps));
    for (int w = 0; w < n_workers; w++) {
        struct worker worker;
        worker.message = part(block, &used, stage->room, 1);
        worker.work.vector = part(block, &used, terms->dimension, sizeof(uint64_t));
        worker.work.sums = part(block, &used, secagg_sums_bytes(&group, terms->dimension), 1);
        worker.work.coefficients = part(block, &used, terms->threshold, sizeof(secagg_secret));
        worker.work.n_coefficients = terms->threshold;
        if (block)
            stage->workers[w] = worker;
    }
    for (int64_t s = 0; s < stage->n_steps; s++) {
        uint8_t *reply = part(block, &used, stage->room, 1);
        if (block)
            stage->steps[s].reply = reply;
    }
    return used;
}

static uint64_t lay_out(const struct secagg_round *round, struct stage *stage, uint8_t *block, void **server)
{
    const struct secagg_setup *setup = &round->setup;
    const uint64_t n = setup->n, server_bytes = secagg_server_bytes(setup);
    struct secagg_group group;
    uint64_t used = 0;
    if (server_bytes == 0)
        return 0;
    secagg_group_init(&group, setup->terms.modulus);
    stage->peers_each = setup->degree == 0 || setup->degree + 1 >= setup->n ? setup->n - 1 : setup->degree;
    stage->room = secagg_longest(&setup->terms, group.bits, stage->peers_each);
    *server = part(block, &used, server_bytes, 1);
    stage->clients = part(block, &used, n, sizeof(*stage->clients));
    stage->peers = part(block, &used, n * stage->peers_each, sizeof(*stage->peers));
    stage->next_rounds = part(block, &used, n, sizeof(*stage->next_rounds));
    stage->client_of = part(block, &used, n, sizeof(*stage->client_of));
    stage->agreed.n = secagg_agreed_slots(n * stage->peers_each / 2);
    stage->agreed.slots = part(block, &used, stage->agreed.n, sizeof(*stage->agreed.slots));
    used = lay_out_workers(round, stage, block, used);
    return used == UINT64_MAX ? 0 : used;
}

uint64_t secagg_round_bytes(const struct secagg_round *round)
{
    struct stage stage;
    void *server;
    return lay_out(round, &stage, NULL, &server);
}

/* ---- a phase ------------------------------------------------------------------------------------ */

static void start_clients(struct stage *stage)
{
    const struct secagg_round *round = stage->round;
    const struct secagg_terms *terms = &stage->server.setup.terms;
    for (uint32_t i = 0; i < round->setup.n; i++) {
        struct secagg_policy policy = {
            .id = round->setup.ids[i],
            .modulus = terms->modulus,
            .dimension = terms->dimension,
            .least_threshold = terms->threshold,
            .most_corrupt = round->setup.most_corrupt,
            .malicious = (terms->flags & SECAGG_MALICIOUS) != 0,
            .identity = round->setup.identity,
            .identities = round->setup.identities,
            .next_round = &stage->next_rounds[i],
            .simulated = round->setup.simulated,
            .agreed = round->setup.simulated ? &stage->agreed : NULL,
        };
        memcpy(policy.context, terms->context, sizeof(policy.context));
        memcpy(policy.server_public, terms->server_public, sizeof(policy.server_public));
        if (policy.malicious)
            policy.signing_key = round->signing_key(round->context, i);
        round->seed(round->context, i, policy.seed);
        secagg_client_begin(&stage->clients[i], &policy, stage->peers + (uint64_t)i * stage->peers_each,
                            stage->peers_each);
        stage->client_of[i] = i;
    }
}

/* A client that refuses is, to the server, a client that is lost. */
static void step_client(void *context, int64_t task, int32_t worker)
{
    struct stage *stage = context;
    const struct secagg_round *round = stage->round;
    struct step *step = &stage->steps[task];
    struct worker *own = &stage->workers[worker];
    const uint32_t member = stage->first + (uint32_t)task;
    const uint32_t i = stage->client_of[member];
    step->client = i;
    step->up = 0;
    if (secagg_server_send(&stage->server, member, own->message, stage->room, &step->down) != SECAGG_OK ||
        round->lost[i] <= stage->server.phase)
        return;
    if (stage->server.phase == SERVER_INPUT)
        round->input(round->context, i, own->work.vector);
    secagg_client_receive(&stage->clients[i], &own->work, own->message, step->down, step->reply, stage->room,
                          &step->up);
}

static enum secagg_kind sent_in(enum secagg_phase phase, int malicious)
{
    switch (phase) {
    case SERVER_KEYS:
        return SECAGG_START;
    case SERVER_SHARES:
        return SECAGG_ROSTER;
    case SERVER_INPUT:
        return SECAGG_DELIVERY;
    case SERVER_UNMASK:
        return malicious ? SECAGG_SIGNATURES : SECAGG_SURVIVORS;
    default:
        return SECAGG_SURVIVORS;
    }
}

static void take_answers(struct stage *stage, int64_t n)
{
    struct secagg_round *round = stage->round;
    const int malicious = (round->setup.terms.flags & SECAGG_MALICIOUS) != 0;
    for (int64_t s = 0; s < n; s++) {
        const struct step *step = &stage->steps[s];
        round->bytes[sent_in(stage->server.phase, malicious)] += step->down;
        if (step->up == 0)
            continue;
        round->bytes[step->reply[1]] += step->up; /* by the message's own kind */
        secagg_server_receive(&stage->server, round->setup.ids[step->client], step->reply, step->up);
    }
}

static status_t run_phase(struct stage *stage)
{
    struct secagg_round *round = stage->round;
    for (uint32_t at = 0; at < stage->server.n; at += (uint32_t)stage->n_steps) {
        const int64_t left = (int64_t)stage->server.n - at, n = left < stage->n_steps ? left : stage->n_steps;
        if (round->cancelled && round->cancelled(round->context))
            return SECAGG_OUT_OF_ORDER;
        stage->first = at;
        secagg_setup_run(&round->setup, n, step_client, stage);
        take_answers(stage, n);
    }
    return secagg_server_close(&stage->server);
}

/* Members are those clients that are left, in the same order. */
static void renumber(struct stage *stage)
{
    uint32_t client = 0;
    for (uint32_t i = 0; i < stage->server.n; i++) {
        while (stage->round->setup.ids[client] != stage->server.members[i].id)
            client++;
        stage->client_of[i] = client;
    }
}

status_t secagg_round_run(struct secagg_round *round, void *block, enum secagg_phase *phase)
{
    struct stage stage = {.round = round};
    void *server;
    *phase = SERVER_KEYS;
    memset(round->bytes, 0, sizeof(round->bytes));
    if (lay_out(round, &stage, block, &server) == 0)
        return SECAGG_BAD_TERMS;
    status_t status = secagg_server_begin(&stage.server, &round->setup, server);
    if (status != SECAGG_OK)
        return status;
    start_clients(&stage);
    while (status == SECAGG_OK && stage.server.phase < SERVER_DONE) {
        *phase = stage.server.phase;
        secagg_agreed_clear(&stage.agreed); /* each phase agrees on something of its own */
        status = run_phase(&stage);
        if (status == SECAGG_OK && *phase == SERVER_KEYS)
            renumber(&stage);
    }
    for (uint32_t i = 0; i < round->setup.n; i++)
        secagg_client_end(&stage.clients[i]);
    sodium_memzero(stage.server.setup.secret_key, sizeof(stage.server.setup.secret_key));
    round->survivors = stage.server.survivors;
    round->sums = stage.server.sums;
    return status;
}
