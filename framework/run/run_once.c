/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity: POSIX knows no processors of a process */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/keystream.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/terminal.h"
#include "base/ticker.h"
#include "data/load.h"
#include "dataset/summary.h"
#include "engine/model_scorer.h"
#include "plan/components.h"
#include "plan/plan_make.h"
#include "privacy/dp_event.h"
#include "run/alike_ranks.h"
#include "run/at_home.h"
#include "run/comparison.h"
#include "run/judge.h"
#include "run/progress.h"
#include "run/redraw.h"
#include "run/results_directory.h"
#include "run/resume.h"
#include "run/run_once.h"
#include "run/run_words.h"
#include "run/session.h"
#include "run/session_warnings.h"
#include "run/joined.h"
#include "dataset/shares.h"
#include "run/stages.h"
#include "run/stopping.h"
#include "run/summary_table.h"
#include "run/verdict_file.h"

struct run {
    struct session session;
    struct dataset dataset;
    struct at_home at_home; /* of the model, once it is trained */
    struct model model;
    struct pool *pool;
    struct engine_stats stats;
    struct metrics test, train;
    struct metrics released; /* of the test part, with noise; n = 0: none are */
    struct comparison comparisons[COMPARISON_MOST];
    int n_comparisons;
    double *train_rmse;
    int64_t n_train_rmse;
    struct progress progress;
    struct stopping stopping;
    json_t *spent; /* of a run that stopped early: epsilons of the rounds that it made */
    int trace;
    int quiet;
    int threads, default_threads;
    struct data_parsed *parsed; /* used up by load */
    struct stages stages;
    struct machine_limits limits; /* for --profile */
    int lock;                     /* of the directory of results, or -1 */
    const struct run_part *part;  /* of the request */
    const struct run_remote *remote;
    struct violations violations; /* of data and rounds, that stopped nothing */
    struct checkpoint checkpoint; /* without a path: none is written */
    int resumes;                  /* --resume */
    int is_alone;                 /* no point of a sweep */
};

/* Ranks of one machine share its processors; a launcher may have bound each to some of them. */
static long processors_of_rank(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN), share = all / ranks_near() > 0 ? all / ranks_near() : 1;
    cpu_set_t bound;
    if (ranks_size() == 1 || sched_getaffinity(0, sizeof bound, &bound) != 0)
        return share;
    const long most = CPU_COUNT(&bound);
    return most < share ? most : share;
}

static void open_pool(struct run *run)
{
    long threads = (long)run->session.plan.run.params.values[RUN_THREADS].integer;
    if (threads == 0)
        threads = run->default_threads;
    if (threads == 0)
        threads = processors_of_rank();
    run->threads = threads < 1 ? 1 : (int)threads;
    /* The workers are the parallelism; BLAS threads inside them only fight for the cores. */
    blas_one_thread();
    run->pool = pool_new(run->threads);
}

/* What is measured beside a run, on raw records, must not decide whether it completes. */
static int without_stopping(struct run *run, int measured, struct dpf_error *error)
{
    const int status = ranks_agree(measured, error);
    /* Whatever it is: a component that refuses a record's weight calls that a fault of the configuration. */
    const int forgiven = run->session.plan.guarantee.zero_violations && !worker_cancelled();
    if (status == 0 || !ranks_forgive(forgiven))
        return status;
    violations_add(&run->violations, 0, 0, error);
    *error = (struct dpf_error){0};
    return 0;
}

static int round_done(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct run *run = context;
    char note[64] = "";
    double rmse = NAN;
    int stop;
    ticker_end();
    if (run->trace || stopping_reads_error(&run->stopping)) {
        struct scorer scorer;
        int measured = model_scorer(model, &scorer, error);
        if (measured == 0)
            measured = evaluate_train_rmse(&run->dataset, &scorer, run->pool, &rmse, error);
        scorer_close(&scorer);
        if (without_stopping(run, measured, error) != 0)
            return -1;
        run->train_rmse[run->n_train_rmse++] = rmse;
        snprintf(note, sizeof note, "train RMSE %.4f", rmse);
    }
    if (!run->quiet || ticker_mode() == TICKER_JSON)
        progress_step(&run->progress, round + 1, note);
    return stopping_round(&run->stopping, model, rmse, &stop, error) != 0 ? -1 : stop;
}

