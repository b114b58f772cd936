/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/json_in.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/model_scorer.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "plot/html_page.h"
#include "plot/plot_svg.h"
#include "privacy/guarantee.h"
#include "run/judge.h"
#include "run/recommended_items.h"
#include "run/report_statement.h"
#include "run/run_json.h"
#include "data/load.h"
#include "run/saved_run.h"
#include "run/training_curve.h"
#include "run/verdict_file.h"

#define LIST 10          /* items of a list */
#define MOST_USERS 2000  /* whose lists are made */
#define MOST_ROUNDS 4000 /* of the training curve */
#define MOST_ITEMS 10    /* that are named */

struct run_report {
    const char *directory;
    json_t *json; /* run.json */
    struct verdict_file verdict;
    json_t *models; /* metrics of those of [run] compare, and of those that the verdict rests on */
    /* What needs the records; empty without them. */
    struct saved_run saved;
    struct recommended_items items;
    struct dpf_error why_not; /* the records could not be used */
    struct text page;
};

/* A file of the run by its path in the directory, as text. Free it; NULL if it is not there. */
static char *read_file(const struct run_report *report, const char *name)
{
    char *path = files_join(report->directory, name);
    struct files_lines lines = {0};
    struct dpf_error ignored = {0};
    struct text text = {0};
    if (access(path, R_OK) == 0 && files_open_lines(&lines, path, &ignored) == 0) {
        for (const char *line; (line = files_next_line(&lines));)
            text_add(&text, "%s\n", line);
        files_close_lines(&lines);
    }
    free(path);
    return text.data;
}

/* ---- what needs the records ---------------------------------------------------------------------------- */

/* Of a run that gave no verdict, trained once: the file keeps it, as the noise of private models is drawn. */
static int judge(struct run_report *report, const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run *saved = &report->saved;
    struct plan *plan = &saved->session.plan;
    struct comparison models[COMPARISON_MOST];
    struct metrics test = {0};
    int n = 0;
    struct scorer scorer;
    const struct judge judge = {.run = {arguments, &saved->session, &saved->dataset, saved->pool, 0, 0},
                                .test = &test,
                                .trains = 1,
                                .models = models,
                                .n_models = &n};
    enum verdict verdict;
    if (data_index_items(&saved->dataset, saved->pool, error) != 0) /* for models that are trained */
        return -1;
    int status = model_scorer(&saved->model, &scorer, error);
    if (status == 0)
        status = evaluate_model(&saved->session.evaluate, &saved->dataset, &scorer, plan->seeded, saved->pool,
                                0, &test, error);
    scorer_close(&scorer);
    if (status != 0)
        return -1;
    char *words = judge_words(&judge, &verdict);
    status = words ? verdict_file_write(report->directory, verdict, words, models, n, error) : 0;
    verdict_file_close(&report->verdict);
    verdict_file_read(report->directory, &report->verdict);
    for (int i = 0; i < n; i++)
        metrics_free(&models[i].metrics);
    metrics_free(&test);
    free(words);
    return status;
}

/* As the run was: its resolved configuration, and its guarantee. */
static int judge_if_needed(struct run_report *report, const struct arguments *arguments,
                           struct dpf_error *error)
{
    struct plan *plan = &report->saved.session.plan;
    if (report->verdict.json || report->saved.dataset.test.n == 0)
        return 0;
    struct arguments *own = memory_need(1, sizeof *own);
    char *config = files_join(report->directory, "config.ini");
    plan_measure(plan);
    int status = plan_charge(plan, 0, error);
    if (status == 0) {
        *own = *arguments;
        own->config = config;
        status = judge(report, own, error);
    }
    free(config);
    free(own);
    return status;
}

static int use_records(struct run_report *report, const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run *saved = &report->saved;
    if (saved_run_open(arguments, report->directory, NULL, saved, error) != 0 ||
        judge_if_needed(report, arguments, error) != 0)
        return -1;
    return recommended_items_count(&saved->dataset, &saved->model, saved->pool, LIST, MOST_USERS,
                                   &report->items, error);
}

/* ---- the head ------------------------------------------------------------------------------------------ */

