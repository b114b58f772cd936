/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_faulty.c - stands in front of a link (faulty: of local, faulty-grpc: of grpc) and does to what is sent what networks and machines do: loses
 * messages, sends them twice, late or in another order, and lets the process die or fall silent after so
 * many. Which ones follows from a seed, so that a failure can be repeated.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "wrapped_link.h"

enum {
    P_SEED,
    P_DROP,
    P_DUPLICATE,
    P_REORDER,
    P_DELAY,
    P_DELAY_TIME,
    P_KILL_AFTER,
    P_SILENT_AFTER,
    P_CUT_AFTER,
    P_COUNT
};

#define PARAMS                                                                                               \
    [P_SEED] = DPF_PARAM_INT_F("seed", 1, 0, 9007199254740992.0, 0, "", "Chooses the messages."),            \
    [P_DROP] = DPF_PARAM_REAL_F("drop", 0, 0, 1, 0, "", "Probability that a message is lost."),              \
    [P_DUPLICATE] = DPF_PARAM_REAL_F("duplicate", 0, 0, 1, 0, "", "Probability that it is sent twice."),     \
    [P_REORDER] = DPF_PARAM_REAL_F("reorder", 0, 0, 1, 0, "",                                                \
                                   "Probability that it is sent after the next message to the same peer."),  \
    [P_DELAY] = DPF_PARAM_REAL_F("delay", 0, 0, 1, 0, "", "Probability that it is sent late."),              \
    [P_DELAY_TIME] = DPF_PARAM_REAL_F("delay-time", 1, 0, 86400, 0, "s", "How late."),                       \
    [P_KILL_AFTER] =                                                                                         \
        DPF_PARAM_INT_F("kill-after", 0, 0, 1e9, 0, "messages",                                              \
                        "The process kills itself when it would send the message after so many. "            \
                        "0: never."),                                                                        \
    [P_SILENT_AFTER] = DPF_PARAM_INT_F("silent-after", 0, 0, 1e9, 0, "messages",                             \
                                       "All messages after so many are lost. 0: none for this reason."),     \
    [P_CUT_AFTER] =                                                                                          \
        DPF_PARAM_INT_F("cut-after", 0, 0, 1e9, 0, "messages",                                               \
                        "At a party: the connection is lost once, with the message after this many. The "    \
                        "party may connect again. 0: never.")

static const dpf_param params[P_COUNT] = {PARAMS};
static const dpf_param grpc_params[P_COUNT + WRAPPED_GRPC_COUNT] = {PARAMS, WRAPPED_GRPC_PARAMS};

struct held {
    struct held *next;
    int64_t peer;
    double due; /* seconds; infinite: after the peer's next message */
    uint64_t n;
    uint8_t bytes[];
};

