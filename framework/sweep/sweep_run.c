/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the points of a sweep, each in a process of its own: all of them, with tables of the results, or those
 * that are named of a sweep that was prepared. */
/* sched_getaffinity is Linux's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/ticker.h"
#include "run/failure.h"
#include "run/run_once.h"
#include "sweep/point_choice.h"
#include "sweep/point_claim.h"
#include "sweep/sweep_point.h"
#include "sweep/sweep_run.h"
#include "data/load.h"
#include "sweep/outcome_tables.h"
#include "run/progress.h"
#include "run/jobs.h"
#include "sweep/sweep_dir.h"
#include "sweep/together.h"

struct sweep {
    struct arguments arguments;
    char *output_override;
    char *directory;
    struct design design;
    struct points points;
    struct sweep_base base;
    struct sweep_point *all;
    size_t *pending; /* indices, those with the same source next to each other */
    size_t n_pending;
    size_t n_done, n_failed, n_ended;
    int at_once, quiet, is_terminal, interrupted;
    double started, drawn;
    struct sweep_row row; /* of --dry-run */
    int lock;             /* of the directory, or -1 */
    int made, is_new;     /* the directory, and the sweep in it */
    /* By points: those from first on that are in all, each under a claim of its own. */
    int by_points;
    size_t first, n, n_elsewhere; /* without --point: all of them */
    json_t *fingerprints;         /* of the points as they were prepared */
    json_t *together;             /* what its folds release together */
    struct claim *claims;         /* of pending points */
    /* What the next points share. */
    const char *parsed_key;
    struct data_parsed *parsed;
};

