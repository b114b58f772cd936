/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are tampered with, cut, repeated, reordered or made for somebody else: each is refused by
 * whoever takes it, and a client that has refused says nothing more.
 */
#include "secagg_case.h"

/* Client i as it was; for trying many messages on it. */
struct saved {
    struct secagg_client client;
    struct secagg_peer peers[CASE_MAX];
    uint64_t next_round;
};

static struct saved save(const struct secagg_case *c, uint32_t i)
{
    struct saved saved = {.client = c->clients[i], .next_round = c->next_rounds[i]};
    memcpy(saved.peers, c->peers[i], sizeof(saved.peers));
    return saved;
}

static void restore(struct secagg_case *c, uint32_t i, const struct saved *saved)
{
    c->clients[i] = saved->client;
    c->next_rounds[i] = saved->next_round;
    memcpy(c->peers[i], saved->peers, sizeof(saved->peers));
}

static int is_zero(const void *bytes, size_t n)
{
    return sodium_is_zero(bytes, n);
}

/* Refused, silently, for good, and with all secrets gone. */
static void client_refuses(struct secagg_case *c, uint32_t i, const uint8_t *message, size_t n)
{
    size_t up = 1;
    const struct secagg_client *client = &c->clients[i];
    assert_int_not_equal(case_take(c, i, message, n, &up), SECAGG_OK);
    assert_int_equal(up, 0);
    assert_int_equal(client->state, CLIENT_ENDED);
    assert_true(is_zero(client->self_secret, sizeof(client->self_secret)));
    assert_true(is_zero(client->mask_key, sizeof(client->mask_key)));
    assert_true(is_zero(client->share_key, sizeof(client->share_key)));
    assert_true(is_zero(client->channel, sizeof(client->channel)));
    assert_true(is_zero(client->policy.seed, sizeof(client->policy.seed)));
    for (uint32_t p = 0; p < client->n_peers; p++)
        assert_true(is_zero(client->peers[p].key_share, SECAGG_SHARE_BYTES));
}

/* Every bit of some bytes and one bit of every byte; every length; too long; then the right one works. */
static void client_refuses_all_changes(struct secagg_case *c, uint32_t i, const uint8_t *message, size_t n)
{
    const struct saved saved = save(c, i);
    uint8_t changed[CASE_ROOM];
    size_t up;
    assert_true(n + 1 <= sizeof(changed));
    for (size_t at = 0; at < n; at++) {
        memcpy(changed, message, n);
        changed[at] ^= (uint8_t)(1U << at % 8);
        client_refuses(c, i, changed, n);
        restore(c, i, &saved);
    }
    for (size_t length = 0; length < n; length += 1 + length / 64) {
        uint8_t *cut = malloc(length + 1); /* its end is guarded by the sanitizer */
        assert_non_null(cut);
        memcpy(cut, message, length);
        client_refuses(c, i, cut, length);
        restore(c, i, &saved);
        free(cut);
    }
    memcpy(changed, message, n);
    changed[n] = 0;
    client_refuses(c, i, changed, n + 1);
    restore(c, i, &saved);
    assert_int_equal(case_take(c, i, message, n, &up), SECAGG_OK);
}

static void server_refuses_all_changes(struct secagg_case *c, uint32_t id, const uint8_t *message, size_t n)
{
    uint8_t changed[CASE_ROOM];
    for (size_t at = 0; at < n; at++) {
        memcpy(changed, message, n);
        changed[at] ^= (uint8_t)(1U << at % 8);
        assert_int_not_equal(secagg_server_receive(&c->server, id, changed, n), SECAGG_OK);
    }
    for (size_t length = 0; length < n; length += 1 + length / 64)
        assert_int_not_equal(secagg_server_receive(&c->server, id, message, length), SECAGG_OK);
    assert_int_equal(secagg_server_receive(&c->server, id + 5, message, n), SECAGG_FOREIGN);
    assert_int_equal(secagg_server_receive(&c->server, id, message, n), SECAGG_OK);
    assert_int_equal(secagg_server_receive(&c->server, id, message, n), SECAGG_OUT_OF_ORDER);
}

