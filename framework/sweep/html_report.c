/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/html_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "plot/html_page.h"
#include "plot/plot_svg.h"
#include "privacy/guarantee.h"
#include "config/config_diff.h"
#include "sweep/answer.h"
#include "sweep/outcome_tables.h"
#include "sweep/together.h"

/* That are listed openly; more are folded away. */
#define MOST_POINTS 60
#define MOST_DIFFERENCES 20

/* What the parts of the page have in common. */
struct report {
    const struct outcomes *outcomes;
    const struct plots *plots;
    struct outcome_tests tests;
    struct text page;
};

static const char *of_sweep(const struct outcomes *outcomes, const char *key)
{
    const char *text = json_string_value(json_object_get(outcomes->sweep, key));
    return text ? text : "";
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

static void add_label(struct sheet *table, const struct outcomes *outcomes, const struct cell *cell)
{
    char *label = cell_label(outcomes, cell, -1);
    sheet_text(table, label && *label ? label : "all");
    free(label);
}

static void close_table(struct report *report, struct sheet *table)
{
    html_page_table(&report->page, table);
}

/* ---- head --------------------------------------------------------------------------------------------- */

/* Whether the records of all runs were generated: then nobody's are in the figures. */
static int is_synthetic(const struct outcomes *outcomes)
{
    size_t n = 0;
    for (size_t i = 0; i < outcomes->n; i++) {
        const json_t *data = json_object_get(json_object_get(outcomes->items[i].run, "config"), "data");
        if (!outcomes->items[i].run)
            continue;
        n++;
        if (strcmp(text_in(data, "format"), "synthetic") != 0)
            return 0;
    }
    return n > 0;
}

static void add_answers(struct report *report)
{
    char *answer = answer_text(report->outcomes, &report->tests), *privacy = answer_privacy(report->outcomes);
    if (answer)
        html_page_box(&report->page, "answer", answer);
    if (privacy)
        html_page_box(&report->page, "", privacy);
    if (!is_synthetic(report->outcomes))
        html_page_box(
            &report->page, "private",
            "Private: the figures of this page are computed from protected records, and no statement "
            "covers them. Give it to nobody who may not see the records.");
    free(answer);
    free(privacy);
}

static void add_contents(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    const struct html_section sections[] = {{1, "results", "Results"},
                                            {report->tests.n > 0, "tests", "Tests"},
                                            {report->plots->n > 0, "plots", "Plots"},
                                            {outcomes->n_done > 0, "guarantees", "Guarantees"},
                                            {outcomes->n_done > 0, "compared", "What is compared"},
                                            {1, "points", "Points and logs"},
                                            {outcomes->n_done > 0, "seconds", "Seconds"},
                                            {1, "again", "How to run it again"}};
    html_page_contents(&report->page, sections, sizeof sections / sizeof sections[0]);
}

static void add_head(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    const char *question = of_sweep(outcomes, "question");
    struct text *page = &report->page;
    html_page_begin(page, *question ? question : "A sweep");
    add_answers(report);
    text_add(page, "<p>%zu of %zu points are done: %zu combination%s, %zu run%s of each. ", outcomes->n_done,
             outcomes->n, outcomes->n_cells, outcomes->n_cells == 1 ? "" : "s", outcomes->n_repetitions,
             outcomes->n_repetitions == 1 ? "" : "s");
    text_add(page, "Configuration <code>");
    html_text(page, of_sweep(outcomes, "config"));
    text_add(page, "</code>, dpframe %s.</p>\n", DPFRAME_VERSION);
    add_contents(report);
}

/* ---- results ------------------------------------------------------------------------------------------ */

static void add_results(struct report *report)
{
    html_page_section(&report->page, "results", "Results");
    html_page_note(
        &report->page,
        "Mean ± sample standard deviation over runs. Metrics are computed from private records: of "
        "the training part where the name says so, else of the test part. They are private and not covered "
        "by "
        "any guarantee; what [evaluate] release = noisy releases is in release/metrics.csv of each run.");
    struct sheet table = outcome_tables_means(report->outcomes);
    close_table(report, &table);
}

static void add_tests(struct report *report)
{
    char title[256];
    if (!report->tests.n)
        return;
    char *note = outcome_tests_note(report->outcomes, &report->tests);
    snprintf(title, sizeof title, "Tests against the baseline %.200s",
             of_sweep(report->outcomes, "baseline"));
    html_page_section(&report->page, "tests", title);
    html_page_note(&report->page, note ? note : "");
    free(note);
    struct sheet table = outcome_tables_tests(report->outcomes, &report->tests);
    close_table(report, &table);
}

static void add_plots(struct report *report)
{
    if (report->plots->n == 0)
        return;
    html_page_section(&report->page, "plots", "Plots");
    html_page_note(&report->page, "Point at a marker for its value; \"Values\" has all of them.");
    plot_svg_shapes(&report->page);
    text_add(&report->page, "<div class=\"plots\">\n");
    for (size_t i = 0; i < report->plots->n; i++)
        plot_svg_add(&report->page, &report->plots->items[i]);
    text_add(&report->page, "</div>\n");
}

/* ---- guarantees --------------------------------------------------------------------------------------- */

/* Five digits, not below the value; infinity is a text in JSON. */
static const char *number_in(const json_t *object, const char *key, char buffer[32])
{
    const json_t *value = json_object_get(object, key);
    if (json_is_number(value))
        return guarantee_digits_up(json_number_value(value), 5, buffer);
    return json_is_string(value) ? json_string_value(value) : "?";
}

/* The texts that add gives for the elements of an array, joined; "not applicable" without any. */
static void add_joined(struct sheet *table, const json_t *array, const char *between,
                       void (*add)(struct text *out, const json_t *element, const char *between))
{
    struct text cell = {0};
    size_t i;
    json_t *element;
    json_array_foreach(array, i, element)
    {
        add(&cell, element, cell.length ? between : "");
    }
    sheet_text(table, cell.data);
    text_free(&cell);
}

static void add_published(struct text *out, const json_t *account, const char *between)
{
    char number[32];
    text_add(out, "%s%s", between, number_in(account, "epsilon", number));
}

static void add_failing(struct text *out, const json_t *condition, const char *between)
{
    const char *id = json_string_value(json_object_get(condition, "id"));
    const char *title = json_string_value(json_object_get(condition, "title"));
    if (!json_is_true(json_object_get(condition, "holds")) && id && title)
        text_add(out, "%s%s (%s)", between, id, title);
}

static int add_guarantee(struct sheet *table, const struct outcomes *outcomes, const struct cell *cell)
{
    const struct outcome *outcome = cell_first_run(outcomes, cell);
    const json_t *guarantee = json_object_get(outcome->run, "guarantee");
    char number[32];
    int plan;
    const double proved = outcome_proved(outcome, &plan);
    add_label(table, outcomes, cell);
    sheet_printf(table, "%s, %s", text_in(guarantee, "unit"), text_in(guarantee, "adjacency"));
    if (isnan(proved))
        sheet_text(table, "none");
    else
        sheet_printf(table, "%s%s", guarantee_digits_up(proved, 5, number), plan ? " (plan)" : "");
    sheet_printf(table, "%g", json_number_value(json_object_get(guarantee, "delta")));
    add_joined(table, json_object_get(guarantee, "published"), "; ", add_published);
    add_joined(table, json_object_get(guarantee, "conditions"), ", ", add_failing);
    return !isnan(proved) && plan;
}

static void add_guarantees(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    struct sheet table = {0};
    int any_plan = 0;
    if (outcomes->n_done == 0)
        return;
    html_page_section(&report->page, "guarantees", "Guarantees");
    sheet_column(&table, "combination", SHEET_LEFT);
    sheet_column(&table, "protects", SHEET_LEFT);
    sheet_column(&table, "proved epsilon", SHEET_RIGHT);
    sheet_column(&table, "delta", SHEET_RIGHT);
    sheet_column(&table, "published epsilon", SHEET_RIGHT);
    sheet_column(&table, "conditions that fail", SHEET_LEFT);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        if (cell_first_run(outcomes, &outcomes->cells[c]))
            any_plan |= add_guarantee(&table, outcomes, &outcomes->cells[c]);
    close_table(report, &table);
    struct text together = {0};
    together_say(json_object_get(outcomes->sweep, "together"), &together);
    if (together.length)
        html_page_note(&report->page, together.data);
    text_free(&together);
    if (any_plan)
        html_page_box(
            &report->page, "warn",
            "(plan): proved for the configuration run with secure noise. These runs drew reproducible "
            "noise, which protects nothing that they released.");
    if (outcomes->n > 1)
        html_page_note(
            &report->page,
            "Each value is that of one run. Whoever publishes several of them, or chooses one by its "
            "private metrics, spends more than that.");
}

/* ---- by privacy weight --------------------------------------------------------------------------------- */

static void add_budget(struct sheet *table, const struct outcomes *outcomes, const struct cell *cell,
                       const json_t *line)
{
    static const char *const quantiles[] = {"least", "q05", "q25", "median", "q75", "q95", "largest"};
    char number[32];
    add_label(table, outcomes, cell);
    sheet_text(table, text_in(line, "of"));
    sheet_text(table, text_in(line, "group"));
    sheet_count(table, (long long)json_integer_value(json_object_get(line, "n")));
    for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++)
        sheet_spread(table, number_in(line, quantiles[q], number), NULL);
}

