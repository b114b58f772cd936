/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/serve.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "federation/agreement.h"
#include "federation/channel.h"
#include "federation/empty_data.h"
#include "federation/exchange.h"
#include "federation/refusal.h"
#include "plan/plan_make.h"
#include "run/run_once.h"

#define NOBODY INT64_C(-1)

/* A connection, from its opening on; a party once it has consented. */
struct joined {
    int64_t peer;
    char name[256]; /* that the link vouches for; "" : nobody */
    int64_t user;   /* NOBODY: it has not said */
    int ready;
};

/* What the server knows of a user over all connections. */
struct known {
    int is_known;
    uint8_t instance[16]; /* of the party's directory */
};

struct serve {
    const char *address;
    int insecure;
    struct plan *plan;
    const struct dataset *dataset;
    struct channel channel;
    struct agreement agreement;
    uint8_t session[16];
    struct joined *joined;
    int64_t n_joined, room;
    struct known *known; /* of each user */
    uint64_t step_up, step_down;
    int begun;
};

/* ---- who is there ------------------------------------------------------------------------------- */

static struct joined *joined_of_peer(struct serve *serve, int64_t peer)
{
    for (int64_t i = 0; i < serve->n_joined; i++)
        if (serve->joined[i].peer == peer)
            return &serve->joined[i];
    return NULL;
}

static struct joined *joined_of_user(struct serve *serve, int64_t user)
{
    for (int64_t i = 0; i < serve->n_joined; i++)
        if (serve->joined[i].user == user)
            return &serve->joined[i];
    return NULL;
}

static int64_t count_ready(const struct serve *serve)
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
    *joined = (struct joined){.peer = event->peer, .user = NOBODY};
    memcpy(joined->name, event->name, sizeof joined->name);
    return 0;
}

