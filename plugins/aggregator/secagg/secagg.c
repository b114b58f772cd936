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
 * that the host wipes. Where parties are processes of their own (secagg_exchange.c) each has a privacy key of
 * its own, and the messages travel.
 */
#include <sodium.h>
#include <string.h>

#include "secagg_component.h"
#include "secagg_mask.h"

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
        DPF_PARAM_ENUM_F("graph", GRAPH_COMPLETE, graphs, DPF_PARAM_PRIVACY, "Which parties share masks."),
    [P_NEIGHBOURS] =
        DPF_PARAM_INT_F("neighbours", 0, 0, 1048574, DPF_PARAM_PRIVACY, "",
                        "regular: an even number of neighbours; 0 takes the fewest that corrupt and lost "
                        "allow."),
    [P_THRESHOLD] =
        DPF_PARAM_INT_F("threshold", 0, 0, 1048576, DPF_PARAM_PRIVACY, "",
                        "How many members of a neighbourhood are needed to open anything; required with "
                        "neighbours. 0: two thirds (complete), or what corrupt and lost allow (regular)."),
    [P_CORRUPT] = DPF_PARAM_REAL_F("corrupt", 0.05, 0, 0.9, DPF_PARAM_PRIVACY, "",
                                   "Fraction of the parties that may collude with the server."),
    [P_LOST] =
        DPF_PARAM_REAL_F("lost", 0.33, 0, 0.9, 0, "",
                         "Fraction of the parties that a round on a regular graph must be able to lose."),
    [P_SURVIVORS] = DPF_PARAM_INT_F("survivors", 0, 0, 1048576, DPF_PARAM_PRIVACY, "",
                                    "A sum of fewer messages is not opened, and the run stops. 0: as many as "
                                    "the mechanism's noise needs, and at least 2."),
    [P_MALICIOUS] =
        DPF_PARAM_BOOL_F("malicious", 0, DPF_PARAM_PRIVACY,
                         "Signed keys, and signed consent to the list of survivors: for a server that "
                         "does not follow the protocol. Complete graph only."),
    [P_LOSSES] = DPF_PARAM_LIST_F(
        "losses", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, 0, "",
        "Simulated losses: four probabilities that a party is lost, before its keys, before its "
        "shares, before its input, and after its input, which is then in the sum. Empty: none."),
    [P_SCALE] = DPF_PARAM_ENUM_F("scale", SCALE_SUM, scales, 0, "What solvers get."),
};

/* ---- instances ---------------------------------------------------------------------------------- */

static dpf_status check_params(const dpf_host *host, const dpf_value *values)
{
    const int64_t neighbours = values[P_NEIGHBOURS].integer, threshold = values[P_THRESHOLD].integer;
    if (threshold == 1)
        return host->fail(host, DPF_E_CONFIG, P_THRESHOLD,
                          "a threshold of 1 lets every party open every other's message; give 2 or more");
    if (values[P_LOSSES].count != 0 && values[P_LOSSES].count != 4)
        return host->fail(host, DPF_E_CONFIG, P_LOSSES,
                          "losses are four probabilities: before keys, shares, input and unmasking");
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
    struct secagg *secagg = *self;
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
    for (int64_t phase = 0; phase < values[P_LOSSES].count; phase++)
        secagg->loss[phase] = values[P_LOSSES].reals[phase];
    secagg->scale = values[P_SCALE].integer;
    return open_streams(secagg);
}

/* ---- messages of the parties -------------------------------------------------------------------- */

static int has_modulus(const dpf_aggregation *into)
{
    return into->modulus != 1 && into->modulus <= UINT64_C(1) << 63;
}

static int is_served(const dpf_aggregation *into)
{
    return has_modulus(into) && into->rows * into->width <= (int64_t)SECAGG_MAX_DIMENSION &&
           into->n_parties <= (int64_t)SECAGG_MAX_MEMBERS;
}

static uint64_t state_bytes(void *self, const dpf_aggregation *empty)
{
    struct secagg_group group;
    uint64_t bytes;
    (void)self;
    if (!is_served(empty))
        return sizeof(struct kept); /* absorb refuses it */
    secagg_group_init(&group, empty->modulus);
    if (__builtin_mul_overflow(
            secagg_packed_bytes((uint64_t)empty->rows * (uint64_t)empty->width, group.bits),
            (uint64_t)empty->n_parties, &bytes) ||
        bytes > UINT64_MAX / 2)
        return UINT64_MAX / 2; /* which nobody has */
    return sizeof(struct kept) + kept_ids_bytes(empty->n_parties) + bytes;
}

