/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/outcome_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- pieces ------------------------------------------------------------------------------------------- */

struct summary {
    size_t n;
    double mean, deviation;
};

static struct summary summarise(const struct outcomes *outcomes, const struct cell *cell, const char *metric)
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

void outcome_tables_number(const struct outcomes *outcomes, const struct cell *cell, const char *metric,
                           const char *plus_minus, char out[64])
{
    struct summary s = summarise(outcomes, cell, metric);
    if (s.n == 0)
        snprintf(out, 64, "n/a");
    else if (isnan(s.deviation) || (s.deviation <= 1e-9 * fabs(s.mean) && outcome_is_stated(metric)))
        snprintf(out, 64, fabs(s.mean) < 1000 ? "%.4f" : "%.6g", s.mean);
    else
        snprintf(out, 64, fabs(s.mean) < 1000 ? "%.4f%s%.4f" : "%.6g%s%.3g", s.mean, plus_minus, s.deviation);
}

const char *outcome_tables_p(double p, char out[16])
{
    if (isnan(p))
        return strcpy(out, "n/a");
    snprintf(out, 16, p < 1e-4 ? "<0.0001" : "%.4f", p);
    return out;
}

static int is_shown(const struct outcomes *outcomes, size_t dimension)
{
    return (int)dimension != outcomes->repetition;
}

/* ---- Markdown ----------------------------------------------------------------------------------------- */

/* In a table of Markdown '|' ends a cell. */
static void add_escaped(struct text *text, const char *what)
{
    for (; *what; what++)
        text_add(text, *what == '|' ? "\\|" : "%c", *what);
}

static void markdown_head(const struct outcomes *outcomes, struct text *text)
{
    size_t columns = 1 + outcomes->n_metrics;
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (is_shown(outcomes, d)) {
            text_add(text, "| ");
            add_escaped(text, outcomes->dimensions[d].name);
            text_add(text, " ");
            columns++;
        }
    text_add(text, "| runs ");
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        text_add(text, "| %s ", outcomes->metrics[m]);
    text_add(text, "|\n");
    for (size_t c = 0; c < columns; c++)
        text_add(text, "|---");
    text_add(text, "|\n");
}

static void markdown_means(const struct outcomes *outcomes, struct text *text)
{
    char number[64];
    text_add(text, "Mean ± sample standard deviation over runs.\n\n");
    markdown_head(outcomes, text);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *cell = &outcomes->cells[c];
        for (size_t d = 0; d < outcomes->n_dimensions; d++)
            if (is_shown(outcomes, d)) {
                text_add(text, "| ");
                add_escaped(text, dimension_value(&outcomes->dimensions[d], cell->at[d], "–"));
                text_add(text, " ");
            }
        text_add(text, "| %zu ", points_done(outcomes, cell));
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            outcome_tables_number(outcomes, cell, outcomes->metrics[m], " ± ", number);
            text_add(text, "| %s ", number);
        }
        text_add(text, "|\n");
    }
}

/* The epsilon of noise that comes from a seed is the plan's. */
static void markdown_note(const struct outcomes *outcomes, struct text *text)
{
    int plan = 0;
    for (size_t i = 0; i < outcomes->n && !plan; i++)
        outcome_proved(&outcomes->items[i], &plan);
    if (plan)
        text_add(text,
                 "\n" OUTCOME_PROVED ": proved for the plan, run with secure noise. The noise of these runs "
                 "comes from seeds.\n");
    if (outcomes->n_metrics > 0)
        text_add(text, "\nMetrics: private, not covered by a guarantee.\n");
}

static void markdown_tests(const struct outcomes *outcomes, const struct outcome_tests *tests,
                           struct text *text)
{
    char p[4][16];
    if (!tests->n)
        return;
    text_add(
        text,
        "\nAgainst the baseline %s, paired by seed; two-sided p, and corrected by Holm's method over the "
        "rows of a metric.\n\n",
        json_string_value(json_object_get(outcomes->sweep, "baseline")));
    text_add(text, "| metric | cell | pairs | difference | t-test p | corrected | Wilcoxon p | corrected |\n"
                   "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < tests->n; i++) {
        const struct outcome_test *test = &tests->items[i];
        char *label = cell_label(outcomes, test->cell, -1);
        text_add(text, "| %s | ", test->metric);
        add_escaped(text, label ? label : "?");
        if (isnan(test->t.difference))
            text_add(text, " | %lld | n/a", (long long)test->t.n);
        else
            text_add(text, " | %lld | %+.4f", (long long)test->t.n, test->t.difference);
        text_add(text, " | %s | %s | %s | %s |\n", outcome_tables_p(test->t.p, p[0]),
                 outcome_tables_p(test->t_holm, p[1]), outcome_tables_p(test->wilcoxon.p, p[2]),
                 outcome_tables_p(test->wilcoxon_holm, p[3]));
        free(label);
    }
    if (outcomes->n_repetitions < 6)
        text_add(text, "\nWith %zu pairs Wilcoxon's p cannot be below %.4f.\n", outcomes->n_repetitions,
                 2 * pow(0.5, (double)outcomes->n_repetitions));
}

