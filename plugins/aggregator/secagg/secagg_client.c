/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_client.c - the client of Bonawitz et al. (CCS 2017), Figure 4, and of Bell et al. (CCS 2020),
 * Algorithm 3, which differ for a client in who its peers are.
 *
 * A client never gives both shares of a peer: which one it gives is decided by one bit of the one
 * survivor list it accepts. It accepts a list only if it is on it itself, if everybody on it took part
 * in the exchange of shares, and if at least the threshold of its neighbourhood is on it.
 */
#include "secagg_client.h"

#include <sodium.h>
#include <string.h>

typedef enum secagg_status status_t;

/* ---- keys --------------------------------------------------------------------------------------- */

void secagg_bind(const struct secagg_terms *terms, uint8_t binding[32])
{
    static const char domain[] = "dpframe secagg terms 1";
    uint8_t message[SECAGG_HEADER_BYTES + SECAGG_START_BYTES];
    size_t size = 0;
    crypto_generichash_state state;
    secagg_write_start(terms, message, sizeof(message), &size);
    crypto_generichash_init(&state, NULL, 0, 32);
    crypto_generichash_update(&state, (const uint8_t *)domain, sizeof(domain));
    crypto_generichash_update(&state, message, size);
    crypto_generichash_final(&state, binding, 32);
}

void secagg_mask_key(const secagg_secret secret, const uint8_t binding[32], uint32_t id, uint8_t key[32])
{
    uint8_t bytes[SECAGG_SHARE_BYTES];
    secagg_secret_bytes(secret, bytes);
    secagg_derive(key, bytes, "mask key", binding, id, id);
    sodium_memzero(bytes, sizeof(bytes));
}

void secagg_self_mask(const secagg_secret secret, const uint8_t binding[32], uint32_t id, uint8_t key[32])
{
    uint8_t bytes[SECAGG_SHARE_BYTES];
    secagg_secret_bytes(secret, bytes);
    secagg_derive(key, bytes, "self mask", binding, id, id);
    sodium_memzero(bytes, sizeof(bytes));
}

void secagg_commit(const secagg_secret secret, const uint8_t binding[32], uint32_t id, uint8_t commitment[32])
{
    uint8_t bytes[SECAGG_SHARE_BYTES];
    secagg_secret_bytes(secret, bytes);
    secagg_derive(commitment, bytes, "commitment", binding, id, id);
    sodium_memzero(bytes, sizeof(bytes));
}

int secagg_pair_masks(const uint8_t secret[32], struct secagg_end self, const struct secagg_end *others,
                      uint32_t n, const uint8_t binding[32], int simulated, uint8_t keys[][32])
{
    const uint8_t *secrets[SECAGG_ABREAST], *publics[SECAGG_ABREAST];
    uint8_t shared[SECAGG_ABREAST][32];
    for (uint32_t i = 0; i < n; i++) {
        secrets[i] = secret;
        publics[i] = others[i].public_key;
    }
    const int status = secagg_exchange(shared, secrets, publics, n, simulated);
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        const int first = self.id < others[i].id;
        secagg_shared_key(keys[i], shared[i], "pair mask", binding, first ? self : others[i],
                          first ? others[i] : self);
    }
    sodium_memzero(shared, sizeof(shared));
    return status;
}

void secagg_channel(const uint8_t shared[32], struct secagg_end client, const struct secagg_terms *terms,
                    const uint8_t binding[32], uint8_t key[32])
{
    const struct secagg_end server = {SECAGG_SERVER, terms->server_public};
    secagg_shared_key(key, shared, "channel", binding, client, server);
}

