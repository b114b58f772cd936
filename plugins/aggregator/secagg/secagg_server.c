/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_server.c - the server of Bonawitz et al. (CCS 2017), Figure 4, on a complete or a random graph.
 *
 * Members are numbered in the order of their ids. The members of a neighbourhood are a client and its
 * peers, in that order too, so a place in it is what bitmaps and lists of shares refer to.
 */
#include "secagg_server.h"

#include <sodium.h>
#include <string.h>

typedef enum secagg_status status_t;

/* ---- memory ------------------------------------------------------------------------------------- */

static int is_complete(const struct secagg_setup *setup)
{
    return setup->degree == 0 || setup->degree + 1 >= setup->n;
}

/* The next part of the block, or only its size where block is NULL. */
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

static uint64_t lay_out(struct secagg_server *server, const struct secagg_setup *setup, uint8_t *block)
{
    const uint64_t n = setup->n, peers = is_complete(setup) ? n - 1 : setup->degree;
    const uint64_t dimension = setup->terms.dimension, threshold = setup->terms.threshold;
    uint64_t used = 0;
    server->members = part(block, &used, n, sizeof(*server->members));
    server->neighbours =
        is_complete(setup) ? NULL : part(block, &used, n * peers, sizeof(*server->neighbours));
    server->order = part(block, &used, n, sizeof(*server->order));
    server->sealed = part(block, &used, n * peers, SECAGG_SEALED_BYTES);
    server->revealed = part(block, &used, n * (peers + 1), SECAGG_SHARE_BYTES);
    server->vector = part(block, &used, dimension, sizeof(*server->vector));
    server->sums = part(block, &used, dimension, sizeof(*server->sums));
    struct secagg_group group;
    secagg_group_init(&group, setup->terms.modulus);
    const uint64_t sums_bytes = secagg_sums_bytes(&group, dimension);
    const int n_workers = secagg_setup_workers(setup);
    server->openers = part(block, &used, (uint64_t)n_workers, sizeof(*server->openers));
    for (int w = 0; w < n_workers; w++) {
        struct secagg_opener opener = {.status = SECAGG_OK};
        opener.sums = part(block, &used, sums_bytes, 1);
        opener.points = part(block, &used, threshold, sizeof(uint64_t));
        opener.known_points = part(block, &used, threshold, sizeof(uint64_t));
        opener.weights = part(block, &used, threshold, sizeof(uint64_t));
        opener.products = part(block, &used, threshold, sizeof(uint64_t));
        opener.helpers = part(block, &used, threshold, sizeof(uint32_t));
        if (block)
            server->openers[w] = opener;
    }
    return used == UINT64_MAX ? 0 : used;
}

uint64_t secagg_server_bytes(const struct secagg_setup *setup)
{
    struct secagg_server server;
    return setup->n < 2 || setup->n > SECAGG_MAX_MEMBERS ? 0 : lay_out(&server, setup, NULL);
}

status_t secagg_server_begin(struct secagg_server *server, const struct secagg_setup *setup, void *block)
{
    const struct secagg_terms *terms = &setup->terms;
    const int malicious = (terms->flags & SECAGG_MALICIOUS) != 0;
    const uint64_t members = is_complete(setup) ? setup->n : (uint64_t)setup->degree + 1;
    if (setup->n < 2 || setup->n > SECAGG_MAX_MEMBERS || terms->threshold < 2 || terms->threshold > members ||
        terms->dimension < 1 || terms->dimension > SECAGG_MAX_DIMENSION || terms->modulus == 1 ||
        terms->modulus > UINT64_C(1) << 63 || (!is_complete(setup) && setup->degree % 2 != 0) ||
        (malicious && (!is_complete(setup) || !setup->identity ||
                       2 * (uint64_t)terms->threshold <= members + setup->most_corrupt)))
        return SECAGG_BAD_TERMS;
    memset(server, 0, sizeof(*server));
    server->setup = *setup;
    crypto_scalarmult_base(server->setup.terms.server_public, setup->secret_key);
    terms = &server->setup.terms;
    lay_out(server, setup, block);
    server->n = setup->n;
    secagg_group_init(&server->group, terms->modulus);
    secagg_bind(terms, server->binding);
    for (uint32_t i = 0; i < server->n; i++) {
        server->members[i].id = setup->ids[i];
        if (setup->ids[i] == SECAGG_SERVER || (i > 0 && setup->ids[i] <= setup->ids[i - 1]))
            return SECAGG_BAD_TERMS;
    }
    return SECAGG_OK;
}