/* How the epsilon of the whole run is spread where records have privacy weights. */
static void add_budgets(struct report *report)
{
    static const char *const titles[] = {"combination", "of",     "group", "n",    "least",  "5 %",
                                         "25 %",        "median", "75 %",  "95 %", "largest"};
    const struct outcomes *outcomes = report->outcomes;
    struct sheet table = {0};
    for (size_t t = 0; t < sizeof titles / sizeof titles[0]; t++)
        sheet_column(&table, titles[t], t < 3 ? SHEET_LEFT : SHEET_RIGHT);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = cell_first_run(outcomes, &outcomes->cells[c]);
        const json_t *lines = outcome ? json_object_get(outcome->run, "record_budgets") : NULL;
        size_t i;
        json_t *line;
        json_array_foreach(lines, i, line)
        {
            add_budget(&table, outcomes, &outcomes->cells[c], line);
        }
    }
    if (sheet_rows(&table) == 0) {
        sheet_free(&table);
        return;
    }
    html_page_section(&report->page, "budgets", "Epsilon of records and users");
    close_table(report, &table);
    html_page_note(
        &report->page,
        "Quantiles of the epsilon of the whole run by the accountant that knows privacy weights, of "
        "each record and of each user's records together. They are proved where no condition above "
        "fails. They tell who rated what: this table is private.");
}

