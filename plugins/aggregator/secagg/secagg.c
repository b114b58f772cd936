/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg.c - secure aggregation: the server learns the sum of the survivors' messages and nothing else.
 *
 * The aggregator runs the whole protocol of docs/secagg.md in one process: absorb keeps a party's message,
 * packed, as the party would; finish plays a round between a server and the parties, by messages, and
 * takes the sum from the server. Bytes are counted from the messages.
 *
 * A round needs to know who takes part before anybody can mask, hence all work is in finish. Secrets come
 * from the host's privacy key at (draw, party), so that a round can be replayed; they live in one block
 * that the host wipes. A deployment keeps the protocol's files and draws seeds from its own system.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "dpframe/role/aggregator.h"
#include "secagg_graph.h"
#include "secagg_round.h"

enum {
    P_GRAPH,
    P_NEIGHBOURS,
    P_THRESHOLD,
    P_CORRUPT,
    P_LOST,
    P_SURVIVORS,
    P_MALICIOUS,
    P_LOST_KEYS,
    P_LOST_SHARES,
    P_LOST_INPUT,
    P_LOST_UNMASK,
    P_SCALE,
    P_COUNT
};
enum { GRAPH_COMPLETE, GRAPH_REGULAR };
enum { SCALE_SUM, SCALE_MEAN };

static const dpf_enum_value graphs[] = {
    {"complete", "every two parties share a mask"},
    {"regular", "every party shares masks with a few others, chosen at random in every round"},
};

static const dpf_enum_value scales[] = {
    {"sum", "the decoded sum as it is"},
    {"mean", "the decoded sum divided by the number of survivors"},
};

static const dpf_param params[P_COUNT] = {
    [P_GRAPH] =
        DPF_PARAM_ENUM_F("graph", GRAPH_COMPLETE, graphs, DPF_PARAM_PRIVACY, "Who shares masks with whom."),
    [P_NEIGHBOURS] =
        DPF_PARAM_INT_F("neighbours", 0, 0, 1048574, DPF_PARAM_PRIVACY, "",
                        "regular: an even number of neighbours; 0 takes the fewest that corrupt and lost "
                        "allow."),
    [P_THRESHOLD] =
        DPF_PARAM_INT_F("threshold", 0, 0, 1048576, DPF_PARAM_PRIVACY, "",
                        "Members of a neighbourhood that it takes to open anything; with neighbours it has "
                        "to be given. 0: two thirds (complete), or what corrupt and lost allow (regular)."),
    [P_CORRUPT] = DPF_PARAM_REAL_F("corrupt", 0.05, 0, 0.9, DPF_PARAM_PRIVACY, "",
                                   "Fraction of the parties that may work with the server."),
    [P_LOST] =
        DPF_PARAM_REAL_F("lost", 0.33, 0, 0.9, 0, "",
                         "Fraction of the parties that a round on a regular graph has to be able to lose."),
    [P_SURVIVORS] = DPF_PARAM_INT_F("survivors", 2, 2, 1048576, DPF_PARAM_PRIVACY, "",
                                    "A sum of fewer messages is not opened, and the run stops."),
    [P_MALICIOUS] =
        DPF_PARAM_BOOL_F("malicious", 0, DPF_PARAM_PRIVACY,
                         "Signed keys, and signed consent to the list of survivors: for a server that "
                         "does not follow the protocol. Complete graph only."),
    [P_LOST_KEYS] = DPF_PARAM_REAL_F("lost-before-keys", 0, 0, 1, 0, "",
                                     "Simulated losses: probability that a party never answers."),
    [P_LOST_SHARES] = DPF_PARAM_REAL_F("lost-before-shares", 0, 0, 1, 0, "",
                                       "Probability that a party is lost between its keys and its shares."),
    [P_LOST_INPUT] = DPF_PARAM_REAL_F("lost-before-input", 0, 0, 1, 0, "",
                                      "Probability that a party is lost between its shares and its input."),
    [P_LOST_UNMASK] =
        DPF_PARAM_REAL_F("lost-before-unmask", 0, 0, 1, 0, "",
                         "Probability that a party is lost after its input, which is in the sum."),
    [P_SCALE] = DPF_PARAM_ENUM_F("scale", SCALE_SUM, scales, 0, "What solvers are given."),
};