/* ---- who is where ------------------------------------------------------------------------------- */

static int is_malicious(const struct secagg_server *server)
{
    return (server->setup.terms.flags & SECAGG_MALICIOUS) != 0;
}

/* The j-th peer of member i. */
static uint32_t peer_of(const struct secagg_server *server, uint32_t i, uint32_t j)
{
    return server->neighbours ? server->neighbours[(size_t)i * server->peers + j] : j + (j >= i);
}

/* How many peers of member i come before member m: m's place among i's peers, if it is one. */
static uint32_t peers_before(const struct secagg_server *server, uint32_t i, uint32_t m)
{
    if (!server->neighbours)
        return m - (m > i);
    const uint32_t *list = server->neighbours + (size_t)i * server->peers;
    uint32_t low = 0, high = server->peers;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list[middle] < m)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The member at a place of i's neighbourhood, where own is i's place. */
static uint32_t at_place(const struct secagg_server *server, uint32_t i, uint32_t own, uint32_t place)
{
    return place == own ? i : peer_of(server, i, place - (place > own));
}

/* m's place in i's neighbourhood; m is i or a peer of it. */
static uint32_t place_of(const struct secagg_server *server, uint32_t i, uint32_t m)
{
    return peers_before(server, i, m) + (m > i);
}

static int sent(const struct secagg_server *server, uint32_t i, enum secagg_phase phase)
{
    return server->members[i].reached > phase;
}

/* The phase whose message allows one to send that of `phase`. */
static enum secagg_phase before(enum secagg_phase phase, int malicious)
{
    return phase == SERVER_UNMASK && !malicious ? SERVER_INPUT : phase - 1;
}

static struct secagg_member *find(const struct secagg_server *server, uint32_t id)
{
    uint32_t low = 0, high = server->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (server->members[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < server->n && server->members[low].id == id ? &server->members[low] : NULL;
}

/* ---- sending ------------------------------------------------------------------------------------ */

static status_t write_roster(const struct secagg_server *server, uint32_t i, struct secagg_writer *writer)
{
    secagg_write32(writer, server->peers);
    for (uint32_t j = 0; j < server->peers; j++) {
        const struct secagg_member *peer = &server->members[peer_of(server, i, j)];
        secagg_write32(writer, peer->id);
        secagg_write(writer, peer->keys, secagg_keys_bytes(is_malicious(server)));
    }
    return SECAGG_OK;
}

/* A bit for each member around i, itself included or not, that sent the message of a phase. */
static uint8_t *write_bitmap(const struct secagg_server *server, uint32_t i, enum secagg_phase phase,
                             int with_self, struct secagg_writer *writer)
{
    const uint32_t own = peers_before(server, i, i);
    secagg_write32(writer, server->peers + 1);
    uint8_t *bitmap = secagg_write_space(writer, secagg_bitmap_bytes(server->peers + 1));
    for (uint32_t place = 0; bitmap && place <= server->peers; place++)
        if (sent(server, at_place(server, i, own, place), phase) && (with_self || place != own))
            bitmap[place / 8] |= (uint8_t)(1U << (place % 8));
    return bitmap;
}

static void write_delivery(const struct secagg_server *server, uint32_t i, struct secagg_writer *writer)
{
    write_bitmap(server, i, SERVER_SHARES, 0, writer);
    for (uint32_t j = 0; j < server->peers; j++) {
        const uint32_t peer = peer_of(server, i, j);
        const size_t at = (size_t)peer * server->peers + peers_before(server, peer, i);
        if (sent(server, peer, SERVER_SHARES))
            secagg_write(writer, server->sealed + at * SECAGG_SEALED_BYTES, SECAGG_SEALED_BYTES);
    }
}

static void write_signatures(const struct secagg_server *server, uint32_t i, struct secagg_writer *writer)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < server->peers; j++)
        count += (uint32_t)sent(server, peer_of(server, i, j), SERVER_CONSENT);
    secagg_write32(writer, count);
    for (uint32_t j = 0; j < server->peers; j++) {
        const uint32_t peer = peer_of(server, i, j);
        if (!sent(server, peer, SERVER_CONSENT))
            continue;
        secagg_write32(writer, server->members[peer].id);
        secagg_write(writer, server->members[peer].consent, SECAGG_SIGNATURE_BYTES);
    }
}