/* ---- variants as differences -------------------------------------------------------------------------- */

static json_t *comparable(const struct outcome *outcome)
{
    json_t *config = json_deep_copy(json_object_get(outcome->run, "config"));
    json_t *run = json_object_get(config, "run");
    json_object_del(run, "output");
    json_object_del(run, "seed");
    return config;
}

/* What an axis sets is told by the axis. */
static int is_of_axis(const struct outcomes *outcomes, const char *key)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (*outcomes->dimensions[d].key && strcmp(outcomes->dimensions[d].key, key) == 0)
            return 1;
    return 0;
}

static size_t count_differences(const struct outcomes *outcomes, const struct config_differences *differences)
{
    size_t n = 0;
    for (size_t i = 0; i < differences->n; i++)
        n += !is_of_axis(outcomes, differences->items[i].key);
    return n;
}

static void add_difference_list(struct text *page, const struct outcomes *outcomes,
                                const struct config_differences *differences)
{
    const size_t n = count_differences(outcomes, differences);
    if (n > MOST_DIFFERENCES)
        text_add(page, "<details><summary>%zu keys differ</summary>", n);
    text_add(page, "<ul class=\"changes\">");
    for (size_t i = 0; i < differences->n; i++) {
        const struct config_difference *d = &differences->items[i];
        if (is_of_axis(outcomes, d->key))
            continue;
        text_add(page, "<li><code>");
        html_text(page, d->key);
        text_add(page, "</code>: ");
        html_text(page, !d->a ? "(not there)" : *d->a ? d->a : "(empty)");
        text_add(page, " → ");
        html_text(page, !d->b ? "(not there)" : *d->b ? d->b : "(empty)");
        text_add(page, "%s</li>",
                 d->affects_privacy ? " <span class=\"affects\">affects the guarantee</span>" : "");
    }
    text_add(page, "%s</ul>%s\n", n ? "" : "<li>the same</li>", n > MOST_DIFFERENCES ? "</details>" : "");
}

