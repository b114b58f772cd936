/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/join.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/terminal.h"
#include "base/text.h"
#include "data/load.h"
#include "federation/agreement.h"
#include "federation/channel.h"
#include "federation/consent.h"
#include "federation/exchange.h"
#include "federation/party_state.h"
#include "federation/refusal.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "plan/combinations.h"
#include "plan/repeat.h"
#include "run/run_once.h"

struct join {
    const struct arguments *arguments;
    const char *address;
    int insecure;
    struct plan *plan;
    const struct dataset *dataset;
    struct config_values consent;
    int has_consent;
    struct party_state state;
    struct channel channel;
    struct agreement agreement;
    struct members members;
    char *name; /* the party's */
    uint8_t signing_key[MEMBER_SECRET_BYTES];
    int has_signing_key;
    char data[65];
    uint8_t session[16];
    int told_waiting;
    int has_session, is_member;     /* READY has been sent */
    int is_over;                    /* the server has said so */
    uint32_t server_round, repeats; /* of its last TERMS */
    struct frame current; /* that announced the round, or the end; valid until the next one is received */
    uint32_t in_round;    /* that it is in the middle of, plus 1; 0: none */
    /* A frame that ends a round and begins what follows; its bytes are kept. */
    uint8_t *kept;
    size_t n_kept;
    int is_kept; /* it has not been used yet */
    /* What the server sent last in this round, and the answer, for a server that has not got it. */
    uint8_t *asked, *replied;
    size_t n_asked, n_replied;
    struct run_remote remote;
};

/* ---- talking to the server ---------------------------------------------------------------------- */

/* So many seconds, or until a signal comes. */
static void pause_for(double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static int interrupted(struct dpf_error *error)
{
    return worker_cancelled() ? error_set(error, DPF_FAULT_RUN, "interrupted; nothing is written") : 0;
}

static int say_hello(struct join *join, struct dpf_error *error)
{
    struct frame hello = {.kind = FRAME_HELLO, .insecure = join->insecure};
    memcpy(hello.agreement, join->agreement.digest, 32);
    memcpy(hello.instance, join->state.instance, 16);
    snprintf(hello.text, sizeof hello.text, "%s", join->name);
    return channel_send(&join->channel, DPF_LINK_SERVER, &hello, NULL, error);
}

static int check_terms(struct join *join, const struct frame *terms, struct dpf_error *error)
{
    if (terms->insecure != join->insecure || memcmp(terms->agreement, join->agreement.digest, 32) != 0)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "the server runs something else than this configuration says (its agreement is %02x%02x"
            "%02x%02x..., ours %.8s...); nothing is sent",
            terms->agreement[0], terms->agreement[1], terms->agreement[2], terms->agreement[3],
            join->agreement.hex);
    if (join->has_session && memcmp(join->session, terms->session, 16) != 0)
        return error_set(
            error, DPF_FAULT_RUN,
            "the server has begun another run; the one that was joined is over, and nothing of it is "
            "released");
    memcpy(join->session, terms->session, 16);
    join->has_session = 1;
    join->server_round = terms->round;
    join->repeats = terms->number;
    return 0;
}

/* What the server has otherwise, for whoever reads this party's message and, by its name, the server's. */
static int tell_difference(struct join *join, const struct frame *differs, struct dpf_error *error)
{
    struct alike_difference d;
    struct dpf_error ignored = {0};
    char name[2 * sizeof d.name], there[2 * sizeof d.there];
    struct frame abort = {.kind = FRAME_ABORT};
    if (!agreement_differ(&join->agreement, differs->bytes, differs->n_bytes, &d))
        return error_set(error, DPF_FAULT_CONFIG,
                         "the server runs something else, and does not say what; nothing is sent");
    text_escape(d.name, name, sizeof name); /* the server may have made it up */
    text_escape(d.there, there, sizeof there);
    snprintf(abort.text, sizeof abort.text, "it would run something else: %s differs", name);
    channel_send(&join->channel, DPF_LINK_SERVER, &abort, NULL, &ignored);
    return error_set(error, DPF_FAULT_CONFIG,
                     "this party would run something else than the server: %s is \"%s\" here and \"%s\" at "
                     "the server. Both must have the same; nothing is sent",
                     name, d.here, there);
}