static int restored(void *context, struct model *model, struct dpf_error *error)
{
    struct run *run = context;
    const double last = run->n_train_rmse > 0 ? run->train_rmse[run->n_train_rmse - 1] : NAN;
    return run->checkpoint.done > 0 ? stopping_resume(&run->stopping, model, last, error) : 0;
}

static int train(struct run *run, struct plan *plan, struct model *model, int traced,
                 struct engine_stats *stats, struct dpf_error *error)
{
    if (model_init(model, plan, &run->dataset, error) != 0)
        return -1;
    struct engine_hooks hooks = {.context = run,
                                 .round_done = round_done,
                                 .restored = restored,
                                 .violations = &run->violations,
                                 .remote = run->remote ? &run->remote->engine : NULL,
                                 .checkpoint = *run->checkpoint.path ? &run->checkpoint : NULL};
    ticker_begin("training", 0); /* until there are rounds to count */
    const int status =
        engine_run(plan, &run->dataset, run->pool, model, traced ? &hooks : NULL, stats, error);
    ticker_end();
    return status;
}

/* A user who is this party, or one of those whose records it has. */
static int user_is_here(const struct run *run, int64_t user)
{
    const struct csr *train = &run->dataset.train.by_user, *test = &run->dataset.test.by_user;
    if (run->session.plan.parties.params.values[PARTIES_KIND].integer == PARTIES_USERS)
        return user == run->remote->engine.party;
    return train->ptr[user + 1] > train->ptr[user] || (test->ptr && test->ptr[user + 1] > test->ptr[user]);
}

/* Rows of users who are elsewhere were never solved here: nobody shall take initial values for them. */
static void forget_others(struct run *run)
{
    struct side_factors *users = &run->model.sides[DPF_SIDE_USERS];
    for (int64_t u = 0; u < users->rows; u++)
        if (!user_is_here(run, u))
            memset(users->data + u * run->model.stride, 0, (size_t)run->model.stride * sizeof(float));
}

/* Tells the other ends how it went. */
static int train_with_others(struct run *run, struct dpf_error *error)
{
    struct model *model = &run->model;
    const int status = train(run, &run->session.plan, model, 1, &run->stats, error);
    const struct remote_rows told = engine_told(model);
    run->remote->end(run->remote->context, status, &told, error);
    if (status == 0 && model_has_rows(model))
        forget_others(run);
    return status;
}

static int evaluate(struct run *run, struct plan *plan, struct model *model, int part, struct metrics *out,
                    struct dpf_error *error)
{
    struct scorer scorer;
    int status = model_scorer(model, &scorer, error);
    if (status == 0)
        status = evaluate_model(&run->session.evaluate, part ? &run->dataset : &run->at_home.view, &scorer,
                                plan->seeded, run->pool, part, out, error);
    scorer_close(&scorer);
    return status;
}

static int evaluate_run(struct run *run, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    const struct metric_release *release = &plan->metrics;
    const struct metric_noise noise = {.numbers = release->numbers,
                                       .grid = release->grid,
                                       .steps = (uint64_t)llround(release->scale / release->grid),
                                       .deviation =
                                           release->laplace ? sqrt(2) * release->scale : release->scale,
                                       .laplace = release->laplace,
                                       .root = plan->privacy_root};
    struct scorer scorer;
    int status = model_scorer(&run->model, &scorer, error);
    if (status == 0)
        status = evaluate_and_release(&run->session.evaluate, &run->at_home.view, &scorer, plan->seeded,
                                      run->pool, &noise, &run->test, &run->released, error);
    scorer_close(&scorer);
    return status;
}

/* ---- baselines on the same split ------------------------------------------------------------------ */