/* What is signed: a label, the session, then numbers. */
static void digest_begin(crypto_generichash_state *state, const char *label, const uint8_t binding[32])
{
    crypto_generichash_init(state, NULL, 0, 64);
    crypto_generichash_update(state, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(state, binding, 32);
}

static void digest_number(crypto_generichash_state *state, uint32_t x)
{
    uint8_t bytes[4];
    secagg_put32(bytes, x);
    crypto_generichash_update(state, bytes, sizeof(bytes));
}

static void digest_keys(const uint8_t binding[32], uint32_t id, const uint8_t *keys, uint8_t digest[64])
{
    crypto_generichash_state state;
    digest_begin(&state, "dpframe secagg keys 1", binding);
    digest_number(&state, id);
    crypto_generichash_update(&state, keys, 2 * SECAGG_KEY_BYTES);
    crypto_generichash_final(&state, digest, 64);
}

int secagg_check_keys(const uint8_t binding[32], uint32_t id, const uint8_t *keys, const uint8_t identity[32])
{
    uint8_t digest[64];
    digest_keys(binding, id, keys, digest);
    return crypto_sign_verify_detached(keys + 2 * SECAGG_KEY_BYTES, digest, sizeof(digest), identity);
}

/* ---- the machine's life ------------------------------------------------------------------------- */

void secagg_client_begin(struct secagg_client *client, const struct secagg_policy *policy,
                         struct secagg_peer *peers, uint32_t capacity)
{
    memset(client, 0, sizeof(*client));
    client->policy = *policy;
    client->peers = peers;
    client->capacity = capacity;
}

static void wipe(struct secagg_client *client)
{
    sodium_memzero(client->policy.seed, sizeof(client->policy.seed));
    sodium_memzero(&client->source, sizeof(client->source));
    sodium_memzero(client->self_secret, sizeof(client->self_secret));
    sodium_memzero(client->key_secret, sizeof(client->key_secret));
    sodium_memzero(client->mask_key, sizeof(client->mask_key));
    sodium_memzero(client->share_key, sizeof(client->share_key));
    sodium_memzero(client->channel, sizeof(client->channel));
    sodium_memzero(client->self_share, sizeof(client->self_share));
    if (client->peers)
        sodium_memzero(client->peers, (size_t)client->n_peers * sizeof(*client->peers));
}

void secagg_client_end(struct secagg_client *client)
{
    wipe(client);
    if (client->state != CLIENT_DONE)
        client->state = CLIENT_ENDED;
}

static int is_malicious(const struct secagg_client *client)
{
    return (client->terms.flags & SECAGG_MALICIOUS) != 0;
}

static status_t reply_end(const struct secagg_client *client, struct secagg_writer *writer,
                          enum secagg_kind kind, size_t *size)
{
    return secagg_write_end(writer, kind, client->policy.id, client->terms.session, client->channel, size);
}

/* ---- START to KEYS ------------------------------------------------------------------------------ */

static status_t accept_terms(struct secagg_client *client, const struct secagg_header *header)
{
    const struct secagg_policy *policy = &client->policy;
    struct secagg_terms *terms = &client->terms;
    const status_t status = secagg_read_start(header, terms);
    if (status != SECAGG_OK)
        return status;
    if (terms->modulus != policy->modulus || terms->dimension != policy->dimension ||
        terms->threshold < policy->least_threshold || (policy->malicious && !is_malicious(client)) ||
        (is_malicious(client) && (!policy->signing_key || !policy->identity)) ||
        memcmp(terms->context, policy->context, sizeof(terms->context)) != 0 ||
        memcmp(terms->server_public, policy->server_public, sizeof(terms->server_public)) != 0)
        return SECAGG_BAD_TERMS;
    if (terms->round < *policy->next_round || terms->round == UINT64_MAX)
        return SECAGG_REUSED;
    *policy->next_round = terms->round + 1;
    secagg_group_init(&client->group, terms->modulus);
    secagg_bind(terms, client->binding);
    return SECAGG_OK;
}

/* Both public keys, and the channel to the server. -1: the server's key is unusable. */
static int make_keys(struct secagg_client *client)
{
    const uint8_t *const secrets[3] = {client->share_key, client->mask_key, client->share_key};
    const uint8_t *const publics[3] = {secagg_base_point, secagg_base_point, client->terms.server_public};
    uint8_t made[3][32];
    const int status = secagg_exchange(made, secrets, publics, 3, client->policy.simulated);
    if (status == 0) {
        memcpy(client->share_public, made[0], sizeof(client->share_public));
        memcpy(client->mask_public, made[1], sizeof(client->mask_public));
        secagg_channel(made[2], (struct secagg_end){client->policy.id, client->share_public}, &client->terms,
                       client->binding, client->channel);
    }
    sodium_memzero(made, sizeof(made));
    return status;
}

static status_t on_start(struct secagg_client *client, const struct secagg_header *header, uint8_t *reply,
                         size_t room, size_t *size)
{
    status_t status = accept_terms(client, header);
    if (status != SECAGG_OK)
        return status;
    const uint32_t id = client->policy.id;
    memcpy(client->source.key, client->policy.seed, sizeof(client->source.key));
    sodium_memzero(client->policy.seed, sizeof(client->policy.seed));
    secagg_source_elements(&client->source, client->self_secret, SECAGG_LANES);
    secagg_source_elements(&client->source, client->key_secret, SECAGG_LANES);
    secagg_source_bytes(&client->source, client->share_key, sizeof(client->share_key));
    secagg_mask_key(client->key_secret, client->binding, id, client->mask_key);
    if (make_keys(client) != 0)
        return SECAGG_FORGED;

    struct secagg_writer writer;
    secagg_write_begin(&writer, reply, room);
    uint8_t *keys = secagg_write_space(&writer, secagg_keys_bytes(is_malicious(client)));
    if (!keys)
        return SECAGG_NO_ROOM;
    memcpy(keys, client->mask_public, SECAGG_KEY_BYTES);
    memcpy(keys + SECAGG_KEY_BYTES, client->share_public, SECAGG_KEY_BYTES);
    if (is_malicious(client)) {
        uint8_t digest[64];
        digest_keys(client->binding, id, keys, digest);
        crypto_sign_detached(keys + 2 * SECAGG_KEY_BYTES, NULL, digest, sizeof(digest),
                             client->policy.signing_key);
    }
    status = reply_end(client, &writer, SECAGG_KEYS, size);
    client->state = CLIENT_AWAITS_ROSTER;
    return status;
}

/* ---- ROSTER to SHARES --------------------------------------------------------------------------- */

static status_t accept_roster(struct secagg_client *client, const struct secagg_header *header)
{
    struct secagg_entries roster;
    const uint32_t self = client->policy.id;
    status_t status = secagg_read_entries(header, secagg_keys_bytes(is_malicious(client)), self, &roster);
    if (status != SECAGG_OK || roster.count > client->capacity)
        return SECAGG_MALFORMED;
    const uint32_t members = roster.count + 1, threshold = client->terms.threshold;
    if (members < threshold)
        return SECAGG_TOO_FEW;
    /* Two lists of survivors could each find enough consents: an honest member gives one, a corrupt one both.
     */
    if (is_malicious(client) && 2 * (uint64_t)threshold <= (uint64_t)members + client->policy.most_corrupt)
        return SECAGG_BAD_TERMS;
    for (uint32_t i = 0; i < roster.count; i++) {
        const uint8_t *entry = secagg_entry(&roster, i), *keys = entry + 4;
        struct secagg_peer *peer = &client->peers[i];
        peer->id = secagg_get32(entry);
        peer->present = peer->alive = 0;
        memcpy(peer->mask_public, keys, SECAGG_KEY_BYTES);
        memcpy(peer->share_key, keys + SECAGG_KEY_BYTES, SECAGG_KEY_BYTES);
        if (peer->id < self)
            client->position++;
        if (!is_malicious(client))
            continue;
        const uint8_t *identity = client->policy.identity(client->policy.identities, peer->id);
        if (!identity || secagg_check_keys(client->binding, peer->id, keys, identity) != 0)
            return SECAGG_FORGED;
    }
    client->n_peers = roster.count;
    return SECAGG_OK;
}

/* A share's key has one message: peer, direction and session are part of its derivation. */
static const uint8_t seal_nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];