/* Once, after a second. */
static void tell_waiting(struct join *join, double until)
{
    const double longest = join->channel.options.params.values[FEDERATION_JOIN_TIME].real;
    if (join->told_waiting || until - channel_clock() > longest - 1)
        return;
    log_message(LOG_LEVEL_INFO, "waiting for the server at %s, for %g seconds at most", join->address,
                longest);
    join->told_waiting = 1;
}

/* 0: the terms are there; 1: the connection was lost; -1. */
static int await_terms(struct join *join, double until, struct dpf_error *error)
{
    for (;;) {
        struct channel_event event;
        const double left = until - channel_clock();
        if (interrupted(error) != 0)
            return -1;
        if (left <= 0)
            return 1;
        tell_waiting(join, until);
        if (channel_receive(&join->channel, left < 1 ? left : 1, &event, error) != 0)
            return -1;
        if (event.kind == DPF_LINK_CLOSED)
            return 1;
        if (event.kind != DPF_LINK_MESSAGE)
            continue;
        if (event.frame.kind == FRAME_TERMS)
            return check_terms(join, &event.frame, error);
        if (event.frame.kind == FRAME_DIFFERS)
            return tell_difference(join, &event.frame, error);
        if (event.frame.kind == FRAME_REFUSED || event.frame.kind == FRAME_ABORT)
            return error_set(error, DPF_FAULT_CONFIG, "the server refuses this party: %s", event.frame.text);
    }
}

#define FIRST_PAUSE 0.05 /* seconds between attempts: each is twice the one before */
#define LONGEST_PAUSE 1.0

/* Tries until the time that is given for it is over. */
static int connect_to_server(struct join *join, struct dpf_error *error)
{
    const double until = channel_clock() + join->channel.options.params.values[FEDERATION_JOIN_TIME].real;
    for (double pause = FIRST_PAUSE;; pause = fmin(2 * pause, LONGEST_PAUSE)) {
        struct dpf_error problem = {0};
        int status = channel_open(&join->channel, DPF_LINK_JOINS, join->address, &problem);
        if (status == 0 && say_hello(join, &problem) == 0) {
            status = await_terms(join, until, error);
            if (status <= 0)
                return status;
        }
        channel_shut(&join->channel);
        if (interrupted(error) != 0)
            return -1;
        if (channel_clock() >= until)
            return error_set(error, DPF_FAULT_RUN, "%s",
                             problem.fault ? problem.text : "the server does not answer");
        tell_waiting(join, until);
        pause_for(pause);
    }
}

/* ---- a server that has stopped and continues ---- */

/* Noise, masks and keys of the second attempt are new, so it costs what a round costs. 1: paid; 0: the limit does not
   allow it, or the noise cannot be made anew. */
static int pay_again(struct join *join, struct dpf_error *error)
{
    struct plan *plan = join->plan;
    struct dpf_error why = {0};
    if (combinations_check_checkpoint(plan, &why) != 0 || repeat_charge(plan, 1, NULL, &why) != 0) {
        if (why.fault != DPF_FAULT_CONFIG) {
            *error = why;
            return -1;
        }
        log_message(LOG_LEVEL_WARNING,
                    "the server makes round %u again, which this party has sent for, and misses now: %s",
                    join->server_round + 1, why.text);
        return 0;
    }
    if (!plan->guarantee.reproducible && plan_rekey(plan, "noise", error) != 0)
        return -1;
    log_message(LOG_LEVEL_INFO, "the server makes round %u again, and this party pays for it again",
                join->server_round + 1);
    return repeat_count(plan, 1, error) == 0 ? 1 : -1;
}

/*
 * Where the server is must be where this party has left it, or later. A round that it has sent for and that was not
 * finished is made again if this party pays; one that was finished is not, so the checkpoint was an old copy.
 */
static int follow_server(struct join *join, struct dpf_error *error)
{
    struct party_state *state = &join->state;
    int pays = 0;
    if (join->repeats < state->repeats || state->next_round > (uint64_t)join->server_round + 1)
        return error_set(error, DPF_FAULT_RUN,
                         "the server continues from an old copy of its checkpoint, at round %u, but this "
                         "party has already sent for round %llu, so it sends nothing. Continue the server "
                         "from its newest checkpoint",
                         join->server_round + 1, (unsigned long long)state->next_round);
    if (join->repeats == state->repeats)
        return 0;
    join->in_round = 0;
    if (state->next_round == (uint64_t)join->server_round + 1 && (pays = pay_again(join, error)) < 0)
        return -1;
    if (party_state_repeat(state, join->repeats, pays, error) != 0)
        return -1;
    join->remote.engine.answered = (int64_t)state->answered;
    return 0;
}