static void remove_joined(struct serve *serve, int64_t peer)
{
    struct joined *joined = joined_of_peer(serve, peer);
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

/* Why this party cannot join, in text; "" if it can. */
static void judge(struct serve *serve, const struct joined *joined, const struct frame *hello, int64_t user,
                  char text[FRAME_TEXT])
{
    char ours[9], theirs[17];
    text[0] = '\0';
    sodium_bin2hex(theirs, sizeof theirs, hello->agreement, 8);
    snprintf(ours, sizeof ours, "%.8s", serve->agreement.hex);
    const struct joined *other = user >= 0 ? joined_of_user(serve, user) : NULL;
    if (hello->insecure != serve->insecure)
        snprintf(text, FRAME_TEXT, "--insecure-test is given at one end only");
    else if (memcmp(hello->agreement, serve->agreement.digest, 32) != 0)
        snprintf(
            text, FRAME_TEXT,
            "it would run something else (%.8s... and not %s...): configuration, lists of users and items, "
            "plugins' versions and dpframe's have to be the same",
            theirs, ours);
    else if (user < 0)
        snprintf(text, FRAME_TEXT, "user \"%.200s\" is not in the list of users", hello->text);
    else if (*joined->name && strcmp(joined->name, hello->text) != 0)
        snprintf(text, FRAME_TEXT, "it is \"%.150s\" by its certificate and says that it is user \"%.150s\"",
                 joined->name, hello->text);
    else if (other && other != joined)
        snprintf(text, FRAME_TEXT, "user \"%.200s\" is here already", hello->text);
    else if (serve->known[user].is_known && memcmp(serve->known[user].instance, hello->instance, 16) != 0)
        snprintf(text, FRAME_TEXT,
                 "user \"%.200s\" has joined this run with another directory ([federation] state) before",
                 hello->text);
}

static int on_hello(struct serve *serve, struct joined *joined, const struct frame *hello,
                    struct dpf_error *error)
{
    char why[FRAME_TEXT];
    const int64_t user = id_map_find(&serve->dataset->users, hello->text);
    if (joined->user != NOBODY)
        return 0; /* it has been answered */
    judge(serve, joined, hello, user, why);
    if (*why)
        return refuse(serve, joined->peer, error, why);
    joined->user = user;
    serve->known[user].is_known = 1;
    memcpy(serve->known[user].instance, hello->instance, 16);
    struct frame terms = {.kind = FRAME_TERMS, .insecure = serve->insecure};
    memcpy(terms.agreement, serve->agreement.digest, 32);
    memcpy(terms.session, serve->session, 16);
    return channel_send(&serve->channel, joined->peer, &terms, NULL, error);
}

/* What has nothing to do with a phase. */
static int on_other(struct serve *serve, const struct channel_event *event, struct dpf_error *error)
{
    struct joined *joined = joined_of_peer(serve, event->peer);
    if (event->kind == DPF_LINK_OPENED)
        return add_joined(serve, event, error);
    if (event->kind == DPF_LINK_CLOSED) {
        if (joined && joined->ready)
            log_message(LOG_LEVEL_INFO, "user \"%s\" is gone",
                        id_map_text(&serve->dataset->users, joined->user));
        remove_joined(serve, event->peer);
        return 0;
    }
    if (event->kind != DPF_LINK_MESSAGE || !joined)
        return 0;
    if (event->frame.kind == FRAME_HELLO)
        return on_hello(serve, joined, &event->frame, error);
    if (event->frame.kind == FRAME_READY && joined->user != NOBODY)
        joined->ready = 1;
    if (event->frame.kind == FRAME_ABORT)
        log_message(LOG_LEVEL_WARNING, "a party leaves: %s", event->frame.text);
    return event->frame.kind ? 0 : refuse(serve, event->peer, error, "what it sends is no message of ours");
}

/* ---- a round ------------------------------------------------------------------------------------ */

struct round {
    struct serve *serve;
    const struct remote_release *release;
    struct exchange exchange;
    uint32_t *parties; /* asked for this round, ascending */
    int64_t n;
    int64_t *peers;   /* of each; NOBODY: it is gone */
    uint8_t *awaited; /* its answer to this phase */
    int64_t n_awaited;
};

static int choose_parties(struct round *round, struct dpf_error *error)
{
    struct serve *serve = round->serve;
    const struct remote_release *release = round->release;
    round->parties = memory_new((size_t)release->n_users + 1, sizeof *round->parties);
    round->peers = memory_new((size_t)release->n_users + 1, sizeof *round->peers);
    round->awaited = memory_new((size_t)release->n_users + 1, 1);
    if (!round->parties || !round->peers || !round->awaited)
        return error_memory(error);
    for (int64_t user = 0; user < release->n_users; user++) {
        const struct joined *joined = joined_of_user(serve, user);
        if (!joined || !joined->ready || (release->weights && release->weights[user] == 0))
            continue;
        round->parties[round->n] = (uint32_t)user;
        round->peers[round->n++] = joined->peer;
    }
    return 0;
}

static int announce(struct round *round, struct dpf_error *error)
{
    struct frame frame = {.kind = FRAME_ROUND, .round = (uint32_t)round->release->round};
    memcpy(frame.server_key, round->exchange.x.server_key, sizeof frame.server_key);
    for (int64_t i = 0; i < round->n; i++)
        if (channel_send(&round->serve->channel, round->peers[i], &frame, &round->release->rows, error) != 0)
            return -1;
    return 0;
}

static int send_phase(struct round *round, struct dpf_error *error)
{
    struct exchange *exchange = &round->exchange;
    round->n_awaited = 0;
    for (int64_t i = 0; i < round->n; i++) {
        uint64_t n = 0;
        round->awaited[i] = 0;
        const dpf_status status = exchange->functions->server_send(
            exchange->instance->self, exchange_call(exchange), &exchange->x, i, exchange->message, &n);
        if (exchange_result(exchange, status, error) != 0)
            return -1;
        if (n == 0 || round->peers[i] == NOBODY)
            continue;
        const struct frame frame = {.kind = FRAME_STEP,
                                    .round = (uint32_t)round->release->round,
                                    .bytes = exchange->message,
                                    .n_bytes = (size_t)n};
        if (channel_send(&round->serve->channel, round->peers[i], &frame, NULL, error) != 0)
            return -1;
        round->serve->step_down += n;
        round->awaited[i] = 1;
        round->n_awaited++;
    }
    return 0;
}

static int64_t place_of(const struct round *round, int64_t peer)
{
    for (int64_t i = 0; i < round->n; i++)
        if (round->peers[i] == peer)
            return i;
    return NOBODY;
}

static void no_longer_awaited(struct round *round, int64_t i)
{
    round->n_awaited -= round->awaited[i];
    round->awaited[i] = 0;
}

/* A message that the machine refuses is as if it had not come. */
static int take_step(struct round *round, int64_t i, const struct frame *frame, struct dpf_error *error)
{
    struct exchange *exchange = &round->exchange;
    int32_t outcome = DPF_EXCHANGE_REFUSED;
    const dpf_status status =
        exchange->functions->server_take(exchange->instance->self, exchange_call(exchange), &exchange->x,
                                         round->parties[i], frame->bytes, frame->n_bytes, &outcome);
    if (exchange_result(exchange, status, error) != 0)
        return -1;
    if (outcome == DPF_EXCHANGE_REFUSED)
        return 0;
    round->serve->step_up += frame->n_bytes;
    no_longer_awaited(round, i);
    return 0;
}

/* What comes next, in a second at most. 1: there is an event; 0: the time is over; -1: an error. */
static int next_event(struct serve *serve, double until, struct channel_event *event, struct dpf_error *error)
{
    const double left = until - channel_clock();
    if (worker_cancelled())
        return error_set(error, DPF_FAULT_RUN, "interrupted; nothing is written");
    if (left <= 0)
        return 0;
    return channel_receive(&serve->channel, left < 1 ? left : 1, event, error) != 0 ? -1 : 1;
}

static int take_answers(struct round *round, struct dpf_error *error)
{
    struct serve *serve = round->serve;
    const double until = channel_clock() + serve->channel.options.params.values[FEDERATION_DEADLINE].real;
    while (round->n_awaited > 0) {
        struct channel_event event;
        const int status = next_event(serve, until, &event, error);
        if (status <= 0)
            return status;
        const int64_t i = event.kind == DPF_LINK_NOTHING ? NOBODY : place_of(round, event.peer);
        if (i != NOBODY && event.kind == DPF_LINK_MESSAGE && event.frame.kind == FRAME_STEP) {
            if (event.frame.round == (uint32_t)round->release->round &&
                take_step(round, i, &event.frame, error) != 0)
                return -1;
            continue;
        }
        if (i != NOBODY && event.kind == DPF_LINK_CLOSED) {
            no_longer_awaited(round, i);
            round->peers[i] = NOBODY;
        }
        if (on_other(serve, &event, error) != 0)
            return -1;
    }
    return 0;
}

static int run_phases(struct round *round, struct dpf_error *error)
{
    struct exchange *exchange = &round->exchange;
    int32_t outcome = DPF_EXCHANGE_GOES_ON;
    while (outcome != DPF_EXCHANGE_OVER) {
        if (send_phase(round, error) != 0 || take_answers(round, error) != 0)
            return -1;
        const dpf_status status = exchange->functions->server_close(
            exchange->instance->self, exchange_call(exchange), &exchange->x, round->release->sums, &outcome);
        if (exchange_result(exchange, status, error) != 0)
            return -1;
    }
    return 0;
}

/* Parties that came between rounds. */
static int take_arrivals(struct serve *serve, struct dpf_error *error)
{
    struct channel_event event;
    do {
        if (channel_receive(&serve->channel, 0, &event, error) != 0 || on_other(serve, &event, error) != 0)
            return -1;
    } while (event.kind != DPF_LINK_NOTHING);
    return 0;
}

static int run_round(struct round *round, struct dpf_error *error)
{
    struct serve *serve = round->serve;
    const struct remote_release *release = round->release;
    struct exchange_setup setup = {.party = DPF_PARTY_AGGREGATE};
    if (take_arrivals(serve, error) != 0 || choose_parties(round, error) != 0)
        return -1;
    if (round->n < 2 || round->n < release->sums->least_survivors)
        return error_set(
            error, DPF_FAULT_RUN,
            "round %lld: %lld parties are there and asked for, and the noise needs %lld; nothing is "
            "opened",
            (long long)release->round + 1, (long long)round->n,
            (long long)(release->sums->least_survivors > 2 ? release->sums->least_survivors : 2));
    setup.parties = round->parties;
    setup.n_parties = round->n;
    agreement_of_round(&serve->agreement, serve->session, (uint64_t)release->round, &release->rows,
                       setup.agreed);
    if (exchange_begin(&round->exchange, release, &setup, error) != 0)
        return -1;
    return announce(round, error) != 0 ? -1 : run_phases(round, error);
}

static int gather(void *context, const struct remote_release *release, struct dpf_error *error)
{
    struct serve *serve = context;
    struct round round = {.serve = serve, .release = release};
    const uint64_t up = serve->step_up, down = serve->step_down;
    const double started = channel_clock();
    const int status = run_round(&round, error);
    release->sums->bytes_up += serve->step_up - up;
    release->sums->bytes_down += serve->step_down - down;
    if (status == 0)
        log_message(LOG_LEVEL_INFO, "round %lld: %lld of %lld parties, %.2f s", (long long)release->round + 1,
                    (long long)release->sums->survivors, (long long)round.n, channel_clock() - started);
    exchange_end(&round.exchange);
    free(round.parties);
    free(round.peers);
    free(round.awaited);
    return status;
}

/* ---- the run ------------------------------------------------------------------------------------ */

static int wait_for_parties(struct serve *serve, struct dpf_error *error)
{
    const dpf_value *v = serve->channel.options.params.values;
    const double until = channel_clock() + v[FEDERATION_JOIN_TIME].real;
    while (count_ready(serve) < serve->dataset->users.n) {
        struct channel_event event;
        const int status = next_event(serve, until, &event, error);
        if (status == 0)
            break;
        if (status < 0 || on_other(serve, &event, error) != 0)
            return -1;
    }
    const int64_t n = count_ready(serve);
    if (n < v[FEDERATION_LEAST_PARTIES].integer)
        return error_set(
            error, DPF_FAULT_RUN,
            "%lld parties have joined within %g seconds, and [federation] least-parties asks for %lld; "
            "nothing is charged",
            (long long)n, v[FEDERATION_JOIN_TIME].real, (long long)v[FEDERATION_LEAST_PARTIES].integer);
    log_message(LOG_LEVEL_INFO, "%lld of %lld users have joined", (long long)n,
                (long long)serve->dataset->users.n);
    return 0;
}

static int begin(void *context, struct plan *plan, const struct dataset *dataset, struct dpf_error *error)
{
    struct serve *serve = context;
    const char *why = federation_refusal(plan);
    serve->plan = plan;
    serve->dataset = dataset;
    if (why)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s: it cannot be run with parties in processes of their own: %s",
                         config_path(plan->config), why);
    if (plan->guarantee.reproducible && !serve->insecure)
        return config_error(
            plan->config, "privacy", "randomness", error,
            "noise that can be reproduced protects nobody: real parties need randomness = secure "
            "(--insecure-test at both ends, for tests)");
    serve->known = memory_new((size_t)dataset->users.n + 1, sizeof *serve->known);
    if (!serve->known)
        return error_memory(error);
    randombytes_buf(serve->session, sizeof serve->session);
    if (agreement_make(plan, dataset, serve->insecure, &serve->agreement, error) != 0 ||
        channel_make(&serve->channel, plan, error) != 0 || plan_charge(plan, 0, error) != 0 ||
        channel_open(&serve->channel, DPF_LINK_SERVES, serve->address, error) != 0)
        return -1;
    serve->begun = 1;
    log_message(LOG_LEVEL_INFO, "serving at %s, agreement %.8s...", serve->address, serve->agreement.hex);
    if (wait_for_parties(serve, error) != 0)
        return -1;
    return plan_charge(plan, 1, error); /* before anybody is asked for anything */
}