status_t secagg_server_send(const struct secagg_server *server, uint32_t i, uint8_t *message, size_t room,
                            size_t *size)
{
    const struct secagg_terms *terms = &server->setup.terms;
    struct secagg_writer writer;
    enum secagg_kind kind = SECAGG_SURVIVORS;
    *size = 0;
    if (i >= server->n || server->phase >= SERVER_DONE)
        return SECAGG_OUT_OF_ORDER;
    if (server->phase == SERVER_KEYS)
        return secagg_write_start(terms, message, room, size);
    if (!sent(server, i, before(server->phase, is_malicious(server))))
        return SECAGG_FOREIGN;
    secagg_write_begin(&writer, message, room);
    if (server->phase == SERVER_SHARES) {
        kind = SECAGG_ROSTER;
        write_roster(server, i, &writer);
    } else if (server->phase == SERVER_INPUT) {
        kind = SECAGG_DELIVERY;
        write_delivery(server, i, &writer);
    } else if (server->phase == SERVER_UNMASK && is_malicious(server)) {
        kind = SECAGG_SIGNATURES;
        write_signatures(server, i, &writer);
    } else {
        write_bitmap(server, i, SERVER_INPUT, 1, &writer);
    }
    return secagg_write_end(&writer, kind, SECAGG_SERVER, terms->session, server->members[i].channel, size);
}

/* ---- receiving ---------------------------------------------------------------------------------- */

static status_t on_keys(const struct secagg_server *server, struct secagg_member *member,
                        const struct secagg_header *header)
{
    const int malicious = is_malicious(server);
    const status_t status = secagg_read_keys(header, malicious);
    if (status != SECAGG_OK)
        return status;
    const uint8_t *share_public = header->body + SECAGG_KEY_BYTES;
    uint8_t shared[32];
    if (crypto_scalarmult(shared, server->setup.secret_key, share_public) != 0)
        return SECAGG_FORGED;
    secagg_channel(shared, (struct secagg_end){member->id, share_public}, &server->setup.terms,
                   server->binding, member->channel);
    sodium_memzero(shared, sizeof(shared));
    if (secagg_check_tag(header, member->channel) != SECAGG_OK)
        return SECAGG_FORGED;
    if (malicious) {
        const uint8_t *identity = server->setup.identity(server->setup.identities, member->id);
        if (!identity || secagg_check_keys(server->binding, member->id, header->body, identity) != 0)
            return SECAGG_FORGED;
    }
    memcpy(member->keys, header->body, header->size);
    return SECAGG_OK;
}

static status_t on_shares(struct secagg_server *server, uint32_t i, const struct secagg_header *header)
{
    const uint8_t *items, *commitment;
    const status_t status = secagg_read_shares(header, server->peers, &items, &commitment);
    if (status != SECAGG_OK)
        return status;
    memcpy(server->sealed + (size_t)i * server->peers * SECAGG_SEALED_BYTES, items,
           (size_t)server->peers * SECAGG_SEALED_BYTES);
    memcpy(server->members[i].commitment, commitment, SECAGG_COMMITMENT_BYTES);
    return SECAGG_OK;
}

static status_t on_input(struct secagg_server *server, const struct secagg_header *header)
{
    const uint32_t n = server->setup.terms.dimension;
    const uint8_t *packed;
    const status_t status = secagg_read_input(header, n, server->group.bits, &packed);
    if (status != SECAGG_OK)
        return status;
    secagg_unpack(packed, n, server->group.bits, server->vector);
    if (!secagg_group_holds(&server->group, server->vector, n))
        return SECAGG_MALFORMED;
    secagg_sums_add(&server->group, server->openers[0].sums, server->vector, n);
    return SECAGG_OK;
}