static int say_ready(struct join *join, struct dpf_error *error)
{
    const struct frame ready = {
        .kind = FRAME_READY, .round = join->in_round, .number = (uint32_t)join->state.next_round};
    join->is_member = 1;
    return channel_send(&join->channel, DPF_LINK_SERVER, &ready, NULL, error);
}

#define SILENCE 3600.0 /* seconds, after which a party leaves */

/*
 * What comes next from the server, to be used before anything else is received: a frame that was kept, or one that
 * comes. A connection that is lost is made again, for the same run.
 */
static int next_message(struct join *join, struct channel_event *out, struct dpf_error *error)
{
    const double until = channel_clock() + SILENCE;
    if (join->is_kept) {
        *out = (struct channel_event){.kind = DPF_LINK_MESSAGE, .bytes = join->kept, .n_bytes = join->n_kept};
        frame_read(join->kept, join->n_kept, &out->frame);
        join->is_kept = 0;
        return 0;
    }
    for (;;) {
        if (interrupted(error) != 0)
            return -1;
        if (channel_clock() > until)
            return error_set(error, DPF_FAULT_RUN, "the server has been silent for an hour");
        if (channel_receive(&join->channel, 1, out, error) != 0)
            return -1;
        const int stops = out->kind == DPF_LINK_MESSAGE && out->frame.kind == FRAME_ABORT && out->frame.round;
        if (stops)
            log_message(LOG_LEVEL_WARNING, "%s", out->frame.text);
        if (stops || out->kind == DPF_LINK_CLOSED) {
            log_message(LOG_LEVEL_WARNING, "the connection to the server is lost; trying again");
            channel_shut(&join->channel);
            if (connect_to_server(join, error) != 0 || follow_server(join, error) != 0 ||
                say_ready(join, error) != 0)
                return -1;
            continue;
        }
        if (out->kind == DPF_LINK_MESSAGE && out->frame.kind)
            return 0;
    }
}

static uint8_t *copy_of(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = memory_raw(n + 1, 1);
    if (copy && n)
        memcpy(copy, bytes, n);
    return copy;
}

/* For await: the message's bytes are gone with the next call. */
static int keep_message(struct join *join, const struct channel_event *event, struct dpf_error *error)
{
    uint8_t *copy = copy_of(event->bytes, event->n_bytes);
    free(join->kept);
    join->kept = copy;
    join->n_kept = event->n_bytes;
    join->is_kept = copy != NULL;
    return copy ? 0 : error_memory(error);
}

static int run_is_aborted(struct join *join, const struct frame *frame, struct dpf_error *error)
{
    join->is_over = 1;
    return error_set(error, DPF_FAULT_RUN, "%s", *frame->text ? frame->text : "the server ends the run");
}

/* ---- rounds ------------------------------------------------------------------------------------- */

static int await(void *context, int64_t *round, struct dpf_error *error)
{
    struct join *join = context;
    const int64_t rounds = remote_rounds(join->plan);
    for (;;) {
        struct channel_event event;
        const struct frame *frame = &event.frame;
        if (next_message(join, &event, error) != 0)
            return -1;
        if (frame->kind == FRAME_ABORT || frame->kind == FRAME_REFUSED)
            return run_is_aborted(join, frame, error);
        if (frame->kind != FRAME_ROUND && frame->kind != FRAME_OVER)
            continue; /* of a round that this party is out of */
        if (frame->kind == FRAME_ROUND && (frame->round < join->state.next_round || frame->round >= rounds)) {
            log_message(LOG_LEVEL_WARNING,
                        "the server asks for round %u again, or for one that is not planned; "
                        "nothing is sent",
                        frame->round + 1);
            continue;
        }
        join->current = *frame;
        join->is_over = frame->kind == FRAME_OVER;
        if (join->is_over)
            return 1;
        *round = frame->round;
        return 0;
    }
}

static int take(void *context, const struct remote_rows *rows, struct dpf_error *error)
{
    const struct join *join = context;
    return frame_take_rows(&join->current, rows) == 0
               ? 0
               : error_set(error, DPF_FAULT_RUN,
                           "the server has sent rows of another shape, or not finite ones");
}