/*
 * START has no authenticator: a change that leaves acceptable terms gives a client of another session,
 * whose answer the server refuses.
 */
static void changed_start(struct secagg_case *c, const uint8_t *message, size_t n)
{
    const struct saved saved = save(c, 1);
    uint8_t changed[CASE_ROOM];
    for (size_t bit = 0; bit < 8 * n; bit++) {
        size_t up;
        memcpy(changed, message, n);
        changed[bit / 8] ^= (uint8_t)(1U << bit % 8);
        if (case_take(c, 1, changed, n, &up) == SECAGG_OK)
            assert_int_not_equal(secagg_server_receive(&c->server, c->ids[1], c->up, up), SECAGG_OK);
        restore(c, 1, &saved);
    }
}

/* A whole round in which client 1's messages, in and out, are all tried in every wrong form first. */
static void changes(uint32_t flags)
{
    static struct secagg_case c;
    case_begin(&c, 5, 0, 1501, 3, flags);
    c.lost[4] = SERVER_INPUT;
    while (c.server.phase < SERVER_DONE) {
        for (uint32_t m = 0; m < c.server.n; m++) {
            size_t down, up;
            uint8_t message[CASE_ROOM], answer[CASE_ROOM];
            const uint32_t i = case_message(&c, m, &down);
            if (down == 0 || c.lost[i] <= c.server.phase)
                continue;
            memcpy(message, c.down, down);
            if (i == 1 && c.server.phase == SERVER_KEYS)
                changed_start(&c, message, down);
            if (i == 1 && c.server.phase != SERVER_KEYS) {
                const struct saved saved = save(&c, 1);
                client_refuses_all_changes(&c, 1, message, down);
                restore(&c, 1, &saved);
            }
            assert_int_equal(case_take(&c, i, message, down, &up), SECAGG_OK);
            memcpy(answer, c.up, up);
            c.summed[i] |= c.server.phase == SERVER_INPUT;
            if (i == 1)
                server_refuses_all_changes(&c, c.ids[i], answer, up);
            else
                assert_int_equal(secagg_server_receive(&c.server, c.ids[i], answer, up), SECAGG_OK);
        }
        assert_int_equal(secagg_server_close(&c.server), SECAGG_OK);
    }
    case_check_sum(&c); /* what was refused has changed nothing */
    case_end(&c);
}

TEST(changed_messages)
{
    changes(0);
    changes(SECAGG_MALICIOUS);
}

/* ---- order -------------------------------------------------------------------------------------- */

/* All messages of a round to and from client 1. */
struct record {
    uint8_t down[6][CASE_ROOM], up[6][CASE_ROOM];
    size_t n_down[6], n_up[6];
    struct saved before[6];
    int n;
};

static void record_round(struct secagg_case *c, struct record *record, uint32_t flags)
{
    case_begin(c, 5, 0, 1501, 3, flags);
    record->n = 0;
    while (c->server.phase < SERVER_DONE) {
        const int k = record->n++;
        size_t down;
        assert_int_equal(case_message(c, 1, &down), 1);
        memcpy(record->down[k], c->down, down);
        record->n_down[k] = down;
        record->before[k] = save(c, 1);
        assert_int_equal(case_take(c, 1, record->down[k], down, &record->n_up[k]), SECAGG_OK);
        memcpy(record->up[k], c->up, record->n_up[k]);
        restore(c, 1, &record->before[k]);
        assert_int_equal(case_phase(c), SECAGG_OK);
    }
}

