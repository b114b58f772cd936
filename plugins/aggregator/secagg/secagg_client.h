/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_client.h - a client of the protocol: a state machine that answers messages with messages.
 *
 * Scenario:
 *     secagg_client_begin(&client, &policy, peers, capacity);
 *     for every message of the server, in whatever way it arrives:
 *         work.vector = the input (needed for DELIVERY alone)
 *         status = secagg_client_receive(&client, &work, message, n, reply, room, &n_reply);
 *         send the reply, if status is SECAGG_OK
 *
 * The machine takes START, ROSTER, DELIVERY, SURVIVORS and, against a malicious server, SIGNATURES,
 * once each and in that order. Whatever else it is given ends it for good: its secrets are wiped and
 * every later message is refused. So there is no second answer to any question, and in particular
 * never both kinds of share for one peer.
 */
#ifndef SECAGG_CLIENT_H
#define SECAGG_CLIENT_H

#include "secagg_agreed.h"
#include "secagg_mask.h"
#include "secagg_shamir.h"
#include "secagg_wire.h"

/* The Ed25519 key of a client, known beforehand; NULL if there is none of that id. */
typedef const uint8_t *(*secagg_identity)(const void *context, uint32_t id);

/* What the client brings along: its terms, and who vouches for the others. */
struct secagg_policy {
    uint32_t id;
    uint8_t seed[32];                        /* of all secrets of this round; never used again */
    uint8_t context[32];                     /* digest of what the input is made from: model, shape, step */
    uint8_t server_public[SECAGG_KEY_BYTES]; /* the server's key, known beforehand */
    uint64_t modulus;
    uint32_t dimension;
    uint32_t least_threshold;
    uint32_t least_survivors;     /* on the client's list, itself included; where it sees all of them */
    uint32_t most_corrupt;        /* members that may help a malicious server */
    int malicious;                /* insist on signatures and consent */
    const uint8_t *signing_key;   /* 64 bytes; if malicious */
    secagg_identity identity;     /* if malicious */
    const void *identities;       /* its context */
    uint64_t *next_round;         /* kept over sessions: rounds before it are refused */
    int simulated;                /* all clients are in this process: secagg_exchange */
    struct secagg_agreed *agreed; /* if simulated, or NULL */
};

struct secagg_peer {
    uint32_t id;
    uint8_t present; /* its shares were delivered: a mask is shared with it */
    uint8_t alive;   /* its input is in the sum */
    uint8_t mask_public[32];
    uint8_t share_key[32]; /* the peer's public one until its shares are sealed; then that of what it sends */
    uint8_t self_share[SECAGG_SHARE_BYTES]; /* of its self mask */
    uint8_t key_share[SECAGG_SHARE_BYTES];  /* of its mask key */
};

enum secagg_client_state {
    CLIENT_AWAITS_START,
    CLIENT_AWAITS_ROSTER,
    CLIENT_AWAITS_DELIVERY,
    CLIENT_AWAITS_SURVIVORS,
    CLIENT_AWAITS_SIGNATURES,
    CLIENT_DONE,
    CLIENT_ENDED, /* something was refused */
};

struct secagg_client {
    struct secagg_policy policy;
    enum secagg_client_state state;
    struct secagg_terms terms;
    struct secagg_group group;
    uint8_t binding[32]; /* digest of all terms: part of every derivation */
    struct secagg_source source;
    secagg_secret self_secret;
    secagg_secret key_secret;
    uint8_t mask_key[32];
    uint8_t share_key[32];
    uint8_t channel[32]; /* to the server */
    uint8_t mask_public[32];
    uint8_t share_public[32];
    uint8_t self_share[SECAGG_SHARE_BYTES]; /* the client's own of its self mask */
    struct secagg_peer *peers;
    uint32_t capacity;
    uint32_t n_peers;
    uint32_t position; /* among the members: peers with smaller ids */
};

/* Memory for one call; may serve many clients in turn. Wiped before a call returns. */
struct secagg_work {
    uint64_t *vector;            /* dimension numbers below the modulus; overwritten by the masked ones */
    void *sums;                  /* secagg_sums_bytes of dimension numbers */
    secagg_secret *coefficients; /* as many as the threshold */
    uint32_t n_coefficients;
};

/* peers: room for that many, used as long as the client. */
void secagg_client_begin(struct secagg_client *client, const struct secagg_policy *policy,
                         struct secagg_peer *peers, uint32_t capacity);
enum secagg_status secagg_client_receive(struct secagg_client *client, const struct secagg_work *work,
                                         const uint8_t *message, size_t size, uint8_t *reply, size_t room,
                                         size_t *reply_size);
/* Wipes all secrets. */
void secagg_client_end(struct secagg_client *client);

/* Shared with the server: */

/* The digest of the terms. */
void secagg_bind(const struct secagg_terms *terms, uint8_t binding[32]);
/* The X25519 key that a secret stands for. */
void secagg_mask_key(const secagg_secret secret, const uint8_t binding[32], uint32_t id, uint8_t key[32]);
/* The key of the self mask that a secret stands for. */
void secagg_self_mask(const secagg_secret secret, const uint8_t binding[32], uint32_t id, uint8_t key[32]);
/* What a client tells of that secret beforehand: shares that make another one are false. */
void secagg_commit(const secagg_secret secret, const uint8_t binding[32], uint32_t id,
                   uint8_t commitment[32]);
/* The keys of the masks of n pairs, at most SECAGG_ABREAST; -1 if a public key is unusable. */
int secagg_pair_masks(const uint8_t secret[32], struct secagg_end self, const struct secagg_end *others,
                      uint32_t n, const uint8_t binding[32], int simulated, uint8_t keys[][32]);
/* The key of the channel of a client and the server, from their Diffie-Hellman secret. */
void secagg_channel(const uint8_t shared[32], struct secagg_end client, const struct secagg_terms *terms,
                    const uint8_t binding[32], uint8_t key[32]);
/* Signature of a client's two keys. 0 if it is right. */
int secagg_check_keys(const uint8_t binding[32], uint32_t id, const uint8_t *keys,
                      const uint8_t identity[32]);

#endif