static char *finish(struct text *text)
{
    if (text->failed)
        text_free(text);
    return text->data;
}

char *outcome_tables_markdown(const struct outcomes *outcomes)
{
    struct text text = {0};
    struct dpf_error ignored = {0};
    struct outcome_tests tests;
    if (outcome_tests_make(outcomes, &tests, &ignored) != 0)
        return NULL;
    markdown_means(outcomes, &text);
    markdown_note(outcomes, &text);
    markdown_tests(outcomes, &tests, &text);
    outcome_tests_free(&tests);
    return finish(&text);
}

/* ---- LaTeX -------------------------------------------------------------------------------------------- */

static void add_latex(struct text *text, const char *what)
{
    for (; *what; what++) {
        if (strchr("&%$#_{}", *what))
            text_add(text, "\\%c", *what);
        else if (*what == '\\')
            text_add(text, "\\textbackslash{}");
        else if (*what == '~' || *what == '^')
            text_add(text, "\\%c{}", *what);
        else
            text_add(text, "%c", *what);
    }
}

static void latex_means(const struct outcomes *outcomes, struct text *text)
{
    char number[64];
    text_add(text, "\\begin{tabular}{");
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (is_shown(outcomes, d))
            text_add(text, outcomes->dimensions[d].numeric ? "r" : "l");
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        text_add(text, "r");
    text_add(text, "}\n\\toprule\n");
    const char *between = "";
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (is_shown(outcomes, d)) {
            text_add(text, "%s", between);
            add_latex(text, outcomes->dimensions[d].name);
            between = " & ";
        }
    for (size_t m = 0; m < outcomes->n_metrics; m++) {
        text_add(text, "%s", between);
        add_latex(text, outcomes->metrics[m]);
        between = " & ";
    }
    text_add(text, " \\\\\n\\midrule\n");
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *cell = &outcomes->cells[c];
        between = "";
        for (size_t d = 0; d < outcomes->n_dimensions; d++)
            if (is_shown(outcomes, d)) {
                text_add(text, "%s", between);
                add_latex(text, dimension_value(&outcomes->dimensions[d], cell->at[d], "--"));
                between = " & ";
            }
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            outcome_tables_number(outcomes, cell, outcomes->metrics[m], " \\pm ", number);
            text_add(text, strcmp(number, "n/a") == 0 ? "%s--" : "%s$%s$", between, number);
            between = " & ";
        }
        text_add(text, " \\\\\n");
    }
    text_add(text, "\\bottomrule\n\\end{tabular}\n");
}

static void latex_tests(const struct outcomes *outcomes, const struct outcome_tests *tests, struct text *text)
{
    char p[2][16];
    if (!tests->n)
        return;
    text_add(text, "\n%% Holm-corrected p-values against the baseline\n\\begin{tabular}{llrrr}\n\\toprule\n"
                   "metric & cell & difference & $t$-test $p$ & Wilcoxon $p$ \\\\\n\\midrule\n");
    for (size_t i = 0; i < tests->n; i++) {
        const struct outcome_test *test = &tests->items[i];
        char *label = cell_label(outcomes, test->cell, -1);
        add_latex(text, test->metric);
        text_add(text, " & ");
        add_latex(text, label ? label : "?");
        if (isnan(test->t.difference))
            text_add(text, " & --");
        else
            text_add(text, " & $%+.4f$", test->t.difference);
        text_add(text, " & $%s$ & $%s$ \\\\\n",
                 isnan(test->t_holm) ? "-" : outcome_tables_p(test->t_holm, p[0]),
                 isnan(test->wilcoxon_holm) ? "-" : outcome_tables_p(test->wilcoxon_holm, p[1]));
        free(label);
    }
    text_add(text, "\\bottomrule\n\\end{tabular}\n");
}

char *outcome_tables_latex(const struct outcomes *outcomes)
{
    struct text text = {0};
    struct dpf_error ignored = {0};
    struct outcome_tests tests;
    if (outcome_tests_make(outcomes, &tests, &ignored) != 0)
        return NULL;
    text_add(&text, "%% \\usepackage{booktabs}; mean and sample standard deviation over runs\n");
    latex_means(outcomes, &text);
    latex_tests(outcomes, &tests, &text);
    outcome_tests_free(&tests);
    return finish(&text);
}

/* ---- CSV ---------------------------------------------------------------------------------------------- */

