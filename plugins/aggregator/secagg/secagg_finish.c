/* SPDX-License-Identifier: Apache-2.0 */
/* secagg_finish.c - the end of an aggregation: a round of the protocol over the messages that were kept. */
#include <sodium.h>
#include <string.h>

#include "secagg_component.h"
#include "secagg_simulate.h"

struct signer {
    uint8_t public_key[32];
    uint8_t secret_key[64];
};

struct play {
    const struct secagg *secagg;
    const dpf_call *call;
    const dpf_aggregation *into;
    struct secagg_round round;
    struct signer *signers; /* malicious server */
    uint8_t *lost;
};

void secagg_read_words(const struct secagg *secagg, const dpf_stream *stream, uint32_t draw, uint32_t party,
                       uint64_t *words, int64_t n)
{
    dpf_cursor cursor;
    secagg->random->seek(stream, draw, party, 0, &cursor);
    secagg->random->bits(&cursor, words, n);
    sodium_memzero(&cursor, sizeof(cursor));
}

static void play_seed(void *context, uint32_t client, uint8_t seed[32])
{
    const struct play *play = context;
    uint64_t words[4];
    secagg_read_words(play->secagg, play->secagg->secrets, play->call->draw, play->round.setup.ids[client],
                      words, 4);
    memcpy(seed, words, sizeof(words));
    sodium_memzero(words, sizeof(words));
}

static void play_input(void *context, uint32_t client, uint64_t *vector)
{
    const struct play *play = context;
    struct secagg_group group;
    secagg_group_init(&group, play->into->modulus);
    secagg_unpack(kept_message(play->into, &group, client), play->round.setup.terms.dimension, group.bits,
                  vector);
}

static const uint8_t *play_signing_key(void *context, uint32_t client)
{
    const struct play *play = context;
    return play->signers[client].secret_key;
}