/* In each state every message but the right one is refused: repeated, early, or from the other side. */
static void order(uint32_t flags)
{
    static struct secagg_case c;
    static struct record record;
    record_round(&c, &record, flags);
    for (int k = 0; k <= record.n; k++)
        for (int m = 0; m < record.n; m++) {
            const struct saved done = save(&c, 1);
            if (k < record.n)
                restore(&c, 1, &record.before[k]);
            size_t up;
            if (m == k) {
                assert_int_equal(case_take(&c, 1, record.down[m], record.n_down[m], &up), SECAGG_OK);
            } else {
                assert_int_not_equal(case_take(&c, 1, record.down[m], record.n_down[m], &up), SECAGG_OK);
                assert_int_equal(up, 0);
                /* and after that the right one, too */
                if (k < record.n)
                    assert_int_equal(case_take(&c, 1, record.down[k], record.n_down[k], &up),
                                     SECAGG_OUT_OF_ORDER);
            }
            if (k < record.n)
                restore(&c, 1, &record.before[k]);
            assert_int_not_equal(case_take(&c, 1, record.up[m], record.n_up[m], &up), SECAGG_OK);
            restore(&c, 1, &done);
        }
    for (int m = 0; m < record.n; m++)
        assert_int_not_equal(secagg_server_receive(&c.server, c.ids[1], record.up[m], record.n_up[m]),
                             SECAGG_OK);
    case_end(&c);

    /* The server, in each phase, with all messages that are not of it. */
    case_begin(&c, 5, 0, 1501, 3, flags);
    for (int k = 0; k < record.n; k++) {
        for (int m = 0; m < record.n; m++) {
            if (m != k)
                assert_int_equal(secagg_server_receive(&c.server, c.ids[1], record.up[m], record.n_up[m]),
                                 SECAGG_OUT_OF_ORDER);
            assert_int_not_equal(secagg_server_receive(&c.server, c.ids[1], record.down[m], record.n_down[m]),
                                 SECAGG_OK);
        }
        assert_int_equal(case_phase(&c), SECAGG_OK);
    }
    case_check_sum(&c);
    case_end(&c);
}

TEST(repeated_and_reordered)
{
    order(0);
    order(SECAGG_MALICIOUS);
}

/* A client that missed a phase cannot come back in a later one. */
TEST(late_comers)
{
    static struct secagg_case c;
    size_t down, up;
    case_begin(&c, 5, 0, 1501, 3, 0);
    c.lost[2] = SERVER_SHARES;
    assert_int_equal(case_until(&c, SERVER_SHARES), SECAGG_OK);
    case_message(&c, 2, &down);
    assert_int_equal(case_take(&c, 2, c.down, down, &up), SECAGG_OK);
    uint8_t shares[CASE_ROOM];
    memcpy(shares, c.up, up);
    assert_int_equal(case_phase(&c), SECAGG_OK);
    assert_int_equal(secagg_server_receive(&c.server, c.ids[2], shares, up), SECAGG_OUT_OF_ORDER);
    assert_int_equal(secagg_server_send(&c.server, 2, c.down, sizeof(c.down), &down), SECAGG_FOREIGN);
    assert_int_equal(case_until(&c, SERVER_DONE), SECAGG_OK);
    case_check_sum(&c);
    case_end(&c);
}

/* ---- a server that deviates --------------------------------------------------------------------- */

/* Makes a message as a server would that holds client i's channel. */
static size_t forge(struct secagg_case *c, uint32_t i, enum secagg_kind kind, const uint8_t *body, size_t n,
                    uint8_t *out)
{
    struct secagg_writer writer;
    size_t size = 0;
    secagg_write_begin(&writer, out, CASE_ROOM);
    secagg_write(&writer, body, n);
    assert_int_equal(
        secagg_write_end(&writer, kind, SECAGG_SERVER, c->setup.terms.session, c->clients[i].channel, &size),
        SECAGG_OK);
    return size;
}

static size_t forge_survivors(struct secagg_case *c, uint32_t i, uint8_t bitmap, uint8_t *out)
{
    const uint8_t body[5] = {5, 0, 0, 0, bitmap};
    return forge(c, i, SECAGG_SURVIVORS, body, sizeof(body), out);
}

