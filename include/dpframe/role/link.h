/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/link.h - messages between processes: a server, and parties that keep their own data.
 *
 * A link carries whole messages of bytes between a server and parties, and knows nothing of what they say.
 * Parties dial the server. Messages of one peer arrive in the order in which they were sent, once each, or
 * the peer is closed. All functions are called by one thread; a link may own threads, which it starts in open
 * and ends in close, and it is never opened in a process that forks.
 */
#ifndef DPFRAME_ROLE_LINK_H
#define DPFRAME_ROLE_LINK_H

#include "../host.h"
#include "../params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_LINK "dpframe.link/1"

/* Flags. The host uses a link between machines only if it is PROTECTED. */
#define DPF_LINK_LOCAL UINT32_C(1)     /* both ends are processes of one user of one machine */
#define DPF_LINK_PROTECTED UINT32_C(2) /* bytes are encrypted, and either end has proved who it is */

#define DPF_LINK_SERVES 0 /* the end that parties dial */
#define DPF_LINK_JOINS 1  /* a party */

/* Bytes of a message that the server takes from a peer which the host has not admitted. One message of each peer
   waits at most: a link reads no further from a peer before that has been received. */
#define DPF_LINK_FIRST UINT64_C(1024)

/* The server, as a party numbers its only peer. */
#define DPF_LINK_SERVER INT64_C(0)

#define DPF_LINK_NOTHING 0 /* the time is up, or a signal came */
#define DPF_LINK_OPENED 1  /* a peer is there; at the server only */
#define DPF_LINK_MESSAGE 2
#define DPF_LINK_CLOSED 3 /* the peer is gone, and nothing more comes from it */

typedef struct dpf_link_event {
    uint32_t size;
    int32_t kind;         /* out: DPF_LINK_NOTHING and so on */
    int64_t peer;         /* out: at the server a number that no other peer of the run has had */
    const uint8_t *bytes; /* out: of a message; until the next call of any function of the link */
    uint64_t n_bytes;     /* out */
    const char *name; /* out: OPENED: who the peer has proved to be, or "" for nobody in particular; CLOSED:
                         why, or "". As long as bytes */
} dpf_link_event;

typedef struct dpf_link {
    uint32_t flags; /* DPF_LINK_LOCAL or DPF_LINK_PROTECTED */
    int32_t reserved;
    uint64_t largest; /* bytes of a message that it takes */
    /* [run, required] One end (DPF_LINK_SERVES or _JOINS) at an address. Fails if it cannot be reached. */
    dpf_status (*open)(void *self, int32_t end, const char *address);
    /*
     * [run, required] Takes the bytes over and returns at once; they leave by themselves or during receive. A
     * peer that is gone is no failure: CLOSED comes, or has come.
     */
    dpf_status (*send)(void *self, int64_t peer, const uint8_t *bytes, uint64_t n_bytes);
    /* [run, required] Waits for what comes next, so many seconds at most. */
    dpf_status (*receive)(void *self, double seconds, dpf_link_event *out);
    /* [run, required] Closes a peer, once what was sent to it has left or a second has gone by; at a party
     * the server. */
    void (*hang_up)(void *self, int64_t peer);
    /* [run, required] Closes all peers in the same way and the end. It may be opened again. */
    void (*close)(void *self);
    /*
     * [run, required] The server calls it, once it knows the peer: from now on it takes messages of up to so many
     * bytes of it. Whoever sends a longer one is closed, without room having been made for it. A party takes what the
     * server sends, up to largest.
     */
    void (*admit)(void *self, int64_t peer, uint64_t largest);
    /* [run, optional] send to several peers, from one buffer that they share. NULL: the host calls send for each. */
    dpf_status (*share)(void *self, const int64_t *peers, int64_t n_peers, const uint8_t *bytes,
                        uint64_t n_bytes);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[7])(void);
} dpf_link;

#ifdef __cplusplus
}
#endif
#endif
