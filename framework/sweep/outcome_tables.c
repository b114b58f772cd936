/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/outcome_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "sweep/together.h"

/* ---- pieces ------------------------------------------------------------------------------------------- */

struct summary outcome_tables_summary(const struct outcomes *outcomes, const struct cell *cell,
                                      const char *metric)
{
    struct summary summary = {.mean = (double)NAN, .deviation = (double)NAN};
    double *values = memory_new(outcomes->n_repetitions, sizeof *values);
    if (!values)
        return summary;
    cell_values(outcomes, cell, metric, values);
    summary.n = cell_compact(values, outcomes->n_repetitions);
    summary.mean = statistics_mean(values, (int64_t)summary.n);
    summary.deviation = statistics_deviation(values, (int64_t)summary.n);
    free(values);
    return summary;
}

static size_t points_done(const struct outcomes *outcomes, const struct cell *cell)
{
    size_t n = 0;
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        n += cell->members[r] != SIZE_MAX && outcomes->items[cell->members[r]].run;
    return n;
}

/* Four decimals, or six digits of what is large. A stated figure that every run has needs no deviation. */
static void add_mean(struct sheet *table, const struct outcomes *outcomes, const struct cell *cell,
                     const char *metric)
{
    const struct summary s = outcome_tables_summary(outcomes, cell, metric);
    const int small = fabs(s.mean) < 1000;
    const int alone = isnan(s.deviation) || (s.deviation <= 1e-9 * fabs(s.mean) && outcome_is_stated(metric));
    char mean[32], deviation[32];
    snprintf(mean, sizeof mean, small ? "%.4f" : "%.6g", s.mean);
    snprintf(deviation, sizeof deviation, small ? "%.4f" : "%.3g", s.deviation);
    sheet_spread(table, s.n ? mean : NULL, alone ? NULL : deviation);
}

const char *outcome_tables_p(double p, char out[16])
{
    if (isnan(p))
        return strcpy(out, "n/a");
    snprintf(out, 16, p < 1e-4 ? "<0.0001" : "%.4f", p);
    return out;
}

static void add_p(struct sheet *table, double p)
{
    char text[16];
    sheet_spread(table, isnan(p) ? NULL : outcome_tables_p(p, text), NULL);
}

static int is_shown(const struct outcomes *outcomes, size_t dimension)
{
    return !outcomes->dimensions[dimension].repeats;
}

static void add_dimensions(const struct outcomes *outcomes, struct sheet *table, int with_repetition)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (with_repetition || is_shown(outcomes, d))
            sheet_column(table, outcomes->dimensions[d].name,
                         outcomes->dimensions[d].numeric && *outcomes->dimensions[d].key ? SHEET_RIGHT
                                                                                         : SHEET_LEFT);
}

static void add_place(const struct outcomes *outcomes, const size_t *at, struct sheet *table,
                      int with_repetition)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (with_repetition || is_shown(outcomes, d))
            sheet_text(table, dimension_value(&outcomes->dimensions[d], at[d], NULL));
}

/* ---- means and tests ----------------------------------------------------------------------------------- */

struct sheet outcome_tables_means(const struct outcomes *outcomes)
{
    struct sheet table = {0};
    add_dimensions(outcomes, &table, 0);
    sheet_column(&table, "runs", SHEET_RIGHT);
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        sheet_column(&table, outcomes->metrics[m], SHEET_RIGHT);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *cell = &outcomes->cells[c];
        add_place(outcomes, cell->at, &table, 0);
        sheet_count(&table, (long long)points_done(outcomes, cell));
        for (size_t m = 0; m < outcomes->n_metrics; m++)
            add_mean(&table, outcomes, cell, outcomes->metrics[m]);
    }
    return table;
}

static void add_difference(struct sheet *table, const struct outcome_test *test)
{
    const struct paired_test *paired = &test->paired;
    char difference[32], interval[64];
    snprintf(difference, sizeof difference, "%+.4f", paired->difference);
    snprintf(interval, sizeof interval, "%+.4f to %+.4f", paired->low, paired->high);
    sheet_spread(table, isnan(paired->difference) ? NULL : difference, NULL);
    sheet_text(table, isnan(paired->low) ? NULL : interval);
}

/* Where nothing was found: how many repetitions would do. */
static void add_needed(struct sheet *table, const struct outcome_test *test)
{
    if (isnan(test->holm) || test->holm < OUTCOME_SIGNIFICANT)
        sheet_text(table, NULL);
    else if (test->paired.needed > 0)
        sheet_count(table, (long long)test->paired.needed);
    else
        sheet_text(table, "more test records");
}