static status_t on_unmask(struct secagg_server *server, uint32_t i, const struct secagg_header *header)
{
    const uint32_t own = peers_before(server, i, i);
    uint8_t *row = server->revealed + (size_t)i * (server->peers + 1) * SECAGG_SHARE_BYTES;
    const uint8_t *items;
    uint32_t count = 0;
    for (uint32_t place = 0; place <= server->peers; place++)
        count += (uint32_t)sent(server, at_place(server, i, own, place), SERVER_SHARES);
    const status_t status = secagg_read_items(header, count, SECAGG_SHARE_BYTES, &items);
    for (uint32_t k = 0; status == SECAGG_OK && k < count; k++)
        if (secagg_share_check(items + (size_t)k * SECAGG_SHARE_BYTES) != 0)
            return SECAGG_MALFORMED;
    for (uint32_t place = 0; status == SECAGG_OK && place <= server->peers; place++) {
        if (!sent(server, at_place(server, i, own, place), SERVER_SHARES))
            continue;
        memcpy(row + (size_t)place * SECAGG_SHARE_BYTES, items, SECAGG_SHARE_BYTES);
        items += SECAGG_SHARE_BYTES;
    }
    return status;
}

/* A consent is for the other clients to judge: they know the list that they signed. */
static status_t on_consent(struct secagg_member *member, const struct secagg_header *header)
{
    if (header->size != SECAGG_SIGNATURE_BYTES)
        return SECAGG_MALFORMED;
    memcpy(member->consent, header->body, SECAGG_SIGNATURE_BYTES);
    return SECAGG_OK;
}

static status_t take(struct secagg_server *server, uint32_t i, const struct secagg_header *header)
{
    switch (server->phase) {
    case SERVER_KEYS:
        return on_keys(server, &server->members[i], header);
    case SERVER_SHARES:
        return on_shares(server, i, header);
    case SERVER_INPUT:
        return on_input(server, header);
    case SERVER_CONSENT:
        return on_consent(&server->members[i], header);
    default:
        return on_unmask(server, i, header);
    }
}

status_t secagg_server_receive(struct secagg_server *server, uint32_t from, const uint8_t *message,
                               size_t size)
{
    static const enum secagg_kind expected[] = {
        [SERVER_KEYS] = SECAGG_KEYS,       [SERVER_SHARES] = SECAGG_SHARES, [SERVER_INPUT] = SECAGG_INPUT,
        [SERVER_CONSENT] = SECAGG_CONSENT, [SERVER_UNMASK] = SECAGG_UNMASK,
    };
    struct secagg_header header;
    status_t status = secagg_read_header(message, size, &header);
    if (status != SECAGG_OK)
        return status;
    struct secagg_member *member = find(server, from);
    if (!member || header.sender != from ||
        memcmp(header.session, server->setup.terms.session, SECAGG_SESSION_BYTES) != 0)
        return SECAGG_FOREIGN;
    const uint32_t i = (uint32_t)(member - server->members);
    const enum secagg_phase phase = server->phase;
    if (phase >= SERVER_DONE || header.kind != expected[phase] || sent(server, i, phase) ||
        (phase != SERVER_KEYS && !sent(server, i, before(phase, is_malicious(server)))))
        return SECAGG_OUT_OF_ORDER;
    if (phase != SERVER_KEYS && secagg_check_tag(&header, member->channel) != SECAGG_OK)
        return SECAGG_FORGED;
    status = take(server, i, &header);
    if (status == SECAGG_OK)
        member->reached = (uint8_t)(phase + 1);
    return status;
}

/* ---- opening the sum ---------------------------------------------------------------------------- */

