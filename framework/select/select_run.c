/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/ticker.h"
#include "data/load.h"
#include "evaluate/metric_table.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "privacy/statement.h"
#include "run/failure.h"
#include "run/jobs.h"
#include "run/run_once.h"
#include "select/candidates.h"

struct selecting {
    const struct arguments *given;
    struct candidates candidates;
    struct select_dir dir;
    struct select_state state;
    struct data_parsed *parsed;
    int64_t *pending; /* indices of runs */
    size_t n_pending;
    int at_once, interrupted;
    char deviation[256];      /* of a run from its plan, or "" */
    struct dpf_error problem; /* of writing what came of a run */
};

int select_is_described(const struct arguments *arguments)
{
    struct dpf_error ignored = {0}; /* the process that opens it reports the fault */
    struct config *config = arguments->config ? config_load(arguments->config, arguments->overrides,
                                                            arguments->n_overrides, &ignored)
                                              : NULL;
    const int present = config && select_present(config);
    config_free(config);
    return present;
}

/* ---- draws -------------------------------------------------------------------------------------------- */

/* With the key of the noise, from streams that nothing else reads. */
static int draw(const struct candidates *c, struct select_state *state, struct dpf_error *error)
{
    const struct random_root *root = c->carrier.plan.privacy_root;
    dpf_stream *runs = random_stream_open(root, "select", "repetitions", error);
    dpf_stream *which = runs ? random_stream_open(root, "select", "candidates", error) : NULL;
    dpf_cursor cursor;
    if (which) {
        random_seek(runs, 0, 0, 0, &cursor);
        state->n_runs = repetitions_draw(&c->options.law, &cursor);
        state->candidates = memory_need((size_t)state->n_runs + 1, sizeof *state->candidates);
        state->scores = memory_need((size_t)state->n_runs + 1, sizeof *state->scores);
        random_seek(which, 0, 0, 0, &cursor);
        for (int64_t i = 0; i < state->n_runs; i++) {
            uint64_t candidate;
            random_below(&cursor, (uint64_t)c->n, &candidate, 1);
            state->candidates[i] = (int64_t)candidate;
            state->scores[i] = NAN;
        }
    }
    const int status = which ? 0 : -1;
    sodium_memzero(&cursor, sizeof cursor);
    random_stream_free(which);
    random_stream_free(runs);
    return status;
}

/* Of what the draws are made for: a changed candidate is another selection. */
static int fingerprint(const struct candidates *c, char hex[65], struct dpf_error *error)
{
    const struct plan *plan = &c->carrier.plan;
    struct text text = {0};
    char data[65];
    json_t *ledger = ledger_json(&plan->ledger);
    char *events = ledger ? json_dumps(ledger, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    int status = events ? data_files_sha256(&plan->data, &plan->split, data, error) : error_memory(error);
    if (status == 0) {
        text_add(&text, "dpframe %s\n%s\n%s\ndata %s\n", DPFRAME_VERSION, c->options.metric, events, data);
        for (int64_t i = 0; i < c->n; i++)
            text_add(&text, "candidate %s\n", c->list[i].digest);
        files_hash_bytes(text.data, text.length, hex);
    }
    text_free(&text);
    free(events);
    json_decref(ledger);
    return status;
}

/* Charges and draws, or goes on with what was charged and drawn before. */
static int begin(struct selecting *s, struct dpf_error *error)
{
    struct plan *plan = &s->candidates.carrier.plan;
    char hex[65];
    const int found = select_state_read(&s->dir, &s->state, error);
    if (found < 0 || fingerprint(&s->candidates, hex, error) != 0)
        return -1;
    if (found && strcmp(hex, s->state.fingerprint) != 0)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s: the candidates, their data or their noise are others than those that were charged and "
            "drawn; select anew in another directory",
            s->dir.output);
    for (int64_t i = 0; found && i < s->state.n_runs; i++)
        if (s->state.candidates[i] < 0 || s->state.candidates[i] >= s->candidates.n)
            return error_set(error, DPF_FAULT_CONFIG, "%s: the state of the selection is damaged",
                             s->dir.output);
    if (found)
        return 0;
    if (plan_charge(plan, 1, error) != 0 || draw(&s->candidates, &s->state, error) != 0)
        return -1;
    memcpy(s->state.fingerprint, hex, sizeof hex);
    s->state.selected = SELECT_NO_RUN;
    return select_state_write(&s->dir, &s->state, error);
}