/* Processors that the scheduler leaves to this process. */
static long processors(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return n > 0 ? n : sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- reading the design ------------------------------------------------------------------------------- */

/* Without a lock of the directory: other processes run other points of it. */
static int open_prepared(struct sweep *sweep, const char *output, struct dpf_error *error)
{
    sweep->directory = realpath(output, NULL);
    sweep->fingerprints = sweep->directory ? store_fingerprints(sweep->directory) : NULL;
    return sweep->fingerprints
               ? 0
               : error_set(error, DPF_FAULT_CONFIG,
                           "[run] output = %s: there is no sweep that was prepared; first run "
                           "\"dpframe sweep -c CONFIG --prepare\"",
                           output);
}

static int open_directory(struct sweep *sweep, const char *output, struct dpf_error *error)
{
    const enum store_use use = sweep->arguments.prepare  ? STORE_PREPARE
                               : sweep->arguments.resume ? STORE_RESUME
                                                         : STORE_NEW;
    sweep->made = access(output, F_OK) != 0;
    sweep->is_new = use == STORE_NEW;
    if (store_prepare(output, use, error) != 0)
        return -1;
    sweep->directory = realpath(output, NULL);
    if (!sweep->directory)
        return error_set(error, DPF_FAULT_CONFIG, "[run] output = %s: %s", output, strerror(errno));
    sweep->lock = files_lock_directory(sweep->directory, error);
    if (sweep->lock < 0)
        return -1;
    if (!sweep->arguments.prepare) /* points of an earlier preparation may be writing */
        store_clean(sweep->directory);
    return 0;
}

/* Without "..", as far as its directories are there: configs/../results/a is results/a. */
static char *resolved(const char *output)
{
    char *whole = realpath(output, NULL);
    const char *slash = strrchr(output, '/');
    if (whole || !slash || slash == output || !slash[1])
        return whole ? whole : memory_text(output);
    char *above = memory_format("%.*s", (int)(slash - output), output), *clear = resolved(above);
    whole = strcmp(slash + 1, "..") == 0 ? memory_text(output) : files_join(clear, slash + 1);
    free(clear);
    free(above);
    return whole;
}

static int take_output(struct sweep *sweep, struct config *config, struct dpf_error *error)
{
    struct config_values run;
    int64_t n;
    const dpf_param *table = schema_run(&n);
    if (config_bind(config, "run", table, n, sizeof *table, NULL, 0, &run, error) != 0)
        return -1;
    char *output = resolved(run.params.values[RUN_OUTPUT].text);
    int status = 0;
    if (sweep->by_points)
        status = open_prepared(sweep, output, error);
    else if (!sweep->arguments.dry_run)
        status = open_directory(sweep, output, error);
    else
        sweep->directory = memory_text(output);
    free(output);
    config_values_free(&run);
    return status;
}

static int read_design(struct sweep *sweep, const struct arguments *arguments, struct dpf_error *error)
{
    sweep->arguments = *arguments;
    sweep->by_points = arguments->point != NULL;
    if (arguments->output) {
        if (arguments->n_overrides == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
        sweep->output_override = memory_format("run.output=%s", arguments->output);
        sweep->arguments.overrides[sweep->arguments.n_overrides++] = sweep->output_override;
        sweep->arguments.output = NULL;
    }
    struct config *config = sweep_points_read(&sweep->arguments, &sweep->design, &sweep->points, error);
    if (!config)
        return -1;
    int status = take_output(sweep, config, error);
    config_free(config);
    return status;
}

/* ---- preparing points --------------------------------------------------------------------------------- */

static int by_source(const void *a, const void *b, const struct sweep *sweep)
{
    const struct sweep_point *x = &sweep->all[*(const size_t *)a], *y = &sweep->all[*(const size_t *)b];
    return strcmp(x->source_key, y->source_key);
}

/* Moves points with the same source next to each other, in the order of their first: a stable grouping. */
static void group_pending(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_pending; i++) {
        size_t to = i + 1;
        for (size_t j = i + 1; j < sweep->n_pending; j++) {
            if (by_source(&sweep->pending[i], &sweep->pending[j], sweep) != 0)
                continue;
            size_t moved = sweep->pending[j];
            memmove(&sweep->pending[to + 1], &sweep->pending[to], (j - to) * sizeof moved);
            sweep->pending[to++] = moved;
        }
        i = to - 1;
    }
}

static void record_problem(struct sweep *sweep, const struct sweep_point *point)
{
    struct dpf_error ignored = {0};
    const struct state state = {.status = "failed", .fingerprint = "", .error = point->problem.text};
    store_write_state(sweep->directory, point->point->name, &state, &ignored);
}

/* Printed as it is prepared: of thousands the first should not wait for the last. */
static void list_point(const struct sweep_point *point)
{
    const struct point *of = point->point;
    printf("%s  %s\n", point->problem.fault ? "error" : point->done ? "done " : "run  ", of->name);
    for (int l = 0; of->variant && l < (int)of->variant->layers.n; l++)
        printf("         @%s\n", of->variant->layers.texts[l]);
    for (int s = 0; s < of->n_settings; s++)
        printf("         %s\n", of->settings[s]);
    if (point->problem.fault)
        printf("       %s\n", point->problem.text);
    fflush(stdout);
}

/* The point that others mean by this name, and list and report, is that of --prepare. */
static int check_prepared(const struct sweep *sweep, const struct sweep_point *point, struct dpf_error *error)
{
    const char *name = point->point->name;
    const char *prepared = json_string_value(json_object_get(sweep->fingerprints, name));
    if (prepared && strcmp(prepared, point->fingerprint) == 0)
        return 0;
    return error_set(
        error, DPF_FAULT_CONFIG,
        "point %s: its configuration, the plugins, the program or the data are not those of --prepare "
        "(with which the %s of the sweep in %s was made); use the same everywhere, or --prepare "
        "again",
        name, prepared ? "fingerprint" : "list", sweep->directory);
}

static int prepare_point(struct sweep *sweep, size_t i, struct dpf_error *error)
{
    struct sweep_point *point = &sweep->all[i];
    if (sweep_point_prepare(&sweep->base, &sweep->points.items[sweep->first + i], point, error) != 0 ||
        (sweep->by_points && check_prepared(sweep, point, error) != 0))
        return -1;
    if (sweep->base.dry_run)
        sweep_point_judge_prepared(&sweep->base, &sweep->row, point);
    if (point->problem.fault)
        sweep->n_failed++;
    else if (point->done && (sweep->arguments.resume || sweep->by_points || sweep->arguments.prepare))
        sweep->n_done++;
    else
        sweep->pending[sweep->n_pending++] = i;
    if (sweep->base.dry_run)
        list_point(point);
    else if (point->problem.fault && !sweep->by_points)
        record_problem(sweep, point);
    if (sweep->arguments.prepare)
        json_object_set_new(sweep->fingerprints, point->point->name, json_string(point->fingerprint));
    return 0;
}

static int prepare_points(struct sweep *sweep, struct dpf_error *error)
{
    const size_t n = sweep->n;
    struct progress progress;
    progress_start(&progress, (int64_t)n);
    progress.what = "preparing point";
    sweep->all = memory_need(n, sizeof *sweep->all);
    sweep->pending = memory_need(n, sizeof *sweep->pending);
    sweep->claims = memory_need(n, sizeof *sweep->claims);
    for (size_t i = 0; i < n; i++) {
        if (interrupt_check("points were prepared", error) != 0 || prepare_point(sweep, i, error) != 0)
            return -1;
        if (progress.is_terminal && !sweep->quiet && !sweep->base.dry_run)
            progress_step(&progress, (int64_t)i + 1, "");
    }
    /* A mistake that concerns all points is one of the configuration. */
    if (sweep->n_failed == n)
        return error_set(error, sweep->all[0].problem.fault, "%s", sweep->all[0].problem.text);
    group_pending(sweep);
    return 0;
}

static int conclude_listing(const struct sweep *sweep, struct dpf_error *error)
{
    printf("%zu points, %zu at a time, in %s\n", sweep->n, (size_t)sweep->at_once, sweep->directory);
    return sweep->n_failed ? error_set(error, DPF_FAULT_CONFIG, "%zu of %zu points cannot be run",
                                       sweep->n_failed, sweep->points.n)
                           : 0;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static const struct sweep_point *pending_at(const struct sweep *sweep, size_t i)
{
    return &sweep->all[sweep->pending[i]];
}

static int same_source(const struct sweep *sweep, size_t i, size_t j)
{
    return j < sweep->n_pending &&
           strcmp(pending_at(sweep, i)->source_key, pending_at(sweep, j)->source_key) == 0;
}

/* What cannot be read here cannot be read by the points either, and they say why. */
static void parse_for(struct sweep *sweep, const struct sweep_point *point)
{
    struct dpf_error ignored = {0};
    struct session session = {0};
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    struct pool *pool = pool_new((int)processors());
    *arguments = sweep->arguments;
    arguments->config = point->config;
    arguments->n_overrides = 0;
    struct plan *plan = &session.plan;
    if (session_open(&session, arguments, 0, &ignored) == 0)
        data_parse(&plan->data, &plan->split, plan->seeded, pool, &sweep->parsed, &ignored);
    session_close(&session);
    pool_free(pool); /* ends its threads: a process with threads must not fork */
    free(arguments);
}

static void give_back(struct sweep *sweep, size_t i)
{
    struct dpf_error problem = {0};
    if (claim_end(&sweep->claims[i], &problem) != 0)
        log_message(LOG_LEVEL_WARNING, "%s", problem.text);
}

/* 1 if the point is this process's to run. What others have done until now is seen only under the claim. */
static int take_point(struct sweep *sweep, size_t i)
{
    struct sweep_point *point = &sweep->all[sweep->pending[i]];
    const char *name = point->point->name;
    struct claim_holder holder;
    const int taken = claim_take(sweep->directory, name, sweep->arguments.take_over, &sweep->claims[i],
                                 &holder, &point->problem);
    if (taken == 1) {
        char who[2 * CLAIM_TEXT + 96];
        claim_describe(&holder, who, sizeof who);
        log_message(LOG_LEVEL_WARNING, "%s is being run by %s; --take-over if that is known to be dead", name,
                    who);
        sweep->n_elsewhere++;
    } else if (taken == 0) {
        store_refresh(sweep->directory, name);
        point->done = store_is_done(sweep->directory, name, point->fingerprint);
        sweep->n_done += point->done != 0;
        if (!point->done)
            return 1;
        give_back(sweep, i);
    } else {
        sweep->n_failed++;
    }
    return 0;
}

static void before_job(void *context, size_t i)
{
    struct sweep *sweep = context;
    const struct sweep_point *point = pending_at(sweep, i);
    if (sweep->by_points && !take_point(sweep, i))
        return;
    store_remove_state(sweep->directory, point->point->name);
    if (sweep->parsed_key && strcmp(sweep->parsed_key, point->source_key) == 0)
        return;
    data_parsed_free(sweep->parsed);
    sweep->parsed = NULL;
    sweep->parsed_key = point->source_key;
    if (same_source(sweep, i, i + 1))
        parse_for(sweep, point);
}

static void write_to_log(const struct sweep *sweep, const char *name)
{
    char *path = store_path(sweep->directory, "logs", name, ".txt");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
    free(path);
}

static int run_job(void *context, size_t i)
{
    struct sweep *sweep = context;
    const struct sweep_point *point = pending_at(sweep, i);
    struct dpf_error error = {0};
    long threads = processors() / sweep->at_once;
    if (sweep->by_points && !sweep->claims[i].path)
        return 0;
    close(sweep->lock); /* a point that outlives a killed sweep must not keep others out */
    write_to_log(sweep, point->point->name);
    ticker_set(TICKER_OFF);
    log_set_level(LOG_LEVEL_INFO);
    sweep->arguments.config = point->config;
    sweep->arguments.n_overrides = 0;
    const struct run_request request = {.arguments = &sweep->arguments,
                                        .parsed = sweep->parsed,
                                        .threads = threads < 1 ? 1 : (int)threads,
                                        .quiet = 1};
    return run_once(&request, &error) == 0 ? 0 : failure_report(&error);
}

/* The last line of the log, which says why a run failed. Free it. */
static char *last_line(const struct sweep *sweep, const char *name)
{
    char *path = store_path(sweep->directory, "logs", name, ".txt");
    FILE *stream = path ? fopen(path, "r") : NULL;
    char line[4096] = "", last[4096] = "";
    while (stream && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof last);
    }
    if (stream)
        fclose(stream);
    free(path);
    return memory_text(strncmp(last, "dpframe: ", 9) == 0 ? last + 9 : last);
}

static void draw_bar(struct sweep *sweep, size_t running)
{
    struct text words = {0};
    size_t n = sweep->n, over = sweep->n_done + sweep->n_failed;
    double elapsed = progress_clock() - sweep->started;
    text_add(&words, "%zu/%zu points, %zu running", over, n, running);
    if (sweep->n_failed)
        text_add(&words, ", %zu failed", sweep->n_failed);
    if (sweep->n_ended)
        text_add(&words, ", %.0f s left", elapsed / (double)sweep->n_ended * (double)(n - over));
    terminal_bar((double)over / (double)n, words.data ? words.data : "");
    text_free(&words);
}

static void tick(void *context, size_t running)
{
    struct sweep *sweep = context;
    double now = progress_clock();
    if (!sweep->is_terminal || sweep->quiet || now - sweep->drawn < 0.2)
        return;
    sweep->drawn = now;
    draw_bar(sweep, running);
}

static void report_end(const struct sweep *sweep, const char *name, const struct state *state)
{
    size_t over = sweep->n_done + sweep->n_failed;
    double elapsed = progress_clock() - sweep->started;
    if (ticker_mode() == TICKER_JSON)
        terminal_progress_json("point", (int64_t)over, (int64_t)sweep->n);
    if (sweep->quiet || sweep->is_terminal)
        return;
    fprintf(stderr, "%zu/%zu  %s  %s in %.2f s, %.0f s left\n", over, sweep->n, name, state->status,
            state->seconds, elapsed / (double)sweep->n_ended * (double)(sweep->n - over));
}

static void after_job(void *context, size_t i, int ended, double seconds)
{
    struct sweep *sweep = context;
    struct dpf_error problem = {0};
    struct sweep_point *point = &sweep->all[sweep->pending[i]];
    const char *name = point->point->name;
    if (sweep->by_points && !sweep->claims[i].path)
        return; /* it was not taken */
    if (ended == JOB_INTERRUPTED) {
        give_back(sweep, i);
        return; /* it stays to be run */
    }
    char *line = ended ? last_line(sweep, name) : NULL;
    char *text = ended > 128 ? memory_format("ended by signal %d (%s); see logs/%s.txt", ended - 128,
                                             strsignal(ended - 128), name)
                             : NULL;
    const struct state state = {.status = ended ? "failed" : "done",
                                .fingerprint = point->fingerprint,
                                .error = !ended ? ""
                                         : text ? text
                                         : line ? line
                                                : "see the log",
                                .seconds = seconds};
    sweep->n_ended++;
    *(ended ? &sweep->n_failed : &sweep->n_done) += 1;
    if (store_write_state(sweep->directory, name, &state, &problem) != 0)
        log_message(LOG_LEVEL_WARNING, "%s", problem.text);
    if (ended)
        error_set(&point->problem, DPF_FAULT_RUN, "%s", state.error);
    give_back(sweep, i);
    report_end(sweep, name, &state);
    free(text);
    free(line);
}

static int run_points(struct sweep *sweep, struct dpf_error *error)
{
    const struct jobs jobs = {.context = sweep,
                              .n = sweep->n_pending,
                              .at_once = sweep->at_once,
                              .before = before_job,
                              .work = run_job,
                              .after = after_job,
                              .tick = tick};
    /* BLAS starts no threads before the forks. */
    blas_one_thread();
    log_set_level(LOG_LEVEL_WARNING);
    sweep->started = progress_clock();
    sweep->is_terminal = isatty(STDERR_FILENO);
    int status = jobs_run(&jobs, error);
    if (sweep->is_terminal && !sweep->quiet)
        fputc('\n', stderr);
    sweep->interrupted = status == 1;
    return status < 0 ? -1 : 0;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static int conclude(const struct sweep *sweep, struct dpf_error *error)
{
    for (size_t i = 0; i < sweep->n; i++)
        if (sweep->all[i].problem.fault)
            fprintf(stderr, "failed: %s: %s\n", sweep->all[i].point->name, sweep->all[i].problem.text);
    size_t missing = sweep->n - sweep->n_done - sweep->n_failed - sweep->n_elsewhere;
    const char *again = sweep->by_points ? "the same command" : "--resume";
    if (sweep->interrupted)
        return error_set(error, DPF_FAULT_RUN, "interrupted; %zu of %zu points are done; %s runs the others",
                         sweep->n_done, sweep->n, again);
    if (sweep->n_failed + missing)
        return error_set(error, DPF_FAULT_RUN, "%zu of %zu points failed; %s tries them again",
                         sweep->n_failed + missing, sweep->n, again);
    if (sweep->n_elsewhere)
        return error_set(error, DPF_FAULT_RUN, "%zu of %zu points are done; %zu are being run by others",
                         sweep->n_done, sweep->n, sweep->n_elsewhere);
    return 0;
}

static int write_tables(const struct sweep *sweep, struct dpf_error *error)
{
    struct outcomes outcomes;
    if (outcomes_read(sweep->directory, &outcomes, error) != 0)
        return -1;
    int status = outcome_tables_write(&outcomes, error);
    const int is_terminal = isatty(STDOUT_FILENO);                  /* into a file it goes as Markdown */
    char *table = status == 0 && !sweep->quiet && sweep->n_done > 0 /* an empty table says nothing */
                      ? outcome_tables_text(&outcomes, is_terminal ? SHEET_TEXT : SHEET_MARKDOWN,
                                            terminal_width(STDOUT_FILENO))
                      : NULL;
    if (table)
        printf("%s\nSweep: %s\nPlots and a page: dpframe report %s\n", table, sweep->directory,
               sweep->directory);
    free(table);
    outcomes_free(&outcomes);
    return status;
}

static int choose_jobs(const struct sweep *sweep)
{
    int64_t jobs = sweep->arguments.jobs ? sweep->arguments.jobs : sweep->design.jobs;
    if (jobs == 0)
        jobs = processors();
    if ((size_t)jobs > sweep->n)
        jobs = (int64_t)sweep->n;
    return jobs < 1 ? 1 : (int)jobs;
}

static int write_design(const struct sweep *sweep, struct dpf_error *error)
{
    if (sweep->base.dry_run)
        return 0;
    char *config = realpath(sweep->arguments.config, NULL);
    int status = store_write_design(sweep->directory, config ? config : sweep->arguments.config,
                                    &sweep->design, &sweep->points, sweep->base.privacy_keys, sweep->together,
                                    sweep->fingerprints, error);
    free(config);
    return status;
}

static void set_base(struct sweep *sweep)
{
    sweep->base = (struct sweep_base){.arguments = &sweep->arguments,
                                      .design = &sweep->design,
                                      .directory = sweep->directory,
                                      .data_hashes = json_object(),
                                      .privacy_keys = json_object(),
                                      .dry_run = sweep->arguments.dry_run,
                                      .keep_config = sweep->by_points};
}

static int choose_points(struct sweep *sweep, struct dpf_error *error)
{
    size_t last = sweep->points.n - 1;
    if (sweep->by_points &&
        point_choice_read(sweep->arguments.point, &sweep->points, &sweep->first, &last, error) != 0)
        return -1;
    sweep->n = last - sweep->first + 1;
    return 0;
}

static int run_chosen(struct sweep *sweep, struct dpf_error *error)
{
    if (prepare_points(sweep, error) != 0 || run_points(sweep, error) != 0)
        return -1;
    return conclude(sweep, error);
}

/* Before the first of them is charged: all of them have room in the ledger of their data. */
static int state_together(struct sweep *sweep, struct dpf_error *error)
{
    unsigned char *done = memory_need(sweep->n + 1, 1);
    for (size_t i = 0; i < sweep->n; i++)
        done[i] = sweep->all[i].done && (sweep->arguments.resume || sweep->arguments.prepare);
    const enum log_level level = log_set_level(LOG_LEVEL_WARNING);
    sweep->together = together_json(&sweep->arguments, &sweep->design, &sweep->points, done, error);
    log_set_level(level);
    free(done);
    return sweep->together ? write_design(sweep, error) : -1;
}

/* The list of points is of use only once all of them have a fingerprint: it is written last. */
static int prepare_all(struct sweep *sweep, struct dpf_error *error)
{
    sweep->fingerprints = json_object();
    if (write_design(sweep, error) != 0 || prepare_points(sweep, error) != 0 ||
        state_together(sweep, error) != 0)
        return -1;
    if (!sweep->quiet)
        printf("%zu points are prepared in %s, %zu of them are done\n", sweep->n, sweep->directory,
               sweep->n_done);
    return sweep->n_failed ? error_set(error, DPF_FAULT_CONFIG, "%zu of %zu points cannot be run: see --list",
                                       sweep->n_failed, sweep->n)
                           : 0;
}

static int run_all(struct sweep *sweep, const struct arguments *arguments, struct dpf_error *error)
{
    sweep->quiet = arguments->quiet;
    if (ticker_mode() == TICKER_BAR)
        ticker_set(TICKER_OFF); /* of points there is a bar of their own */
    if (read_design(sweep, arguments, error) != 0)
        return -1;
    if (choose_points(sweep, error) != 0)
        return -1;
    sweep->at_once = choose_jobs(sweep);
    set_base(sweep);
    if (sweep->by_points)
        return run_chosen(sweep, error);
    if (sweep->arguments.prepare)
        return prepare_all(sweep, error);
    /* First of all, so that the directory is one of a sweep whenever this is killed; again once it is
     * complete. */
    if (write_design(sweep, error) != 0 || prepare_points(sweep, error) != 0 ||
        (!sweep->base.dry_run && state_together(sweep, error) != 0)) {
        if (sweep->is_new && sweep->directory && !sweep->base.dry_run)
            store_abandon(sweep->directory, sweep->made);
        return -1;
    }
    if (sweep->base.dry_run)
        return conclude_listing(sweep, error);
    if (run_points(sweep, error) != 0 || write_tables(sweep, error) != 0)
        return -1;
    return conclude(sweep, error);
}

int sweep_run(const struct arguments *arguments, struct dpf_error *error)
{
    struct sweep *sweep = memory_need(1, sizeof *sweep);
    sweep->lock = -1;
    int status = run_all(sweep, arguments, error);
    for (size_t i = 0; i < sweep->n && sweep->all; i++)
        sweep_point_free(&sweep->all[i]);
    data_parsed_free(sweep->parsed);
    json_decref(sweep->base.data_hashes);
    json_decref(sweep->base.privacy_keys);
    json_decref(sweep->fingerprints);
    json_decref(sweep->together);
    for (size_t i = 0; sweep->claims && i < sweep->n; i++)
        give_back(sweep, i);
    free(sweep->claims);
    points_free(&sweep->points);
    design_free(&sweep->design);
    if (sweep->lock >= 0)
        close(sweep->lock);
    free(sweep->all);
    free(sweep->pending);
    free(sweep->directory);
    free(sweep->output_override);
    free(sweep);
    return status;
}

int sweep_is_described(const struct arguments *arguments)
{
    struct dpf_error ignored = {0}; /* the process that opens it reports the fault */
    struct config *config = arguments->config ? config_load(arguments->config, arguments->overrides,
                                                            arguments->n_overrides, &ignored)
                                              : NULL;
    int present = config && design_present(config);
    config_free(config);
    return present;
}
