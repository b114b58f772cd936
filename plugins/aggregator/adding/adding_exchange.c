/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adding_exchange.c - a round in which the server sees every message: it asks, parties answer with their
 * integers, it adds them. One phase.
 *
 *     REQUEST  server   agreed 32, round 8
 *     NUMBERS  party    agreed 32, round 8, rows 8, named 8; if named their numbers, 4 bytes each; then the integers
 *
 * A party answers once in a round. The server refuses an answer of another shape, one that was agreed on other
 * terms, and one with a number beyond the limit that was agreed, as if it had not come.
 */
#include <string.h>

#include "adding.h"

#define HEAD 40 /* agreed, round */
#define SHAPE 16

struct adding_end {
    int32_t over;
    int64_t survivors;
};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static uint64_t numbers_of(const dpf_exchange *x)
{
    return (uint64_t)x->rows * (uint64_t)x->width;
}

/* Of the server: who has answered, then the sums. */
static uint8_t *answered(const dpf_exchange *x)
{
    return (uint8_t *)x->state + rounded(sizeof(struct adding_end));
}

static int64_t *sums_of(const dpf_exchange *x)
{
    return (int64_t *)(void *)(answered(x) + rounded((uint64_t)x->n_parties));
}

uint64_t adding_exchange_bytes(void *self, const dpf_exchange *empty)
{
    (void)self;
    const uint64_t end = rounded(sizeof(struct adding_end));
    return empty->end == DPF_END_PARTY
               ? end
               : end + rounded((uint64_t)empty->n_parties) + numbers_of(empty) * sizeof(int64_t);
}

uint64_t adding_exchange_room(void *self, const dpf_exchange *x)
{
    (void)self;
    return HEAD + SHAPE + (uint64_t)x->rows * sizeof(int32_t) + numbers_of(x) * sizeof(int64_t);
}

dpf_status adding_exchange_open(void *self, const dpf_call *call, dpf_exchange *x)
{
    (void)self;
    if (x->modulus || x->rows < 1 || x->width < 1 || x->n_parties < 1)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1,
                                "sums modulo a number are for secagg: its noise is not enough for a message");
    return DPF_OK;
}

static void write_head(const dpf_exchange *x, uint8_t *out)
{
    memcpy(out, x->agreed, 32);
    memcpy(out + 32, &x->round, 8);
}

static int has_head(const dpf_exchange *x, const uint8_t *message, uint64_t n)
{
    uint8_t head[HEAD];
    write_head(x, head);
    return n >= HEAD && memcmp(message, head, HEAD) == 0;
}

/* ---- the party ---------------------------------------------------------------------------------- */

dpf_status adding_party_answer(void *self, const dpf_call *call, dpf_exchange *x, const dpf_encoded *own,
                               const uint8_t *message, uint64_t n_message, uint8_t *reply, uint64_t *n_reply,
                               int32_t *outcome)
{
    struct adding_end *end = x->state;
    const int64_t named = own->rows != NULL;
    (void)self;
    (void)call;
    *n_reply = 0;
    *outcome = DPF_EXCHANGE_REFUSED;
    if (end->over || x->round < x->next_round || n_message != HEAD || !has_head(x, message, n_message))
        return DPF_OK;
    end->over = 1;
    x->next_round = x->round + 1;
    write_head(x, reply);
    memcpy(reply + HEAD, &own->n_rows, 8);
    memcpy(reply + HEAD + 8, &named, 8);
    uint64_t n = HEAD + SHAPE;
    if (named)
        memcpy(reply + n, own->rows, (size_t)own->n_rows * sizeof(int32_t));
    n += named ? (uint64_t)own->n_rows * sizeof(int32_t) : 0;
    const uint64_t row = (uint64_t)own->width * sizeof(int64_t);
    for (int64_t r = 0; r < own->n_rows; r++, n += row)
        memcpy(reply + n, own->values + r * own->stride, (size_t)row);
    *n_reply = n;
    *outcome = DPF_EXCHANGE_OVER;
    return DPF_OK;
}

/* ---- the server --------------------------------------------------------------------------------- */

dpf_status adding_server_send(void *self, const dpf_call *call, const dpf_exchange *x, int64_t i,
                              uint8_t *message, uint64_t *n_message)
{
    (void)self;
    (void)call;
    (void)i;
    write_head(x, message);
    *n_message = HEAD;
    return DPF_OK;
}

