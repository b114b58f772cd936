/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected to the server, who they are, and who may take part. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/checkpoint.h"
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

const char *serve_name(const struct serve *serve, int64_t party, char shown[TEXT_SHOWN])
{
    return text_show(members_name(&serve->members, party), shown);
}

static void add_joined(struct serve *serve, const struct channel_event *event)
{
    size_t room = (size_t)serve->room;
    serve->joined =
        memory_need_grow(serve->joined, &room, (size_t)serve->n_joined + 1, sizeof *serve->joined);
    serve->room = (int64_t)room;
    struct joined *joined = &serve->joined[serve->n_joined++];
    *joined = (struct joined){.peer = event->peer, .party = NOBODY, .since = channel_clock()};
    memcpy(joined->name, event->name, sizeof joined->name);
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
    char says[TEXT_SHOWN], is[TEXT_SHOWN];
    text_show(hello->text, says);
    if (party < 0)
        snprintf(text, FRAME_TEXT, "\"%s\" is not in the list of %s", says,
                 serve->members.users ? "users" : "sites");
    else if (!enrolled_has(&serve->enrolled, hello->text))
        snprintf(text, FRAME_TEXT, "\"%s\" is not enrolled at the server now", says);
    else if (*joined->name && strcmp(joined->name, hello->text) != 0)
        snprintf(text, FRAME_TEXT, "it is \"%s\" by its certificate and says that it is \"%s\"",
                 text_show(joined->name, is), says);
    else if (serve->known[party].is_known && memcmp(serve->known[party].instance, hello->instance, 16) != 0)
        snprintf(text, FRAME_TEXT,
                 other && other != joined
                     ? "\"%s\" is here already, with another directory ([federation] state)"
                     : "\"%s\" has joined this run with another directory ([federation] state) before",
                 says);
}

/* A party that is started again, or has lost its connection without a word, has the same directory, which one process
   at a time opens: its old connection is dead, whatever the link knows of it. */
static void replace_connection(struct serve *serve, int64_t party)
{
    char shown[TEXT_SHOWN];
    const struct joined *old = serve_joined_party(serve, party);
    if (!old)
        return;
    log_message(LOG_LEVEL_INFO, "\"%s\" has come back by a new connection", serve_name(serve, party, shown));
    const int64_t peer = old->peer;
    channel_hang_up(&serve->channel, peer);
    remove_joined(serve, peer);
}

int serve_remember(struct serve *serve, int64_t party, struct dpf_error *error)
{
    char number[24], hex[33];
    if (!serve->checkpoint)
        return 0;
    snprintf(number, sizeof number, "%lld", (long long)party);
    sodium_bin2hex(hex, sizeof hex, serve->known[party].instance, 16);
    return json_object_set_new(json_object_get(serve->checkpoint->server, "parties"), number,
                               json_string(hex)) == 0
               ? 0
               : error_memory(error);
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
    const int64_t peer = joined->peer;
    replace_connection(serve, party);
    joined = serve_joined_peer(serve, peer); /* the list has moved */
    joined->party = party;
    channel_admit(&serve->channel, peer, serve->largest);
    serve->known[party].is_known = 1;
    memcpy(serve->known[party].instance, hello->instance, 16);
    if (serve_remember(serve, party, error) != 0)
        return -1;
    struct frame terms = {
        .kind = FRAME_TERMS, .round = serve->round, .insecure = serve->insecure, .number = serve->repeats};
    memcpy(terms.agreement, serve->agreement.digest, 32);
    memcpy(terms.session, serve->session, 16);
    return channel_send(&serve->channel, joined->peer, &terms, NULL, error);
}

/* ---- connections that nobody has vouched for ---- */

#define UNKNOWN_SECONDS 10 /* until a peer has said who it is */
#define UNKNOWN_MOST 64    /* such peers at a time */

static int64_t oldest_unknown(const struct serve *serve, int64_t *n)
{
    int64_t oldest = NOBODY;
    *n = 0;
    for (int64_t i = 0; i < serve->n_joined; i++)
        if (serve->joined[i].party == NOBODY) {
            ++*n;
            if (oldest == NOBODY || serve->joined[i].since < serve->joined[oldest].since)
                oldest = i;
        }
    return oldest;
}

static void drop(struct serve *serve, int64_t peer)
{
    channel_hang_up(&serve->channel, peer);
    remove_joined(serve, peer);
}