/* The secret of member i from the shares that the members around it revealed. */
static status_t recover(const struct secagg_server *server, struct secagg_opener *opener, uint32_t i,
                        secagg_secret secret)
{
    const uint32_t threshold = server->setup.terms.threshold, own = peers_before(server, i, i);
    uint32_t found = 0;
    for (uint32_t place = 0; place <= server->peers && found < threshold; place++) {
        const uint32_t helper = at_place(server, i, own, place);
        if (!sent(server, helper, SERVER_UNMASK))
            continue;
        opener->points[found] = secagg_point(server->members[helper].id);
        opener->helpers[found++] = helper;
    }
    if (found < threshold)
        return SECAGG_TOO_FEW;
    const size_t bytes = threshold * sizeof(uint64_t);
    /* In a complete graph all secrets have the same helpers. */
    if (opener->n_known != threshold || memcmp(opener->points, opener->known_points, bytes) != 0) {
        if (secagg_weights(opener->points, threshold, opener->weights, opener->products) != 0)
            return SECAGG_FORGED;
        memcpy(opener->known_points, opener->points, bytes);
        opener->n_known = threshold;
    }
    memset(secret, 0, sizeof(secagg_secret));
    for (uint32_t k = 0; k < threshold; k++) {
        const uint32_t helper = opener->helpers[k];
        const size_t at = (size_t)helper * (server->peers + 1) + place_of(server, helper, i);
        secagg_combine(opener->weights[k], server->revealed + at * SECAGG_SHARE_BYTES, secret);
    }
    return SECAGG_OK;
}

static status_t remove_self_mask(const struct secagg_server *server, void *sums, uint32_t i,
                                 const secagg_secret secret)
{
    uint8_t key[32];
    secagg_commit(secret, server->binding, server->members[i].id, key);
    if (memcmp(key, server->members[i].commitment, sizeof(key)) != 0)
        return SECAGG_LIED;
    secagg_self_mask(secret, server->binding, server->members[i].id, key);
    secagg_sums_mask(&server->group, sums, server->setup.terms.dimension, key, 1);
    sodium_memzero(key, sizeof(key));
    return SECAGG_OK;
}

/* Of a lost member's masks, those of n pairs with survivors. */
static status_t remove_some(const struct secagg_server *server, void *sums, struct secagg_end lost,
                            const uint8_t secret[32], const struct secagg_end *others, uint32_t n)
{
    uint8_t keys[SECAGG_ABREAST][32];
    const int bad =
        secagg_pair_masks(secret, lost, others, n, server->binding, server->setup.simulated, keys);
    for (uint32_t k = 0; !bad && k < n; k++) /* the survivor added it if the lost one has the larger id */
        secagg_sums_mask(&server->group, sums, server->setup.terms.dimension, keys[k],
                         lost.id > others[k].id);
    sodium_memzero(keys, sizeof(keys));
    return bad ? SECAGG_FORGED : SECAGG_OK;
}

/* The masks that survivors share with a lost member are still in the sum. */
static status_t remove_pair_masks(const struct secagg_server *server, void *sums, uint32_t i,
                                  const secagg_secret secret)
{
    const struct secagg_member *lost = &server->members[i];
    const struct secagg_end self = {lost->id, lost->keys};
    struct secagg_end others[SECAGG_ABREAST];
    uint8_t key[32], public_key[32];
    uint32_t n = 0;
    secagg_mask_key(secret, server->binding, lost->id, key);
    crypto_scalarmult_base(public_key, key);
    status_t status = memcmp(public_key, lost->keys, sizeof(public_key)) == 0 ? SECAGG_OK : SECAGG_LIED;
    for (uint32_t j = 0; status == SECAGG_OK && j < server->peers; j++) {
        const struct secagg_member *peer = &server->members[peer_of(server, i, j)];
        if (peer->reached > SERVER_INPUT)
            others[n++] = (struct secagg_end){peer->id, peer->keys};
        if (n == 0 || (n < SECAGG_ABREAST && j + 1 < server->peers))
            continue;
        status = remove_some(server, sums, self, key, others, n);
        n = 0;
    }
    sodium_memzero(key, sizeof(key));
    return status;
}

static int has_survivor_around(const struct secagg_server *server, uint32_t i)
{
    int any = 0;
    for (uint32_t j = 0; j < server->peers; j++)
        any |= sent(server, peer_of(server, i, j), SERVER_INPUT);
    return any;
}

