/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - a link that a configuration names, opened, and frames over it. */
#ifndef DPF_FEDERATION_CHANNEL_H
#define DPF_FEDERATION_CHANNEL_H

#include "federation/federation_options.h"
#include "federation/frames.h"
#include "plan/plan.h"

struct channel {
    struct config_values options; /* [federation] */
    struct instance *link;
    const dpf_link *functions; /* of link */
    void *self;
    int is_open;
    uint64_t bytes_up, bytes_down; /* of all frames, seen from a party */
};

struct channel_event {
    int kind; /* DPF_LINK_* */
    int64_t peer;
    char name[256];
    const uint8_t *bytes; /* of a message, until the next call */
    size_t n_bytes;
    struct frame frame; /* of a message; kind 0: not a frame */
};

/* Binds [federation] and makes the link. Close it, on failure too. */
int channel_make(struct channel *channel, struct plan *plan, struct dpf_error *error);
int channel_open(struct channel *channel, int32_t end, const char *address, struct dpf_error *error);
int channel_send(struct channel *channel, int64_t peer, const struct frame *frame,
                 const struct remote_rows *rows, struct dpf_error *error);
/* The same frame to several peers, from one buffer. */
int channel_share(struct channel *channel, const int64_t *peers, int64_t n_peers, const struct frame *frame,
                  const struct remote_rows *rows, struct dpf_error *error);
/* The server knows the peer, and takes steps of up to so many bytes of it; of others a HELLO alone fits. */
void channel_admit(struct channel *channel, int64_t peer, uint64_t step_bytes);
int channel_receive(struct channel *channel, double seconds, struct channel_event *out,
                    struct dpf_error *error);
void channel_hang_up(struct channel *channel, int64_t peer);
void channel_shut(struct channel *channel); /* may be opened again */
void channel_close(struct channel *channel);
double channel_clock(void); /* seconds, monotonic */

#endif