/* -1: nothing is added. */
static int compare_with(struct run *run, const struct arguments *arguments, const char *name,
                        struct dpf_error *error)
{
    const struct compared_run compared = {arguments, &run->session, &run->dataset, run->pool, 0, 0};
    if (run->n_comparisons == COMPARISON_MOST)
        return error_set(error, DPF_FAULT_RUN, "not enough memory for %s", name);
    if (comparison_make(&compared, name, &run->comparisons[run->n_comparisons], error) != 0)
        return -1;
    run->n_comparisons++;
    return 0;
}

/* What could be released instead and cannot be trained here is left out, and said so: the run is complete. */
static int compare_as_asked(struct run *run, const struct arguments *arguments, const char *name,
                            struct dpf_error *error)
{
    const int status = ranks_agree(compare_with(run, arguments, name, error), error);
    if (status == 0 || !ranks_forgive(!worker_cancelled() && comparison_is_private(name)))
        return status;
    log_message(LOG_LEVEL_WARNING, "[run] compare: %s is left out: %s", name, error->text);
    *error = (struct dpf_error){0};
    return 0;
}

static int compare(struct run *run, const struct arguments *arguments, struct dpf_error *error)
{
    int n = 0;
    char **names = components_names(run->session.plan.run.params.values[RUN_COMPARE].text, &n);
    int status = 0;
    for (int i = 0; i < n && status == 0; i++)
        status = compare_as_asked(run, arguments, names[i], error);
    free(names);
    return status;
}

/* ---- the verdict ---------------------------------------------------------------------------------- */

/* What private-gram without noise needs to be compared with it: no more columns than the run had. */
static int64_t columns_of(struct run *run)
{
    struct scorer scorer;
    struct dpf_error ignored = {0};
    const int known = model_scorer(&run->model, &scorer, &ignored) == 0;
    const int64_t columns =
        known && scorer.form.formula == SCORE_EASE ? scorer.form.arrays[EASE_WEIGHT].rows : 0;
    if (known)
        scorer_close(&scorer);
    return columns;
}

/* The page of the run shows the verdict that was printed, and the models that it rests on. Where nobody reads
   it now, none are trained for it. */
static int give_verdict(struct run *run, const struct arguments *arguments, const char *directory,
                        char **words, enum verdict *verdict, struct dpf_error *error)
{
    const int asked = run->n_comparisons;
    const double trained = run->stages.at[STAGE_TRAIN].wall, evaluated = run->stages.at[STAGE_EVALUATE].wall;
    const int64_t most = run->session.plan.run.params.values[RUN_COMPARE_REPETITIONS].integer;
    struct metrics *redrawn = memory_need((size_t)most + 1, sizeof *redrawn);
    const int64_t n_redrawn =
        run->test.n ? redraw(&run->session, &run->dataset, run->pool, most, redrawn) : 0;
    const struct judge judge = {
        .run = {arguments, &run->session, &run->dataset, run->pool, 0, columns_of(run)},
        .test = &run->test,
        /* Of several ranks, the first judges by what all have trained. */
        .trains = !run->quiet && ranks_size() == 1,
        .seconds = fmax(1, 0.2 * (trained + evaluated)),
        .trained = trained,
        .evaluated = evaluated,
        .models = run->comparisons,
        .n_models = &run->n_comparisons,
        .redrawn = redrawn,
        .n_redrawn = n_redrawn};
    int status = 0;
    const int wanted =
        run->session.plan.run.params.values[RUN_VERDICT].integer && !run->remote; /* one user is no test */
    *words = wanted ? judge_words(&judge, verdict) : NULL;
    if (wanted && interrupt_is_wanted())
        log_message(LOG_LEVEL_WARNING,
                    "interrupted: the results are complete, but models to compare with were not trained");
    if (*words)
        status = verdict_file_write(directory, *verdict, *words, run->comparisons, run->n_comparisons, error);
    for (int64_t i = 0; i < n_redrawn; i++)
        metrics_free(&redrawn[i]);
    free(redrawn);
    while (run->n_comparisons > asked)
        metrics_free(&run->comparisons[--run->n_comparisons].metrics);
    return status;
}