/*
 * Lists of survivors that a client must not answer; 0 of 5 sent no shares. And for every list that it
 * does answer: one share for each member, of the kind that the list asks for, and nothing on a second
 * request, whatever it asks for.
 */
TEST(survivor_lists)
{
    static struct secagg_case c;
    uint8_t message[CASE_ROOM];
    case_begin(&c, 5, 0, 1501, 3, 0);
    c.lost[0] = SERVER_SHARES;
    assert_int_equal(case_until(&c, SERVER_UNMASK), SECAGG_OK);
    const struct saved saved = save(&c, 2);
    int answered = 0;
    for (unsigned bitmap = 0; bitmap < 256; bitmap++) {
        const int members = __builtin_popcount(bitmap);
        const int acceptable = bitmap < 32 && (bitmap >> 2 & 1) && !(bitmap & 1) && members >= 3;
        restore(&c, 2, &saved);
        size_t up, n = forge_survivors(&c, 2, (uint8_t)bitmap, message);
        if (!acceptable) {
            client_refuses(&c, 2, message, n);
            continue;
        }
        answered++;
        assert_int_equal(case_take(&c, 2, message, n, &up), SECAGG_OK);
        assert_int_equal(up, SECAGG_HEADER_BYTES + 4 + 4 * SECAGG_SHARE_BYTES + SECAGG_TAG_BYTES);
        const uint8_t *share = c.up + SECAGG_HEADER_BYTES + 4;
        for (int member = 1; member < 5; member++, share += SECAGG_SHARE_BYTES) {
            const struct secagg_peer *peer = &saved.peers[member - (member > 2)];
            assert_memory_equal(share,
                                member == 2            ? saved.client.self_share
                                : bitmap >> member & 1 ? peer->self_share
                                                       : peer->key_share,
                                SECAGG_SHARE_BYTES);
        }
        for (unsigned second = 0; second < 32; second++) {
            n = forge_survivors(&c, 2, (uint8_t)second, message);
            assert_int_equal(case_take(&c, 2, message, n, &up), SECAGG_OUT_OF_ORDER);
            assert_int_equal(up, 0);
        }
    }
    assert_int_equal(answered, 4); /* three of 1, 3, 4, or two: {1,3}, {1,4}, {3,4} */
    case_end(&c);
}

/* Two lists, told to two halves: with signatures neither half answers. */
TEST(two_stories)
{
    static struct secagg_case c;
    uint8_t message[CASE_ROOM], signatures[5][64];
    size_t up;
    case_begin(&c, 5, 0, 1501, 3, SECAGG_MALICIOUS);
    assert_int_equal(case_until(&c, SERVER_CONSENT), SECAGG_OK);
    for (uint32_t i = 0; i < 5; i++) {
        /* 0 and 1 hear that 4 is lost, the others that all are there. */
        const size_t n = forge_survivors(&c, i, i < 2 ? 0x0f : 0x1f, message);
        assert_int_equal(case_take(&c, i, message, n, &up), SECAGG_OK);
        memcpy(signatures[i], c.up + SECAGG_HEADER_BYTES, 64);
    }
    for (uint32_t i = 0; i < 2; i++) { /* a third signature is needed, of another list or forged */
        uint8_t body[4 + 2 * 68] = {2};
        const uint32_t other = 1 - i;
        const struct saved saved = save(&c, i);
        secagg_put32(body + 4, c.ids[other]);
        memcpy(body + 8, signatures[other], 64);
        secagg_put32(body + 72, c.ids[2]);
        memcpy(body + 76, signatures[2], 64);
        client_refuses(&c, i, message, forge(&c, i, SECAGG_SIGNATURES, body, sizeof(body), message));
        restore(&c, i, &saved);
        memcpy(body + 76, signatures[other], 64);
        client_refuses(&c, i, message, forge(&c, i, SECAGG_SIGNATURES, body, sizeof(body), message));
        restore(&c, i, &saved);
        body[0] = 1; /* two are under the threshold */
        client_refuses(&c, i, message, forge(&c, i, SECAGG_SIGNATURES, body, 4 + 68, message));
    }
    /* 2, 3 and 4 are three: their list is the one that counts. */
    uint8_t body[4 + 2 * 68] = {2};
    secagg_put32(body + 4, c.ids[3]);
    memcpy(body + 8, signatures[3], 64);
    secagg_put32(body + 72, c.ids[4]);
    memcpy(body + 76, signatures[4], 64);
    const size_t n = forge(&c, 2, SECAGG_SIGNATURES, body, sizeof(body), message);
    assert_int_equal(case_take(&c, 2, message, n, &up), SECAGG_OK);
    case_end(&c);
}