static dpf_status check_shape(const dpf_call *call, const dpf_aggregation *into, const dpf_encoded *message)
{
    struct kept *kept = into->state;
    if (!has_modulus(into))
        return secagg_failed(call, DPF_E_UNSUPPORTED, -1,
                             "sums are taken modulo 2 to 2^63, or without a modulus");
    if (!is_served(into))
        return secagg_failed(call, DPF_E_UNSUPPORTED, -1,
                             "a round has at most 2^28 numbers and 2^20 parties");
    if (message->width != into->width || message->rows || message->first_row < 0 ||
        message->first_row + message->n_rows > into->rows)
        return secagg_failed(call, DPF_E_INTERNAL, -1,
                             "a message does not cover a range of the aggregation's rows");
    if (kept->n >= (uint64_t)into->n_parties || (kept->n > 0 && kept_ids(kept)[kept->n - 1] >= call->party))
        return secagg_failed(call, DPF_E_INTERNAL, -1, "parties do not come in order, or more than once");
    return DPF_OK;
}

int secagg_residues(const struct secagg_group *group, uint64_t modulus, int64_t n_parties,
                    const dpf_encoded *message, int32_t width, uint64_t *vector)
{
    /* Without a modulus the sum has to fit: the server cannot see that it does not. */
    const int64_t most = modulus ? INT64_MAX : INT64_MAX / n_parties;
    for (int64_t r = 0; r < message->n_rows; r++) {
        const int64_t *row = message->values + r * message->stride;
        uint64_t *to = vector + (message->first_row + r) * width;
        for (int32_t c = 0; c < width; c++) {
            if (!modulus && (row[c] > most || row[c] < -most))
                return -1;
            to[c] = secagg_group_residue(group, row[c]);
        }
    }
    return 0;
}

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
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
        return secagg_failed(call, DPF_E_MEMORY, -1, "out of memory");
    memset(vector, 0, (size_t)numbers * sizeof(*vector));
    secagg_group_init(&group, into->modulus);
    if (secagg_residues(&group, into->modulus, into->n_parties, message, into->width, vector) != 0)
        return secagg_failed(call, DPF_E_RANGE, -1, SECAGG_TOO_LARGE);
    secagg_pack(vector, numbers, group.bits, kept_message(into, &group, kept->n));
    kept_ids(kept)[kept->n++] = call->party;
    into->survivors++;
    return DPF_OK;
}

static double scale(void *self, int64_t survivors)
{
    const struct secagg *secagg = self;
    return secagg->scale == SCALE_MEAN && survivors > 0 ? 1.0 / (double)survivors : 1.0;
}

static void limits(void *self, int64_t n_parties, dpf_aggregator_limits *out)
{
    const struct secagg *secagg = self;
    const int64_t threshold = secagg->given.threshold;
    out->corrupt = (int64_t)(secagg->corrupt * (double)n_parties);
    out->survivors = secagg->survivors;
    out->parties = secagg->survivors > 2 ? secagg->survivors : 2;
    out->parties = threshold > out->parties ? threshold : out->parties;
    /* So many corrupt parties that no threshold is safe from them: more messages change nothing. */
    struct secagg_graph graph;
    int32_t param;
    if (n_parties >= out->parties && n_parties <= UINT32_MAX &&
        secagg_choose_graph(secagg, (uint32_t)n_parties, &graph, &param) != NULL)
        out->parties = INT64_MAX;
}

static const dpf_aggregator functions = {
    .sees = DPF_SEES_SUM,
    .flags = DPF_AGGREGATOR_DENSE,
    .state_bytes = state_bytes,
    .absorb = absorb,
    .finish = secagg_finish,
    .scale = scale,
    .limits = limits,
    .exchange_bytes = secagg_exchange_bytes,
    .exchange_open = secagg_exchange_open,
    .exchange_room = secagg_exchange_room,
    .party_answer = secagg_party_answer,
    .server_send = secagg_server_phase_send,
    .server_take = secagg_server_phase_take,
    .server_close = secagg_server_phase_close,
};

DPF_COMPONENT(
    component, DPF_ROLE_AGGREGATOR, functions, .id = "secagg", .version = "1.0.0",
    .summary = "Secure aggregation: parties mask their messages, and only the survivors' sum can be opened",
    .citation =
        "Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning (CCS 2017), "
        "Figure 4; Bell et al., Secure single-server aggregation with (poly)logarithmic overhead (CCS 2020), "
        "Algorithm 3",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct secagg))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.aggregator.secagg", "1.0.0", "Apache-2.0", component)
