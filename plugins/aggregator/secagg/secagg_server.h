/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_server.h - the server of the protocol: takes messages, phase by phase, and opens the sum.
 *
 * Scenario:
 *     secagg_server_begin(&server, &setup, memory of secagg_server_bytes(&setup));
 *     until server.phase is SERVER_DONE:
 *         secagg_server_send for each member: the bytes to send, or SECAGG_FOREIGN: nothing for that one
 *         secagg_server_receive for each answer that arrives
 *         secagg_server_close: whoever has not answered is lost
 *     server.sums, server.survivors
 *
 * A message that is refused changes nothing: its sender counts as lost unless a right one follows.
 * `from` is who the transport says the sender is.
 */
#ifndef SECAGG_SERVER_H
#define SECAGG_SERVER_H

#include "secagg_client.h"
#include "secagg_graph.h"

/* One of several tasks; at most one at a time for each worker. */
typedef void (*secagg_task)(void *context, int64_t task, int32_t worker);

struct secagg_setup {
    struct secagg_terms terms;
    const uint32_t *ids; /* of the clients that are invited; ascending */
    uint32_t n;
    uint32_t degree;          /* of the graph; even. 0, or n - 1 and more: complete */
    uint32_t least_survivors; /* fewer inputs are not opened */
    uint32_t most_corrupt;    /* clients that may help the server: for SECAGG_MALICIOUS */
    uint8_t seed[32];         /* of the graph */
    uint8_t secret_key[32];   /* X25519; terms.server_public is made from it */
    secagg_identity identity; /* if SECAGG_MALICIOUS */
    const void *identities;
    /* Runs the tasks 0 .. n-1, each on some worker below n_workers. NULL: one after another. */
    void (*run)(void *context, int64_t n, secagg_task task, void *task_context);
    void *run_context;
    int n_workers;
    int simulated; /* all clients are in this process: secagg_exchange */
};

/* How many workers a setup's tasks are spread over. */
static inline int secagg_setup_workers(const struct secagg_setup *setup)
{
    return setup->run && setup->n_workers > 1 ? setup->n_workers : 1;
}
static inline void secagg_setup_run(const struct secagg_setup *setup, int64_t n, secagg_task task,
                                    void *context)
{
    if (secagg_setup_workers(setup) > 1) {
        setup->run(setup->run_context, n, task, context);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        task(context, i, 0);
}

enum secagg_phase {
    SERVER_KEYS,
    SERVER_SHARES,
    SERVER_INPUT,
    SERVER_CONSENT, /* malicious server only */
    SERVER_UNMASK,
    SERVER_DONE,
    SERVER_FAILED
};

struct secagg_member {
    uint32_t id;
    uint8_t reached; /* the last phase whose message it sent, plus 1 */
    uint8_t channel[32];
    uint8_t keys[2 * SECAGG_KEY_BYTES + SECAGG_SIGNATURE_BYTES];
    uint8_t consent[SECAGG_SIGNATURE_BYTES];
    uint8_t commitment[SECAGG_COMMITMENT_BYTES];
};

/* What a worker needs to take members' masks out of the sum. */
struct secagg_opener {
    void *sums; /* inputs are added to worker 0's, and in the end those of the others */
    uint64_t *points, *known_points, *weights, *products; /* threshold of each */
    uint32_t *helpers;                                    /* threshold */
    uint32_t n_known;
    enum secagg_status status;
    uint32_t failed; /* the member at which, if status is not SECAGG_OK */
};

struct secagg_server {
    struct secagg_setup setup;
    enum secagg_phase phase;
    struct secagg_group group;
    uint8_t binding[32];
    struct secagg_member *members; /* from the roster on, those who sent keys */
    uint32_t n;
    uint32_t peers;       /* of each member */
    uint32_t *neighbours; /* NULL: complete */
    uint8_t *sealed;      /* n x peers: what a member sent for each peer */
    uint8_t *revealed;    /* n x (peers + 1): what a member revealed of each member around it */
    uint64_t *vector;
    uint64_t *sums; /* dimension numbers below the modulus, once the phase is SERVER_DONE; zero before */
    uint32_t *order;
    struct secagg_opener *openers; /* one for each worker */
    uint32_t survivors;            /* inputs in the sum */
};

/* 0 if that much cannot be addressed. */
uint64_t secagg_server_bytes(const struct secagg_setup *setup);
/* block: zeroed, 64-byte aligned. SECAGG_BAD_TERMS if the setup contradicts itself. */
enum secagg_status secagg_server_begin(struct secagg_server *server, const struct secagg_setup *setup,
                                       void *block);
/* The message of this phase for the i-th member. Changes nothing: may run for several members at once. */
enum secagg_status secagg_server_send(const struct secagg_server *server, uint32_t i, uint8_t *message,
                                      size_t room, size_t *size);
enum secagg_status secagg_server_receive(struct secagg_server *server, uint32_t from, const uint8_t *message,
                                         size_t size);
/* Ends the phase. SECAGG_TOO_FEW, or SECAGG_FORGED (shares that do not fit): the round has failed. */
enum secagg_status secagg_server_close(struct secagg_server *server);

#endif