/* Takes out of a worker's sum what one member left in it. */
static void open_member(void *context, int64_t member, int32_t worker)
{
    const struct secagg_server *server = context;
    struct secagg_opener *opener = &server->openers[worker];
    const uint32_t i = (uint32_t)member;
    const int alive = sent(server, i, SERVER_INPUT);
    secagg_secret secret;
    if (opener->status != SECAGG_OK || !sent(server, i, SERVER_SHARES) ||
        (!alive && !has_survivor_around(server, i)))
        return; /* nobody shares a mask with it */
    status_t status = recover(server, opener, i, secret);
    if (status == SECAGG_OK && alive)
        status = remove_self_mask(server, opener->sums, i, secret);
    else if (status == SECAGG_OK)
        status = remove_pair_masks(server, opener->sums, i, secret);
    sodium_memzero(secret, sizeof(secret));
    opener->status = status;
    opener->failed = i;
}

/* What the workers took out is added up; where several failed, what the first member met counts. */
static status_t open_sum(struct secagg_server *server)
{
    const uint64_t dimension = server->setup.terms.dimension;
    const int n_workers = secagg_setup_workers(&server->setup);
    const struct secagg_opener *first = &server->openers[0];
    secagg_setup_run(&server->setup, server->n, open_member, server);
    for (int w = 1; w < n_workers; w++) {
        const struct secagg_opener *opener = &server->openers[w];
        if (opener->status != SECAGG_OK && (first->status == SECAGG_OK || opener->failed < first->failed))
            first = opener;
        secagg_sums_read(&server->group, opener->sums, server->vector, dimension);
        secagg_sums_add(&server->group, server->openers[0].sums, server->vector, dimension);
    }
    if (first->status == SECAGG_OK)
        secagg_sums_read(&server->group, server->openers[0].sums, server->sums, dimension);
    return first->status;
}

/* What was taken in and out, and sums that are not to be opened. */
static void wipe_sums(struct secagg_server *server)
{
    const uint64_t dimension = server->setup.terms.dimension;
    for (int w = 0; w < secagg_setup_workers(&server->setup); w++)
        sodium_memzero(server->openers[w].sums, (size_t)secagg_sums_bytes(&server->group, dimension));
    sodium_memzero(server->vector, (size_t)dimension * sizeof(*server->vector));
    if (server->phase != SERVER_DONE)
        sodium_memzero(server->sums, (size_t)dimension * sizeof(*server->sums));
}

/* ---- phases ------------------------------------------------------------------------------------- */

/* Only those who sent keys go on; the graph is drawn over them. */
static void make_roster(struct secagg_server *server)
{
    struct secagg_source source = {.block = 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < server->n; i++)
        if (sent(server, i, SERVER_KEYS))
            server->members[n++] = server->members[i];
    server->n = n;
    if (server->neighbours && server->setup.degree + 1 < n) {
        server->peers = server->setup.degree;
        memcpy(source.key, server->setup.seed, sizeof(source.key));
        secagg_graph_draw(&source, n, server->peers, server->order, server->neighbours);
    } else {
        server->neighbours = NULL;
        server->peers = n - 1;
    }
}

status_t secagg_server_close(struct secagg_server *server)
{
    const enum secagg_phase phase = server->phase;
    uint32_t count = 0;
    if (phase >= SERVER_DONE)
        return SECAGG_OUT_OF_ORDER;
    for (uint32_t i = 0; i < server->n; i++)
        count += (uint32_t)sent(server, i, phase);
    status_t status = count < server->setup.terms.threshold ? SECAGG_TOO_FEW : SECAGG_OK;
    if (phase == SERVER_INPUT) {
        server->survivors = count;
        status = count < server->setup.least_survivors ? SECAGG_TOO_FEW : status;
    }
    if (status == SECAGG_OK && phase == SERVER_KEYS)
        make_roster(server);
    if (status == SECAGG_OK && phase == SERVER_UNMASK)
        status = open_sum(server);
    if (status != SECAGG_OK)
        server->phase = SERVER_FAILED;
    else
        server->phase = phase == SERVER_INPUT && !is_malicious(server) ? SERVER_UNMASK : phase + 1;
    if (server->phase >= SERVER_DONE)
        wipe_sums(server);
    return status;
}