/* Both directions' keys come from one secret: that for the peer is used here, the other one is kept. */
static void seal(const struct secagg_client *client, struct secagg_peer *peer, const uint8_t shared[32],
                 uint8_t *item)
{
    uint8_t pair[2 * SECAGG_SHARE_BYTES], key[32], from_peer[32];
    const struct secagg_end self = {client->policy.id, client->share_public};
    const struct secagg_end other = {peer->id, peer->share_key};
    secagg_shared_key(key, shared, "shares", client->binding, self, other);
    secagg_shared_key(from_peer, shared, "shares", client->binding, other, self);
    memcpy(peer->share_key, from_peer, sizeof(from_peer));
    memcpy(pair, item, sizeof(pair));
    crypto_aead_xchacha20poly1305_ietf_encrypt(item, NULL, pair, sizeof(pair), client->binding, 32, NULL,
                                               seal_nonce, key);
    sodium_memzero(pair, sizeof(pair));
    sodium_memzero(key, sizeof(key));
    sodium_memzero(from_peer, sizeof(from_peer));
}

/* Of n peers, at most SECAGG_ABREAST. */
static int agree_with(const struct secagg_client *client, const uint32_t *peers, uint32_t n,
                      uint8_t shared[][32])
{
    const uint8_t *secrets[SECAGG_ABREAST], *publics[SECAGG_ABREAST];
    for (uint32_t i = 0; i < n; i++) {
        secrets[i] = client->share_key;
        publics[i] = client->peers[peers[i]].share_key;
    }
    if (secagg_exchange(shared, secrets, publics, n, client->policy.simulated) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        secagg_agreed_keep(client->policy.agreed, client->policy.id, client->peers[peers[i]].id, shared[i]);
    return 0;
}

/* Encrypts the pairs of shares that lie where their sealed forms will. */
static status_t seal_all(struct secagg_client *client, uint8_t *items)
{
    uint8_t shared[SECAGG_ABREAST][32];
    uint32_t peers[SECAGG_ABREAST], n = 0;
    int bad = 0;
    for (uint32_t i = 0; !bad && i < client->n_peers; i++) {
        struct secagg_peer *peer = &client->peers[i];
        if (secagg_agreed_find(client->policy.agreed, client->policy.id, peer->id, shared[n]))
            seal(client, peer, shared[n], items + (size_t)i * SECAGG_SEALED_BYTES);
        else
            peers[n++] = i;
        if (n == 0 || (n < SECAGG_ABREAST && i + 1 < client->n_peers))
            continue;
        bad = agree_with(client, peers, n, shared);
        for (uint32_t k = 0; !bad && k < n; k++)
            seal(client, &client->peers[peers[k]], shared[k], items + (size_t)peers[k] * SECAGG_SEALED_BYTES);
        n = 0;
    }
    sodium_memzero(shared, sizeof(shared));
    return bad ? SECAGG_FORGED : SECAGG_OK;
}

/* One of the two shares of every member: at `offset` in the pair that lies where its sealed form will. */
static void share_secret(struct secagg_client *client, const struct secagg_work *work,
                         const secagg_secret secret, uint8_t *items, size_t offset)
{
    const uint32_t threshold = client->terms.threshold;
    memcpy(work->coefficients[0], secret, sizeof(secagg_secret));
    secagg_source_elements(&client->source, work->coefficients[1], (size_t)(threshold - 1) * SECAGG_LANES);
    for (uint32_t i = 0; i < client->n_peers; i++)
        secagg_share(work->coefficients, threshold, secagg_point(client->peers[i].id),
                     items + (size_t)i * SECAGG_SEALED_BYTES + offset);
    if (offset == 0)
        secagg_share(work->coefficients, threshold, secagg_point(client->policy.id), client->self_share);
    sodium_memzero(work->coefficients, (size_t)threshold * sizeof(secagg_secret));
}

static status_t on_roster(struct secagg_client *client, const struct secagg_work *work,
                          const struct secagg_header *header, uint8_t *reply, size_t room, size_t *size)
{
    status_t status = accept_roster(client, header);
    if (status != SECAGG_OK)
        return status;
    struct secagg_writer writer;
    secagg_write_begin(&writer, reply, room);
    secagg_write32(&writer, client->n_peers);
    uint8_t *items = secagg_write_space(&writer, (size_t)client->n_peers * SECAGG_SEALED_BYTES);
    uint8_t *commitment = secagg_write_space(&writer, SECAGG_COMMITMENT_BYTES);
    if (!items || !commitment || work->n_coefficients < client->terms.threshold)
        return SECAGG_NO_ROOM;
    secagg_commit(client->self_secret, client->binding, client->policy.id, commitment);
    share_secret(client, work, client->self_secret, items, 0);
    share_secret(client, work, client->key_secret, items, SECAGG_SHARE_BYTES);
    status = seal_all(client, items);
    if (status != SECAGG_OK) {
        sodium_memzero(items, (size_t)client->n_peers * SECAGG_SEALED_BYTES);
        return status;
    }
    sodium_memzero(&client->source, sizeof(client->source));
    sodium_memzero(client->key_secret, sizeof(client->key_secret));
    sodium_memzero(client->share_key, sizeof(client->share_key));
    client->state = CLIENT_AWAITS_DELIVERY;
    return reply_end(client, &writer, SECAGG_SHARES, size);
}

/* ---- DELIVERY to INPUT -------------------------------------------------------------------------- */

/* The bit of a peer: members are the peers and, at `position`, the client. */
static uint32_t member_of(const struct secagg_client *client, uint32_t peer)
{
    return peer + (peer >= client->position);
}

static status_t unseal(struct secagg_client *client, struct secagg_peer *peer, const uint8_t *sealed)
{
    uint8_t pair[2 * SECAGG_SHARE_BYTES];
    const int bad = crypto_aead_xchacha20poly1305_ietf_decrypt(
        pair, NULL, NULL, sealed, SECAGG_SEALED_BYTES, client->binding, 32, seal_nonce, peer->share_key);
    sodium_memzero(peer->share_key, sizeof(peer->share_key));
    if (bad)
        return SECAGG_FORGED;
    memcpy(peer->self_share, pair, SECAGG_SHARE_BYTES);
    memcpy(peer->key_share, pair + SECAGG_SHARE_BYTES, SECAGG_SHARE_BYTES);
    sodium_memzero(pair, sizeof(pair));
    peer->present = 1;
    return secagg_share_check(peer->self_share) == 0 && secagg_share_check(peer->key_share) == 0
               ? SECAGG_OK
               : SECAGG_FORGED;
}

static status_t accept_delivery(struct secagg_client *client, const struct secagg_header *header)
{
    const uint8_t *bitmap, *sealed;
    uint32_t present = 1;
    status_t status = secagg_read_bitmap(header, client->n_peers + 1, SECAGG_SEALED_BYTES, &bitmap, &sealed);
    if (status != SECAGG_OK || secagg_bit(bitmap, client->position))
        return SECAGG_MALFORMED;
    for (uint32_t i = 0; i < client->n_peers; i++) {
        if (!secagg_bit(bitmap, member_of(client, i)))
            continue;
        status = unseal(client, &client->peers[i], sealed);
        if (status != SECAGG_OK)
            return status;
        sealed += SECAGG_SEALED_BYTES;
        present++;
    }
    return present < client->terms.threshold ? SECAGG_TOO_FEW : SECAGG_OK;
}

static void add_pair_mask(const struct secagg_client *client, void *sums, const uint8_t key[32],
                          uint32_t other)
{
    secagg_sums_mask(&client->group, sums, client->terms.dimension, key, other < client->policy.id);
}

/* Adds the masks shared with peers of larger id, and takes those of smaller id. */
static status_t add_pair_masks(const struct secagg_client *client, void *sums)
{
    const struct secagg_end self = {client->policy.id, client->mask_public};
    struct secagg_agreed *agreed = client->policy.agreed;
    struct secagg_end others[SECAGG_ABREAST];
    uint8_t keys[SECAGG_ABREAST][32];
    status_t status = SECAGG_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; status == SECAGG_OK && i < client->n_peers; i++) {
        const struct secagg_peer *peer = &client->peers[i];
        if (peer->present && secagg_agreed_find(agreed, self.id, peer->id, keys[n]))
            add_pair_mask(client, sums, keys[n], peer->id);
        else if (peer->present)
            others[n++] = (struct secagg_end){peer->id, peer->mask_public};
        if (n == 0 || (n < SECAGG_ABREAST && i + 1 < client->n_peers))
            continue;
        if (secagg_pair_masks(client->mask_key, self, others, n, client->binding, client->policy.simulated,
                              keys) != 0)
            status = SECAGG_FORGED;
        for (uint32_t k = 0; status == SECAGG_OK && k < n; k++) {
            add_pair_mask(client, sums, keys[k], others[k].id);
            secagg_agreed_keep(agreed, self.id, others[k].id, keys[k]);
        }
        n = 0;
    }
    sodium_memzero(keys, sizeof(keys));
    return status;
}