static const uint8_t *play_identity(const void *context, uint32_t id)
{
    const struct play *play = context;
    uint32_t low = 0, high = play->round.setup.n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (play->round.setup.ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < play->round.setup.n && play->round.setup.ids[low] == id ? play->signers[low].public_key
                                                                         : NULL;
}

static int play_cancelled(void *context)
{
    const struct play *play = context;
    return play->call->cancelled(play->call);
}

static void play_run(void *context, int64_t n, secagg_task task, void *task_context)
{
    const struct play *play = context;
    dpf_run_tasks(play->call, n, task, task_context);
}

/* A party's identity is the same in every round. */
static void make_signers(struct play *play)
{
    for (uint32_t i = 0; i < play->round.setup.n; i++) {
        uint64_t seed[4];
        secagg_read_words(play->secagg, play->secagg->identities, 0, play->round.setup.ids[i], seed, 4);
        crypto_sign_seed_keypair(play->signers[i].public_key, play->signers[i].secret_key,
                                 (const uint8_t *)seed);
        sodium_memzero(seed, sizeof(seed));
    }
}

/* Which parties get lost, and when: the first phase whose coin says so. */
static void draw_losses(struct play *play)
{
    static const enum secagg_phase phases[4] = {SERVER_KEYS, SERVER_SHARES, SERVER_INPUT, SERVER_CONSENT};
    const struct secagg *secagg = play->secagg;
    for (uint32_t i = 0; i < play->round.setup.n; i++) {
        dpf_cursor cursor;
        double coins[4];
        secagg->random->seek(secagg->losses, play->call->draw, play->round.setup.ids[i], 0, &cursor);
        secagg->random->uniform(&cursor, coins, 4);
        play->lost[i] = SERVER_DONE;
        for (int phase = 3; phase >= 0; phase--)
            if (coins[phase] < secagg->loss[phase])
                play->lost[i] = (uint8_t)phases[phase];
    }
}

const char *secagg_choose_graph(const struct secagg *secagg, uint32_t n, struct secagg_graph *graph,
                                int32_t *param)
{
    *param = P_THRESHOLD;
    *graph = secagg->given;
    if (secagg->graph == GRAPH_REGULAR && graph->degree > 0 && graph->degree + 1 < n)
        return NULL;
    if (secagg->graph == GRAPH_REGULAR && graph->degree == 0 &&
        secagg_graph_choose(n, secagg->corrupt, secagg->lost, 0, graph) == 0)
        return NULL;
    graph->degree = 0; /* too few parties for less than all pairs */
    if (graph->threshold == 0)
        graph->threshold = n - n / 3;
    if (graph->threshold > n)
        return "fewer parties take part than the threshold requires; lower threshold, or raise the rate of "
               "the "
               "sampler";
    const double enough = secagg->malicious ? (n + secagg->corrupt * n) / 2 : secagg->corrupt * n;
    if (graph->threshold <= enough)
        return "corrupt parties reach the threshold (malicious: tell two stories); raise threshold, or "
               "assume "
               "fewer corrupt parties";
    return NULL;
}

static void fill_terms(struct play *play)
{
    const dpf_aggregation *into = play->into;
    struct secagg_terms *terms = &play->round.setup.terms;
    uint64_t words[10];
    secagg_read_words(play->secagg, play->secagg->secrets, play->call->draw, DPF_PARTY_AGGREGATE, words, 10);
    memcpy(terms->session, words, sizeof(terms->session));
    memcpy(play->round.setup.seed, words + 2, sizeof(play->round.setup.seed));
    memcpy(play->round.setup.secret_key, words + 6, sizeof(play->round.setup.secret_key));
    sodium_memzero(words, sizeof(words));
    const uint64_t shape[3] = {play->call->draw, (uint64_t)into->rows, (uint64_t)into->width};
    crypto_generichash(terms->context, sizeof(terms->context), (const uint8_t *)shape, sizeof(shape), NULL,
                       0);
    terms->round = play->call->draw;
    terms->modulus = into->modulus;
    terms->dimension = (uint32_t)(into->rows * into->width);
    terms->flags = play->secagg->malicious ? SECAGG_MALICIOUS : 0;
}

static dpf_status report_failure(const struct play *play, enum secagg_status status, enum secagg_phase phase)
{
    static const char *const phases[] = {
        "keys",      "shares",           "inputs",          "consent to the survivors",
        "unmasking", "end of the round", "end of the round"};
    char text[400] = "secure aggregation failed at the ";
    if (play->call->cancelled(play->call))
        return secagg_failed(play->call, DPF_E_CANCELLED, -1, "secure aggregation was stopped");
    strcat(text, phases[phase]);
    strcat(text, ": ");
    strcat(text, secagg_status_text(status));
    strcat(text, "; no sum is opened");
    if (status == SECAGG_TOO_FEW)
        strcat(text, ". Lower threshold or survivors within what privacy allows, or lose fewer parties");
    return secagg_failed(play->call,
                         status == SECAGG_TOO_FEW || status == SECAGG_LIED ? DPF_E_PRIVACY : DPF_E_INTERNAL,
                         status == SECAGG_TOO_FEW ? P_THRESHOLD : -1, text);
}

/* Bytes of a party's messages, by kind: kinds alternate from START, sent by the server, on. */
static void count_bytes(const struct play *play, dpf_aggregation *into)
{
    static const char *const names[SECAGG_N_KINDS] = {
        [SECAGG_START] = "bytes-start",           [SECAGG_KEYS] = "bytes-keys",
        [SECAGG_ROSTER] = "bytes-roster",         [SECAGG_SHARES] = "bytes-shares",
        [SECAGG_DELIVERY] = "bytes-delivery",     [SECAGG_INPUT] = "bytes-input",
        [SECAGG_SURVIVORS] = "bytes-survivors",   [SECAGG_CONSENT] = "bytes-consent",
        [SECAGG_SIGNATURES] = "bytes-signatures", [SECAGG_UNMASK] = "bytes-unmask",
    };
    const struct secagg *secagg = play->secagg;
    for (int kind = SECAGG_START; kind < SECAGG_N_KINDS; kind++) {
        const uint64_t bytes = play->round.bytes[kind];
        *(kind % 2 ? &into->bytes_down : &into->bytes_up) += bytes;
        secagg->log->metric(secagg->host, names[kind], (double)bytes / play->round.setup.n);
    }
    secagg->log->metric(secagg->host, "parties", play->round.setup.n);
    secagg->log->metric(secagg->host, "survivors", play->round.survivors);
}

static dpf_status play_round(struct play *play, void *block, dpf_aggregation *into)
{
    enum secagg_phase phase;
    const enum secagg_status status = secagg_round_run(&play->round, block, &phase);
    if (status != SECAGG_OK)
        return report_failure(play, status, phase);
    for (int64_t i = 0; i < into->rows * into->width; i++)
        into->sums[i] = (int64_t)play->round.sums[i];
    into->survivors = play->round.survivors;
    count_bytes(play, into);
    return DPF_OK;
}

/* A sum of one would be that one. */
int64_t secagg_least_survivors(const struct secagg *secagg, int64_t needed)
{
    needed = needed > 2 ? needed : 2;
    return secagg->survivors > needed ? secagg->survivors : needed;
}

static dpf_status check_parties(const struct secagg *secagg, const dpf_call *call,
                                const dpf_aggregation *into, const struct kept *kept)
{
    if (kept->n < (uint64_t)secagg_least_survivors(secagg, into->least_survivors))
        return secagg_failed(
            call, DPF_E_PRIVACY, P_SURVIVORS,
            "fewer messages than survivors or the mechanism's noise requires, or only one: the sum stays "
            "closed; lower survivors or [privacy] min-honest, or raise the rate of the sampler");
    return DPF_OK;
}

static void set_up(struct play *play, struct kept *kept, const struct secagg_graph *graph)
{
    play->round = (struct secagg_round){
        .setup = {.ids = kept_ids(kept),
                  .n = (uint32_t)kept->n,
                  .degree = graph->degree,
                  .least_survivors =
                      (uint32_t)secagg_least_survivors(play->secagg, play->into->least_survivors),
                  .most_corrupt = (uint32_t)(play->secagg->corrupt * (double)kept->n),
                  .identity = play_identity,
                  .identities = play,
                  .run = play_run,
                  .run_context = play,
                  .n_workers = dpf_task_workers(play->call),
                  .simulated = 1},
        .context = play,
        .seed = play_seed,
        .input = play_input,
        .signing_key = play_signing_key,
        .cancelled = play_cancelled,
    };
    fill_terms(play);
    play->round.setup.terms.threshold = graph->threshold;
}

dpf_status secagg_finish(void *self, const dpf_call *call, dpf_aggregation *into)
{
    const struct secagg *secagg = self;
    const dpf_memory_service *memory = dpf_memory(secagg->host);
    struct kept *kept = into->state;
    struct play play = {.secagg = secagg, .call = call, .into = into};
    struct secagg_graph graph;
    dpf_status status = check_parties(secagg, call, into, kept);
    if (status != DPF_OK)
        return status;
    int32_t param;
    const char *refusal = secagg_choose_graph(secagg, (uint32_t)kept->n, &graph, &param);
    if (refusal)
        return secagg_failed(call, DPF_E_PRIVACY, param, refusal);
    set_up(&play, kept, &graph);
    const uint64_t bytes = secagg_round_bytes(&play.round);
    void *block = bytes ? memory->allocate(secagg->host, bytes) : NULL;
    play.signers = memory->allocate(secagg->host, kept->n * sizeof(*play.signers));
    play.round.lost = play.lost = memory->allocate(secagg->host, kept->n);
    if (block && play.signers && play.lost) {
        draw_losses(&play);
        if (secagg->malicious)
            make_signers(&play);
        status = play_round(&play, block, into);
    } else {
        status = secagg_failed(call, DPF_E_MEMORY, -1,
                               "out of memory: a complete graph needs memory for all pairs");
    }
    memory->release(secagg->host, block); /* wiped by the host, and so are the others */
    memory->release(secagg->host, play.signers);
    memory->release(secagg->host, play.lost);
    sodium_memzero(&play, sizeof(play));
    return status;
}