static void add_promise(struct run_report *report)
{
    struct text text = {0};
    report_statement_promise(report->json, &text);
    html_page_box(&report->page, "", text.data ? text.data : "");
    text_free(&text);
}

static int is_synthetic(const struct run_report *report)
{
    const json_t *data = json_object_get(json_object_get(report->json, "config"), "data");
    return strcmp(json_text_in(data, "format"), "synthetic") == 0;
}

/* Which data, which model, when, and which program. */
static void add_origin(struct run_report *report)
{
    const json_t *config = json_object_get(report->json, "config");
    const json_t *data = json_object_get(config, "data"), *model = json_object_get(config, "model");
    const char *path = json_text_in(data, "path"), *slash = strrchr(path, '/');
    const char *recommender = json_text_in(model, "recommender"), *kind = json_text_in(model, "kind");
    char *file = files_join(report->directory, "run.json"), when[32] = "";
    struct text origin = {0};
    struct stat info;
    struct tm at;
    if (stat(file, &info) == 0 && localtime_r(&info.st_mtime, &at))
        strftime(when, sizeof when, ", %Y-%m-%d %H:%M", &at);
    text_add(&origin, "Data: %s. Model: %s. dpframe %s%s.",
             is_synthetic(report) ? "generated"
             : slash              ? slash + 1
                                  : path,
             *recommender ? recommender
             : *kind      ? kind
                          : "factorization",
             json_text_in(report->json, "dpframe"), when);
    text_add(&report->page, "<p class=\"note\">");
    html_text(&report->page, origin.data ? origin.data : "");
    text_add(&report->page, " Configuration: ");
    html_link(&report->page, "../config.ini", "config.ini");
    text_add(&report->page, ".</p>\n");
    text_free(&origin);
    free(file);
}