struct sheet outcome_tables_tests(const struct outcomes *outcomes, const struct outcome_tests *tests)
{
    static const char *const numbers[] = {"pairs", "difference", "95 % interval", "p", "p (Holm)", "needed"};
    struct sheet table = {0};
    sheet_column(&table, "cell", SHEET_LEFT);
    sheet_column(&table, "metric", SHEET_LEFT);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sheet_column(&table, numbers[i], SHEET_RIGHT);
    sheet_column(&table, "note", SHEET_LEFT);
    for (size_t i = 0; i < tests->n; i++) {
        const struct outcome_test *test = &tests->items[i];
        char *label = cell_label(outcomes, test->cell, -1);
        sheet_text(&table, label ? label : "?");
        sheet_text(&table, test->metric);
        sheet_count(&table, (long long)test->paired.n);
        add_difference(&table, test);
        add_p(&table, test->paired.p);
        add_p(&table, test->holm);
        add_needed(&table, test);
        sheet_text(&table, test->why_not ? test->why_not : "");
        free(label);
    }
    return table;
}

/* ---- with notes, to be read ---------------------------------------------------------------------------- */

struct writing {
    const struct outcomes *outcomes;
    enum sheet_format format;
    int width;
    struct text text;
};

/* A paragraph; in LaTeX a comment. */
static void add_note(struct writing *writing, const char *note)
{
    if (writing->format == SHEET_LATEX)
        text_add(&writing->text, "%% %s\n", note);
    else if (writing->format == SHEET_TEXT)
        terminal_wrap(&writing->text, "", 0, note, writing->width);
    else
        text_add(&writing->text, "%s\n", note);
}

static void add_table(struct writing *writing, struct sheet *table)
{
    sheet_write(table, writing->format, writing->width, &writing->text);
    sheet_free(table);
}

static void add_together(struct writing *writing)
{
    struct text text = {0};
    together_say(json_object_get(writing->outcomes->sweep, "together"), &text);
    for (char *line = text.data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        add_note(writing, line);
    }
    if (text.length)
        text_add(&writing->text, "\n");
    text_free(&text);
}

/* The epsilon of noise that comes from a seed is the plan's. */
static void add_plan_note(struct writing *writing)
{
    int plan = 0;
    for (size_t i = 0; i < writing->outcomes->n && !plan; i++)
        outcome_proved(&writing->outcomes->items[i], &plan);
    text_add(&writing->text, "\n");
    if (plan)
        add_note(writing,
                 OUTCOME_PROVED ": proved for the plan, run with secure noise. The noise of these runs "
                                "comes from seeds.");
    add_together(writing);
    if (plan && writing->outcomes->n_metrics > 0)
        text_add(&writing->text, "\n");
    if (writing->outcomes->n_metrics > 0)
        add_note(writing, "Metrics: private, not covered by a guarantee.");
}

static void add_tests(struct writing *writing, const struct outcome_tests *tests)
{
    if (!tests->n)
        return;
    char *note = outcome_tests_note(writing->outcomes, tests);
    text_add(&writing->text, "\n");
    add_note(writing, note);
    free(note);
    text_add(&writing->text, writing->format == SHEET_LATEX ? "" : "\n");
    struct sheet table = outcome_tables_tests(writing->outcomes, tests);
    add_table(writing, &table);
}

char *outcome_tables_text(const struct outcomes *outcomes, enum sheet_format format, int width)
{
    struct writing writing = {.outcomes = outcomes, .format = format, .width = width};
    struct outcome_tests tests;
    outcome_tests_make(outcomes, &tests);
    if (format == SHEET_LATEX)
        add_note(&writing, "\\usepackage{booktabs}");
    add_note(&writing, "Mean ± sample standard deviation over runs.");
    text_add(&writing.text, format == SHEET_LATEX ? "" : "\n");
    struct sheet means = outcome_tables_means(outcomes);
    add_table(&writing, &means);
    add_plan_note(&writing);
    add_tests(&writing, &tests);
    outcome_tests_free(&tests);
    return writing.text.data;
}

/* ---- unrounded, for programs --------------------------------------------------------------------------- */

static char *to_csv(struct sheet *table)
{
    struct text text = {0};
    sheet_write(table, SHEET_CSV, 0, &text);
    sheet_free(table);
    return text.data;
}

static const struct outcome_test *find_test(const struct outcome_tests *tests, const struct cell *cell,
                                            const char *metric)
{
    for (size_t i = 0; i < tests->n; i++)
        if (tests->items[i].cell == cell && strcmp(tests->items[i].metric, metric) == 0)
            return &tests->items[i];
    return NULL;
}

static const char *const test_columns[] = {"pairs", "difference", "low",    "high",    "t",
                                           "p",     "p_holm",     "needed", "overlap", "note"};