/* x + PRG(b) + the masks of the pairs. */
static status_t mask_input(const struct secagg_client *client, const struct secagg_work *work)
{
    const uint32_t n = client->terms.dimension;
    uint8_t key[32];
    memset(work->sums, 0, (size_t)secagg_sums_bytes(&client->group, n));
    secagg_sums_add(&client->group, work->sums, work->vector, n);
    secagg_self_mask(client->self_secret, client->binding, client->policy.id, key);
    secagg_sums_mask(&client->group, work->sums, n, key, 0);
    sodium_memzero(key, sizeof(key));
    const status_t status = add_pair_masks(client, work->sums);
    if (status == SECAGG_OK)
        secagg_sums_read(&client->group, work->sums, work->vector, n);
    else
        sodium_memzero(work->vector, (size_t)n * sizeof(*work->vector));
    sodium_memzero(work->sums, (size_t)secagg_sums_bytes(&client->group, n));
    return status;
}

static status_t on_delivery(struct secagg_client *client, const struct secagg_work *work,
                            const struct secagg_header *header, uint8_t *reply, size_t room, size_t *size)
{
    const uint32_t n = client->terms.dimension;
    status_t status = accept_delivery(client, header);
    if (status != SECAGG_OK)
        return status;
    struct secagg_writer writer;
    secagg_write_begin(&writer, reply, room);
    secagg_write32(&writer, n);
    secagg_write32(&writer, (uint32_t)client->group.bits);
    uint8_t *packed = secagg_write_space(&writer, (size_t)secagg_packed_bytes(n, client->group.bits));
    if (!packed)
        return SECAGG_NO_ROOM;
    if (!secagg_group_holds(&client->group, work->vector, n))
        return SECAGG_BAD_TERMS;
    status = mask_input(client, work);
    if (status != SECAGG_OK)
        return status;
    secagg_pack(work->vector, n, client->group.bits, packed);
    sodium_memzero(client->mask_key, sizeof(client->mask_key));
    sodium_memzero(client->self_secret, sizeof(client->self_secret));
    client->state = CLIENT_AWAITS_SURVIVORS;
    return reply_end(client, &writer, SECAGG_INPUT, size);
}

