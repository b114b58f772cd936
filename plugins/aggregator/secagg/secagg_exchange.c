/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_exchange.c - a round whose parties are processes of their own: the host carries the messages of the
 * client's and the server's machines.
 *
 * A party trusts nobody for what it can check: shape and modulus are its own plan's, the digest of what was
 * agreed is part of START and of every key, the threshold has to be one that its own configuration would
 * choose for the members that it is shown, and a list of survivors that is too short for the noise gets no
 * share.
 */
#include <sodium.h>
#include <string.h>

#include "secagg_client.h"
#include "secagg_component.h"
#include "secagg_server.h"

struct party_end {
    struct secagg_client client;
    uint64_t next_round;
    uint64_t capacity;
};

struct server_end {
    struct secagg_server server;
    enum secagg_status status;
};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static uint64_t numbers_of(const dpf_exchange *exchange)
{
    return (uint64_t)exchange->rows * (uint64_t)exchange->width;
}

static int is_served(const dpf_exchange *x)
{
    return x->modulus != 1 && x->modulus <= UINT64_C(1) << 63 && x->rows > 0 && x->width > 0 &&
           x->rows <= (int64_t)SECAGG_MAX_DIMENSION / x->width && x->n_parties >= 2 &&
           x->n_parties <= (int64_t)SECAGG_MAX_MEMBERS;
}