/* The cell that others are compared with: of the baseline, else the first that has results. */
static const struct cell *reference_cell(const struct outcomes *outcomes)
{
    size_t dimension = 0, value = 0;
    int named = outcomes_baseline(outcomes, &dimension, &value);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        if (cell_first_run(outcomes, &outcomes->cells[c]) &&
            (!named || outcomes->cells[c].at[dimension] == value))
            return &outcomes->cells[c];
    return NULL;
}

/* One combination stands for all that differ from it on axes of numbers alone. */
static int stands_for_others(const struct outcomes *outcomes, size_t index)
{
    for (size_t c = 0; c < index; c++) {
        int same = cell_first_run(outcomes, &outcomes->cells[c]) != NULL;
        for (size_t d = 0; d < outcomes->n_dimensions && same; d++)
            same = outcomes->dimensions[d].repeats ||
                   (*outcomes->dimensions[d].key && outcomes->dimensions[d].numeric) ||
                   outcomes->cells[c].at[d] == outcomes->cells[index].at[d];
        if (same)
            return 0;
    }
    return 1;
}

static void add_axes(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    struct text *page = &report->page;
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        if (!*dimension->key)
            continue;
        text_add(page, "<p><code>");
        html_text(page, dimension->key);
        text_add(page, "</code>: ");
        for (size_t v = 0; v < dimension->n; v++) {
            text_add(page, "%s", v ? ", " : "");
            html_text(page, dimension->values[v]);
        }
        text_add(page, "%s</p>\n",
                 outcomes->dimensions[d].repeats ? " (repetitions)"
                 : dimension->zipped             ? " (moves together with the other axes)"
                                                 : "");
    }
}

/* Those that were shown, one of which a later one may resemble more than the reference. */
struct shown {
    const struct cell *cell;
    json_t *config;
};

/* The shortest list of differences, from one of those that were shown. */
static void nearest(const struct report *report, const struct shown *shown, size_t n, const json_t *config,
                    struct config_differences *best, const struct cell **from)
{
    const json_t *keys = json_object_get(report->outcomes->sweep, "privacy_keys");
    for (size_t i = 0; i < n; i++) {
        struct config_differences differences;
        config_diff(shown[i].config, config, keys, &differences);
        if (*from &&
            count_differences(report->outcomes, &differences) >= count_differences(report->outcomes, best)) {
            config_diff_free(&differences);
            continue;
        }
        config_diff_free(best);
        *best = differences;
        *from = shown[i].cell;
    }
}

static void add_variant(struct report *report, struct shown *shown, size_t n, const struct cell *cell)
{
    const struct outcomes *outcomes = report->outcomes;
    struct config_differences differences = {0};
    const struct cell *from = NULL;
    json_t *config = comparable(cell_first_run(outcomes, cell));
    char *title = cell_label(outcomes, cell, -1);
    nearest(report, shown, n, config, &differences, &from);
    /* Where axes are all that differs, they say so. */
    if (count_differences(outcomes, &differences) > 0) {
        char *other = cell_label(outcomes, from, -1);
        html_element(&report->page, "h3", title && *title ? title : "all");
        text_add(&report->page, "<p>from <b>");
        html_text(&report->page, other && *other ? other : "the first");
        text_add(&report->page, "</b>:</p>");
        add_difference_list(&report->page, outcomes, &differences);
        free(other);
    }
    config_diff_free(&differences);
    shown[n] = (struct shown){cell, config};
    free(title);
}