/* ---- one run ------------------------------------------------------------------------------------------ */

/* Each run draws its own noise: a secure key is new in every session, a seed is made so. */
static int seed_of_run(const struct candidates *c, int64_t run, struct arguments *arguments,
                       char override[64], struct dpf_error *error)
{
    const struct plan *plan = &c->carrier.plan;
    uint8_t key[RANDOM_KEY_BYTES];
    uint64_t seed;
    char purpose[32];
    if (plan->privacy.params.values[PRIVACY_RANDOMNESS].integer == 0)
        return 0;
    if (arguments->n_overrides == MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    snprintf(purpose, sizeof purpose, "run %lld", (long long)run);
    random_derive_key(plan->privacy_root, "seed", "select", purpose, key);
    memcpy(&seed, key, sizeof seed);
    snprintf(override, 64, "privacy.noise-seed=%llu", (unsigned long long)(seed >> 11));
    arguments->overrides[arguments->n_overrides++] = override;
    return 0;
}

static void write_to_log(const struct selecting *s, int64_t run)
{
    char *path = select_path(&s->dir, "logs", run, ".txt");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, files_mode(path)) : -1;
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
    free(path);
}

static int make_run(struct selecting *s, int64_t run, struct arguments *arguments, int threads,
                    struct dpf_error *error)
{
    const struct candidates *c = &s->candidates;
    const struct candidate *candidate = &c->list[s->state.candidates[run]];
    const struct plan *plan = &c->carrier.plan;
    char seed[64];
    char *directory = select_path(&s->dir, "runs", run, "");
    const struct run_part part = {.ledger = &plan->ledger,
                                  .guarantee = &plan->guarantee,
                                  .first = candidate->first,
                                  .n = candidate->n,
                                  .output = s->dir.output};
    candidates_arguments(c, s->state.candidates[run], arguments);
    arguments->output = directory;
    const struct run_request request = {
        .arguments = arguments, .parsed = s->parsed, .threads = threads, .quiet = 1, .part = &part};
    const int status = seed_of_run(c, run, arguments, seed, error) == 0 ? run_once(&request, error) : -1;
    free(directory);
    return status;
}

static int run_job(void *context, size_t i)
{
    struct selecting *s = context;
    struct dpf_error error = {0};
    const long threads = sysconf(_SC_NPROCESSORS_ONLN) / s->at_once;
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    close(s->dir.lock); /* a run that outlives a killed selection must not keep others out */
    write_to_log(s, s->pending[i]);
    ticker_set(TICKER_OFF);
    log_set_level(LOG_LEVEL_INFO);
    const int status = make_run(s, s->pending[i], arguments, threads < 1 ? 1 : (int)threads, &error);
    free(arguments);
    return status == 0 || status == RUN_DEVIATED ? status : failure_report(&error);
}

/*
 * What was released with noise, larger is better; minus infinity if there is nothing. A value without a
 * deviation of its noise is an end of the metric's range, where the noise was larger than what it was added
 * to: it says nothing.
 */
static double score_of(const struct selecting *s, int64_t run)
{
    const char *metric = s->candidates.options.metric;
    char *path = select_path(&s->dir, "runs", run, "/run.json");
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *released = json_object_get(json_object_get(root, "released_metrics"), metric);
    const json_t *value = json_object_get(released, "value");
    double score = -(double)INFINITY;
    if (json_is_number(value) && json_is_number(json_object_get(released, "noise")))
        score = metric_smaller_is_better(metric) ? -json_number_value(value) : json_number_value(value);
    json_decref(root);
    free(path);
    return score;
}

