/* SPDX-License-Identifier: Apache-2.0 */
/* One round at the server: it asks parties, carries the messages of the aggregator's machine, and closes phases. */
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "federation/serving.h"

struct round {
    struct serve *serve;
    const struct remote_release *release;
    struct exchange exchange;
    uint32_t *parties; /* asked for this round, ascending */
    int64_t n;
    int64_t *peers;    /* of each; NOBODY: it is gone */
    uint8_t *awaited;  /* its answer to this phase */
    uint8_t *answered; /* this phase */
    double *patience;  /* of one that is gone: until when it is awaited all the same */
    int64_t n_awaited;
};

/* It is asked again once it has joined anew. */
static int is_excluded(const struct serve *serve, int64_t party)
{
    const int64_t most = serve->channel.options.params.values[FEDERATION_EXCLUDE_AFTER].integer;
    return most > 0 && serve->known[party].misses >= most;
}

static int choose_parties(struct round *round, struct dpf_error *error)
{
    struct serve *serve = round->serve;
    const struct remote_release *release = round->release;
    round->parties = memory_new((size_t)release->n_parties + 1, sizeof *round->parties);
    round->peers = memory_new((size_t)release->n_parties + 1, sizeof *round->peers);
    round->awaited = memory_new((size_t)release->n_parties + 1, 1);
    round->answered = memory_new((size_t)release->n_parties + 1, 1);
    round->patience = memory_new((size_t)release->n_parties + 1, sizeof *round->patience);
    if (!round->parties || !round->peers || !round->awaited || !round->answered || !round->patience)
        return error_memory(error);
    for (int64_t party = 0; party < release->n_parties; party++) {
        const struct joined *joined = serve_joined_party(serve, party);
        if (!joined || !joined->ready || (release->weights && release->weights[party] == 0) ||
            joined->next > (uint32_t)release->round || is_excluded(serve, party))
            continue;
        round->parties[round->n] = (uint32_t)party;
        round->peers[round->n++] = joined->peer;
    }
    return 0;
}

static int announce(struct round *round, struct dpf_error *error)
{
    struct frame frame = {.kind = FRAME_ROUND, .round = (uint32_t)round->release->round};
    memcpy(frame.server_key, round->exchange.x.server_key, sizeof frame.server_key);
    for (int64_t i = 0; i < round->n; i++)
        channel_admit(&round->serve->channel, round->peers[i], round->serve->largest);
    return channel_share(&round->serve->channel, round->peers, round->n, &frame, &round->release->rows,
                         error);
}

/* The message of this phase to the i-th party, if there is one and it is there. */
static int send_to(struct round *round, int64_t i, struct dpf_error *error)
{
    struct exchange *exchange = &round->exchange;
    uint64_t n = 0;
    const dpf_status status = exchange->functions->server_send(
        exchange->instance->self, exchange_call(exchange), &exchange->x, i, exchange->message, &n);
    if (exchange_result(exchange, status, error) != 0)
        return -1;
    if (n == 0 || round->peers[i] == NOBODY)
        return 0;
    const struct frame frame = {.kind = FRAME_STEP,
                                .round = (uint32_t)round->release->round,
                                .bytes = exchange->message,
                                .n_bytes = (size_t)n};
    if (channel_send(&round->serve->channel, round->peers[i], &frame, NULL, error) != 0)
        return -1;
    round->serve->step_down += n;
    round->n_awaited += !round->awaited[i];
    round->awaited[i] = 1;
    return 0;
}