static void add_variants(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    const struct cell *reference = reference_cell(outcomes);
    struct shown *shown = memory_need(outcomes->n_cells + 1, sizeof *shown);
    size_t n = 0;
    if (reference) {
        shown[n++] = (struct shown){reference, comparable(cell_first_run(outcomes, reference))};
        html_page_section(&report->page, "compared", "What is compared");
        add_axes(report);
        html_page_note(&report->page, "Beside those axes, each variant changes these keys of a variant above "
                                      "it, the one that it has most in common with.");
    }
    for (size_t c = 0; c < outcomes->n_cells && reference; c++)
        if (cell_first_run(outcomes, &outcomes->cells[c]) && &outcomes->cells[c] != reference &&
            stands_for_others(outcomes, c))
            add_variant(report, shown, n++, &outcomes->cells[c]);
    for (size_t i = 0; i < n; i++)
        json_decref(shown[i].config);
    free(shown);
}

/* ---- points ------------------------------------------------------------------------------------------- */

/* A cell that leads to a file of the sweep's directory, if that is there. */
static void add_file(struct sheet *table, const struct outcomes *outcomes, const char *part, const char *name,
                     const char *ending, const char *shown)
{
    char *relative = memory_format("%s/%s%s", part, name, ending);
    char *path = files_join(outcomes->directory, relative);
    const int is_there = access(path, R_OK) == 0;
    sheet_text(table, is_there ? shown : NULL);
    if (is_there)
        sheet_link(table, relative);
    free(relative);
    free(path);
}

static void add_point(struct sheet *table, const struct outcomes *outcomes, const struct outcome *outcome)
{
    sheet_text(table, outcome->name);
    sheet_fixed(table, json_number_value(json_object_get(outcome->state, "seconds")), 2);
    add_file(table, outcomes, "configs", outcome->name, ".ini", "configuration");
    add_file(table, outcomes, "points", outcome->name, "/run.json", "run.json");
    add_file(table, outcomes, "points", outcome->name, "/release/guarantee.txt", "statement");
    add_file(table, outcomes, "points", outcome->name, "/private/metrics.csv", "metrics");
    add_file(table, outcomes, "logs", outcome->name, ".txt", "log");
}

/* What failed, and why, comes with its log. */
static void add_missing(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    struct sheet table = {0};
    if (outcomes->n_done == outcomes->n)
        return;
    text_add(&report->page, "<p class=\"box warn\">%zu of %zu points have no results.</p>\n",
             outcomes->n - outcomes->n_done, outcomes->n);
    sheet_column(&table, "point", SHEET_LEFT);
    sheet_column(&table, "what happened", SHEET_LEFT);
    sheet_column(&table, "configuration", SHEET_LEFT);
    sheet_column(&table, "log", SHEET_LEFT);
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        const char *problem = json_string_value(json_object_get(outcome->state, "error"));
        if (outcome->run)
            continue;
        sheet_text(&table, outcome->name);
        sheet_text(&table, problem && *problem ? problem : "not run yet");
        add_file(&table, outcomes, "configs", outcome->name, ".ini", "configuration");
        add_file(&table, outcomes, "logs", outcome->name, ".txt", "log");
    }
    close_table(report, &table);
}

/* Links are of no use on paper. */
static void add_points(struct report *report)
{
    static const char *const titles[] = {"point",   "seconds", "configuration", "results", "statement",
                                         "metrics", "log"};
    const struct outcomes *outcomes = report->outcomes;
    struct sheet table = {0};
    for (size_t t = 0; t < sizeof titles / sizeof titles[0]; t++)
        sheet_column(&table, titles[t], t == 1 ? SHEET_RIGHT : SHEET_LEFT);
    for (size_t i = 0; i < outcomes->n; i++)
        if (outcomes->items[i].run)
            add_point(&table, outcomes, &outcomes->items[i]);
    text_add(&report->page, "<section%s>", outcomes->n_done == outcomes->n ? " class=\"screen\"" : "");
    html_page_section(&report->page, "points", "Points and logs");
    add_missing(report);
    if (sheet_rows(&table) > MOST_POINTS)
        text_add(&report->page, "<details><summary>All %zu points with results</summary>\n",
                 sheet_rows(&table));
    const int is_folded = sheet_rows(&table) > MOST_POINTS;
    text_add(&report->page, "<div class=\"screen\">");
    close_table(report, &table);
    text_add(&report->page, "</div>%s</section>\n", is_folded ? "</details>" : "");
}

