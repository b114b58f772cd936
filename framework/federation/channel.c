/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/components.h"

double channel_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int channel_make(struct channel *channel, struct plan *plan, struct dpf_error *error)
{
    int64_t n;
    const dpf_param *table = federation_params(&n);
    *channel = (struct channel){.link = NULL};
    if (config_bind(plan->config, "federation", table, n, sizeof *table, NULL, 1, &channel->options, error) !=
        0)
        return -1;
    const char *id = channel->options.params.values[FEDERATION_LINK].text;
    if (!*id)
        return config_error(plan->config, "federation", "link", error,
                            "names no link: see \"dpframe list link\"");
    if (components_make_one(plan, DPF_ROLE_LINK, "federation", "link", id, &channel->link, error) != 0)
        return -1;
    channel->functions = channel->link->functions;
    channel->self = channel->link->self;
    return 0;
}

static int result(struct channel *channel, dpf_status status, struct dpf_error *error)
{
    if (status == DPF_OK)
        return 0;
    instance_result(channel->link, status, NULL, error);
    error->fault = status == DPF_E_CONFIG ? DPF_FAULT_CONFIG : DPF_FAULT_RUN;
    return -1;
}

int channel_open(struct channel *channel, int32_t end, const char *address, struct dpf_error *error)
{
    if (result(channel, channel->functions->open(channel->self, end, address), error) != 0)
        return -1;
    channel->is_open = 1;
    return 0;
}

int channel_send(struct channel *channel, int64_t peer, const struct frame *frame,
                 const struct remote_rows *rows, struct dpf_error *error)
{
    return channel_share(channel, &peer, 1, frame, rows, error);
}

int channel_share(struct channel *channel, const int64_t *peers, int64_t n_peers, const struct frame *frame,
                  const struct remote_rows *rows, struct dpf_error *error)
{
    size_t n;
    dpf_status status = DPF_OK;
    uint8_t *bytes = frame_write(frame, rows, &n);
    if (!bytes)
        return error_set(error, DPF_FAULT_RUN, "out of memory");
    if (channel->functions->share)
        status = channel->functions->share(channel->self, peers, n_peers, bytes, n);
    for (int64_t i = 0; !channel->functions->share && i < n_peers && status == DPF_OK; i++)
        status = channel->functions->send(channel->self, peers[i], bytes, n);
    free(bytes);
    channel->bytes_up += n * (uint64_t)n_peers;
    return result(channel, status, error);
}

void channel_admit(struct channel *channel, int64_t peer, uint64_t step_bytes)
{
    const uint64_t most = FRAME_HEADER + step_bytes;
    channel->functions->admit(channel->self, peer, most > DPF_LINK_FIRST ? most : DPF_LINK_FIRST);
}

int channel_receive(struct channel *channel, double seconds, struct channel_event *out,
                    struct dpf_error *error)
{
    dpf_link_event event = {.size = sizeof event};
    if (result(channel, channel->functions->receive(channel->self, seconds, &event), error) != 0)
        return -1;
    *out = (struct channel_event){.kind = event.kind, .peer = event.peer};
    snprintf(out->name, sizeof out->name, "%s", event.name ? event.name : "");
    if (event.kind != DPF_LINK_MESSAGE)
        return 0;
    out->bytes = event.bytes;
    out->n_bytes = (size_t)event.n_bytes;
    channel->bytes_down += event.n_bytes;
    if (frame_read(event.bytes, (size_t)event.n_bytes, &out->frame) != 0)
        out->frame = (struct frame){.round = 0};
    return 0;
}

void channel_hang_up(struct channel *channel, int64_t peer)
{
    channel->functions->hang_up(channel->self, peer);
}

void channel_shut(struct channel *channel)
{
    if (channel->is_open)
        channel->functions->close(channel->self);
    channel->is_open = 0;
}

void channel_close(struct channel *channel)
{
    channel_shut(channel);
    instance_free(channel->link);
    config_values_free(&channel->options);
    *channel = (struct channel){.link = NULL};
}
