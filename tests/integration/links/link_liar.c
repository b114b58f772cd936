/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_liar.c - stands in front of a link (liar: of local, liar-grpc: of grpc), for tests: puts the largest integer at the end of all that is long, or, with
 * `kind`, another text into frames of that kind, and `pad` bytes behind it.
 */
#include <string.h>

#include "wrapped_link.h"

enum { LONG = 200 }; /* longer than greetings, shorter than a message of numbers */
enum { P_KIND, P_TEXT_AT, P_TEXT, P_PAD, P_COUNT };

#define PARAMS                                                                                               \
    [P_KIND] = DPF_PARAM_INT_F("kind", 0, 0, 255, 0, "", "Frames of this kind get the text. 0: none."),      \
    [P_TEXT_AT] = DPF_PARAM_INT_F("text-at", 8, 0, 4096, 0, "bytes", "Where the text begins."),              \
    [P_TEXT] =                                                                                               \
        DPF_PARAM_TEXT_F("text", DPF_TYPE_STRING, "", 0, "The text; ~ is an end of line, ^ an escape."),     \
    [P_PAD] = DPF_PARAM_INT_F("pad", 0, 0, 1e9, 0, "bytes", "So much behind the text.")

static const dpf_param params[P_COUNT] = {PARAMS};
static const dpf_param grpc_params[P_COUNT + WRAPPED_GRPC_COUNT] = {PARAMS, WRAPPED_GRPC_PARAMS};

struct liar {
    struct wrapped wrapped;
    const dpf_value *values;
    const dpf_host *host;
};

static dpf_status send_forged(struct liar *liar, int64_t peer, const uint8_t *bytes)
{
    const char *text = liar->values[P_TEXT].text;
    const uint64_t at = (uint64_t)liar->values[P_TEXT_AT].integer, length = strlen(text),
                   n = at + length + (uint64_t)liar->values[P_PAD].integer;
    uint8_t *copy = dpf_memory(liar->host)->allocate(liar->host, n);
    if (!copy)
        return DPF_E_MEMORY;
    memset(copy, 'x', n);
    memcpy(copy, bytes, at);
    for (uint64_t i = 0; i < length; i++)
        copy[at + i] = text[i] == '~' ? '\n' : text[i] == '^' ? 27 : (uint8_t)text[i];
    const dpf_status status = wrapped_send(liar, peer, copy, n);
    dpf_memory(liar->host)->release(liar->host, copy);
    return status;
}

static dpf_status send_message(void *self, int64_t peer, const uint8_t *bytes, uint64_t n)
{
    struct liar *liar = self;
    const int64_t most = INT64_MAX, kind = liar->values[P_KIND].integer;
    if (kind > 0 && bytes[1] == kind)
        return send_forged(liar, peer, bytes);
    if (kind > 0)
        return wrapped_send(liar, peer, bytes, n);
    if (n < LONG)
        return wrapped_send(liar, peer, bytes, n);
    uint8_t *copy = dpf_memory(liar->host)->allocate(liar->host, n);
    if (!copy)
        return DPF_E_MEMORY;
    memcpy(copy, bytes, n);
    memcpy(copy + n - sizeof most, &most, sizeof most);
    const dpf_status status = wrapped_send(liar, peer, copy, n);
    dpf_memory(liar->host)->release(liar->host, copy);
    return status;
}

static void own_create(const dpf_host *host, const dpf_params *given, struct liar *liar)
{
    liar->host = host;
    liar->values = given->values;
}

static void destroy(void *self)
{
    wrapped_free(self);
}

WRAPPED_PLUGIN("liar", "Alters what is sent", sizeof(struct liar), .open = wrapped_open, .send = send_message,
               .receive = wrapped_receive, .hang_up = wrapped_hang_up, .close = wrapped_close,
               .admit = wrapped_admit)