/* ---- the run ---------------------------------------------------------------------------------------- */

/* Of parties elsewhere. */
static int is_server(const struct run *run)
{
    return run->remote && run->remote->engine.party < 0;
}

static int load(struct run *run, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    struct data_parsed *parsed = run->parsed;
    run->parsed = NULL;
    if ((parsed
             ? data_divide(parsed, &plan->data, &plan->split, plan->seeded, run->pool, &run->dataset, error)
             : data_read_by_user(&plan->data, &plan->split, plan->seeded, run->pool, &run->dataset, error)) !=
            0 ||
        data_index_items(&run->dataset, run->pool, error) != 0 || shares_keep_own(&run->dataset, error) != 0)
        return -1;
    if (run->remote && run->dataset.known.ptr)
        return config_error(
            plan->config, "split", "kind", error,
            "users: a party in a process of its own has one user, who is not held out from itself; use "
            "kind = per-user");
    if (is_server(run)) /* it has no records, which is no fault */
        violations_free(&run->dataset.violations);
    char *summary = is_server(run) ? data_catalogues_text(&run->dataset) : data_summary_text(&run->dataset);
    if (summary)
        log_message(LOG_LEVEL_INFO, "%s", summary);
    free(summary);
    return 0;
}

static void prepare_trace(struct run *run)
{
    const struct plan *plan = &run->session.plan;
    /* The server has no records, and a party one user's, for some of the rounds. */
    run->trace = plan->run.params.values[RUN_TRACE].integer && !run->dataset.implicit && !run->remote;
    int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    stopping_start(&run->stopping, plan);
    run->train_rmse = memory_need((size_t)rounds + 1, sizeof *run->train_rmse);
    progress_start(&run->progress, rounds);
}

/* The statement is of all rounds; what those that were made would cost, had their number been public, is
 * beside it. */
static int note_early_stop(struct run *run, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    const int64_t made = run->stats.rounds_done, counted = made + plan->guarantee.repeats;
    if (plan->run.params.values[RUN_UNTIL].integer == UNTIL_ROUNDS || made == 0 ||
        made >= plan->model_facts.rounds || plan->ledger.n == 0)
        return 0;
    if (!run->quiet)
        log_message(LOG_LEVEL_INFO, "stopped after %lld rounds ([run] until)", (long long)made);
    run->spent = odometer_json(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                               counted, error);
    return run->spent ? 0 : -1;
}

/*
 * What training must move at least: each round, for each side that it updates, the other side's row of each
 * record, the side's own rows twice, and messages. What components compute is not known here.
 */
static void note_train_work(struct run *run)
{
    const struct plan *plan = &run->session.plan;
    const double row = (double)run->model.stride * sizeof(float), rounds = (double)run->stats.rounds_done;
    const double rows[2] = {(double)run->dataset.users.n, (double)run->dataset.items.n};
    double *bytes = &run->stages.at[STAGE_TRAIN].bytes;
    *bytes += (double)run->stats.bytes_up + (double)run->stats.bytes_down;
    for (int side = 0; side < 2; side++)
        if (plan->sides[side].updated)
            *bytes += rounds * row * ((double)run->dataset.train.n + 2 * rows[side]);
}

/* Products of rows: of tested users with all items in a full ranking, else of test records at least. */
static void note_evaluate_work(struct run *run)
{
    const int64_t *test = run->dataset.test.by_user.ptr;
    double users = 0;
    for (int64_t u = 0; test && evaluate_ranks_all(&run->session.evaluate) && u < run->dataset.users.n; u++)
        users += test[u + 1] > test[u];
    run->stages.at[STAGE_EVALUATE].flops +=
        2 * (double)run->model.stride * ((double)run->dataset.test.n + users * (double)run->dataset.items.n);
}

