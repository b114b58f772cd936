/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_end.h - one end of a link over gRPC, for C: a bidirectional stream of bytes for each party, which all
 * dial the server. No exception leaves these functions.
 */
#ifndef GRPC_END_H
#define GRPC_END_H

#include <stddef.h>
#include <stdint.h>

#include "dpframe/role/link.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRPC_END_WHY 300

struct grpc_end;

struct grpc_end_setup {
    int serves;
    const char *address;          /* HOST:PORT */
    const char *ca, *chain, *key; /* PEM, the text itself */
    const char *server_name;      /* a party: that the server's certificate is for, if not HOST; "" : HOST */
    double patience;              /* a party: seconds until it is connected */
};

/* What the library beside the plugins offers, by the name below. */
struct grpc_end_functions {
    /* NULL, with a sentence in why. */
    struct grpc_end *(*open)(const struct grpc_end_setup *setup, char why[GRPC_END_WHY]);
    /* To each of them, from one buffer. 0, or -1: out of memory. */
    int (*share)(struct grpc_end *end, const int64_t *peers, int64_t n_peers, const uint8_t *bytes,
                 uint64_t n_bytes);
    /* The largest message that is taken from the peer. */
    void (*admit)(struct grpc_end *end, int64_t peer, uint64_t largest);
    int (*receive)(struct grpc_end *end, double seconds, dpf_link_event *out);
    void (*hang_up)(struct grpc_end *end, int64_t peer);
    /* Waits for what is under way, and ends all threads. */
    void (*close)(struct grpc_end *end);
};
#define GRPC_END_SYMBOL "dpframe_grpc_end_2"
extern DPF_EXPORT const struct grpc_end_functions dpframe_grpc_end_2;

#ifdef __cplusplus
}
#endif
#endif
