/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adding.c - see adding.h.
 *
 * Integer addition is exact and associative, so the sum is the same for any order of the parties and
 * any number of workers. Where a mechanism asks for a modulus M, sums are kept in 0 .. M-1, as the
 * secure aggregation protocol would deliver them.
 */
#include "adding.h"

#include <stddef.h>

#define SIMD_TEMPLATE "adding_loops.h"
#include "each_kind.h"

static dpf_status failed(const dpf_call *call, dpf_status code, const char *text)
{
    return call->host->fail(call->host, code, -1, text);
}

typedef int (*adding)(int64_t *restrict to, const int64_t *restrict from, int64_t n);

static adding find_adding(void)
{
    const int kind = simd_choose(SIMD_KIND_AUTO);
    return SIMD_PICK(kind, add_plain);
}

/* Adds n numbers modulo m <= 2^63; `to` is in 0 .. m-1 and stays there, `from` is any integer. */
static void add_modular(int64_t *restrict to, const int64_t *restrict from, int64_t n, uint64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t term = from[i];
        /* -term as unsigned is right for the least integer, too. */
        const uint64_t size = term < 0 ? (0 - (uint64_t)term) % m : (uint64_t)term % m;
        const uint64_t residue = term < 0 && size != 0 ? m - size : size;
        const uint64_t s = (uint64_t)to[i] + residue; /* both below 2^63 */
        to[i] = (int64_t)(s >= m ? s - m : s);
    }
}

static dpf_status add(const dpf_call *call, adding add_plain, const dpf_aggregation *into, int64_t *to,
                      const int64_t *from, int64_t n)
{
    if (into->modulus) {
        add_modular(to, from, n, into->modulus);
        return DPF_OK;
    }
    return add_plain(to, from, n)
               ? failed(call, DPF_E_RANGE,
                        "a sum exceeds 64 bits; choose a coarser grid in the mechanism, or "
                        "clip the messages")
               : DPF_OK;
}

static dpf_status check_modulus(const dpf_call *call, const dpf_aggregation *into)
{
    return into->modulus > UINT64_C(1) << 63
               ? failed(call, DPF_E_UNSUPPORTED,
                        "sums modulo more than 2^63 do not fit signed 64-bit integers")
               : DPF_OK;
}

/* Rows of a message are numbered as those of the aggregation. */
dpf_status adding_absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    (void)self;
    const adding add_plain = find_adding();
    dpf_status status = check_modulus(call, into);
    if (status == DPF_OK && message->width != into->width) {
        status = failed(call, DPF_E_INTERNAL, "a message has another width than the aggregation");
    }
    /* All rows in one go where they follow one another. */
    const int whole = status == DPF_OK && !message->rows && message->stride == message->width &&
                      message->first_row >= 0 && message->n_rows >= 0 &&
                      message->n_rows <= into->rows - message->first_row;
    if (whole) {
        status = add(call, add_plain, into, into->sums + message->first_row * into->width, message->values,
                     message->n_rows * into->width);
    }
    for (int64_t r = 0; !whole && status == DPF_OK && r < message->n_rows; r++) {
        const int64_t row = message->rows ? message->rows[r] : message->first_row + r;
        if (row < 0 || row >= into->rows) {
            return failed(call, DPF_E_INTERNAL, "a message has a row that the aggregation lacks");
        }
        status = add(call, add_plain, into, into->sums + row * into->width,
                     message->values + r * message->stride, into->width);
    }
    if (status != DPF_OK) {
        return status;
    }
    into->survivors++;
    /* A party that sends chosen rows has to name them. */
    into->bytes_up += (uint64_t)message->n_rows * (uint64_t)message->width * sizeof(int64_t) +
                      (message->rows ? (uint64_t)message->n_rows * sizeof(int32_t) : 0);
    return DPF_OK;
}

dpf_status adding_merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from)
{
    (void)self;
    if (into->width != from->width || into->rows != from->rows || into->modulus != from->modulus) {
        return failed(call, DPF_E_INTERNAL, "aggregations of different shapes cannot be joined");
    }
    dpf_status status = check_modulus(call, into);
    if (status == DPF_OK) {
        status = add(call, find_adding(), into, into->sums, from->sums, into->rows * into->width);
    }
    if (status == DPF_OK) {
        into->survivors += from->survivors;
        into->bytes_up += from->bytes_up;
        into->bytes_down += from->bytes_down;
    }
    return status;
}