static int train_and_evaluate(struct run *run, const struct arguments *arguments, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    stages_enter(&run->stages, STAGE_TRAIN);
    int status =
        run->remote ? train_with_others(run, error) : train(run, plan, &run->model, 1, &run->stats, error);
    if (!run->quiet && plan_has(plan, MODEL_HAS_ROUNDS))
        progress_end(&run->progress);
    if (status != 0 || note_early_stop(run, error) != 0)
        return -1;
    if (*plan->ledger.deviation) {
        snprintf(plan->guarantee.deviation, sizeof plan->guarantee.deviation, "%s", plan->ledger.deviation);
        plan->guarantee.run_holds = 0;
    }
    note_train_work(run);
    stages_enter(&run->stages, STAGE_EVALUATE);
    if (at_home_open(&run->at_home, &run->dataset, run->pool, plan, &run->model, error) != 0)
        return -1;
    /* A release is made whatever the records are, even where nobody has a test record. */
    if (plan->metrics.numbers > 0)
        status = without_stopping(run, evaluate_run(run, error), error);
    else if (run->dataset.test.n)
        status = without_stopping(run, evaluate(run, plan, &run->model, 0, &run->test, error), error);
    if (status == 0 && evaluate_on_train(&run->session.evaluate))
        status = without_stopping(run, evaluate(run, plan, &run->model, 1, &run->train, error), error);
    if (status == 0 && run->dataset.test.n &&
        !run->remote) /* of one user's records there is no other model */
        status = without_stopping(run, compare(run, arguments, error), error);
    if (status == 0)
        note_evaluate_work(run);
    return status;
}

/* A part states the whole that it belongs to. */
static int write_results(struct run *run, const char *directory, const struct results *results,
                         json_t **written, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    if (!run->part)
        return results_write(directory, results, written, error);
    const struct ledger own_ledger = plan->ledger;
    const struct guarantee own = plan->guarantee;
    char *output = plan->output;
    plan->ledger = *run->part->ledger;
    plan->guarantee = *run->part->guarantee;
    plan->output = memory_text(run->part->output);
    const int status = results_write(directory, results, written, error);
    free(plan->output);
    plan->output = output;
    plan->ledger = own_ledger;
    plan->guarantee = own;
    return status;
}

/* Rank 0 writes, with the others' rows, and what each of them has taken. */
static int write_by_ranks(struct run *run, const char *directory, struct results *results, json_t **written,
                          struct dpf_error *error)
{
    struct rank_cost *costs = memory_need((size_t)ranks_size(), sizeof *costs);
    const int interrupted = worker_cancelled();
    if (interrupted)
        error_set(error, DPF_FAULT_RUN, "interrupted; %s",
                  worker_cancelled_leaves(*run->checkpoint.path != 0));
    int status = ranks_agree(interrupted ? -1 : 0, error);
    if (status == 0)
        status = joined_costs(costs, error);
    results->ranks = ranks_size() > 1 ? costs : NULL;
    if (status == 0)
        status = ranks_rank() == 0 ? write_results(run, directory, results, written, error)
                                   : results_help_write(results, error);
    results->ranks = NULL;
    free(costs);
    return ranks_agree(status, error);
}

/* What is said, and kept, once the results are there. Uses up what was written. */
static int tell(struct run *run, const struct arguments *arguments, const char *directory,
                struct results *results, json_t *written, struct dpf_error *error)
{
    struct dpf_error ignored = {0};
    enum verdict verdict = VERDICT_NONE;
    char *words = NULL;
    run_words_violations(results, run->remote != NULL, directory);
    stages_enter(&run->stages, STAGE_VERDICT);
    int status = give_verdict(run, arguments, directory, &words, &verdict, error);
    if (!run->quiet)
        run_words_results(results, words, verdict, directory);
    free(words);
    stages_enter(&run->stages, STAGE_WRITE);
    if (results_rewrite_timing(directory, results, written, status == 0 ? error : &ignored) != 0)
        status = -1;
    if (status == 0 && arguments->profile)
        stages_print(&run->stages, &run->limits, run->threads);
    return status;
}