/* Keys that their owner did not sign. */
TEST(unsigned_keys)
{
    static struct secagg_case c;
    size_t down, up;
    case_begin(&c, 5, 0, 1501, 3, SECAGG_MALICIOUS);
    assert_int_equal(case_until(&c, SERVER_SHARES), SECAGG_OK);
    for (size_t byte = 0; byte < 128; byte += 9) {
        const struct saved saved = save(&c, 0);
        c.server.members[3].keys[byte] ^= 1;
        case_message(&c, 0, &down);
        assert_int_equal(case_take(&c, 0, c.down, down, &up), SECAGG_FORGED);
        c.server.members[3].keys[byte] ^= 1;
        restore(&c, 0, &saved);
    }
    case_end(&c);
}

/* Each honest client consents to one list, a corrupt one to as many as the server likes: 2 t > n + corrupt.
 */
TEST(corrupt_consents)
{
    static struct secagg_case c;
    size_t down, up;
    for (uint32_t corrupt = 0; corrupt < 5; corrupt++) {
        case_begin(&c, 5, 0, 1501, 4, SECAGG_MALICIOUS);
        for (uint32_t i = 0; i < 5; i++)
            c.clients[i].policy.most_corrupt = corrupt;
        assert_int_equal(case_until(&c, SERVER_SHARES), SECAGG_OK);
        case_message(&c, 1, &down);
        assert_int_equal(case_take(&c, 1, c.down, down, &up), corrupt < 3 ? SECAGG_OK : SECAGG_BAD_TERMS);
        c.setup.most_corrupt = corrupt;
        assert_int_equal(secagg_server_begin(&c.server, &c.setup, c.block),
                         corrupt < 3 ? SECAGG_OK : SECAGG_BAD_TERMS);
        case_end(&c);
    }
}

/* ---- parties that lie ---- */

enum lie {
    LIE_NONE,
    LIE_SELF_SHARE,
    LIE_OWN_SHARE,
    LIE_KEY_SHARE,
    LIE_COMMITMENT,
    LIE_OTHER_SECRET,
    LIE_COUNT
};

/* What a party changes before it answers in the phase of unmasking; or, of what it commits to, before it shares. */
static void lie(struct secagg_case *c, enum lie which, uint32_t i)
{
    for (uint32_t k = 0; k < c->clients[i].n_peers; k++) {
        if (which == LIE_SELF_SHARE)
            c->peers[i][k].self_share[0] ^= 1;
        if (which == LIE_KEY_SHARE)
            c->peers[i][k].key_share[0] ^= 1;
    }
    if (which == LIE_OWN_SHARE)
        c->clients[i].self_share[0] ^= 1;
    if (which == LIE_COMMITMENT)
        c->server.members[i].commitment[5] ^= 1;
    if (which == LIE_OTHER_SECRET)
        c->server.members[2].keys[3] ^= 1; /* the lost party shared the secret of another key */
}