static void after_job(void *context, size_t i, int ended, double seconds)
{
    struct selecting *s = context;
    const int64_t run = s->pending[i];
    char problem[64] = "";
    if (ended == JOB_INTERRUPTED)
        return; /* it stays to be run */
    if (ended == RUN_DEVIATED) {
        snprintf(s->deviation, sizeof s->deviation, "a run departed from its plan");
        return;
    }
    if (ended > 128)
        snprintf(problem, sizeof problem, "ended by signal %d", ended - 128);
    else if (ended)
        snprintf(problem, sizeof problem, "exit status %d: see the log", ended);
    const double score = ended ? -(double)INFINITY : score_of(s, run);
    if (select_state_end(&s->dir, &s->state, run, score, seconds, problem, &s->problem) != 0)
        s->state.scores[run] = NAN;
}

/* ---- all runs ------------------------------------------------------------------------------------------ */

static int parse(struct selecting *s, struct dpf_error *error)
{
    struct plan *plan = &s->candidates.carrier.plan;
    struct pool *pool = pool_new((int)sysconf(_SC_NPROCESSORS_ONLN));
    const int status = data_parse(&plan->data, &plan->split, plan->seeded, pool, &s->parsed, error);
    pool_free(pool); /* ends its threads: a process with threads must not fork */
    return status;
}

static void list_pending(struct selecting *s)
{
    s->pending = memory_need((size_t)s->state.n_runs + 1, sizeof *s->pending);
    for (int64_t i = 0; i < s->state.n_runs; i++)
        if (isnan(s->state.scores[i]))
            s->pending[s->n_pending++] = i;
}

/* How many runs there are, and how many are over, stays secret. */
static void show_time(void *context, size_t running)
{
    (void)context;
    (void)running;
    ticker_add(0);
}

static int run_all(struct selecting *s, struct dpf_error *error)
{
    list_pending(s);
    const struct jobs jobs = {.context = s,
                              .n = s->n_pending,
                              .at_once = s->at_once,
                              .work = run_job,
                              .after = after_job,
                              .tick = show_time};
    blas_one_thread(); /* BLAS starts no threads before the forks */
    ticker_begin("running candidates", 0);
    const int status = jobs_run(&jobs, error);
    ticker_end();
    if (status < 0)
        return -1;
    if (s->problem.fault) {
        *error = s->problem;
        return -1;
    }
    if (s->deviation[0])
        return error_set(
            error, DPF_FAULT_RUN,
            "%s, so that nothing is proved of the selection: nothing is released. What happened is in "
            "the logs in %s",
            s->deviation, s->dir.work);
    if (status == 1)
        return error_set(
            error, DPF_FAULT_RUN,
            "interrupted; nothing is released. --resume goes on with the same draws, and charges "
            "nothing again");
    return 0;
}

int64_t select_best(const struct select_state *state)
{
    int64_t best = SELECT_NOTHING;
    for (int64_t i = 0; i < state->n_runs; i++) {
        if (isnan(state->scores[i]))
            return SELECT_NO_RUN;
        if (isfinite(state->scores[i]) && (best < 0 || state->scores[i] > state->scores[best]))
            best = i;
    }
    return best;
}

static int choose(struct selecting *s, struct dpf_error *error)
{
    if (s->state.selected != SELECT_NO_RUN)
        return 0;
    s->state.selected = select_best(&s->state);
    if (s->state.selected == SELECT_NO_RUN)
        return error_set(error, DPF_FAULT_RUN, "a run is not over; nothing is released. --resume goes on");
    return select_state_write(&s->dir, &s->state, error);
}

static void print_result(const struct selecting *s)
{
    const struct guarantee *guarantee = &s->candidates.carrier.plan.guarantee;
    const struct point *point = s->candidates.list[s->state.candidates[s->state.selected]].point;
    char *statement = guarantee_text_wide(guarantee, terminal_width(STDOUT_FILENO));
    printf("%s\nSelected: %s\n", statement ? statement : "", point->name);
    for (int i = 0; i < point->n_settings; i++)
        printf("          %s\n", point->settings[i]);
    printf("Results: %s (released: %s/release, private: %s/private)\n", s->dir.output, s->dir.output,
           s->dir.output);
    free(statement);
}

