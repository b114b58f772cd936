/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/serve.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/checkpoint.h"
#include "federation/empty_data.h"
#include "federation/refusal.h"
#include "federation/serving.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "run/resume.h"
#include "run/run_once.h"

#define TELL_SECONDS 5.0 /* a party that is still there tries to come back each second */

static int wait_for_parties(struct serve *serve, struct dpf_error *error)
{
    const dpf_value *v = serve->channel.options.params.values;
    const int over = serve->checkpoint && serve->checkpoint->over; /* they are only told, and some know it */
    const double longest = v[FEDERATION_JOIN_TIME].real,
                 until = channel_clock() + (over ? fmin(longest, TELL_SECONDS) : longest);
    while (serve_count_ready(serve) < serve->members.n) {
        struct channel_event event;
        const int status = serve_next_event(serve, until, &event, error);
        if (status == 0)
            break;
        if (status < 0 || serve_event(serve, &event, error) != 0)
            return -1;
    }
    const int64_t n = serve_count_ready(serve);
    int admitted = 0; /* some of them may have charged their ledgers and be gone */
    for (int64_t party = 0; party < serve->members.n; party++)
        admitted |= serve->known[party].is_known;
    if (!over && n < v[FEDERATION_LEAST_PARTIES].integer)
        return error_set(error, DPF_FAULT_RUN,
                         "%lld of %lld parties have joined within %g seconds, and [federation] least-parties "
                         "asks for %lld; "
                         "the run does not begin%s",
                         (long long)n, (long long)serve->members.n, v[FEDERATION_JOIN_TIME].real,
                         (long long)v[FEDERATION_LEAST_PARTIES].integer,
                         admitted ? "; a party that has joined has charged its ledger already" : "");
    log_message(LOG_LEVEL_INFO, "%lld of %lld parties have joined", (long long)n,
                (long long)serve->members.n);
    return 0;
}

/* ---- a run that is continued ---- */

static int is_hex(const json_t *value, uint8_t out[16])
{
    const char *text = json_string_value(value);
    size_t n = 0;
    return text && sodium_hex2bin(out, 16, text, strlen(text), NULL, &n, NULL) == 0 && n == 16;
}

/* Whose run it was, and which directories its parties have: each comes back as itself, or not at all. */
static int recall(struct serve *serve, const json_t *server, struct dpf_error *error)
{
    const char *number;
    json_t *instance, *parties = json_object_get(server, "parties");
    int right = is_hex(json_object_get(server, "session"), serve->session) && json_is_object(parties);
    json_object_foreach(parties, number, instance)
    {
        const int64_t party = strtoll(number, NULL, 10);
        right = right && party >= 0 && party < serve->members.n;
        if (right)
            serve->known[party].is_known = right = is_hex(instance, serve->known[party].instance);
    }
    return right ? 0
                 : error_set(error, DPF_FAULT_RUN,
                             "%s: this checkpoint names no parties, or not those of this list: another run "
                             "wrote it. Remove it to start anew, which is charged again",
                             serve->checkpoint->path);
}

/* A session of its own, or that of the checkpoint; and what the next checkpoint says of the parties. */
static int open_session(struct serve *serve, struct checkpoint *checkpoint, struct dpf_error *error)
{
    char hex[33];
    randombytes_buf(serve->session, sizeof serve->session);
    if (!*checkpoint->path)
        return 0;
    serve->checkpoint = checkpoint;
    serve->round = (uint32_t)checkpoint->round;
    serve->repeats = (uint32_t)checkpoint->repeats;
    if (checkpoint->resumes && recall(serve, json_object_get(checkpoint->head, "server"), error) != 0)
        return -1;
    sodium_bin2hex(hex, sizeof hex, serve->session, sizeof serve->session);
    checkpoint->server = json_pack("{s:s, s:{}}", "session", hex, "parties");
    if (!checkpoint->server)
        return error_memory(error);
    for (int64_t party = 0; party < serve->members.n; party++)
        if (serve->known[party].is_known && serve_remember(serve, party, error) != 0)
            return -1;
    return 0;
}

/* Whether the run fits its ledger is known before parties are asked; what a continued one costs, once they are there. */
static int foresee_charge(const struct checkpoint *checkpoint, struct plan *plan, struct dpf_error *error)
{
    return checkpoint->resumes ? 0 : plan_charge(plan, 0, error);
}

/* A quorum must not change what the statement says: whom a secret sample has left in is no secret if the quickest are
   in, and the noise rests on a number of parties. */