static void add_head(struct run_report *report, const struct html_section *sections, size_t n)
{
    const char *slash = strrchr(report->directory, '/');
    char *title = memory_format("Run %s", slash ? slash + 1 : report->directory);
    html_page_begin(&report->page, title);
    free(title);
    add_origin(report);
    add_promise(report);
    if (report->verdict.words)
        html_page_box(&report->page, report->verdict.verdict == VERDICT_BETTER ? "answer" : "warn",
                      report->verdict.words);
    html_page_box(
        &report->page, "private",
        is_synthetic(report)
            ? "Metrics, curve and lists are computed from the records, and the statement does not cover "
              "them. "
              "The records of this run are generated, so this page may be shown to anybody; a page made from "
              "real records may not."
            : "Private: metrics, curve and lists are computed from protected records, and the statement does "
              "not "
              "cover them. Show this page only to those who may see the records.");
    html_page_contents(&report->page, sections, n);
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

static int is_count(const char *name)
{
    return strstr(name, "cold-records") || strstr(name, "users-");
}

static void add_value(struct sheet *table, const char *name, double value)
{
    sheet_fixed(table, value, is_count(name) ? 0 : 4);
}

/* Whether the run asked for the bootstrap. */
static int has_intervals(const struct run_report *report)
{
    const char *name;
    json_t *convention;
    json_object_foreach(json_object_get(report->json, "metric_conventions"), name, convention)
    {
        if (json_object_get(convention, "interval"))
            return 1;
    }
    return 0;
}

static void add_metric_row(struct run_report *report, struct sheet *table, const char *name, double value)
{
    const json_t *conventions = json_object_get(json_object_get(report->json, "metric_conventions"), name);
    const json_t *interval = json_object_get(conventions, "interval");
    const char *other;
    json_t *metrics;
    sheet_text(table, name);
    add_value(table, name, value);
    if (has_intervals(report) && json_array_size(interval) == 2)
        sheet_printf(table, "%.4f to %.4f", json_number_value(json_array_get(interval, 0)),
                     json_number_value(json_array_get(interval, 1)));
    else if (has_intervals(report))
        sheet_text(table, NULL);
    json_object_foreach(report->models, other, metrics)
    {
        add_value(table, name, json_number_in(metrics, name));
    }
}

static void add_metric_columns(const struct run_report *report, struct sheet *table)
{
    const char *other;
    json_t *metrics;
    sheet_column(table, "metric", SHEET_LEFT);
    sheet_column(table, "this run", SHEET_RIGHT);
    if (has_intervals(report))
        sheet_column(table, "interval", SHEET_RIGHT);
    json_object_foreach(report->models, other, metrics)
    {
        sheet_column(table, other, SHEET_RIGHT);
    }
}

static void add_conventions(struct run_report *report)
{
    struct sheet table = {.caption = "How each metric is computed"};
    const char *name;
    json_t *convention;
    sheet_column(&table, "metric", SHEET_LEFT);
    sheet_column(&table, "averaged over", SHEET_RIGHT);
    sheet_column(&table, "convention", SHEET_LEFT);
    json_object_foreach(json_object_get(report->json, "metric_conventions"), name, convention)
    {
        sheet_text(&table, name);
        sheet_count(&table, (long long)json_integer_value(json_object_get(convention, "averaged_over")));
        sheet_text(&table, json_text_in(convention, "convention"));
    }
    text_add(&report->page, "<details><summary>How these are computed</summary>\n");
    html_page_table(&report->page, &table);
    text_add(&report->page, "</details>\n");
}

static void add_metrics(struct run_report *report)
{
    struct sheet table = {.caption = "Metrics of this run and of other models"};
    const char *name;
    json_t *value;
    add_metric_columns(report, &table);
    json_object_foreach(json_object_get(report->json, "metrics"), name, value)
    {
        add_metric_row(report, &table, name, json_is_number(value) ? json_number_value(value) : (double)NAN);
    }
    html_page_section(&report->page, "metrics", "Metrics beside other models");
    if (sheet_rows(&table) == 0) {
        sheet_free(&table);
        html_page_note(&report->page, "The run has no test part, so there are none.");
        return;
    }
    html_page_table(&report->page, &table);
    html_page_note(
        &report->page,
        "On the same test part. Models named private- could be released in place of this one, with its "
        "epsilon; the others are of exact records. None of them was released.");
    add_conventions(report);
}

static void add_released(struct run_report *report)
{
    const json_t *released = json_object_get(report->json, "released_metrics");
    struct sheet table = {0};
    const char *name;
    json_t *metric;
    if (!released)
        return;
    sheet_column(&table, "metric", SHEET_LEFT);
    sheet_column(&table, "released value", SHEET_RIGHT);
    sheet_column(&table, "standard deviation of its noise", SHEET_RIGHT);
    json_object_foreach((json_t *)(uintptr_t)released, name, metric)
    {
        sheet_text(&table, name);
        sheet_fixed(&table, json_number_in(metric, "value"), 4);
        sheet_fixed(&table, json_number_in(metric, "noise"), 4);
    }
    html_page_section(&report->page, "released", "Released metrics");
    html_page_note(&report->page, "With noise, and charged to the ledger: the statement covers these.");
    html_page_table(&report->page, &table);
}

/* ---- plots --------------------------------------------------------------------------------------------- */

static void add_plot(struct run_report *report, struct plot *plot)
{
    if (plot_points(plot) > 0)
        plot_svg_add(&report->page, plot);
    plot_free(plot);
}

static void add_curve(struct run_report *report)
{
    struct plot plot = {.name = "curve",
                        .title = "Training RMSE by round",
                        .note = "Of the training records, after each round.",
                        .x_label = "round",
                        .y_label = "training RMSE"};
    char *path = files_join(report->directory, "private/metrics.csv");
    double *values = memory_new(MOST_ROUNDS, sizeof *values);
    const size_t rounds = path && values ? training_curve_read(path, values, MOST_ROUNDS) : 0;
    plot.lines = rounds > 40;
    if (rounds > 0 && plot_begin(&plot, memory_text("training RMSE"))) {
        for (size_t i = 0; i < rounds; i++)
            plot_add(&plot, (double)(i + 1), values[i], 0);
        plot_end(&plot);
    }
    free(values);
    free(path);
    add_plot(report, &plot);
}

/* Ranks at which a curve of so many items is drawn: all of the first, then at equal distances of logarithms.
 */
static int64_t next_rank(int64_t rank)
{
    const int64_t next = (int64_t)((double)rank * 1.12);
    return next > rank ? next : rank + 1;
}

/* The share of lists, or of users' records, that the item of each rank has. */
static void add_ranked(struct plot *plot, const char *label, const int64_t *counts, int64_t n, double whole)
{
    int64_t *order = recommended_items_order(counts, n);
    if (plot_begin(plot, memory_text(label))) {
        for (int64_t rank = 1; rank <= n && counts[order[rank - 1]] > 0; rank = next_rank(rank))
            plot_add(plot, (double)rank, (double)counts[order[rank - 1]] / whole, 0);
        plot_end(plot);
    }
    free(order);
}

static void add_spread(struct run_report *report)
{
    const struct recommended_items *items = &report->items;
    struct plot plot = {.name = "items",
                        .title = "Recommendations over items",
                        .x_label = "rank of the item, by its own curve",
                        .y_label = "share of users",
                        .log_x = 1,
                        .log_y = 1,
                        .lines = 1};
    char label[64];
    if (items->lists == 0)
        return;
    snprintf(label, sizeof label, "has it among %lld recommendations", (long long)items->k);
    snprintf(plot.note, sizeof plot.note,
             "From the item that most users get to the one that fewest do. A curve that falls steeply "
             "recommends a "
             "few items to everybody.");
    add_ranked(&plot, label, items->in_lists, items->n, (double)items->lists);
    add_ranked(&plot, "has a training record of it", items->records, items->n,
               (double)report->saved.dataset.users.n);
    add_plot(report, &plot);
}

static void add_plots(struct run_report *report)
{
    html_page_section(&report->page, "plots", "Training and recommendations");
    if (report->why_not.fault) {
        char *why =
            memory_format("How recommendations are spread over items needs the records again, and these "
                          "cannot be used: %s",
                          report->why_not.text);
        html_page_box(&report->page, "warn", why ? why : "");
        free(why);
    }
    plot_svg_shapes(&report->page);
    text_add(&report->page, "<div class=\"plots\">\n");
    add_curve(report);
    add_spread(report);
    text_add(&report->page, "</div>\n");
}

/* ---- items --------------------------------------------------------------------------------------------- */

static void add_spread_row(struct sheet *table, const char *what, const int64_t *counts, int64_t n)
{
    sheet_text(table, what);
    sheet_count(table, (long long)recommended_items_covered(counts, n));
    sheet_fixed(table, n ? 100 * (double)recommended_items_covered(counts, n) / (double)n : (double)NAN, 1);
    sheet_fixed(table, 100 * recommended_items_share(counts, n, MOST_ITEMS), 1);
    sheet_fixed(table, recommended_items_gini(counts, n), 3);
}

#define LOW_COVERAGE 0.1 /* of the items in lists */

/* What to do where lists reach few items. */
static void add_reach(struct run_report *report)
{
    const struct recommended_items *items = &report->items;
    const int64_t covered = recommended_items_covered(items->in_lists, items->n);
    char *left =
        items->little_known
            ? memory_format(" %lld items are in no list, since their released counts are too low to tell "
                            "anything; recommend --candidates FILE lists them all the same.",
                            (long long)items->little_known)
            : memory_text("");
    char *note = memory_format("Lists reach %lld of %lld items (%.1f %%).%s%s", (long long)covered,
                               (long long)items->n, items->n ? 100 * (double)covered / (double)items->n : 0,
                               left ? left : "",
                               (double)covered >= LOW_COVERAGE * (double)items->n
                                   ? ""
                                   : " That is few. Items of few records are told apart by public facts "
                                     "([data] item-features), by more users or "
                                     "a larger epsilon, and in private-gram by a larger [model.recommender] "
                                     "tail-share; recommend --exclude FILE "
                                     "makes room for others than the best known ones.");
    html_page_note(&report->page, note);
    free(left);
    free(note);
}

static void add_spread_table(struct run_report *report)
{
    const struct recommended_items *items = &report->items;
    struct sheet table = {.caption = "How many items are recommended at all"};
    char *note =
        memory_format("Lists of %lld items for %lld of %lld users, without what they have records of.",
                      (long long)items->k, (long long)items->lists, (long long)report->saved.dataset.users.n);
    html_page_note(&report->page, note ? note : "");
    free(note);
    sheet_column(&table, "of", SHEET_LEFT);
    sheet_column(&table, "items that have any", SHEET_RIGHT);
    sheet_column(&table, "in per cent", SHEET_RIGHT);
    sheet_column(&table, "share of the 10 with most, in per cent", SHEET_RIGHT);
    sheet_column(&table, "Gini", SHEET_RIGHT);
    add_spread_row(&table, "recommendations", items->in_lists, items->n);
    add_spread_row(&table, "training records", items->records, items->n);
    html_page_table(&report->page, &table);
}

static void add_top_items(struct run_report *report)
{
    const struct recommended_items *items = &report->items;
    int64_t *order = recommended_items_order(items->in_lists, items->n);
    struct sheet table = {.caption = "The items in most lists"};
    const struct dataset *dataset = &report->saved.dataset;
    sheet_column(&table, "item", SHEET_LEFT);
    if (dataset->item_names.n)
        sheet_column(&table, "name", SHEET_LEFT);
    sheet_column(&table, "in lists", SHEET_RIGHT);
    sheet_column(&table, "in per cent of lists", SHEET_RIGHT);
    sheet_column(&table, "training records", SHEET_RIGHT);
    for (int64_t i = 0; i < items->n && i < MOST_ITEMS && items->in_lists[order[i]] > 0; i++) {
        const int64_t item = order[i];
        sheet_text(&table, id_map_text(&dataset->items, item));
        if (dataset->item_names.n)
            sheet_text(&table, dataset_item_name(dataset, item));
        sheet_count(&table, (long long)items->in_lists[item]);
        sheet_fixed(&table, 100 * (double)items->in_lists[item] / (double)items->lists, 1);
        sheet_count(&table, (long long)items->records[item]);
    }
    html_element(&report->page, "h3", "Recommended most");
    html_page_table(&report->page, &table);
    free(order);
}

static void add_items(struct run_report *report)
{
    if (report->items.lists == 0)
        return;
    html_page_section(&report->page, "spread", "How recommendations are spread over items");
    add_reach(report);
    add_spread_table(report);
    add_top_items(report);
}

/* ---- statement, files, commands ------------------------------------------------------------------------ */

static void add_statement(struct run_report *report)
{
    char *statement = read_file(report, "release/guarantee.txt");
    report_statement_add(&report->page, json_object_get(report->json, "guarantee"), statement,
                         run_json_has_noise(report->json));
    free(statement);
}

/* from: the folder in which the page lies. */
static void add_file(struct run_report *report, const char *from, const char *name, const char *what)
{
    char *path = files_join(report->directory, name);
    const size_t length = strlen(from);
    char *href = strncmp(name, from, length) == 0 ? memory_text(name + length) : memory_format("../%s", name);
    if (access(path, R_OK) == 0) {
        text_add(&report->page, "<li>");
        html_link(&report->page, href, name);
        text_add(&report->page, ": ");
        html_text(&report->page, what);
        text_add(&report->page, "</li>\n");
    }
    free(path);
    free(href);
}

static void add_files(struct run_report *report)
{
    static const char *const files[][2] = {
        {"config.ini", "the resolved configuration, which repeats the run"},
        {"run.json", "results for programs"},
        {"release/guarantee.txt", "the statement"},
        {"release/certificate.json",
         "what dpframe-verify checks the statement by: each release, bound and condition"},
        {"release/metrics.csv", "released metrics"},
        {"private/metrics.csv", "all metrics, by part and round"},
        {"private/data.json", "what was read"},
        {"private/record_budgets.csv", "epsilon by privacy weight"},
        {"private/noise.csv", "how the noise was distributed"},
        {"private/verdict.json", "the verdict, and the metrics of the models that it rests on"},
        {"private/violations.txt", "faults of records that stopped nothing"}};
    html_page_section(&report->page, "files", "Files");
    text_add(&report->page, "<ul>");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        add_file(report, "private/", files[i][0], files[i][1]);
    text_add(&report->page, "</ul>\n");
}

static void add_seconds(struct run_report *report)
{
    static const char *const parts[] = {"configure", "load",  "plan",    "train", "evaluate",
                                        "budgets",   "write", "verdict", "total"};
    const json_t *timing = json_object_get(report->json, "timing");
    struct sheet table = {.caption = "Seconds by part of the run"};
    sheet_column(&table, "part", SHEET_LEFT);
    sheet_column(&table, "seconds", SHEET_RIGHT);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        sheet_text(&table, parts[i]);
        sheet_fixed(&table, json_number_in(timing, parts[i]), 3);
    }
    html_page_section(&report->page, "seconds", "Seconds");
    html_page_table(&report->page, &table);
}