/* The numbers of an answer, which are where bytes happen to lie. */
struct answer {
    int64_t n_rows, named;
    const uint8_t *rows, *values;
};

static int64_t row_of(const struct answer *answer, int64_t r)
{
    int32_t row = (int32_t)r;
    if (answer->named)
        memcpy(&row, answer->rows + r * (int64_t)sizeof row, sizeof row);
    return answer->named ? row : r;
}

static int64_t value_of(const struct answer *answer, int64_t i)
{
    int64_t value;
    memcpy(&value, answer->values + i * (int64_t)sizeof value, sizeof value);
    return value;
}

static int read_answer(const dpf_exchange *x, const uint8_t *message, uint64_t n, struct answer *out)
{
    if (n < HEAD + SHAPE || !has_head(x, message, n))
        return -1;
    memcpy(&out->n_rows, message + HEAD, 8);
    memcpy(&out->named, message + HEAD + 8, 8);
    if (out->n_rows < 0 || out->n_rows > x->rows || (out->named != 0 && out->named != 1) ||
        (!out->named && out->n_rows != x->rows))
        return -1;
    const uint64_t names = out->named ? (uint64_t)out->n_rows * sizeof(int32_t) : 0;
    out->rows = message + HEAD + SHAPE;
    out->values = out->rows + names;
    return n == HEAD + SHAPE + names + (uint64_t)out->n_rows * (uint64_t)x->width * sizeof(int64_t) ? 0 : -1;
}

/* Rows ascending, numbers within the limit, sums within 64 bits. */
static int is_sound(const dpf_exchange *x, const struct answer *answer)
{
    const int64_t *sums = sums_of(x);
    int64_t before = -1, sum;
    for (int64_t r = 0; r < answer->n_rows; r++) {
        const int64_t row = row_of(answer, r);
        if (row <= before || row >= x->rows)
            return 0;
        before = row;
        for (int64_t i = 0; i < x->width; i++) {
            const int64_t value = value_of(answer, r * x->width + i);
            const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
            if ((x->limit && size > x->limit) ||
                __builtin_add_overflow(sums[row * x->width + i], value, &sum))
                return 0;
        }
    }
    return 1;
}

static int64_t place_of(const dpf_exchange *x, uint32_t party)
{
    for (int64_t i = 0; i < x->n_parties; i++)
        if (x->parties[i] == party)
            return i;
    return -1;
}

dpf_status adding_server_take(void *self, const dpf_call *call, dpf_exchange *x, uint32_t party,
                              const uint8_t *message, uint64_t n_message, int32_t *outcome)
{
    struct adding_end *end = x->state;
    struct answer answer;
    const int64_t place = place_of(x, party);
    (void)self;
    (void)call;
    *outcome = DPF_EXCHANGE_REFUSED;
    if (place < 0 || answered(x)[place] || read_answer(x, message, n_message, &answer) != 0)
        return DPF_OK;
    if (!is_sound(x, &answer)) {
        *outcome = DPF_EXCHANGE_LIES;
        return DPF_OK;
    }
    int64_t *sums = sums_of(x);
    for (int64_t r = 0; r < answer.n_rows; r++)
        for (int64_t i = 0; i < x->width; i++)
            sums[row_of(&answer, r) * x->width + i] += value_of(&answer, r * x->width + i);
    answered(x)[place] = 1;
    end->survivors++;
    *outcome = DPF_EXCHANGE_OVER;
    return DPF_OK;
}

dpf_status adding_server_close(void *self, const dpf_call *call, dpf_exchange *x, dpf_aggregation *into,
                               int32_t *outcome)
{
    const struct adding_end *end = x->state;
    (void)self;
    if (end->survivors < 1 || end->survivors < x->least_survivors)
        return call->host->fail(call->host, DPF_E_PRIVACY, -1,
                                "too few parties have answered; their messages are not summed");
    memcpy(into->sums, sums_of(x), (size_t)numbers_of(x) * sizeof *into->sums);
    memcpy(x->in_sum, answered(x), (size_t)x->n_parties);
    into->survivors = end->survivors;
    *outcome = DPF_EXCHANGE_OVER;
    return DPF_OK;
}