/* ---- SURVIVORS to UNMASK, or to CONSENT --------------------------------------------------------- */

static status_t accept_survivors(struct secagg_client *client, const struct secagg_header *header)
{
    const uint8_t *bitmap, *rest;
    uint32_t alive = 1;
    const status_t status = secagg_read_bitmap(header, client->n_peers + 1, 0, &bitmap, &rest);
    if (status != SECAGG_OK)
        return status;
    if (!secagg_bit(bitmap, client->position))
        return SECAGG_BAD_TERMS;
    for (uint32_t i = 0; i < client->n_peers; i++) {
        struct secagg_peer *peer = &client->peers[i];
        peer->alive = (uint8_t)secagg_bit(bitmap, member_of(client, i));
        if (peer->alive && !peer->present)
            return SECAGG_BAD_TERMS; /* nobody who sent no shares can have sent an input */
        alive += peer->alive;
    }
    return alive < client->terms.threshold || alive < client->policy.least_survivors ? SECAGG_TOO_FEW
                                                                                     : SECAGG_OK;
}

/* For each member that sent shares: of its self mask if it is alive, of its mask key if it is lost. */
static status_t unmask(struct secagg_client *client, uint8_t *reply, size_t room, size_t *size)
{
    struct secagg_writer writer;
    uint32_t count = 1;
    for (uint32_t i = 0; i < client->n_peers; i++)
        count += client->peers[i].present;
    secagg_write_begin(&writer, reply, room);
    secagg_write32(&writer, count);
    for (uint32_t i = 0; i <= client->n_peers; i++) {
        if (i == client->position)
            secagg_write(&writer, client->self_share, SECAGG_SHARE_BYTES);
        if (i == client->n_peers || !client->peers[i].present)
            continue;
        const struct secagg_peer *peer = &client->peers[i];
        secagg_write(&writer, peer->alive ? peer->self_share : peer->key_share, SECAGG_SHARE_BYTES);
    }
    const status_t status = reply_end(client, &writer, SECAGG_UNMASK, size);
    wipe(client);
    client->state = CLIENT_DONE;
    return status;
}