static void add_commands(struct run_report *report)
{
    html_page_section(&report->page, "again", "How to run it again");
    text_add(&report->page, "<pre># the same run\ndpframe run ");
    html_text(&report->page, report->directory);
    text_add(&report->page, "/config.ini -O somewhere\n# items for a user\ndpframe recommend ");
    html_text(&report->page, report->directory);
    text_add(&report->page, " --user ID\n# this page\ndpframe report ");
    html_text(&report->page, report->directory);
    text_add(&report->page, "</pre>\n");
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static int write_page(struct run_report *report, const char *name, char **written, struct dpf_error *error)
{
    char *path = files_join(report->directory, name);
    html_page_end(&report->page);
    int status = files_write_text(path, report->page.data, error);
    text_free(&report->page);
    if (status == 0 && written)
        *written = path;
    else
        free(path);
    return status;
}

static int write_private(struct run_report *report, char **written, struct dpf_error *error)
{
    const struct html_section sections[] = {
        {1, "statement", "Statement"},
        {1, "metrics", "Metrics"},
        {json_object_get(report->json, "released_metrics") != NULL, "released", "Released metrics"},
        {1, "plots", "Training and recommendations"},
        {report->items.lists > 0, "spread", "Spread over items"},
        {1, "files", "Files"},
        {1, "seconds", "Seconds"},
        {1, "again", "How to run it again"}};
    add_head(report, sections, sizeof sections / sizeof sections[0]);
    add_statement(report);
    add_metrics(report);
    add_released(report);
    add_plots(report);
    add_items(report);
    add_files(report);
    add_seconds(report);
    add_commands(report);
    return write_page(report, "private/report.html", written, error);
}

/* Only what the statement covers. */
static int write_released(struct run_report *report, struct dpf_error *error)
{
    if (!json_object_get(report->json, "released_metrics"))
        return 0;
    html_page_begin(&report->page, "Released metrics and their statement");
    add_promise(report);
    html_page_note(&report->page, "Everything on this page was released, and the statement covers it.");
    add_released(report);
    add_statement(report);
    return write_page(report, "release/report.html", NULL, error);
}

static int load_json(struct run_report *report, struct dpf_error *error)
{
    json_error_t problem;
    char *path = files_join(report->directory, "run.json");
    report->json = json_load_file(path, 0, &problem);
    if (!report->json)
        error_set(error, DPF_FAULT_CONFIG, "%s: %s; name the output directory of a run that is complete",
                  path, problem.text);
    free(path);
    return report->json ? 0 : -1;
}

static void close_report(struct run_report *report)
{
    recommended_items_free(&report->items);
    saved_run_close(&report->saved);
    verdict_file_close(&report->verdict);
    json_decref(report->models);
    json_decref(report->json);
    text_free(&report->page);
}

int run_report_write(const struct arguments *arguments, const char *directory, char **page,
                     struct dpf_error *error)
{
    struct run_report *report = memory_need(1, sizeof *report);
    *page = NULL;
    report->directory = directory;
    int status = load_json(report, error);
    if (status == 0) {
        verdict_file_read(directory, &report->verdict);
        /* The records were warned of by the run. */
        const enum log_level level = log_set_level(LOG_LEVEL_NONE);
        use_records(report, arguments, &report->why_not);
        report->models = json_deep_copy(json_object_get(report->json, "baselines"));
        json_object_update_missing(report->models, report->verdict.models);
        log_set_level(level);
        status = interrupt_check("a page was made", error);
    }
    if (status == 0)
        status = write_private(report, page, error);
    if (status == 0)
        status = write_released(report, error);
    close_report(report);
    free(report);
    return status;
}
