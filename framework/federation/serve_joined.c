/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected to the server, who they are, and who may take part. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "federation/serving.h"

struct joined *serve_joined_peer(struct serve *serve, int64_t peer)
{
    for (int64_t i = 0; i < serve->n_joined; i++)
        if (serve->joined[i].peer == peer)
            return &serve->joined[i];
    return NULL;
}

struct joined *serve_joined_party(struct serve *serve, int64_t party)
{
    for (int64_t i = 0; i < serve->n_joined; i++)
        if (serve->joined[i].party == party)
            return &serve->joined[i];
    return NULL;
}

int64_t serve_count_ready(const struct serve *serve)
{
    int64_t n = 0;
    for (int64_t i = 0; i < serve->n_joined; i++)
        n += serve->joined[i].ready;
    return n;
}

static int add_joined(struct serve *serve, const struct channel_event *event, struct dpf_error *error)
{
    if (serve->n_joined == serve->room) {
        const int64_t room = 2 * serve->room + 16;
        struct joined *grown = realloc(serve->joined, (size_t)room * sizeof *grown);
        if (!grown)
            return error_memory(error);
        serve->joined = grown;
        serve->room = room;
    }
    struct joined *joined = &serve->joined[serve->n_joined++];
    *joined = (struct joined){.peer = event->peer, .party = NOBODY};
    memcpy(joined->name, event->name, sizeof joined->name);
    return 0;
}

static void remove_joined(struct serve *serve, int64_t peer)
{
    struct joined *joined = serve_joined_peer(serve, peer);
    if (joined)
        *joined = serve->joined[--serve->n_joined];
}

static int refuse(struct serve *serve, int64_t peer, struct dpf_error *error, const char *why)
{
    struct frame frame = {.kind = FRAME_REFUSED};
    snprintf(frame.text, sizeof frame.text, "%s", why);
    log_message(LOG_LEVEL_WARNING, "a party is refused: %s", why);
    if (channel_send(&serve->channel, peer, &frame, NULL, error) != 0)
        return -1;
    channel_hang_up(&serve->channel, peer);
    remove_joined(serve, peer);
    return 0;
}

/* It would run something else. It is told what all ends must have, finds what differs, and says so before it leaves. */
static int tell_list(struct serve *serve, int64_t peer, struct dpf_error *error)
{
    char *text = agreement_text(&serve->agreement);
    if (!text)
        return error_memory(error);
    const struct frame frame = {
        .kind = FRAME_DIFFERS, .bytes = (const uint8_t *)text, .n_bytes = strlen(text)};
    const int status = channel_send(&serve->channel, peer, &frame, NULL, error);
    free(text);
    return status;
}

/* Why this party cannot join, in text; "" if it can. */
static void judge(struct serve *serve, const struct joined *joined, const struct frame *hello, int64_t party,
                  char text[FRAME_TEXT])
{
    text[0] = '\0';
    const struct joined *other = party >= 0 ? serve_joined_party(serve, party) : NULL;
    if (party < 0)
        snprintf(text, FRAME_TEXT, "\"%.200s\" is not in the list of %s", hello->text,
                 serve->members.users ? "users" : "sites");
    else if (*joined->name && strcmp(joined->name, hello->text) != 0)
        snprintf(text, FRAME_TEXT, "it is \"%.150s\" by its certificate and says that it is \"%.150s\"",
                 joined->name, hello->text);
    else if (other && other != joined)
        snprintf(text, FRAME_TEXT, "\"%.200s\" is here already", hello->text);
    else if (serve->known[party].is_known && memcmp(serve->known[party].instance, hello->instance, 16) != 0)
        snprintf(text, FRAME_TEXT,
                 "\"%.200s\" has joined this run with another directory ([federation] state) before",
                 hello->text);
}

static int on_hello(struct serve *serve, struct joined *joined, const struct frame *hello,
                    struct dpf_error *error)
{
    char why[FRAME_TEXT];
    const int64_t party = members_find(&serve->members, hello->text);
    if (joined->party != NOBODY)
        return 0; /* it has been answered */
    if (memcmp(hello->agreement, serve->agreement.digest, 32) != 0)
        return tell_list(serve, joined->peer, error);
    judge(serve, joined, hello, party, why);
    if (*why)
        return refuse(serve, joined->peer, error, why);
    joined->party = party;
    serve->known[party].is_known = 1;
    memcpy(serve->known[party].instance, hello->instance, 16);
    struct frame terms = {.kind = FRAME_TERMS, .insecure = serve->insecure};
    memcpy(terms.agreement, serve->agreement.digest, 32);
    memcpy(terms.session, serve->session, 16);
    return channel_send(&serve->channel, joined->peer, &terms, NULL, error);
}

/* What has nothing to do with a phase. */
int serve_event(struct serve *serve, const struct channel_event *event, struct dpf_error *error)
{
    struct joined *joined = serve_joined_peer(serve, event->peer);
    if (event->kind == DPF_LINK_OPENED)
        return add_joined(serve, event, error);
    if (event->kind == DPF_LINK_CLOSED) {
        if (joined && joined->ready)
            log_message(LOG_LEVEL_INFO, "\"%s\" is gone", members_name(&serve->members, joined->party));
        remove_joined(serve, event->peer);
        metrics_parties(&serve->metrics, serve_count_ready(serve));
        return 0;
    }
    if (event->kind != DPF_LINK_MESSAGE || !joined)
        return 0;
    if (event->frame.kind == FRAME_HELLO)
        return on_hello(serve, joined, &event->frame, error);
    if (event->frame.kind == FRAME_READY && joined->party != NOBODY) {
        joined->ready = 1;
        log_message(LOG_LEVEL_INFO, "\"%s\" has joined", members_name(&serve->members, joined->party));
        joined->in_round = event->frame.round;
        metrics_parties(&serve->metrics, serve_count_ready(serve));
    }
    if (event->frame.kind == FRAME_ABORT)
        log_message(LOG_LEVEL_WARNING, "a party leaves: %s", event->frame.text);
    return event->frame.kind ? 0
                             : refuse(serve, event->peer, error, "what it sends is not a message of dpframe");
}

int serve_next_event(struct serve *serve, double until, struct channel_event *event, struct dpf_error *error)
{
    const double left = until - channel_clock();
    if (worker_cancelled())
        return error_set(error, DPF_FAULT_RUN, "interrupted; nothing is written");
    if (left <= 0)
        return 0;
    return channel_receive(&serve->channel, left < 1 ? left : 1, event, error) != 0 ? -1 : 1;
}