/* False shares of either secret end the round as a party's fault, nothing of the sum is left, and honest parties open it. */
TEST(lies_of_parties)
{
    static struct secagg_case c;
    static const uint64_t zeros[CASE_DIMENSION];
    for (int which = 0; which < LIE_COUNT; which++)
        for (uint32_t degree = 0; degree <= 4; degree += 4)
            for (int liar = 0; liar < 2; liar++) {
                case_begin(&c, 6, degree, 1501, degree ? 3 : 4, 0);
                c.lost[2] = SERVER_INPUT;
                assert_int_equal(case_until(&c, SERVER_UNMASK), SECAGG_OK);
                lie(&c, (enum lie)which, (uint32_t)liar);
                const enum secagg_status status = case_phase(&c);
                if (status == SECAGG_OK) { /* in a graph, a share that nobody needs does no harm */
                    assert_true(which == LIE_NONE || degree > 0);
                    case_check_sum(&c);
                } else {
                    assert_int_equal(status, SECAGG_LIED);
                    assert_int_not_equal(which, LIE_NONE);
                    assert_int_equal(c.server.phase, SERVER_FAILED);
                    assert_memory_equal(c.server.sums, zeros, sizeof(zeros));
                }
                case_end(&c);
            }
}

/* ---- terms -------------------------------------------------------------------------------------- */

static enum secagg_status start_with(struct secagg_case *c, uint32_t i, const struct secagg_terms *terms)
{
    size_t down, up;
    const struct saved saved = save(c, i);
    assert_int_equal(secagg_write_start(terms, c->down, sizeof(c->down), &down), SECAGG_OK);
    const enum secagg_status status = case_take(c, i, c->down, down, &up);
    if (status != SECAGG_OK)
        restore(c, i, &saved);
    return status;
}

TEST(unacceptable_terms)
{
    static struct secagg_case c;
    case_begin(&c, 5, 0, 1501, 3, SECAGG_MALICIOUS);
    const struct secagg_terms good = c.server.setup.terms;
    struct secagg_terms terms = good;
    terms.threshold = 2; /* under the client's own limit */
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.modulus = 1502;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.dimension++;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.flags = 0; /* a client that insists on signatures */
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.context[31] ^= 1; /* another model */
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.server_public[0] ^= 1; /* another server */
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_BAD_TERMS);
    terms = good, terms.threshold = 1;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_MALFORMED);
    assert_int_equal(start_with(&c, 0, &good), SECAGG_OK);
    case_end(&c);
}

/* A round that the client has seen, or an earlier one, even under a new session. */
TEST(reused_session)
{
    static struct secagg_case c;
    case_begin(&c, 5, 0, 1501, 3, 0);
    struct secagg_terms terms = c.server.setup.terms;
    assert_int_equal(case_until(&c, SERVER_DONE), SECAGG_OK);
    case_client(&c, 0);
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_REUSED);
    terms.session[0] ^= 1;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_REUSED);
    terms.round--;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_REUSED);
    terms.round += 2;
    assert_int_equal(start_with(&c, 0, &terms), SECAGG_OK);
    case_end(&c);
}

/* Another session has other masks, though everything else is the same. */
TEST(sessions_are_bound)
{
    static struct secagg_case a, b;
    size_t down, up, again;
    case_begin(&a, 5, 0, 0, 3, 0);
    case_begin(&b, 5, 0, 0, 3, 0);
    b.server.setup.terms.session[15] ^= 1;
    b.setup.terms = b.server.setup.terms;
    secagg_bind(&b.setup.terms, b.server.binding);
    assert_int_equal(case_until(&a, SERVER_INPUT), SECAGG_OK);
    assert_int_equal(case_until(&b, SERVER_INPUT), SECAGG_OK);
    case_message(&a, 1, &down);
    assert_int_equal(case_take(&a, 1, a.down, down, &up), SECAGG_OK);
    case_message(&b, 1, &down);
    assert_int_equal(case_take(&b, 1, b.down, down, &again), SECAGG_OK);
    assert_int_equal(up, again);
    for (size_t at = SECAGG_HEADER_BYTES + 8; at + 8 <= up - SECAGG_TAG_BYTES; at += 8)
        assert_true(secagg_get64(a.up + at) != secagg_get64(b.up + at));
    case_end(&a);
    case_end(&b);
}

FIXTURE(case_start, NULL)