static void forget_answer(struct join *join)
{
    free(join->asked);
    free(join->replied);
    join->asked = join->replied = NULL;
    join->n_asked = join->n_replied = 0;
}

static int keep_answer(struct join *join, const struct frame *step, const uint8_t *reply, size_t n,
                       struct dpf_error *error)
{
    forget_answer(join);
    join->asked = copy_of(step->bytes, step->n_bytes);
    join->replied = copy_of(reply, n);
    join->n_asked = step->n_bytes;
    join->n_replied = n;
    return join->asked && join->replied ? 0 : error_memory(error);
}

static int send_step(struct join *join, int64_t round, const uint8_t *bytes, size_t n,
                     struct dpf_error *error)
{
    const struct frame frame = {.kind = FRAME_STEP, .round = (uint32_t)round, .bytes = bytes, .n_bytes = n};
    return n ? channel_send(&join->channel, DPF_LINK_SERVER, &frame, NULL, error) : 0;
}

/* What the machine answers; the round counts as answered before the answer leaves. The same question once more, byte
 * for byte, gets the same answer, which tells the server nothing new; any other goes to the machine, which
 * answers each question once. */
static int answer_step(struct join *join, struct exchange *exchange, const struct remote_release *release,
                       const struct frame *step, int32_t *outcome, struct dpf_error *error)
{
    if (join->asked && step->n_bytes == join->n_asked && memcmp(step->bytes, join->asked, join->n_asked) == 0)
        return send_step(join, release->round, join->replied, join->n_replied, error);
    uint64_t n = 0;
    const dpf_status status = exchange->functions->party_answer(
        exchange->instance->self, exchange_call(exchange), &exchange->x, release->message, step->bytes,
        step->n_bytes, exchange->message, &n, outcome);
    if (exchange_result(exchange, status, error) != 0)
        return -1;
    if (exchange->x.next_round != join->state.next_round &&
        party_state_keep(&join->state, exchange->x.next_round, error) != 0)
        return -1;
    return keep_answer(join, step, exchange->message, (size_t)n, error) == 0
               ? send_step(join, release->round, exchange->message, (size_t)n, error)
               : -1;
}

/* Until the server begins what follows, or this round again, it may ask once more for an answer that it has not got. */
static int answer_steps(struct join *join, struct exchange *exchange, const struct remote_release *release,
                        struct dpf_error *error)
{
    int32_t outcome = DPF_EXCHANGE_GOES_ON;
    const uint32_t repeats = join->state.repeats;
    while (outcome != DPF_EXCHANGE_REFUSED) {
        struct channel_event event;
        const struct frame *frame = &event.frame;
        if (next_message(join, &event, error) != 0)
            return -1;
        if (frame->kind == FRAME_ABORT || frame->kind == FRAME_REFUSED)
            return run_is_aborted(join, frame, error);
        const int again = join->state.repeats != repeats;
        if (frame->kind == FRAME_OVER ||
            (frame->kind == FRAME_ROUND &&
             (again || frame->round != (uint32_t)release->round))) /* it has gone on */
            return keep_message(join, &event, error);
        if (frame->kind == FRAME_STEP && !again && frame->round == (uint32_t)release->round &&
            answer_step(join, exchange, release, frame, &outcome, error) != 0)
            return -1;
    }
    log_message(LOG_LEVEL_WARNING, "round %lld: this party takes no further part in it",
                (long long)release->round + 1);
    return 0;
}

static int answer(void *context, const struct remote_release *release, struct dpf_error *error)
{
    struct join *join = context;
    struct exchange exchange;
    struct exchange_setup setup = {.party = (uint32_t)join->remote.engine.party,
                                   .n_parties = join->members.n,
                                   .next_round = join->state.next_round,
                                   .identities = join->members.keys,
                                   .signing_key = join->has_signing_key ? join->signing_key : NULL,
                                   .n_identities = join->members.n};
    agreement_of_round(&join->agreement, join->session, (uint64_t)release->round, join->state.repeats,
                       &release->rows, setup.agreed);
    memcpy(setup.server_key, join->current.server_key, sizeof setup.server_key);
    int status = exchange_begin(&exchange, release, &setup, error);
    join->in_round = (uint32_t)release->round + 1;
    if (status == 0)
        status = answer_steps(join, &exchange, release, error);
    join->in_round = 0;
    forget_answer(join);
    exchange_end(&exchange);
    return status;
}