struct faulty {
    struct wrapped wrapped;
    const dpf_host *host;
    const dpf_memory_service *memory;
    const dpf_value *values;
    uint64_t state, sent;
    int is_cut; /* to be told */
    struct held *held;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* SplitMix64: no secret hangs on it. */
static double coin(struct faulty *faulty)
{
    uint64_t x = faulty->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static dpf_status hold(struct faulty *faulty, int64_t peer, const uint8_t *bytes, uint64_t n, double due)
{
    struct held *held = faulty->memory->allocate(faulty->host, sizeof(*held) + n);
    if (!held)
        return faulty->host->fail(faulty->host, DPF_E_MEMORY, -1, "out of memory");
    held->peer = peer;
    held->due = due;
    held->n = n;
    memcpy(held->bytes, bytes, n);
    struct held **end = &faulty->held;
    while (*end)
        end = &(*end)->next;
    *end = held; /* behind the others: what is late stays in order */
    return DPF_OK;
}

/* Sends what is due: for its time, or since another message to the peer has gone. */
static dpf_status release_held(struct faulty *faulty, double time, int64_t after_peer)
{
    dpf_status status = DPF_OK;
    for (struct held **at = &faulty->held; *at && status == DPF_OK;) {
        struct held *held = *at;
        if (!(held->due <= time || (isinf(held->due) && held->peer == after_peer))) {
            at = &held->next;
            continue;
        }
        *at = held->next;
        status = wrapped_send(faulty, held->peer, held->bytes, held->n);
        faulty->memory->release(faulty->host, held);
    }
    return status;
}

static dpf_status send_message(void *self, int64_t peer, const uint8_t *bytes, uint64_t n_bytes)
{
    struct faulty *faulty = self;
    const dpf_value *v = faulty->values;
    /* All coins are tossed for each message: one setting does not move what another one chooses. */
    const double drop = coin(faulty), twice = coin(faulty), later = coin(faulty), late = coin(faulty);
    const uint64_t number = faulty->sent++;
    if (v[P_KILL_AFTER].integer && number >= (uint64_t)v[P_KILL_AFTER].integer)
        raise(SIGKILL);
    if (v[P_CUT_AFTER].integer && number == (uint64_t)v[P_CUT_AFTER].integer)
        faulty->is_cut = 1;
    if (faulty->is_cut)
        return DPF_OK;
    if ((v[P_SILENT_AFTER].integer && number >= (uint64_t)v[P_SILENT_AFTER].integer) || drop < v[P_DROP].real)
        return DPF_OK;
    if (late < v[P_DELAY].real)
        return hold(faulty, peer, bytes, n_bytes, now() + v[P_DELAY_TIME].real);
    if (later < v[P_REORDER].real)
        return hold(faulty, peer, bytes, n_bytes, INFINITY);
    dpf_status status = wrapped_send(faulty, peer, bytes, n_bytes);
    if (status == DPF_OK && twice < v[P_DUPLICATE].real)
        status = wrapped_send(faulty, peer, bytes, n_bytes);
    return status == DPF_OK ? release_held(faulty, now(), peer) : status;
}

static dpf_status receive(void *self, double seconds, dpf_link_event *out)
{
    struct faulty *faulty = self;
    const double until = now() + seconds;
    if (faulty->is_cut) {
        out->kind = DPF_LINK_CLOSED;
        out->peer = DPF_LINK_SERVER;
        out->name = "";
        return DPF_OK;
    }
    for (;;) {
        const double time = now();
        double next = until;
        const dpf_status status = release_held(faulty, time, -1);
        if (status != DPF_OK)
            return status;
        for (const struct held *held = faulty->held; held; held = held->next)
            next = held->due < next ? held->due : next;
        const dpf_status received = wrapped_receive(faulty, next > time ? next - time : 0, out);
        if (received != DPF_OK || out->kind != DPF_LINK_NOTHING || now() >= until)
            return received;
    }
}

static void forget_held(struct faulty *faulty)
{
    while (faulty->held) {
        struct held *held = faulty->held;
        faulty->held = held->next;
        faulty->memory->release(faulty->host, held);
    }
}

static void close_end(void *self)
{
    struct faulty *faulty = self;
    if (!faulty->is_cut)
        release_held(faulty, INFINITY, -1); /* a network would still deliver them */
    faulty->is_cut = 0;
    forget_held(faulty);
    wrapped_close(faulty);
}

static void own_create(const dpf_host *host, const dpf_params *given, struct faulty *faulty)
{
    faulty->host = host;
    faulty->memory = dpf_memory(host);
    faulty->values = given->values;
    faulty->state = (uint64_t)given->values[P_SEED].integer;
}

static void destroy(void *self)
{
    struct faulty *faulty = self;
    forget_held(faulty);
    wrapped_free(&faulty->wrapped);
}

WRAPPED_PLUGIN("faulty", "Loses, repeats, delays and reorders what is sent", sizeof(struct faulty),
               .open = wrapped_open, .send = send_message, .receive = receive, .hang_up = wrapped_hang_up,
               .close = close_end, .admit = wrapped_admit)