/* ---- timings and commands ------------------------------------------------------------------------------ */

static double mean_seconds(const struct outcomes *outcomes, const struct cell *cell, const char *part)
{
    double sum = 0;
    size_t n = 0;
    for (size_t r = 0; r < outcomes->n_repetitions; r++) {
        double value = cell->members[r] == SIZE_MAX
                           ? (double)NAN
                           : outcome_number(&outcomes->items[cell->members[r]], "timing", part);
        if (!isnan(value)) {
            sum += value;
            n++;
        }
    }
    return n ? sum / (double)n : (double)NAN;
}

static void add_timings(struct report *report)
{
    static const char *const parts[] = {"configure", "load",    "plan",  "train",
                                        "evaluate",  "budgets", "write", "total"};
    enum { N = sizeof parts / sizeof parts[0] };
    const struct outcomes *outcomes = report->outcomes;
    struct sheet table = {0};
    if (outcomes->n_done == 0)
        return;
    html_page_section(&report->page, "seconds", "Seconds");
    html_page_note(&report->page, "Mean of a run, while others ran beside it.");
    sheet_column(&table, "combination", SHEET_LEFT);
    for (size_t t = 0; t < N; t++)
        sheet_column(&table, parts[t], SHEET_RIGHT);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        add_label(&table, outcomes, &outcomes->cells[c]);
        for (size_t t = 0; t < N; t++)
            sheet_fixed(&table, mean_seconds(outcomes, &outcomes->cells[c], parts[t]), 3);
    }
    close_table(report, &table);
}

static void add_commands(struct report *report)
{
    const struct outcomes *outcomes = report->outcomes;
    struct text *page = &report->page;
    html_page_section(page, "again", "How to run it again");
    text_add(page, "<pre># all of it, or what is missing\ndpframe -c ");
    html_text(page, of_sweep(outcomes, "config"));
    text_add(page, " --resume\n# one point alone\ndpframe -c ");
    html_text(page, outcomes->directory);
    text_add(page, "/configs/");
    html_text(page, outcomes->items[0].name);
    text_add(page, ".ini -O somewhere\n# the page of one point\ndpframe report ");
    html_text(page, outcomes->directory);
    text_add(page, "/points/");
    html_text(page, outcomes->items[0].name);
    text_add(page, "\n# this page\ndpframe report ");
    html_text(page, outcomes->directory);
    text_add(page, "</pre>\n<p class=\"note\">Numbers without rounding: ");
    html_link(page, "tables.csv", "tables.csv");
    text_add(page, " and ");
    html_link(page, "results.csv", "results.csv");
    text_add(page, ". For a paper: ");
    html_link(page, "tables.tex", "tables.tex");
    text_add(page, "%s.</p>\n",
             report->plots->n ? " and plots/*.svg, which gnuplot draws from plots/*.gp" : "");
}

int html_report_write(const struct outcomes *outcomes, const struct plots *plots, struct dpf_error *error)
{
    struct report report = {.outcomes = outcomes, .plots = plots};
    char *path = files_join(outcomes->directory, "report.html");
    outcome_tests_make(outcomes, &report.tests);
    add_head(&report);
    add_results(&report);
    add_tests(&report);
    add_plots(&report);
    add_guarantees(&report);
    add_budgets(&report);
    add_variants(&report);
    add_points(&report);
    add_timings(&report);
    add_commands(&report);
    html_page_end(&report.page);
    const int status = files_write_text(path, report.page.data, error);
    outcome_tests_free(&report.tests);
    text_free(&report.page);
    free(path);
    return status;
}