static int check_quorum(const struct plan *plan, const struct config_values *federation,
                        struct dpf_error *error)
{
    const int64_t quorum = federation->params.values[FEDERATION_QUORUM].integer;
    const struct remote_sum sum = remote_sum(plan);
    if (quorum > 0 && sum.term && sum.term->sampler)
        return config_error(plan->config, "federation", "quorum", error,
                            "the run draws its parties, and its guarantee may rest on who is drawn: set 0");
    if (quorum > 0 && quorum < sum.least_survivors)
        return config_error(plan->config, "federation", "quorum", error,
                            "the noise needs %lld parties in each sum: ask for as many, or set 0",
                            (long long)sum.least_survivors);
    return 0;
}

static int begin(void *context, struct plan *plan, const struct dataset *dataset,
                 struct checkpoint *checkpoint, struct dpf_error *error)
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
    if (channel_make(&serve->channel, plan, error) != 0)
        return -1;
    const dpf_value *v = serve->channel.options.params.values;
    if (enrolled_open(&serve->enrolled, v[FEDERATION_ENROLLED].text, error) != 0 ||
        check_quorum(plan, &serve->channel.options, error) != 0)
        return -1;
    if (!plan->guarantee.run_holds)
        log_message(LOG_LEVEL_WARNING,
                    "nothing is proved of this run: parties take part only if they say [consent] proved "
                    "= no (\"dpframe check\" says which conditions fail)");
    if (members_read(&serve->members, plan, dataset, v[FEDERATION_PARTIES].text, error) != 0)
        return -1;
    serve->known = memory_new((size_t)serve->members.n + 1, sizeof *serve->known);
    if (!serve->known)
        return error_memory(error);
    if (agreement_make(plan, dataset, &serve->members, serve->insecure, &serve->agreement, error) != 0 ||
        open_session(serve, checkpoint, error) != 0 || foresee_charge(checkpoint, plan, error) != 0 ||
        metrics_open(&serve->metrics, plan, serve->members.n, v[FEDERATION_METRICS].text, error) != 0 ||
        channel_open(&serve->channel, DPF_LINK_SERVES, serve->address, error) != 0)
        return -1;
    serve->begun = 1;
    log_message(LOG_LEVEL_INFO, "serving at %s, agreement %.8s...", serve->address, serve->agreement.hex);
    if (wait_for_parties(serve, error) != 0)
        return -1;
    return resume_charge(checkpoint, plan, error); /* before anybody is asked for anything */
}

static void end(void *context, int status, const struct remote_rows *rows, const struct dpf_error *error)
{
    struct serve *serve = context;
    struct dpf_error ignored = {0};
    struct frame frame = {.kind = status == 0 ? FRAME_OVER : FRAME_ABORT};
    if (status != 0) {
        frame.round = serve->checkpoint && checkpoint_exists(serve->checkpoint->path);
        snprintf(frame.text, sizeof frame.text, "the server %s: %.400s",
                 frame.round ? "stops, and may continue" : "ends the run", error->text);
    }
    int64_t n = 0, *peers = serve->begun ? memory_new((size_t)serve->n_joined + 1, sizeof *peers) : NULL;
    for (int64_t i = 0; peers && i < serve->n_joined; i++)
        if (serve->joined[i].party != NOBODY)
            peers[n++] = serve->joined[i].peer;
    if (n > 0)
        channel_share(&serve->channel, peers, n, &frame, status == 0 ? rows : NULL, &ignored);
    free(peers);
    channel_close(&serve->channel);
    metrics_close(&serve->metrics);
}

int federation_serve(const struct arguments *arguments, const char *address, int insecure,
                     struct dpf_error *error)
{
    struct serve serve = {.address = address, .insecure = insecure};
    struct run_remote remote = {.context = &serve,
                                .begin = begin,
                                .end = end,
                                .engine = {.context = &serve, .party = NOBODY, .gather = serve_gather}};
    struct empty_data data;
    struct arguments *own = memory_new(1, sizeof *own);
    if (!own)
        return error_memory(error);
    *own = *arguments;
    int status = empty_data_make(&data, own, error);
    if (status == 0) {
        const struct run_request request = {
            .arguments = own, .quiet = arguments->quiet, .whole_process = 1, .remote = &remote};
        status = run_once(&request, error);
    }
    empty_data_remove(&data);
    free(serve.joined);
    free(serve.known);
    members_free(&serve.members);
    agreement_free(&serve.agreement);
    enrolled_close(&serve.enrolled);
    free(own);
    return status;
}