struct secagg {
    const dpf_host *host;
    const dpf_random_service *random;
    const dpf_log_service *log;
    dpf_stream *secrets;
    dpf_stream *identities;
    dpf_stream *losses;
    struct secagg_graph given; /* 0: to be chosen */
    int64_t graph;
    double corrupt;
    double lost;
    int64_t survivors;
    int64_t malicious;
    double loss[4]; /* before each of the phases' messages */
    int64_t scale;
};

/* ---- instances ---------------------------------------------------------------------------------- */

static dpf_status check_params(const dpf_host *host, const dpf_value *values)
{
    const int64_t neighbours = values[P_NEIGHBOURS].integer, threshold = values[P_THRESHOLD].integer;
    if (threshold == 1)
        return host->fail(host, DPF_E_CONFIG, P_THRESHOLD,
                          "a threshold of 1 lets every party open every other's message; give 2 or more");
    if (neighbours == 0)
        return threshold != 0 && values[P_GRAPH].integer == GRAPH_REGULAR
                   ? host->fail(host, DPF_E_CONFIG, P_NEIGHBOURS,
                                "threshold and neighbours of a regular graph are given both or not at all")
                   : DPF_OK;
    if (values[P_GRAPH].integer == GRAPH_COMPLETE)
        return host->fail(host, DPF_E_CONFIG, P_NEIGHBOURS, "neighbours is for graph = regular");
    if (neighbours % 2 != 0)
        return host->fail(host, DPF_E_CONFIG, P_NEIGHBOURS,
                          "neighbours is an even number: half on either side");
    if (threshold == 0 || threshold > neighbours + 1)
        return host->fail(
            host, DPF_E_CONFIG, P_THRESHOLD,
            "with neighbours, threshold has to be given: at most the neighbours and the party itself");
    return DPF_OK;
}

static dpf_status open_streams(struct secagg *secagg)
{
    dpf_status status = secagg->random->open(secagg->host, "secrets", &secagg->secrets);
    if (status == DPF_OK)
        status = secagg->random->open(secagg->host, "identities", &secagg->identities);
    return status == DPF_OK ? secagg->random->open(secagg->host, "losses", &secagg->losses) : status;
}

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    dpf_status status = check_params(host, values);
    if (status != DPF_OK)
        return status;
    if (values[P_MALICIOUS].integer && values[P_GRAPH].integer == GRAPH_REGULAR)
        return host->fail(
            host, DPF_E_UNSUPPORTED, P_MALICIOUS,
            "consent to one list of survivors needs graph = complete: on a regular graph no two "
            "parties see the same list");
    if (sodium_init() < 0)
        return host->fail(host, DPF_E_INTERNAL, -1, "libsodium cannot be initialised");
    struct secagg *secagg = dpf_memory(host)->allocate(host, sizeof(*secagg));
    if (!secagg)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    secagg->host = host;
    secagg->random = dpf_random(host);
    secagg->log = dpf_log(host);
    secagg->graph = values[P_GRAPH].integer;
    secagg->given.degree = (uint32_t)values[P_NEIGHBOURS].integer;
    secagg->given.threshold = (uint32_t)values[P_THRESHOLD].integer;
    secagg->corrupt = values[P_CORRUPT].real;
    secagg->lost = values[P_LOST].real;
    secagg->survivors = values[P_SURVIVORS].integer;
    secagg->malicious = values[P_MALICIOUS].integer;
    for (int phase = 0; phase < 4; phase++)
        secagg->loss[phase] = values[P_LOST_KEYS + phase].real;
    secagg->scale = values[P_SCALE].integer;
    status = open_streams(secagg);
    if (status != DPF_OK) {
        dpf_memory(host)->release(host, secagg);
        return status;
    }
    *self = secagg;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct secagg *secagg = self;
    dpf_memory(secagg->host)->release(secagg->host, secagg);
}

/* ---- messages of the parties -------------------------------------------------------------------- */

/* State: how many messages; then the parties' numbers; then their messages, packed. */
struct kept {
    uint64_t n;
    uint64_t unused[7];
};

static uint32_t *kept_ids(struct kept *kept)
{
    return (uint32_t *)(kept + 1);
}

static uint64_t ids_bytes(int64_t n_parties)
{
    return ((uint64_t)n_parties * sizeof(uint32_t) + 63) / 64 * 64;
}

static uint8_t *kept_message(const dpf_aggregation *into, const struct secagg_group *group, uint64_t i)
{
    const uint64_t numbers = (uint64_t)into->rows * (uint64_t)into->width;
    return (uint8_t *)into->state + sizeof(struct kept) + ids_bytes(into->n_parties) +
           i * secagg_packed_bytes(numbers, group->bits);
}