static int finish(struct run *run, const struct arguments *arguments, const char *directory,
                  struct dpf_error *error)
{
    struct results results = {.plan = &run->session.plan,
                              .dataset = &run->dataset,
                              .model = &run->model,
                              .test = &run->test,
                              .train = run->train.n ? &run->train : NULL,
                              .released = run->released.n ? &run->released : NULL,
                              .comparisons = run->comparisons,
                              .n_comparisons = run->n_comparisons,
                              .stats = &run->stats,
                              .train_rmse = run->train_rmse,
                              .n_train_rmse = run->n_train_rmse,
                              .stages = &run->stages,
                              .component_metrics = &run->session.metrics,
                              .threads = run->threads,
                              .violations = &run->violations,
                              .spent = run->spent};
    json_t *written = NULL;
    stages_enter(&run->stages, STAGE_WRITE);
    if (write_by_ranks(run, directory, &results, &written, error) != 0) {
        json_decref(written);
        return -1;
    }
    if (ranks_rank() == 0)
        resume_remove(directory);
    if (ranks_rank() == 0 && tell(run, arguments, directory, &results, written, error) != 0)
        return -1;
    return run_words_unavailable(&results, directory, error);
}

static void close_run(struct run *run)
{
    stopping_free(&run->stopping);
    json_decref(run->spent);
    model_free(&run->model);
    at_home_close(&run->at_home);
    dataset_free(&run->dataset);
    metrics_free(&run->test);
    metrics_free(&run->train);
    metrics_free(&run->released);
    for (int i = 0; i < run->n_comparisons; i++)
        metrics_free(&run->comparisons[i].metrics);
    free(run->train_rmse);
    violations_free(&run->violations);
    data_parsed_free(run->parsed);
    pool_free(run->pool);
    checkpoint_free(&run->checkpoint);
    if (run->lock >= 0)
        close(run->lock);
    session_close(&run->session);
}

/* Makes the directory of results and gives it its canonical name, which is shown and stored. */
static int prepare_output(struct run *run, const char **directory, int *made, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    if (ranks_rank() > 0)
        return 0; /* rank 0 writes */
    *made = access(*directory, F_OK) != 0;
    if (results_directory_prepare(&plan->run, *directory, error) != 0)
        return -1;
    plan->output = realpath(*directory, NULL);
    if (!plan->output)
        return config_value_error(&plan->run, "output", error, "%s: %s", *directory, strerror(errno));
    *directory = plan->output;
    run->lock = files_lock_directory(*directory, error);
    return run->lock < 0 ? -1 : resume_check_directory(&plan->run, *directory, run->resumes, error);
}

/* A part of something larger is no run of its own, which could go on. A party keeps its state in its own directory. */
static int open_checkpoint(struct run *run, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    prepare_trace(run);
    if (run->remote && !is_server(run))
        return 0;
    if (plan->run.params.values[RUN_CHECKPOINT].integer && (!run->is_alone || run->part))
        return config_error(plan->config, "run", "checkpoint", error,
                            "only single runs in one program write checkpoints, not points of a sweep or "
                            "candidates of a selection; set checkpoint = false");
    if (run->trace || stopping_reads_error(&run->stopping)) {
        run->checkpoint.trace = run->train_rmse;
        run->checkpoint.n_trace = &run->n_train_rmse;
    }
    return resume_open(&run->checkpoint, plan, &run->dataset, plan->output, run->resumes, error);
}

/* What the run will release is what has been charged. */
static int check_part(const struct run *run, struct dpf_error *error)
{
    const struct run_part *part = run->part;
    const struct ledger *own = &run->session.plan.ledger;
    int same = own->n == part->n && part->first + part->n <= part->ledger->n;
    for (int64_t i = 0; same && i < own->n; i++)
        same = memcmp(&own->entries[i].event, &part->ledger->entries[part->first + i].event,
                      sizeof own->entries[i].event) == 0;
    return same ? 0
                : error_set(error, DPF_FAULT_CONFIG,
                            "the releases of this run are not those that were charged: the configuration, "
                            "the data or "
                            "a plugin has changed. Nothing is trained");
}

