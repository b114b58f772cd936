/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modular_sum.c - secure aggregation, simulated: a sum modulo M of which only the total is shown.
 *
 * What is simulated: the result of a secure aggregation protocol without its cryptography. The sum, the
 * modulus, the number of survivors, the threshold below which nothing is opened, and the size of a masked
 * message are those of the protocol; keys, masks and shares are missing, and so is their traffic. That the
 * server sees the sum alone is true of a deployment that runs such a protocol in its place, not of this
 * program, which holds every message in memory.
 *
 * Every party sends all rows, since masks cover a fixed set of numbers. Rows of zeros may be left out here,
 * where nothing is masked; they count as sent. A number takes ceil(log2 M) bits on the wire. Without a modulus numbers have 64 bits, and a sum that does not fit is an error, not a wrap.
 */
#include <string.h>

#include "dpframe/dpframe.h"

enum { P_SURVIVORS, P_SCALE, P_COUNT };
enum { SCALE_SUM, SCALE_MEAN };

static const dpf_enum_value scales[] = {
    {"sum", "the decoded sum as it is"},
    {"mean", "the decoded sum divided by the number of survivors"},
};

static const dpf_param params[P_COUNT] = {
    [P_SURVIVORS] = DPF_PARAM_INT_F("survivors", 0, 0, 1000000000, DPF_PARAM_PRIVACY, "",
                                    "Threshold: a sum of fewer messages is not opened, and the run stops. 0: "
                                    "as many as the mechanism's noise needs."),
    [P_SCALE] = DPF_PARAM_ENUM_F("scale", SCALE_SUM, scales, 0, "What solvers get."),
};

struct modular {
    int64_t survivors;
    int64_t scale;
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    (void)host;
    struct modular *modular = *self;
    modular->survivors = values->values[P_SURVIVORS].integer;
    modular->scale = values->values[P_SCALE].integer;
    return DPF_OK;
}

static dpf_status failed(const dpf_call *call, dpf_status code, const char *text)
{
    return call->host->fail(call->host, code, -1, text);
}

/* Bits of a number below the modulus. */
static int32_t wire_bits(uint64_t modulus)
{
    int32_t bits = 0;
    if (modulus == 0)
        return 64;
    for (uint64_t most = modulus - 1; most > 0; most >>= 1)
        bits++;
    return bits;
}

/* x modulo m <= 2^63. */
static uint64_t reduce(int64_t x, uint64_t m)
{
    /* -x as unsigned is right for the least integer, too. */
    const uint64_t size = x < 0 ? (0 - (uint64_t)x) % m : (uint64_t)x % m;
    return x < 0 && size != 0 ? m - size : size;
}

/* Whether all numbers are in 0 .. m-1: those of the Poisson binomial mechanism are, which saves the division.
 */
static int are_reduced(const int64_t *numbers, int64_t n, uint64_t m)
{
    uint64_t beyond = 0;
    for (int64_t i = 0; i < n; i++)
        beyond |= (uint64_t)numbers[i] | (m - 1 - (uint64_t)numbers[i]);
    return beyond >> 63 == 0;
}