/* The modulus is not known yet: room for numbers of 64 bits. */
static uint64_t state_bytes(void *self, int64_t rows, int32_t width, int64_t n_parties)
{
    uint64_t bytes;
    (void)self;
    if (__builtin_mul_overflow((uint64_t)rows * (uint64_t)width * 8, (uint64_t)n_parties, &bytes) ||
        bytes > UINT64_MAX / 2)
        return UINT64_MAX / 2; /* which nobody has */
    return sizeof(struct kept) + ids_bytes(n_parties) + bytes;
}

static dpf_status failed(const dpf_call *call, dpf_status code, int32_t param, const char *text)
{
    return call->host->fail(call->host, code, param, text);
}

static dpf_status check_shape(const dpf_call *call, const dpf_aggregation *into, const dpf_integers *message)
{
    struct kept *kept = into->state;
    if (into->modulus == 1 || into->modulus > UINT64_C(1) << 63)
        return failed(call, DPF_E_UNSUPPORTED, -1, "sums are taken modulo 2 to 2^63, or without a modulus");
    if (into->rows * into->width > (int64_t)SECAGG_MAX_DIMENSION ||
        into->n_parties > (int64_t)SECAGG_MAX_MEMBERS)
        return failed(call, DPF_E_UNSUPPORTED, -1, "a round has at most 2^28 numbers and 2^20 parties");
    if (message->width != into->width || message->rows || message->first_row < 0 ||
        message->first_row + message->n_rows > into->rows)
        return failed(call, DPF_E_INTERNAL, -1, "a message does not cover a range of the aggregation's rows");
    if (kept->n >= (uint64_t)into->n_parties || (kept->n > 0 && kept_ids(kept)[kept->n - 1] >= call->party))
        return failed(call, DPF_E_INTERNAL, -1, "parties do not come in order, or more than once");
    return DPF_OK;
}

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_integers *message)
{
    struct kept *kept = into->state;
    struct secagg_group group;
    (void)self;
    const dpf_status status = check_shape(call, into, message);
    if (status != DPF_OK)
        return status;
    const uint64_t numbers = (uint64_t)into->rows * (uint64_t)into->width;
    uint64_t *vector = call->scratch(call, numbers * sizeof(*vector));
    if (!vector)
        return failed(call, DPF_E_MEMORY, -1, "out of memory");
    memset(vector, 0, (size_t)numbers * sizeof(*vector));
    secagg_group_init(&group, into->modulus);
    /* Without a modulus the sum has to fit: the server cannot see that it does not. */
    const int64_t most = into->modulus ? INT64_MAX : INT64_MAX / into->n_parties;
    for (int64_t r = 0; r < message->n_rows; r++) {
        const int64_t *row = message->values + r * message->stride;
        uint64_t *to = vector + (message->first_row + r) * into->width;
        for (int32_t c = 0; c < into->width; c++) {
            if (!into->modulus && (row[c] > most || row[c] < -most))
                return failed(
                    call, DPF_E_RANGE, -1,
                    "a number times the parties exceeds 64 bits, so a sum might; choose a coarser grid in "
                    "the mechanism, or clip the messages");
            to[c] = secagg_group_residue(&group, row[c]);
        }
    }
    secagg_pack(vector, numbers, group.bits, kept_message(into, &group, kept->n));
    kept_ids(kept)[kept->n++] = call->party;
    into->survivors++;
    return DPF_OK;
}

/* ---- the round ---------------------------------------------------------------------------------- */

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