/* ---- joining ------------------------------------------------------------------------------------ */

/* The only user of the records, or the one that was named. */
static int find_user(struct join *join, int64_t *user, struct dpf_error *error)
{
    const struct dataset *dataset = join->dataset;
    const struct csr *train = &dataset->train.by_user, *test = &dataset->test.by_user;
    int64_t n = 0;
    *user = -1;
    for (int64_t u = 0; u < dataset->users.n; u++)
        if (train->ptr[u + 1] > train->ptr[u] || (test->ptr && test->ptr[u + 1] > test->ptr[u])) {
            *user = u;
            n++;
        }
    if (n > 1)
        return error_set(
            error, DPF_FAULT_DATA,
            "the records are of %lld users, and a party has those of one: give its file with --data",
            (long long)n);
    if (join->arguments->user) {
        const int64_t named = id_map_find(&dataset->users, join->arguments->user);
        if (named < 0)
            return error_set(error, DPF_FAULT_DATA, "--user %s: not in the list of users",
                             join->arguments->user);
        if (n == 1 && named != *user)
            return error_set(error, DPF_FAULT_DATA, "--user %s: the records are those of user \"%s\"",
                             join->arguments->user, id_map_text(&dataset->users, *user));
        *user = named;
    }
    return *user >= 0 ? 0
                      : error_set(error, DPF_FAULT_DATA,
                                  "without records this party cannot tell which user it is: give --user ID");
}

static int find_site(const struct join *join, const char *name, int64_t *site, struct dpf_error *error)
{
    *site = *name ? members_find(&join->members, name) : -1;
    if (*site >= 0)
        return 0;
    return config_error(
        join->plan->config, "federation", "site", error,
        *name ? "\"%s\" is not in the list of [federation] parties"
              : "parties are sites here: give the name of this one, of those in [federation] parties",
        name);
}

/* Which party this is, and what it brings along. */
static int find_party(struct join *join, struct dpf_error *error)
{
    const dpf_value *v = join->channel.options.params.values;
    const char *key = v[FEDERATION_SIGNING_KEY].text;
    int64_t *party = &join->remote.engine.party;
    if (members_read(&join->members, join->plan, join->dataset, v[FEDERATION_PARTIES].text, error) != 0 ||
        (join->members.users ? find_user(join, party, error)
                             : find_site(join, v[FEDERATION_SITE].text, party, error)) != 0)
        return -1;
    join->name = memory_text(members_name(&join->members, *party));
    if (!*key)
        return 0;
    if (!join->members.keys)
        return config_error(join->plan->config, "federation", "signing-key", error,
                            "the list of parties ([federation] parties) has no keys");
    join->has_signing_key = 1;
    return members_read_secret(&join->members, *party, key, join->signing_key, error);
}

/* Shown and on the disk. */
static int state_it(struct join *join, struct dpf_error *error)
{
    char *text =
        consent_statement(join->plan, join->name, join->members.n, join->address, join->insecure, 80);
    char *path = party_state_path(&join->state, "statement.txt");
    const int status = files_write_private_text(path, text, error);
    if (status == 0 && !join->arguments->quiet)
        printf("%s\n", text);
    fflush(stdout);
    free(text);
    free(path);
    return status;
}