static int send_phase(struct round *round, struct dpf_error *error)
{
    round->n_awaited = 0;
    for (int64_t i = 0; i < round->n; i++) {
        round->awaited[i] = round->answered[i] = 0;
        if (send_to(round, i, error) != 0)
            return -1;
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

/* Whoever sends what no honest party sends is left out as one that is gone: nothing of it is in the sum, and that
 * follows from its own message alone. */
static void leave_out(struct round *round, int64_t i)
{
    char shown[TEXT_SHOWN];
    log_message(LOG_LEVEL_WARNING,
                "round %lld: %s is left out: it has sent a number that no message of an honest party has",
                (long long)round->release->round + 1,
                text_show(members_name(&round->serve->members, round->parties[i]), shown));
    no_longer_awaited(round, i);
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
    if (outcome == DPF_EXCHANGE_LIES)
        leave_out(round, i);
    if (outcome == DPF_EXCHANGE_REFUSED || outcome == DPF_EXCHANGE_LIES)
        return 0;
    round->serve->step_up += frame->n_bytes;
    round->answered[i] = 1;
    round->serve->known[round->parties[i]].misses = 0;
    no_longer_awaited(round, i);
    return 0;
}

/* ---- connections that are lost in a round ---- */

static double option(const struct round *round, enum federation_param which)
{
    return round->serve->channel.options.params.values[which].real;
}

static void on_lost(struct round *round, int64_t i)
{
    round->peers[i] = NOBODY;
    round->patience[i] = channel_clock() + option(round, FEDERATION_RECONNECT);
}

/* A process that is in the middle of this round goes on with a new connection: it gets the message of this phase
 * once more, unless it has answered it. */
static int on_back(struct round *round, int64_t peer, struct dpf_error *error)
{
    const struct joined *joined = serve_joined_peer(round->serve, peer);
    if (!joined || !joined->ready || joined->in_round != (uint32_t)round->release->round + 1)
        return 0;
    for (int64_t i = 0; i < round->n; i++)
        if (round->parties[i] == joined->party &&
            (round->peers[i] == NOBODY || !serve_joined_peer(round->serve, round->peers[i]))) {
            round->peers[i] = peer;
            return round->answered[i] ? 0 : send_to(round, i, error);
        }
    return 0;
}

static void lose_patience(struct round *round)
{
    const double now = channel_clock();
    for (int64_t i = 0; i < round->n; i++)
        if (round->awaited[i] && round->peers[i] == NOBODY && now >= round->patience[i])
            no_longer_awaited(round, i);
}

/* ---- phases ---- */

static int on_event(struct round *round, const struct channel_event *event, struct dpf_error *error)
{
    const int64_t i = event->kind == DPF_LINK_NOTHING ? NOBODY : place_of(round, event->peer);
    if (i != NOBODY && event->kind == DPF_LINK_MESSAGE && event->frame.kind == FRAME_STEP)
        return event->frame.round == (uint32_t)round->release->round
                   ? take_step(round, i, &event->frame, error)
                   : 0;
    if (i != NOBODY && event->kind == DPF_LINK_CLOSED)
        on_lost(round, i);
    if (serve_event(round->serve, event, error) != 0)
        return -1;
    return event->kind == DPF_LINK_MESSAGE && event->frame.kind == FRAME_READY
               ? on_back(round, event->peer, error)
               : 0;
}

#define LEAST_GRACE                                                                                          \
    1.0 /* seconds that the others have once the quorum is there, beside the time that it took */

static int64_t count_answers(const struct round *round)
{
    int64_t n = 0;
    for (int64_t i = 0; i < round->n; i++)
        n += round->answered[i];
    return n;
}

#define NAMES_SHOWN 5

/* Who kept the others waiting: in the log, and for exclusion. */
static void note_misses(struct round *round, double waited)
{
    struct serve *serve = round->serve;
    struct text names = {0};
    int64_t n = 0;
    char shown[TEXT_SHOWN];
    for (int64_t i = 0; i < round->n; i++) {
        if (!round->awaited[i])
            continue;
        serve->known[round->parties[i]].misses++;
        if (n++ < NAMES_SHOWN)
            text_add(&names, "%s\"%s\"%s", n > 1 ? ", " : "", serve_name(serve, round->parties[i], shown),
                     is_excluded(serve, round->parties[i]) ? " (excluded until it joins anew)" : "");
    }
    if (n > NAMES_SHOWN)
        text_add(&names, " and %lld more", (long long)(n - NAMES_SHOWN));
    log_message(LOG_LEVEL_WARNING, "round %lld: no answer within %.1f s from %s: lost for the round",
                (long long)round->release->round + 1, waited, names.data ? names.data : "");
    metrics_missed(&serve->metrics, n);
    text_free(&names);
}

static int take_answers(struct round *round, struct dpf_error *error)
{
    const double began = channel_clock();
    double until = began + option(round, FEDERATION_DEADLINE);
    const int64_t quorum = round->serve->channel.options.params.values[FEDERATION_QUORUM].integer;
    int shortened = quorum == 0;
    for (lose_patience(round); round->n_awaited > 0; lose_patience(round)) {
        struct channel_event event;
        if (!shortened && count_answers(round) >= quorum) {
            const double now = channel_clock(), again = now + (now - began) + LEAST_GRACE;
            until = again < until ? again : until;
            shortened = 1;
        }
        const int status = serve_next_event(round->serve, until, &event, error);
        if (status < 0)
            return status;
        if (status == 0) {
            note_misses(round, channel_clock() - began);
            return 0;
        }
        if (on_event(round, &event, error) != 0)
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
        if (channel_receive(&serve->channel, 0, &event, error) != 0 || serve_event(serve, &event, error) != 0)
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
            error, DPF_FAULT_RUN, "round %lld has %lld parties, but the noise needs %lld; no sum is opened",
            (long long)release->round + 1, (long long)round->n,
            (long long)(release->sums->least_survivors > 2 ? release->sums->least_survivors : 2));
    setup.parties = round->parties;
    setup.n_parties = round->n;
    setup.identities = serve->members.keys;
    setup.n_identities = serve->members.n;
    agreement_of_round(&serve->agreement, serve->session, (uint64_t)release->round, serve->repeats,
                       &release->rows, setup.agreed);
    if (exchange_begin(&round->exchange, release, &setup, error) != 0)
        return -1;
    serve->largest = round->exchange.room;
    return announce(round, error) != 0 ? -1 : run_phases(round, error);
}

/* For whoever looks for it (-v): the server knows it anyway. */
static void log_survivors(const struct round *round)
{
    struct text text = {0};
    for (int64_t i = 0; i < round->n; i++)
        if (round->exchange.in_sum[i])
            text_add(&text, " %u", (unsigned)round->parties[i]);
    log_message(LOG_LEVEL_DEBUG, "in the sum of round %lld:%s", (long long)round->release->round,
                text.data ? text.data : "");
    text_free(&text);
}

int serve_gather(void *context, const struct remote_release *release, struct dpf_error *error)
{
    struct serve *serve = context;
    struct round round = {.serve = serve, .release = release};
    const uint64_t up = serve->step_up, down = serve->step_down;
    const double started = channel_clock();
    serve->round = (uint32_t)release->round;
    const int status = run_round(&round, error);
    release->sums->bytes_up += serve->step_up - up;
    release->sums->bytes_down += serve->step_down - down;
    if (status == 0) {
        log_survivors(&round);
        log_message(LOG_LEVEL_INFO, "round %lld: %lld of %lld parties, %.2f s", (long long)release->round + 1,
                    (long long)release->sums->survivors, (long long)round.n, channel_clock() - started);
        metrics_round(&serve->metrics, release->round, release->sums->survivors);
    }
    exchange_end(&round.exchange);
    free(round.parties);
    free(round.peers);
    free(round.awaited);
    free(round.answered);
    free(round.patience);
    return status;
}