static void digest_survivors(const struct secagg_client *client, uint8_t digest[64])
{
    crypto_generichash_state state;
    digest_begin(&state, "dpframe secagg consent 1", client->binding);
    for (uint32_t i = 0; i <= client->n_peers; i++) {
        if (i == client->position)
            digest_number(&state, client->policy.id);
        if (i < client->n_peers && client->peers[i].alive)
            digest_number(&state, client->peers[i].id);
    }
    crypto_generichash_final(&state, digest, 64);
}

static status_t on_survivors(struct secagg_client *client, const struct secagg_header *header, uint8_t *reply,
                             size_t room, size_t *size)
{
    const status_t status = accept_survivors(client, header);
    if (status != SECAGG_OK)
        return status;
    if (!is_malicious(client))
        return unmask(client, reply, room, size);
    uint8_t digest[64];
    struct secagg_writer writer;
    digest_survivors(client, digest);
    secagg_write_begin(&writer, reply, room);
    uint8_t *signature = secagg_write_space(&writer, SECAGG_SIGNATURE_BYTES);
    if (!signature)
        return SECAGG_NO_ROOM;
    crypto_sign_detached(signature, NULL, digest, sizeof(digest), client->policy.signing_key);
    client->state = CLIENT_AWAITS_SIGNATURES;
    return reply_end(client, &writer, SECAGG_CONSENT, size);
}