/* The terms of a round but for its session and the server's key; threshold of the graph for n parties. */
static void fill_terms(const struct secagg *secagg, const dpf_exchange *exchange,
                       const struct secagg_graph *graph, struct secagg_terms *terms)
{
    memset(terms, 0, sizeof(*terms));
    memcpy(terms->context, exchange->agreed, sizeof(terms->context));
    terms->round = exchange->round;
    terms->modulus = exchange->modulus;
    terms->dimension = (uint32_t)numbers_of(exchange);
    terms->threshold = graph->threshold;
    terms->flags = secagg->malicious ? SECAGG_MALICIOUS : 0;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static uint64_t sums_bytes(const dpf_exchange *x)
{
    struct secagg_group group;
    secagg_group_init(&group, x->modulus);
    return secagg_sums_bytes(&group, numbers_of(x));
}

/* Of a party: the machine, its peers, coefficients of a polynomial, the vector, and its masked form. */
static uint64_t party_bytes(const dpf_exchange *x)
{
    const uint64_t n = (uint64_t)x->n_parties;
    return rounded(sizeof(struct party_end)) + rounded(n * sizeof(struct secagg_peer)) +
           rounded(n * sizeof(secagg_secret)) + rounded(numbers_of(x) * sizeof(uint64_t)) +
           rounded(sums_bytes(x));
}

static struct secagg_peer *peers_of(struct party_end *end)
{
    return (struct secagg_peer *)(void *)((uint8_t *)end + rounded(sizeof(*end)));
}

static struct secagg_work work_of(struct party_end *end, const dpf_exchange *x)
{
    uint8_t *at = (uint8_t *)peers_of(end) + rounded(end->capacity * sizeof(struct secagg_peer));
    uint8_t *vector = at + rounded(end->capacity * sizeof(secagg_secret));
    return (struct secagg_work){.coefficients = (secagg_secret *)(void *)at,
                                .n_coefficients = (uint32_t)end->capacity,
                                .vector = (uint64_t *)(void *)vector,
                                .sums = vector + rounded(numbers_of(x) * sizeof(uint64_t))};
}

/* The key of a party, by its number. */
static const uint8_t *identity_of(const void *context, uint32_t id)
{
    const dpf_exchange *exchange = context;
    return (int64_t)id < exchange->n_identities ? exchange->identities + 32 * (size_t)id : NULL;
}

static int set_up(const struct secagg *secagg, const dpf_exchange *x, struct secagg_setup *setup)
{
    struct secagg_graph graph;
    int32_t param;
    if (!is_served(x) || secagg_choose_graph(secagg, (uint32_t)x->n_parties, &graph, &param))
        return -1;
    *setup = (struct secagg_setup){
        .ids = x->parties,
        .n = (uint32_t)x->n_parties,
        .degree = graph.degree,
        .least_survivors = (uint32_t)secagg_least_survivors(secagg, x->least_survivors),
        .most_corrupt = (uint32_t)(secagg->corrupt * (double)x->n_parties),
        .identity = identity_of,
        .identities = x,
    };
    fill_terms(secagg, x, &graph, &setup->terms);
    return 0;
}

uint64_t secagg_exchange_bytes(void *self, const dpf_exchange *empty)
{
    struct secagg_setup setup;
    if (!is_served(empty))
        return sizeof(struct server_end); /* exchange_open refuses it */
    if (empty->end == DPF_END_PARTY)
        return party_bytes(empty);
    if (set_up(self, empty, &setup) != 0)
        return sizeof(struct server_end);
    const uint64_t bytes = secagg_server_bytes(&setup);
    return bytes ? rounded(sizeof(struct server_end)) + bytes : UINT64_MAX / 2;
}

uint64_t secagg_exchange_room(void *self, const dpf_exchange *exchange)
{
    struct secagg_group group;
    const struct secagg_terms terms = {.dimension = (uint32_t)numbers_of(exchange),
                                       .flags =
                                           ((const struct secagg *)self)->malicious ? SECAGG_MALICIOUS : 0};
    secagg_group_init(&group, exchange->modulus);
    return secagg_longest(&terms, group.bits, (uint32_t)exchange->n_parties - 1);
}

/* ---- opening ------------------------------------------------------------------------------------ */

static dpf_status open_party(const struct secagg *secagg, const dpf_call *call, dpf_exchange *exchange)
{
    struct party_end *end = exchange->state;
    const int sees_all = secagg->graph == GRAPH_COMPLETE;
    const int64_t survivors = secagg_least_survivors(secagg, exchange->least_survivors);
    uint64_t words[4];
    end->capacity = (uint64_t)exchange->n_parties;
    end->next_round = exchange->next_round;
    struct secagg_policy policy = {
        .id = call->party,
        .modulus = exchange->modulus,
        .dimension = (uint32_t)numbers_of(exchange),
        .least_threshold = secagg->given.threshold > 2 ? secagg->given.threshold : 2,
        .least_survivors = sees_all ? (uint32_t)survivors : 0,
        .most_corrupt = (uint32_t)(secagg->corrupt * (double)exchange->n_parties),
        .malicious = (int)secagg->malicious,
        .signing_key = exchange->signing_key,
        .identity = identity_of,
        .identities = exchange,
        .next_round = &end->next_round,
    };
    memcpy(policy.context, exchange->agreed, sizeof(policy.context));
    memcpy(policy.server_public, exchange->server_key, sizeof(policy.server_public));
    secagg_read_words(secagg, secagg->secrets, call->draw, call->party, words, 4);
    memcpy(policy.seed, words, sizeof(policy.seed));
    secagg_client_begin(&end->client, &policy, peers_of(end), (uint32_t)end->capacity);
    sodium_memzero(words, sizeof(words));
    sodium_memzero(&policy, sizeof(policy));
    return DPF_OK;
}

static dpf_status open_server(const struct secagg *secagg, const dpf_call *call, dpf_exchange *exchange)
{
    struct server_end *end = exchange->state;
    struct secagg_graph graph;
    struct secagg_setup setup;
    uint64_t words[10];
    int32_t param;
    const char *refusal = secagg_choose_graph(secagg, (uint32_t)exchange->n_parties, &graph, &param);
    if (refusal)
        return secagg_failed(call, DPF_E_PRIVACY, param, refusal);
    if (set_up(secagg, exchange, &setup) != 0)
        return secagg_failed(call, DPF_E_INTERNAL, -1, "the round has no terms");
    secagg_read_words(secagg, secagg->secrets, call->draw, DPF_PARTY_AGGREGATE, words, 10);
    memcpy(setup.terms.session, words, sizeof(setup.terms.session));
    memcpy(setup.seed, words + 2, sizeof(setup.seed));
    memcpy(setup.secret_key, words + 6, sizeof(setup.secret_key));
    end->status = secagg_server_begin(&end->server, &setup, (uint8_t *)end + rounded(sizeof(*end)));
    sodium_memzero(words, sizeof(words));
    sodium_memzero(&setup, sizeof(setup));
    memcpy(exchange->server_key, end->server.setup.terms.server_public, sizeof(exchange->server_key));
    return end->status == SECAGG_OK
               ? DPF_OK
               : secagg_failed(call, DPF_E_INTERNAL, -1, secagg_status_text(end->status));
}

dpf_status secagg_exchange_open(void *self, const dpf_call *call, dpf_exchange *exchange)
{
    const struct secagg *secagg = self;
    if (secagg->malicious &&
        (!exchange->identities || (exchange->end == DPF_END_PARTY && !exchange->signing_key)))
        return secagg_failed(call, DPF_E_UNSUPPORTED, P_MALICIOUS,
                             "malicious = yes needs the Ed25519 keys of all parties, known beforehand "
                             "([federation] parties), and at a party its own signing-key");
    if (!is_served(exchange))
        return secagg_failed(
            call, DPF_E_PRIVACY, -1,
            "a round has 2 to 2^20 parties, at most 2^28 numbers, and sums modulo 2 to 2^63 or "
            "without a modulus");
    return exchange->end == DPF_END_PARTY ? open_party(secagg, call, exchange)
                                          : open_server(secagg, call, exchange);
}

/* ---- the party ---------------------------------------------------------------------------------- */

/* What the configuration chooses where the threshold is left to it: two thirds. The server chose for those it
 * had invited, who are at least the members. */
static int threshold_is_own(const struct secagg *secagg, const struct secagg_client *client)
{
    const uint32_t members = client->n_peers + 1;
    return secagg->graph != GRAPH_COMPLETE || secagg->given.threshold > 0 ||
           client->terms.threshold >= members - members / 3;
}

dpf_status secagg_party_answer(void *self, const dpf_call *call, dpf_exchange *exchange,
                               const dpf_encoded *own, const uint8_t *message, uint64_t n_message,
                               uint8_t *reply, uint64_t *n_reply, int32_t *outcome)
{
    struct party_end *end = exchange->state;
    struct secagg_client *client = &end->client;
    struct secagg_work work = work_of(end, exchange);
    size_t size = 0;
    *n_reply = 0;
    if (client->state == CLIENT_AWAITS_DELIVERY) {
        memset(work.vector, 0, numbers_of(exchange) * sizeof(*work.vector));
        struct secagg_group group;
        secagg_group_init(&group, exchange->modulus);
        if (secagg_residues(&group, exchange->modulus, exchange->n_parties, own, exchange->width,
                            work.vector) != 0)
            return secagg_failed(call, DPF_E_RANGE, -1, SECAGG_TOO_LARGE);
    }
    enum secagg_status status = secagg_client_receive(client, &work, message, n_message, reply,
                                                      secagg_exchange_room(self, exchange), &size);
    if (status == SECAGG_OK && client->state == CLIENT_AWAITS_DELIVERY && !threshold_is_own(self, client)) {
        status = SECAGG_BAD_TERMS;
        secagg_client_end(client);
        sodium_memzero(reply, size);
    }
    sodium_memzero(work.vector, numbers_of(exchange) * sizeof(*work.vector));
    exchange->next_round = end->next_round;
    *n_reply = status == SECAGG_OK ? size : 0;
    *outcome = status != SECAGG_OK            ? DPF_EXCHANGE_REFUSED
               : client->state == CLIENT_DONE ? DPF_EXCHANGE_OVER
                                              : DPF_EXCHANGE_GOES_ON;
    if (status != SECAGG_OK)
        ((const struct secagg *)self)->log->message(call->host, DPF_LOG_WARNING, secagg_status_text(status));
    return DPF_OK;
}

/* ---- the server --------------------------------------------------------------------------------- */

dpf_status secagg_server_phase_send(void *self, const dpf_call *call, const dpf_exchange *exchange, int64_t i,
                                    uint8_t *message, uint64_t *n_message)
{
    const struct server_end *end = exchange->state;
    const struct secagg_server *server = &end->server;
    size_t size = 0;
    *n_message = 0;
    /* From the roster on, members are those who sent keys: i counts those who were invited. */
    uint32_t m = 0;
    while (m < server->n && server->members[m].id < exchange->parties[i])
        m++;
    if (m == server->n || server->members[m].id != exchange->parties[i])
        return DPF_OK;
    const enum secagg_status status =
        secagg_server_send(server, m, message, secagg_exchange_room(self, exchange), &size);
    if (status == SECAGG_FOREIGN)
        return DPF_OK;
    *n_message = size;
    return status == SECAGG_OK ? DPF_OK : secagg_failed(call, DPF_E_INTERNAL, -1, secagg_status_text(status));
}

dpf_status secagg_server_phase_take(void *self, const dpf_call *call, dpf_exchange *exchange, uint32_t party,
                                    const uint8_t *message, uint64_t n_message, int32_t *outcome)
{
    struct server_end *end = exchange->state;
    (void)self;
    (void)call;
    const enum secagg_status status = secagg_server_receive(&end->server, party, message, n_message);
    *outcome = status == SECAGG_OK ? DPF_EXCHANGE_GOES_ON : DPF_EXCHANGE_REFUSED;
    return DPF_OK;
}

/* Members are those of the parties that sent keys, in their order. */
static void tell_survivors(const struct secagg_server *server, const dpf_exchange *exchange)
{
    uint32_t m = 0;
    for (int64_t i = 0; i < exchange->n_parties; i++) {
        while (m < server->n && server->members[m].id < exchange->parties[i])
            m++;
        exchange->in_sum[i] = m < server->n && server->members[m].id == exchange->parties[i] &&
                              server->members[m].reached > SERVER_INPUT;
    }
}

dpf_status secagg_server_phase_close(void *self, const dpf_call *call, dpf_exchange *exchange,
                                     dpf_aggregation *into, int32_t *outcome)
{
    struct server_end *end = exchange->state;
    (void)self;
    struct secagg_server *server = &end->server;
    end->status = secagg_server_close(server);
    if (end->status == SECAGG_TOO_FEW)
        return secagg_failed(
            call, DPF_E_PRIVACY, P_THRESHOLD,
            "too few parties are left for the threshold, or for what the noise needs; the sum "
            "stays closed");
    if (end->status != SECAGG_OK)
        return secagg_failed(call, end->status == SECAGG_LIED ? DPF_E_PRIVACY : DPF_E_INTERNAL, -1,
                             secagg_status_text(end->status));
    *outcome = server->phase == SERVER_DONE ? DPF_EXCHANGE_OVER : DPF_EXCHANGE_GOES_ON;
    if (*outcome != DPF_EXCHANGE_OVER)
        return DPF_OK;
    for (uint64_t i = 0; i < numbers_of(exchange); i++)
        into->sums[i] = (int64_t)server->sums[i];
    into->survivors = server->survivors;
    tell_survivors(server, exchange);
    sodium_memzero(server->setup.secret_key, sizeof(server->setup.secret_key));
    return DPF_OK;
}