static void end(void *context, int status, const struct remote_rows *rows, const struct dpf_error *error)
{
    struct serve *serve = context;
    struct dpf_error ignored = {0};
    struct frame frame = {.kind = status == 0 ? FRAME_OVER : FRAME_ABORT};
    if (status != 0)
        snprintf(frame.text, sizeof frame.text, "the server ends the run: %.400s", error->text);
    for (int64_t i = 0; serve->begun && i < serve->n_joined; i++)
        channel_send(&serve->channel, serve->joined[i].peer, &frame, status == 0 ? rows : NULL, &ignored);
    channel_close(&serve->channel);
}

int federation_serve(const struct arguments *arguments, const char *address, int insecure,
                     struct dpf_error *error)
{
    struct serve serve = {.address = address, .insecure = insecure};
    struct run_remote remote = {.context = &serve,
                                .begin = begin,
                                .end = end,
                                .engine = {.context = &serve, .party = NOBODY, .gather = gather}};
    struct empty_data data;
    struct arguments *own = memory_new(1, sizeof *own);
    if (!own)
        return error_memory(error);
    *own = *arguments;
    int status = empty_data_make(&data, own, error);
    if (status == 0) {
        const struct run_request request = {.arguments = own, .quiet = arguments->quiet, .remote = &remote};
        status = run_once(&request, error);
    }
    empty_data_remove(&data);
    free(serve.joined);
    free(serve.known);
    free(own);
    return status;
}