static void read_words(const struct secagg *secagg, const dpf_stream *stream, uint32_t draw, uint32_t party,
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
    read_words(play->secagg, play->secagg->secrets, play->call->draw, play->round.setup.ids[client], words,
               4);
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

/* A party's identity is the same in every round. */
static void make_signers(struct play *play)
{
    for (uint32_t i = 0; i < play->round.setup.n; i++) {
        uint64_t seed[4];
        read_words(play->secagg, play->secagg->identities, 0, play->round.setup.ids[i], seed, 4);
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

/* Degree and threshold for the parties that are there. */
static dpf_status choose_graph(const struct secagg *secagg, const dpf_call *call, uint32_t n,
                               struct secagg_graph *graph)
{
    *graph = secagg->given;
    if (secagg->graph == GRAPH_REGULAR && graph->degree > 0 && graph->degree + 1 < n)
        return DPF_OK;
    if (secagg->graph == GRAPH_REGULAR && graph->degree == 0 &&
        secagg_graph_choose(n, secagg->corrupt, secagg->lost, 0, graph) == 0)
        return DPF_OK;
    graph->degree = 0; /* too few parties for less than all pairs */
    if (graph->threshold == 0)
        graph->threshold = n - n / 3;
    if (graph->threshold > n)
        return failed(
            call, DPF_E_PRIVACY, P_THRESHOLD,
            "fewer parties take part than the threshold asks for; lower threshold, or raise the rate of the "
            "sampler");
    const double enough = secagg->malicious ? (n + secagg->corrupt * n) / 2 : secagg->corrupt * n;
    if (graph->threshold <= enough)
        return failed(
            call, DPF_E_PRIVACY, P_THRESHOLD,
            "corrupt parties reach the threshold (malicious: tell two stories); raise threshold, or assume "
            "fewer corrupt parties");
    return DPF_OK;
}

static void fill_terms(struct play *play)
{
    const dpf_aggregation *into = play->into;
    struct secagg_terms *terms = &play->round.setup.terms;
    uint64_t words[10];
    read_words(play->secagg, play->secagg->secrets, play->call->draw, DPF_PARTY_AGGREGATE, words, 10);
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
    char text[300] = "secure aggregation failed at the ";
    if (play->call->cancelled(play->call))
        return failed(play->call, DPF_E_CANCELLED, -1, "secure aggregation was stopped");
    strcat(text, phases[phase]);
    strcat(text, ": ");
    strcat(text, secagg_status_text(status));
    strcat(
        text,
        "; no sum is opened. Lower threshold or survivors within what privacy allows, or lose fewer parties");
    return failed(play->call, status == SECAGG_TOO_FEW ? DPF_E_PRIVACY : DPF_E_INTERNAL,
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

static dpf_status check_parties(const struct secagg *secagg, const dpf_call *call, const struct kept *kept)
{
    if (kept->n < 2 || kept->n < (uint64_t)secagg->survivors)
        return failed(
            call, DPF_E_PRIVACY, P_SURVIVORS,
            "fewer messages than survivors asks for, and a sum of one would be that one: nothing is opened; "
            "lower survivors, or raise the rate of the sampler");
    return DPF_OK;
}

static dpf_status finish(void *self, const dpf_call *call, dpf_aggregation *into)
{
    const struct secagg *secagg = self;
    const dpf_memory_service *memory = dpf_memory(secagg->host);
    struct kept *kept = into->state;
    struct play play = {.secagg = secagg, .call = call, .into = into};
    struct secagg_graph graph;
    dpf_status status = check_parties(secagg, call, kept);
    if (status == DPF_OK)
        status = choose_graph(secagg, call, (uint32_t)kept->n, &graph);
    if (status != DPF_OK)
        return status;
    play.round = (struct secagg_round){
        .setup = {.ids = kept_ids(kept),
                  .n = (uint32_t)kept->n,
                  .degree = graph.degree,
                  .identity = play_identity},
        .context = &play,
        .seed = play_seed,
        .input = play_input,
        .signing_key = play_signing_key,
        .cancelled = play_cancelled,
    };
    play.round.setup.identities = &play;
    play.round.setup.least_survivors = (uint32_t)secagg->survivors;
    fill_terms(&play);
    play.round.setup.terms.threshold = graph.threshold;
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
        status = failed(call, DPF_E_MEMORY, -1, "out of memory: a complete graph needs memory for all pairs");
    }
    memory->release(secagg->host, block); /* wiped by the host, and so are the others */
    memory->release(secagg->host, play.signers);
    memory->release(secagg->host, play.lost);
    return status;
}

static double scale(void *self, int64_t survivors)
{
    const struct secagg *secagg = self;
    return secagg->scale == SCALE_MEAN && survivors > 0 ? 1.0 / (double)survivors : 1.0;
}

static const dpf_aggregator functions = {
    .sees = DPF_SEES_SUM,
    .flags = DPF_AGGREGATOR_DENSE,
    .state_bytes = state_bytes,
    .absorb = absorb,
    .finish = finish,
    .scale = scale,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_AGGREGATOR,
    .id = "secagg",
    .version = "1.0.0",
    .summary = "Secure aggregation: parties mask their messages, and only the survivors' sum can be opened",
    .citation =
        "Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning (CCS 2017), "
        "Figure 4; Bell et al., Secure single-server aggregation with (poly)logarithmic overhead (CCS 2020), "
        "Algorithm 3",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = create,
    .destroy = destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.aggregator.secagg", "1.0.0", "Apache-2.0", component)