static void add_exact_test(struct sheet *table, const struct outcome_test *test)
{
    if (!test) {
        for (size_t i = 0; i < sizeof test_columns / sizeof test_columns[0]; i++)
            sheet_missing(table);
        return;
    }
    const struct paired_test *paired = &test->paired;
    const double values[] = {paired->difference, paired->low, paired->high,
                             paired->statistic,  paired->p,   test->holm};
    sheet_count(table, (long long)paired->n);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        sheet_exact(table, values[i]);
    sheet_count(table, (long long)paired->needed);
    sheet_exact(table, test->overlap);
    sheet_text(table, test->why_not ? test->why_not : "");
}

char *outcome_tables_csv(const struct outcomes *outcomes)
{
    static const char *const columns[] = {"metric", "n", "mean", "std"};
    struct sheet table = {0};
    struct outcome_tests tests;
    outcome_tests_make(outcomes, &tests);
    add_dimensions(outcomes, &table, 0);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&table, columns[i], SHEET_RIGHT);
    for (size_t i = 0; i < sizeof test_columns / sizeof test_columns[0]; i++)
        sheet_column(&table, test_columns[i], SHEET_RIGHT);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            const struct cell *cell = &outcomes->cells[c];
            const struct summary s = outcome_tables_summary(outcomes, cell, outcomes->metrics[m]);
            add_place(outcomes, cell->at, &table, 0);
            sheet_text(&table, outcomes->metrics[m]);
            sheet_count(&table, (long long)s.n);
            sheet_exact(&table, s.mean);
            sheet_exact(&table, s.deviation);
            add_exact_test(&table, find_test(&tests, cell, outcomes->metrics[m]));
        }
    outcome_tests_free(&tests);
    return to_csv(&table);
}

/* What a component has measured is a metric, too: "model.recommender.directions", its mean over the run. */
static void add_result(const struct outcomes *outcomes, const struct outcome *outcome, const char *section,
                       const char *name, const json_t *value, struct sheet *table)
{
    sheet_text(table, outcome->name);
    add_place(outcomes, outcome->at, table, 1);
    sheet_printf(table, "%s%s%s", section, *section ? "." : "", name);
    sheet_exact(table, json_is_number(value) ? json_number_value(value) : (double)NAN);
}

char *outcome_tables_results(const struct outcomes *outcomes)
{
    struct sheet table = {0};
    sheet_column(&table, "point", SHEET_LEFT);
    add_dimensions(outcomes, &table, 1);
    sheet_column(&table, "metric", SHEET_LEFT);
    sheet_column(&table, "value", SHEET_RIGHT);
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        const char *name, *section;
        json_t *value, *measured;
        json_object_foreach(json_object_get(outcome->run, "metrics"), name, value)
            add_result(outcomes, outcome, "", name, value, &table);
        json_object_foreach(json_object_get(outcome->run, "component_metrics"), section, measured)
            json_object_foreach(measured, name, value)
                add_result(outcomes, outcome, section, name, json_object_get(value, "mean"), &table);
    }
    return to_csv(&table);
}

char *outcome_tables_timings(const struct outcomes *outcomes)
{
    static const char *const parts[] = {"configure", "load",    "plan",  "train",
                                        "evaluate",  "budgets", "write", "total"};
    enum { N = sizeof parts / sizeof parts[0] };
    struct sheet table = {0};
    sheet_column(&table, "point", SHEET_LEFT);
    add_dimensions(outcomes, &table, 1);
    for (size_t p = 0; p < N; p++)
        sheet_column(&table, parts[p], SHEET_RIGHT);
    sheet_column(&table, "process", SHEET_RIGHT);
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        if (!outcome->run)
            continue;
        sheet_text(&table, outcome->name);
        add_place(outcomes, outcome->at, &table, 1);
        for (size_t p = 0; p < N; p++)
            sheet_exact(&table, outcome_number(outcome, "timing", parts[p]));
        sheet_exact(&table, json_number_value(json_object_get(outcome->state, "seconds")));
    }
    return to_csv(&table);
}

/* ---- files -------------------------------------------------------------------------------------------- */

static char *as_markdown(const struct outcomes *outcomes)
{
    return outcome_tables_text(outcomes, SHEET_MARKDOWN, 0);
}

static char *as_latex(const struct outcomes *outcomes)
{
    return outcome_tables_text(outcomes, SHEET_LATEX, 0);
}

int outcome_tables_write(const struct outcomes *outcomes, struct dpf_error *error)
{
    static const struct {
        const char *name;
        char *(*make)(const struct outcomes *outcomes);
    } files[] = {{"results.csv", outcome_tables_results},
                 {"tables.md", as_markdown},
                 {"tables.csv", outcome_tables_csv},
                 {"tables.tex", as_latex},
                 {"timings.csv", outcome_tables_timings}};
    int status = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == 0; i++) {
        char *path = files_join(outcomes->directory, files[i].name);
        char *text = files[i].make(outcomes);
        status = files_write_text(path, text, error);
        free(path);
        free(text);
    }
    return status;
}