static int publish(struct selecting *s, struct dpf_error *error)
{
    if (s->state.selected == SELECT_NOTHING)
        return error_set(
            error, DPF_FAULT_RUN,
            "nothing is selected: there was no run, or none has a score. Nothing is released, and what "
            "was charged stays charged. The logs in %s are private",
            s->dir.work);
    if (select_publish(&s->dir, s->state.selected, error) != 0)
        return -1;
    if (!s->given->quiet)
        print_result(s);
    return 0;
}

/* ---- the commands -------------------------------------------------------------------------------------- */

/* A selection of which nothing is proved would release a choice that nobody pays for. */
static int check_proved(const struct candidates *c, struct dpf_error *error)
{
    const struct guarantee *guarantee = &c->carrier.plan.guarantee;
    if (statement_least(guarantee))
        return 0;
    for (int i = 0; i < N_CONDITIONS; i++)
        if (!guarantee->conditions[i].holds && strcmp(guarantee->conditions[i].id, "C9") != 0)
            return error_set(
                error, DPF_FAULT_CONFIG, "[select] needs a proof for each candidate, and %s (%s) fails. %s",
                guarantee->conditions[i].id, guarantee->conditions[i].title, guarantee->conditions[i].why);
    return error_set(
        error, DPF_FAULT_CONFIG,
        "[select] needs an accountant with a theorem about selections: add rdp to [accountants] list, and "
        "see dpframe check for what each of them says");
}

static int choose_jobs(const struct selecting *s)
{
    const int64_t jobs = s->given->jobs ? s->given->jobs : s->candidates.design.jobs;
    return jobs > 0 ? (int)jobs : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static int list_candidates(const struct selecting *s)
{
    for (int64_t i = 0; i < s->candidates.n; i++) {
        const struct candidate *candidate = &s->candidates.list[i];
        printf("%s\n", candidate->point->name);
        for (int k = 0; k < candidate->point->n_settings; k++)
            printf("         %s\n", candidate->point->settings[k]);
    }
    printf("%lld candidates\n", (long long)s->candidates.n);
    return 0;
}

static int select_all(struct selecting *s, struct dpf_error *error)
{
    struct plan *plan = &s->candidates.carrier.plan;
    ticker_set(isatty(STDERR_FILENO) && !s->given->quiet ? TICKER_BAR : TICKER_OFF);
    if (candidates_open(s->given, &s->candidates, error) != 0)
        return -1;
    if (s->given->dry_run)
        return list_candidates(s);
    s->at_once = choose_jobs(s);
    const char *output = s->given->output ? s->given->output : plan->run.params.values[RUN_OUTPUT].text;
    /* What can be wrong is found before anything is charged. */
    if (check_proved(&s->candidates, error) != 0 || candidates_measure(&s->candidates, error) != 0 ||
        parse(s, error) != 0 || select_dir_open(output, s->given->resume, &s->dir, error) != 0 ||
        begin(s, error) != 0)
        return -1;
    if (!s->given->quiet)
        log_message(LOG_LEVEL_INFO,
                    "candidates run; how many times stays secret, and so should the time they take");
    if (s->state.selected == SELECT_NO_RUN && run_all(s, error) != 0)
        return -1;
    return choose(s, error) == 0 ? publish(s, error) : -1;
}

int select_run(const struct arguments *arguments, struct dpf_error *error)
{
    struct selecting *s = memory_need(1, sizeof *s);
    s->given = arguments;
    s->dir.lock = -1;
    const int status = select_all(s, error);
    data_parsed_free(s->parsed);
    select_state_free(&s->state);
    select_dir_close(&s->dir);
    candidates_close(&s->candidates);
    free(s->pending);
    free(s);
    return status;
}