/* A person at a terminal is asked; a service has its [consent]. */
static int ask(const struct join *join, struct dpf_error *error)
{
    char line[16] = "";
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return 0;
    if (join->arguments->quiet)
        fprintf(stderr, "What this party would send is in %s/statement.txt.\n", join->state.directory);
    fprintf(stderr, "Send this? [y/N] ");
    fflush(stderr);
    if (fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y'))
        return 0;
    return error_set(error, DPF_FAULT_RUN, "not agreed to; nothing is sent");
}

/* The statement of this run, under its own name. */
static int keep_statement(struct join *join, struct dpf_error *error)
{
    char *from = party_state_path(&join->state, "statement.txt");
    char *to = memory_format("%s/statement-%s.txt", join->state.directory, join->state.session);
    int status = 0;
    if (access(to, F_OK) != 0 && link(from, to) != 0)
        status = error_set(error, DPF_FAULT_RUN, "cannot write %s", to);
    free(from);
    free(to);
    return status;
}

/* A run that is proved is charged, and one that is not has no epsilon to be charged. */
static int check_proof(const struct join *join, struct dpf_error *error)
{
    const struct plan *plan = join->plan;
    const int wanted = join->consent.params.values[CONSENT_PROVED].integer != 0;
    if (join->insecure || wanted == (plan->guarantee.run_holds != 0))
        return 0;
    return wanted
               ? error_set(
                     error, DPF_FAULT_CONFIG,
                     "nothing is proved of this run (\"dpframe check\" says why): this party sends nothing "
                     "(to take part all the same, set [consent] proved = no)")
               : config_error(plan->config, "consent", "proved", error,
                              "this run is proved, and is charged: remove the key, or set it to yes");
}

static int check_plan(struct join *join, struct dpf_error *error)
{
    const struct plan *plan = join->plan;
    const char *why = federation_refusal(plan);
    if (why)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s: it cannot be run with parties in processes of their own: %s",
                         config_path(plan->config), why);
    if (plan->guarantee.reproducible && !join->insecure)
        return config_error(
            plan->config, "privacy", "randomness", error,
            "noise that can be reproduced protects nobody: this party needs randomness = secure "
            "(--insecure-test at both ends, for tests)");
    if (consent_judge(plan, &join->consent, error) != 0)
        return -1;
    return check_proof(join, error);
}

/* Charged once for each run, however often this party is started. */
static int enter_run(struct join *join, struct dpf_error *error)
{
    int is_known;
    if (party_state_enter(&join->state, join->session, join->agreement.hex, join->name, join->data, &is_known,
                          error) != 0 ||
        keep_statement(join, error) != 0)
        return -1;
    join->remote.engine.answered = (int64_t)join->state.answered;
    if (is_known)
        return repeat_count(join->plan, join->state.paid, error) == 0 ? follow_server(join, error) : -1;
    if (plan_charge(join->plan, 1, error) != 0)
        return -1;
    join->state.repeats = join->repeats; /* nothing has been sent in any of them */
    return party_state_keep(&join->state, 0, error);
}

/* A party that comes back to a run has been charged for it, and has agreed. Whether it is that run is known once the
 * server has said so; if it is another one, enter_run charges it, or refuses, before anything made from records leaves. */
static int begin(void *context, struct plan *plan, const struct dataset *dataset,
                 struct checkpoint *checkpoint, struct dpf_error *error)
{
    struct join *join = context;
    (void)checkpoint;
    int64_t n;
    const dpf_param *table = consent_params(&n);
    join->plan = plan;
    plan->is_party = 1;
    join->dataset = dataset;
    if (config_bind(plan->config, "consent", table, n, sizeof *table, NULL, 1, &join->consent, error) != 0)
        return -1;
    join->has_consent = 1;
    if (check_plan(join, error) != 0 || channel_make(&join->channel, plan, error) != 0 ||
        find_party(join, error) != 0 ||
        data_files_sha256(&plan->data, &plan->split, join->data, error) != 0 ||
        agreement_make(plan, dataset, &join->members, join->insecure, &join->agreement, error) != 0)
        return -1;
    const int comes_back = party_state_knows(&join->state, join->agreement.hex, join->name, join->data);
    if ((!comes_back && plan_charge(plan, 0, error) != 0) || state_it(join, error) != 0 ||
        (!comes_back && ask(join, error) != 0) || connect_to_server(join, error) != 0 ||
        enter_run(join, error) != 0)
        return -1;
    return say_ready(join, error);
}

static void end(void *context, int status, const struct remote_rows *rows, const struct dpf_error *error)
{
    struct join *join = context;
    struct dpf_error ignored = {0};
    (void)rows;
    if (status != 0 && join->channel.is_open) {
        struct frame frame = {.kind = FRAME_ABORT};
        /* What went wrong may tell of records. */
        snprintf(frame.text, sizeof frame.text, "%s", error->fault ? "it has ended" : "");
        channel_send(&join->channel, DPF_LINK_SERVER, &frame, NULL, &ignored);
    }
    channel_close(&join->channel);
    if (join->is_over)
        party_state_end(&join->state, &ignored);
}

/* [federation] state, and of [consent] what is known before the plan is. */
struct own_limits {
    char *directory;
    double most; /* epsilon of all runs; 0: no limit */
    int counted; /* by the ledger */
};