/* RFC 4180. */
static void add_field(struct text *text, const char *what)
{
    if (!strpbrk(what, ",\"\n\r")) {
        text_add(text, "%s,", what);
        return;
    }
    text_add(text, "\"");
    for (; *what; what++)
        text_add(text, *what == '"' ? "\"\"" : "%c", *what);
    text_add(text, "\",");
}

static void add_number(struct text *text, double value, const char *after)
{
    char number[32];
    text_add(text, "%s%s", isfinite(value) ? text_from_real(value, number) : "", after);
}

static void add_names(struct text *text, const struct outcomes *outcomes, int with_repetition)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (with_repetition || is_shown(outcomes, d))
            add_field(text, outcomes->dimensions[d].name);
}

static void add_place(struct text *text, const struct outcomes *outcomes, const size_t *at,
                      int with_repetition)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (with_repetition || is_shown(outcomes, d))
            add_field(text, dimension_value(&outcomes->dimensions[d], at[d], ""));
}

static const struct outcome_test *find_test(const struct outcome_tests *tests, const struct cell *cell,
                                            const char *metric)
{
    for (size_t i = 0; i < tests->n; i++)
        if (tests->items[i].cell == cell && strcmp(tests->items[i].metric, metric) == 0)
            return &tests->items[i];
    return NULL;
}

static void add_test(struct text *text, const struct outcome_test *test)
{
    if (!test) {
        text_add(text, ",,,,,,,\n");
        return;
    }
    text_add(text, "%lld,", (long long)test->t.n);
    add_number(text, test->t.difference, ",");
    add_number(text, test->t.statistic, ",");
    add_number(text, test->t.p, ",");
    add_number(text, test->t_holm, ",");
    add_number(text, test->wilcoxon.statistic, ",");
    add_number(text, test->wilcoxon.p, ",");
    add_number(text, test->wilcoxon_holm, "\n");
}

char *outcome_tables_csv(const struct outcomes *outcomes)
{
    struct text text = {0};
    struct dpf_error ignored = {0};
    struct outcome_tests tests;
    if (outcome_tests_make(outcomes, &tests, &ignored) != 0)
        return NULL;
    add_names(&text, outcomes, 0);
    text_add(&text,
             "metric,n,mean,std,pairs,difference,t,t_p,t_p_holm,wilcoxon,wilcoxon_p,wilcoxon_p_holm\n");
    for (size_t c = 0; c < outcomes->n_cells; c++)
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            const struct cell *cell = &outcomes->cells[c];
            struct summary s = summarise(outcomes, cell, outcomes->metrics[m]);
            add_place(&text, outcomes, cell->at, 0);
            add_field(&text, outcomes->metrics[m]);
            text_add(&text, "%zu,", s.n);
            add_number(&text, s.mean, ",");
            add_number(&text, s.deviation, ",");
            add_test(&text, find_test(&tests, cell, outcomes->metrics[m]));
        }
    outcome_tests_free(&tests);
    return finish(&text);
}

char *outcome_tables_results(const struct outcomes *outcomes)
{
    struct text text = {0};
    text_add(&text, "point,");
    add_names(&text, outcomes, 1);
    text_add(&text, "metric,value\n");
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(outcome->run, "metrics"), name, value)
        {
            add_field(&text, outcome->name);
            add_place(&text, outcomes, outcome->at, 1);
            add_field(&text, name);
            add_number(&text, json_is_number(value) ? json_number_value(value) : (double)NAN, "\n");
        }
    }
    return finish(&text);
}

char *outcome_tables_timings(const struct outcomes *outcomes)
{
    static const char *const parts[] = {"load", "plan", "train", "evaluate", "total"};
    struct text text = {0};
    text_add(&text, "point,");
    add_names(&text, outcomes, 1);
    text_add(&text, "load,plan,train,evaluate,total,process\n");
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        if (!outcome->run)
            continue;
        add_field(&text, outcome->name);
        add_place(&text, outcomes, outcome->at, 1);
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
            add_number(&text, outcome_number(outcome, "timing", parts[p]), ",");
        add_number(&text, json_number_value(json_object_get(outcome->state, "seconds")), "\n");
    }
    return finish(&text);
}

/* ---- files -------------------------------------------------------------------------------------------- */

int outcome_tables_write(const struct outcomes *outcomes, struct dpf_error *error)
{
    static const struct {
        const char *name;
        char *(*make)(const struct outcomes *outcomes);
    } files[] = {{"results.csv", outcome_tables_results},
                 {"tables.md", outcome_tables_markdown},
                 {"tables.csv", outcome_tables_csv},
                 {"tables.tex", outcome_tables_latex},
                 {"timings.csv", outcome_tables_timings}};
    int status = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == 0; i++) {
        char *path = files_join(outcomes->directory, files[i].name);
        char *text = files[i].make(outcomes);
        status = path && text ? files_write_text(path, text, error) : error_memory(error);
        free(path);
        free(text);
    }
    return status;
}
