/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_liar.c - stands in front of a link (liar: of local, liar-grpc: of grpc), for tests: puts the largest integer at the end of all that is long, or, with
 * `kind`, another text into frames of that kind, and `pad` bytes behind it.
 */
#include <string.h>

#include "wrapped_link.h"

enum { LONG = 200 }; /* longer than greetings, shorter than a message of numbers */
enum { P_KIND, P_TEXT_AT, P_TEXT, P_PAD, P_COUNT };

#define PARAMS \
    [P_KIND] = DPF_PARAM_INT_F("kind", 0, 0, 255, 0, "", "Frames of this kind get the text. 0: none."), \
    [P_TEXT_AT] = DPF_PARAM_INT_F("text-at", 8, 0, 4096, 0, "bytes", "Where the text begins."), \
    [P_TEXT] = \
        DPF_PARAM_TEXT_F("text", DPF_TYPE_STRING, "", 0, "The text; ~ is an end of line, ^ an escape."), \
    [P_PAD] = DPF_PARAM_INT_F("pad", 0, 0, 1e9, 0, "bytes", "So much behind the text.")

static const dpf_param params[P_COUNT] = {PARAMS};
static const dpf_param grpc_params[P_COUNT + WRAPPED_GRPC_COUNT] = {PARAMS, WRAPPED_GRPC_PARAMS};

struct liar {
    const dpf_value *values;
    const dpf_host *host;
    struct wrapped wrapped;
    const dpf_link *link;
    void *self;
};

static dpf_status open_end(void *self, int32_t end, const char *address)
{
    struct liar *liar = self;
    return liar->link->open(liar->self, end, address);
}

static dpf_status send_forged(const struct liar *liar, int64_t peer, const uint8_t *bytes)
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
    const dpf_status status = liar->link->send(liar->self, peer, copy, n);
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
        return liar->link->send(liar->self, peer, bytes, n);
    if (n < LONG)
        return liar->link->send(liar->self, peer, bytes, n);
    uint8_t *copy = dpf_memory(liar->host)->allocate(liar->host, n);
    if (!copy)
        return DPF_E_MEMORY;
    memcpy(copy, bytes, n);
    memcpy(copy + n - sizeof most, &most, sizeof most);
    const dpf_status status = liar->link->send(liar->self, peer, copy, n);
    dpf_memory(liar->host)->release(liar->host, copy);
    return status;
}

static dpf_status receive(void *self, double seconds, dpf_link_event *out)
{
    struct liar *liar = self;
    return liar->link->receive(liar->self, seconds, out);
}

static void hang_up(void *self, int64_t peer)
{
    struct liar *liar = self;
    liar->link->hang_up(liar->self, peer);
}

static void admit(void *self, int64_t peer, uint64_t largest)
{
    struct liar *liar = self;
    liar->link->admit(liar->self, peer, largest);
}

static void close_end(void *self)
{
    struct liar *liar = self;
    liar->link->close(liar->self);
}

static dpf_status create_with(const dpf_host *host, const dpf_params *given, const char *name, uint32_t n,
                              void **self)
{
    struct liar *liar = *self;
    liar->host = host;
    liar->values = given->values;
    const dpf_status status = wrapped_make(&liar->wrapped, name, host, given, n);
    liar->link = liar->wrapped.link;
    liar->self = liar->wrapped.self;
    return status;
}

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    return create_with(host, given, "local", 0, self);
}

static dpf_status create_grpc(const dpf_host *host, const dpf_params *given, void **self)
{
    return create_with(host, given, "grpc", WRAPPED_GRPC_COUNT, self);
}

static void destroy(void *self)
{
    wrapped_free(&((struct liar *)self)->wrapped);
}

#define FUNCTIONS                                                                                            \
    .open = open_end, .send = send_message, .receive = receive, .hang_up = hang_up, .close = close_end,      \
    .admit = admit
static const dpf_link functions = {.flags = DPF_LINK_LOCAL, FUNCTIONS};
static const dpf_link grpc_functions = {.flags = DPF_LINK_PROTECTED, FUNCTIONS};

DPF_COMPONENT(component, DPF_ROLE_LINK, functions, .id = "liar", .version = "1.0.0",
              .summary = "Alters what is sent over local", .citation = "", DPF_PARAMS(params),
              .create = create, .destroy = destroy, .instance_bytes = sizeof(struct liar))
DPF_COMPONENT(grpc_component, DPF_ROLE_LINK, grpc_functions, .id = "liar-grpc", .version = "1.0.0",
              .summary = "Alters what is sent over grpc", .citation = "", DPF_PARAMS(grpc_params),
              .create = create_grpc, .destroy = destroy, .instance_bytes = sizeof(struct liar))

WRAPPED_PLUGIN("org.dpframe.test.liar", component, grpc_component)