/* Before anything is released. */
static int charge(struct run *run, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    if (run->part)
        return check_part(run, error);
    const int sound = joined_check(plan, error) == 0 ? session_check(&run->session, error) : -1;
    if (ranks_agree(sound, error) != 0)
        return -1;
    if (run->remote) {
        plan_measure(plan);
        const int status =
            run->remote->begin(run->remote->context, plan, &run->dataset, &run->checkpoint, error);
        if (status != 0)
            run->remote->end(run->remote->context, status, NULL, error);
        return status;
    }
    /* One run is charged once, by rank 0. */
    int status = 0;
    if (ranks_rank() == 0) {
        plan_measure(plan);
        status = resume_charge(&run->checkpoint, plan, error);
    }
    return ranks_agree(status, error);
}

/* What a run that departed from its plan has told is not what it was charged, so it tells nothing. */
static int check_kept(const struct plan *plan, struct dpf_error *error)
{
    if (!*plan->guarantee.deviation || !*plan->privacy.params.values[PRIVACY_LEDGER].text)
        return 0;
    return error_set(
        error, DPF_FAULT_RUN,
        "the run departed from its plan: %s. Its epsilon, which [privacy] ledger has been charged, "
        "is not proved, so nothing is released",
        plan->guarantee.deviation);
}

static int run_configured(struct run *run, struct arguments *arguments, struct dpf_error *error)
{
    char *overridden = NULL;
    int made = 0;
    if (arguments->output && arguments->n_overrides == MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    if (arguments->output) {
        overridden = memory_format("run.output=%s", arguments->output);
        arguments->overrides[arguments->n_overrides++] = overridden;
    }
    int status =
        arguments->profile_limits ? machine_limits_read(arguments->profile_limits, &run->limits, error) : 0;
    if (status == 0)
        status = session_open(&run->session, arguments, 0, error);
    struct plan *plan = &run->session.plan;
    const char *directory = status == 0 ? plan->run.params.values[RUN_OUTPUT].text : NULL;
    plan->without_records = is_server(run);
    if (status == 0)
        status = comparison_check(plan, !run->part && !run->remote && ranks_size() == 1, error);
    status = ranks_agree(status, error);
    if (status == 0)
        status = alike_ranks_check(plan, run->resumes, error);
    if (status == 0)
        status = prepare_output(run, &directory, &made, error);
    if (status == 0)
        open_pool(run);
    stages_enter(&run->stages, STAGE_LOAD);
    if (status == 0)
        status = load(run, error);
    stages_enter(&run->stages, STAGE_PLAN);
    status = ranks_agree(status, error);
    if (status == 0)
        status =
            plan_judge_faults(plan, plan_complete(plan, run->dataset.users.n, run->dataset.items.n, error),
                              &run->dataset.violations, &run->violations, error);
    if (status == 0)
        status = open_checkpoint(run, error);
    if (status == 0)
        status = charge(run, error);
    if (status == 0)
        status = train_and_evaluate(run, arguments, error);
    if (status == 0 && run->part && *plan->guarantee.deviation)
        status = RUN_DEVIATED;
    if (status == 0)
        status = check_kept(plan, error);
    if (status == 0)
        status = finish(run, arguments, directory, error);
    status = ranks_agree(status, error);
    if (status != 0 && made && plan->output)
        results_directory_abandon(plan->output);
    close_run(run);
    free(overridden);
    return status;
}

int run_once(const struct run_request *request, struct dpf_error *error)
{
    struct run *run = memory_need(1, sizeof *run);
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    *arguments = *request->arguments;
    run->lock = -1;
    if (arguments->profile)
        keystream_count();
    stages_begin(&run->stages, request->whole_process);
    run->quiet = request->quiet || ranks_rank() > 0;
    run->default_threads = request->threads;
    run->parsed = request->parsed;
    run->part = request->part;
    run->remote = request->remote;
    run->resumes = arguments->resume && request->whole_process;
    run->is_alone = request->whole_process;
    const int status = run_configured(run, arguments, error);
    free(run);
    free(arguments);
    return status;
}