/* The party's own file and ledger in place of what the configuration names. */
static int set_own(struct arguments *own, const struct own_limits *limits, char *texts[4],
                   struct dpf_error *error)
{
    int n = 0;
    char *data = own->data ? realpath(own->data, NULL) : NULL;
    if (own->data && !data)
        return error_set(error, DPF_FAULT_DATA, "--data %s: there is no such file", own->data);
    if (data)
        texts[n++] = memory_format("data.path=%s", data);
    free(data);
    if (limits->counted) { /* without a proof there is nothing to charge */
        texts[n++] = memory_format("privacy.ledger=%s/ledger", limits->directory);
        texts[n++] = memory_format("privacy.max-epsilon=%.17g", limits->most);
        /* That all runs were fixed beforehand is for this party to know, not for one of the runs to say. */
        texts[n++] = memory_text("privacy.ledger-runs=adaptive");
    }
    for (int i = 0; i < n; i++) {
        if (own->n_overrides == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
        own->overrides[own->n_overrides++] = texts[i];
    }
    own->data = NULL;
    own->user = NULL;
    return 0;
}

static int read_own(const struct join *join, struct own_limits *out, struct dpf_error *error)
{
    const struct arguments *arguments = join->arguments;
    struct config_values federation, consent;
    int64_t n_federation, n_consent;
    const dpf_param *of_federation = federation_params(&n_federation),
                    *of_consent = consent_params(&n_consent);
    if (!arguments->config)
        return error_set(error, DPF_FAULT_CONFIG, "no configuration: give one with -c FILE");
    struct config *config =
        config_load(arguments->config, arguments->overrides, arguments->n_overrides, error);
    if (!config)
        return -1;
    int status = federation_check_own(config, error);
    if (status == 0)
        status = config_bind(config, "federation", of_federation, n_federation, sizeof *of_federation, NULL,
                             0, &federation, error);
    if (status == 0) {
        out->directory = memory_text(federation.params.values[FEDERATION_STATE].text);
        config_values_free(&federation);
        status = config_bind(config, "consent", of_consent, n_consent, sizeof *of_consent, NULL, 0, &consent,
                             error);
    }
    if (status == 0) {
        const int has_limit = consent.params.values[CONSENT_MAX_EPSILON].is_set;
        out->most = consent.params.values[CONSENT_MAX_EPSILON].real;
        out->counted = consent.params.values[CONSENT_PROVED].integer && !join->insecure;
        if (out->counted && !has_limit)
            status = config_error(
                config, "consent", "max-epsilon", error,
                "is missing: it is the most that all runs which this party joins may cost together. "
                "Write it into your own file, which may say include = %s, or give it with -o "
                "consent.max-epsilon=NUMBER; nothing is sent",
                config_path(config));
        if (!consent.params.values[CONSENT_PROVED].integer && out->most > 0)
            status = config_error(
                config, "consent", "max-epsilon", error,
                "a run of which nothing is proved has no epsilon to limit: remove the key, or proved "
                "= no");
        config_values_free(&consent);
    }
    config_free(config);
    return status;
}

static int run_party(struct join *join, struct dpf_error *error)
{
    char *texts[4] = {NULL};
    struct own_limits limits = {.directory = NULL};
    struct arguments *own = memory_need(1, sizeof *own);
    int status = read_own(join, &limits, error);
    if (status == 0)
        status = party_state_open(&join->state, limits.directory, error);
    if (status == 0) {
        *own = *join->arguments;
        status = set_own(own, &limits, texts, error);
    }
    if (status == 0) {
        const struct run_request request = {
            .arguments = own, .quiet = join->arguments->quiet, .remote = &join->remote};
        status = run_once(&request, error);
    }
    for (int i = 0; i < 4; i++)
        free(texts[i]);
    free(limits.directory);
    free(own);
    return status;
}

int federation_join(const struct arguments *arguments, const char *address, int insecure,
                    struct dpf_error *error)
{
    struct join join = {
        .arguments = arguments, .address = address, .insecure = insecure, .state = {.lock = -1}};
    join.remote =
        (struct run_remote){.context = &join,
                            .begin = begin,
                            .end = end,
                            .engine = {.context = &join, .await = await, .take = take, .answer = answer}};
    const int status = run_party(&join, error);
    party_state_close(&join.state);
    if (join.has_consent)
        config_values_free(&join.consent);
    free(join.name);
    free(join.kept);
    forget_answer(&join);
    members_free(&join.members);
    agreement_free(&join.agreement);
    sodium_memzero(join.signing_key, sizeof join.signing_key);
    return status;
}