static const struct secagg_peer *alive_peer(const struct secagg_client *client, uint32_t id)
{
    uint32_t low = 0, high = client->n_peers;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (client->peers[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < client->n_peers && client->peers[low].id == id && client->peers[low].alive
               ? &client->peers[low]
               : NULL;
}

/* At least the threshold, this client included, signed the very list that this client signed. */
static status_t on_signatures(struct secagg_client *client, const struct secagg_header *header,
                              uint8_t *reply, size_t room, size_t *size)
{
    struct secagg_entries entries;
    uint8_t digest[64];
    const status_t status = secagg_read_entries(header, SECAGG_SIGNATURE_BYTES, client->policy.id, &entries);
    if (status != SECAGG_OK)
        return status;
    if (entries.count + 1 < client->terms.threshold)
        return SECAGG_TOO_FEW;
    digest_survivors(client, digest);
    for (uint32_t i = 0; i < entries.count; i++) {
        const uint8_t *entry = secagg_entry(&entries, i);
        const uint32_t id = secagg_get32(entry);
        if (!alive_peer(client, id))
            return SECAGG_FOREIGN;
        const uint8_t *identity = client->policy.identity(client->policy.identities, id);
        if (!identity || crypto_sign_verify_detached(entry + 4, digest, sizeof(digest), identity) != 0)
            return SECAGG_FORGED;
    }
    return unmask(client, reply, room, size);
}

/* ---- messages ----------------------------------------------------------------------------------- */

static status_t dispatch(struct secagg_client *client, const struct secagg_work *work,
                         const struct secagg_header *header, uint8_t *reply, size_t room, size_t *size)
{
    static const enum secagg_kind expected[] = {
        [CLIENT_AWAITS_START] = SECAGG_START,           [CLIENT_AWAITS_ROSTER] = SECAGG_ROSTER,
        [CLIENT_AWAITS_DELIVERY] = SECAGG_DELIVERY,     [CLIENT_AWAITS_SURVIVORS] = SECAGG_SURVIVORS,
        [CLIENT_AWAITS_SIGNATURES] = SECAGG_SIGNATURES,
    };
    if (client->state >= CLIENT_DONE)
        return SECAGG_OUT_OF_ORDER;
    if (client->state != CLIENT_AWAITS_START &&
        memcmp(header->session, client->terms.session, SECAGG_SESSION_BYTES) != 0)
        return SECAGG_FOREIGN;
    if (header->kind != expected[client->state])
        return SECAGG_OUT_OF_ORDER;
    if (client->state != CLIENT_AWAITS_START && secagg_check_tag(header, client->channel) != SECAGG_OK)
        return SECAGG_FORGED;
    switch (client->state) {
    case CLIENT_AWAITS_START:
        return on_start(client, header, reply, room, size);
    case CLIENT_AWAITS_ROSTER:
        return on_roster(client, work, header, reply, room, size);
    case CLIENT_AWAITS_DELIVERY:
        return on_delivery(client, work, header, reply, room, size);
    case CLIENT_AWAITS_SURVIVORS:
        return on_survivors(client, header, reply, room, size);
    default:
        return on_signatures(client, header, reply, room, size);
    }
}

enum secagg_status secagg_client_receive(struct secagg_client *client, const struct secagg_work *work,
                                         const uint8_t *message, size_t size, uint8_t *reply, size_t room,
                                         size_t *reply_size)
{
    struct secagg_header header;
    *reply_size = 0;
    status_t status = secagg_read_header(message, size, &header);
    if (status == SECAGG_OK && header.sender != SECAGG_SERVER)
        status = SECAGG_FOREIGN;
    if (status == SECAGG_OK)
        status = dispatch(client, work, &header, reply, room, reply_size);
    if (status != SECAGG_OK) {
        *reply_size = 0;
        secagg_client_end(client);
    }
    return status;
}