/* Who has not said in time who it is, and the oldest of too many, goes. */
static void drop_unknown(struct serve *serve)
{
    int64_t n, oldest;
    while ((oldest = oldest_unknown(serve, &n)) != NOBODY &&
           (n > UNKNOWN_MOST || channel_clock() - serve->joined[oldest].since > UNKNOWN_SECONDS))
        drop(serve, serve->joined[oldest].peer);
}

/* Who is not on the list any more goes, too: it may be in the middle of a round, and is lost for it. */
static int drop_revoked(struct serve *serve, struct dpf_error *error)
{
    if (!enrolled_refresh(&serve->enrolled))
        return 0;
    for (int64_t i = serve->n_joined - 1; i >= 0; i--) {
        const struct joined *joined = &serve->joined[i];
        if (joined->party == NOBODY ||
            enrolled_has(&serve->enrolled, members_name(&serve->members, joined->party)))
            continue;
        char why[FRAME_TEXT], shown[TEXT_SHOWN];
        snprintf(why, sizeof why, "\"%s\" is not enrolled at the server now",
                 serve_name(serve, joined->party, shown));
        if (refuse(serve, joined->peer, error, why) != 0)
            return -1;
    }
    return 0;
}

/* The link has proved a name that is on no list: it need not say anything. */
static int on_opened(struct serve *serve, const struct channel_event *event, struct dpf_error *error)
{
    char why[FRAME_TEXT], shown[TEXT_SHOWN];
    add_joined(serve, event);
    if (!*event->name ||
        (members_find(&serve->members, event->name) >= 0 && enrolled_has(&serve->enrolled, event->name)))
        return 0;
    snprintf(why, sizeof why, "\"%s\", as its certificate says, is not in the list of %s",
             text_show(event->name, shown), serve->members.users ? "users" : "sites");
    return refuse(serve, event->peer, error, why);
}

static void on_ready(struct serve *serve, struct joined *joined, const struct frame *ready)
{
    char shown[TEXT_SHOWN];
    joined->ready = 1;
    joined->in_round = ready->round;
    joined->next = ready->number;
    serve->known[joined->party].misses = 0;
    log_message(LOG_LEVEL_INFO, "\"%s\" has joined", serve_name(serve, joined->party, shown));
    metrics_parties(&serve->metrics, serve_count_ready(serve));
}

static void on_closed(struct serve *serve, const struct joined *joined, int64_t peer)
{
    char shown[TEXT_SHOWN];
    if (joined && joined->ready)
        log_message(LOG_LEVEL_INFO, "\"%s\" is gone", serve_name(serve, joined->party, shown));
    remove_joined(serve, peer);
    metrics_parties(&serve->metrics, serve_count_ready(serve));
}

static int on_message(struct serve *serve, struct joined *joined, const struct channel_event *event,
                      struct dpf_error *error)
{
    const struct frame *frame = &event->frame;
    char shown[TEXT_SHOWN];
    switch (frame->kind) {
    case FRAME_HELLO:
        return on_hello(serve, joined, frame, error);
    case FRAME_READY:
        if (joined->party != NOBODY)
            on_ready(serve, joined, frame);
        return 0;
    case FRAME_ABORT:
        log_message(LOG_LEVEL_WARNING, "\"%s\" leaves: it says: %s",
                    joined->party == NOBODY ? "a party" : serve_name(serve, joined->party, shown),
                    frame->text);
        if (joined->party == NOBODY)
            drop(serve, event->peer);
        return 0;
    default:
        return frame->kind ? 0
                           : refuse(serve, event->peer, error, "what it sends is not a message of dpframe");
    }
}

/* What has nothing to do with a phase. */
int serve_event(struct serve *serve, const struct channel_event *event, struct dpf_error *error)
{
    struct joined *joined = serve_joined_peer(serve, event->peer);
    if (event->kind == DPF_LINK_OPENED)
        return on_opened(serve, event, error);
    if (event->kind == DPF_LINK_CLOSED)
        on_closed(serve, joined, event->peer);
    return event->kind == DPF_LINK_MESSAGE && joined ? on_message(serve, joined, event, error) : 0;
}

int serve_next_event(struct serve *serve, double until, struct channel_event *event, struct dpf_error *error)
{
    const double left = until - channel_clock();
    if (worker_cancelled())
        return error_set(error, DPF_FAULT_RUN, "interrupted; %s",
                         worker_cancelled_leaves(serve->checkpoint != NULL));
    drop_unknown(serve);
    if (drop_revoked(serve, error) != 0)
        return -1;
    if (left <= 0)
        return 0;
    return channel_receive(&serve->channel, left < 1 ? left : 1, event, error) != 0 ? -1 : 1;
}