/* Adds n numbers to sums in 0 .. m-1. */
static void add_modular(int64_t *restrict to, const int64_t *restrict from, int64_t n, uint64_t m)
{
    if (m <= UINT64_C(1) << 62 && are_reduced(from, n, m)) {
        for (int64_t i = 0; i < n; i++) {
            const uint64_t s = (uint64_t)to[i] + (uint64_t)from[i] - m; /* negative: below m before */
            to[i] = (int64_t)(s + (m & (0 - (s >> 63))));
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t s = (uint64_t)to[i] + reduce(from[i], m); /* both below 2^63 */
        to[i] = (int64_t)(s >= m ? s - m : s);
    }
}

static dpf_status add(const dpf_call *call, uint64_t modulus, int64_t *restrict to,
                      const int64_t *restrict from, int64_t n)
{
    int overflow = 0;
    if (modulus) {
        add_modular(to, from, n, modulus);
        return DPF_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        /* Wrapping addition overflowed iff both terms differ in sign from the result. */
        const int64_t s = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
        overflow |= ((to[i] ^ s) & (from[i] ^ s)) < 0;
        to[i] = s;
    }
    return overflow
               ? failed(call, DPF_E_RANGE,
                        "a sum exceeds 64 bits; choose a coarser grid in the mechanism, or clip the messages")
               : DPF_OK;
}

static dpf_status add_range(const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    if (message->width != into->width || message->first_row < 0 ||
        message->first_row + message->n_rows > into->rows)
        return failed(call, DPF_E_INTERNAL, "a message does not cover a range of the aggregation's rows");
    /* Rows behind one another are added as one. */
    const int whole = message->stride == into->width;
    const int64_t n = whole ? message->n_rows * into->width : into->width;
    dpf_status status = DPF_OK;
    for (int64_t r = 0; status == DPF_OK && r < (whole ? 1 : message->n_rows); r++)
        status = add(call, into->modulus, into->sums + (message->first_row + r) * into->width,
                     message->values + r * message->stride, n);
    return status;
}

/* The other rows have zeros. */
static dpf_status add_chosen(const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    dpf_status status = DPF_OK;
    for (int64_t r = 0; status == DPF_OK && r < message->n_rows; r++) {
        const int64_t row = message->rows[r];
        if (message->width != into->width || row < 0 || row >= into->rows)
            return failed(call, DPF_E_INTERNAL, "a message has a row that the aggregation lacks");
        status = add(call, into->modulus, into->sums + row * into->width,
                     message->values + r * message->stride, into->width);
    }
    return status;
}

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    (void)self;
    if (into->modulus > UINT64_C(1) << 63)
        return failed(call, DPF_E_UNSUPPORTED,
                      "sums modulo more than 2^63 do not fit signed 64-bit integers");
    const dpf_status status =
        message->rows ? add_chosen(call, into, message) : add_range(call, into, message);
    if (status != DPF_OK)
        return status;
    const uint64_t numbers = (uint64_t)(message->rows ? into->rows : message->n_rows) * (uint64_t)into->width;
    into->survivors++;
    into->bytes_up += (numbers * (uint64_t)wire_bits(into->modulus) + 7) / 8;
    return DPF_OK;
}

static dpf_status merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from)
{
    (void)self;
    if (into->width != from->width || into->rows != from->rows || into->modulus != from->modulus)
        return failed(call, DPF_E_INTERNAL, "aggregations of different shapes cannot be joined");
    const dpf_status status = add(call, into->modulus, into->sums, from->sums, into->rows * into->width);
    if (status != DPF_OK)
        return status;
    into->survivors += from->survivors;
    into->bytes_up += from->bytes_up;
    into->bytes_down += from->bytes_down;
    return DPF_OK;
}

static dpf_status finish(void *self, const dpf_call *call, dpf_aggregation *into)
{
    const struct modular *modular = self;
    if (into->survivors >= modular->survivors && into->survivors >= into->least_survivors)
        return DPF_OK;
    memset(into->sums, 0, (size_t)(into->rows * into->width) * sizeof(*into->sums));
    return call->host->fail(
        call->host, DPF_E_PRIVACY, P_SURVIVORS,
        "fewer messages survived than the threshold asks for or the mechanism's noise needs, so the sum is "
        "not opened; lower survivors or [privacy] min-honest, or raise the rate of the sampler");
}

static double scale(void *self, int64_t survivors)
{
    const struct modular *modular = self;
    return modular->scale == SCALE_MEAN && survivors > 0 ? 1.0 / (double)survivors : 1.0;
}

static void limits(void *self, int64_t n_parties, dpf_aggregator_limits *out)
{
    const struct modular *modular = self;
    (void)n_parties;
    out->survivors = modular->survivors;
    out->parties = modular->survivors > 1 ? modular->survivors : 1;
}

static const dpf_aggregator functions = {
    .sees = DPF_SEES_SUM,
    .flags = DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_DENSE | DPF_AGGREGATOR_FILLS,
    .absorb = absorb,
    .merge = merge,
    .finish = finish,
    .scale = scale,
    .limits = limits,
};

DPF_COMPONENT(
    component, DPF_ROLE_AGGREGATOR, functions, .id = "modular-sum", .version = "1.0.0",
    .summary = "Simulated secure aggregation: a modular sum that shows only the total, without cryptography",
    .citation =
        "Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning (CCS 2017): "
        "what its server learns",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct modular))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.aggregator.modular-sum", "1.0.0", "Apache-2.0", component)
