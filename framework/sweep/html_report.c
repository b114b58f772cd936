/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/html_report.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "privacy/guarantee.h"
#include "config/config_diff.h"
#include "sweep/outcome_tables.h"

/* No scripts, no fonts to fetch. Wide tables scroll by themselves, so that the page never does sideways. */
static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:60rem;margin:0 auto;"
    "padding:1rem}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:1px solid "
    "#ccc}\n"
    "h3{font-size:1rem;margin-bottom:.3rem}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
    "\n"
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\n"
    "th{border-bottom:2px solid #888}th.l,td.l{text-align:left}td.w{white-space:normal;min-width:14rem}\n"
    "figure{margin:1rem 0}img{max-width:100%;height:auto}figcaption,.note{color:#555;font-size:.875rem}\n"
    "code,pre{font:.875rem/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:.7rem;overflow-x:auto}\n"
    ".private{color:#a03000}.warn{background:#fff4e5;border-left:4px solid #d55e00;padding:.5rem .8rem}\n"
    "@media print{body{max-width:none;font-size:10pt}.wide{overflow:visible}table{font-size:8pt}"
    "figure,tr{break-inside:avoid}h2,h3{break-after:avoid}pre{white-space:pre-wrap}td,th{white-space:normal}}"
    "\n";

static void add_escaped(struct text *page, const char *what)
{
    for (; what && *what; what++) {
        const char *entity = *what == '&'   ? "&amp;"
                             : *what == '<' ? "&lt;"
                             : *what == '>' ? "&gt;"
                             : *what == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            text_add(page, "%s", entity);
        else
            text_add(page, "%c", *what);
    }
}

/* <TAG>text</TAG>, escaped; tag may hold attributes. */
static void add_element(struct text *page, const char *tag, const char *what)
{
    text_add(page, "<%s>", tag);
    add_escaped(page, what);
    text_add(page, "</%.*s>", (int)strcspn(tag, " "), tag);
}

static void begin_table(struct text *page, const char *const *titles, size_t n, size_t n_left)
{
    text_add(page, "<div class=\"wide\"><table><thead><tr>");
    for (size_t i = 0; i < n; i++)
        add_element(page, i < n_left ? "th class=\"l\"" : "th", titles[i]);
    text_add(page, "</tr></thead><tbody>\n");
}

static void end_table(struct text *page)
{
    text_add(page, "</tbody></table></div>\n");
}

static const char *of_sweep(const struct outcomes *outcomes, const char *key)
{
    const char *text = json_string_value(json_object_get(outcomes->sweep, key));
    return text ? text : "";
}

static const struct outcome *first_done(const struct outcomes *outcomes, const struct cell *cell)
{
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        if (cell->members[r] != SIZE_MAX && outcomes->items[cell->members[r]].run)
            return &outcomes->items[cell->members[r]];
    return NULL;
}

static void add_label(struct text *page, const struct outcomes *outcomes, const struct cell *cell)
{
    char *label = cell_label(outcomes, cell, -1);
    add_element(page, "td class=\"l\"", label && *label ? label : "all");
    free(label);
}

/* ---- head --------------------------------------------------------------------------------------------- */

static void add_head(struct text *page, const struct outcomes *outcomes)
{
    const char *question = of_sweep(outcomes, "question");
    text_add(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    add_element(page, "title", *question ? question : "dpframe sweep");
    text_add(page, "\n<style>\n%s</style></head><body>\n", style);
    add_element(page, "h1", *question ? question : "A sweep");
    text_add(page, "<p>%zu of %zu points are done: %zu combinations, %zu run%s of each. ", outcomes->n_done,
             outcomes->n, outcomes->n_cells, outcomes->n_repetitions,
             outcomes->n_repetitions == 1 ? "" : "s");
    text_add(page, "Configuration <code>");
    add_escaped(page, of_sweep(outcomes, "config"));
    text_add(page, "</code>, dpframe %s.</p>\n", DPFRAME_VERSION);
}

static void add_missing(struct text *page, const struct outcomes *outcomes)
{
    static const char *const titles[] = {"point", "what happened"};
    if (outcomes->n_done == outcomes->n)
        return;
    text_add(page, "<h2>Points without results</h2>\n");
    begin_table(page, titles, 2, 2);
    for (size_t i = 0; i < outcomes->n; i++) {
        const struct outcome *outcome = &outcomes->items[i];
        if (outcome->run)
            continue;
        const char *problem = json_string_value(json_object_get(outcome->state, "error"));
        text_add(page, "<tr>");
        add_element(page, "td class=\"l\"", outcome->name);
        add_element(page, "td class=\"l w\"", problem ? problem : "not run yet");
        text_add(page, "</tr>\n");
    }
    end_table(page);
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

static void add_difference_list(struct text *page, const struct config_differences *differences)
{
    text_add(page, "<ul>");
    for (size_t i = 0; i < differences->n; i++) {
        const struct config_difference *d = &differences->items[i];
        text_add(page, "<li><code>");
        add_escaped(page, d->key);
        text_add(page, "</code>: ");
        add_escaped(page, !d->a ? "(not there)" : *d->a ? d->a : "(empty)");
        text_add(page, " &rarr; ");
        add_escaped(page, !d->b ? "(not there)" : *d->b ? d->b : "(empty)");
        text_add(page, "%s</li>",
                 d->affects_privacy ? " <span class=\"private\">affects the guarantee</span>" : "");
    }
    text_add(page, "%s</ul>\n", differences->n ? "" : "<li>the same</li>");
}

/* The cell that others are compared with: of the baseline, else the first that has results. */
static const struct cell *reference_cell(const struct outcomes *outcomes)
{
    size_t dimension = 0, value = 0;
    int named = outcomes_baseline(outcomes, &dimension, &value);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        if (first_done(outcomes, &outcomes->cells[c]) &&
            (!named || outcomes->cells[c].at[dimension] == value))
            return &outcomes->cells[c];
    return NULL;
}

static int add_variants(struct text *page, const struct outcomes *outcomes, struct dpf_error *error)
{
    const struct cell *reference = reference_cell(outcomes);
    if (!reference)
        return 0;
    char *label = cell_label(outcomes, reference, -1);
    json_t *base = comparable(first_done(outcomes, reference));
    int status = 0;
    text_add(
        page,
        "<h2>What is compared</h2>\n<p>Each combination as what differs in its resolved configuration from "
        "<b>");
    add_escaped(page, label && *label ? label : "the first");
    text_add(page, "</b>.</p>\n");
    for (size_t c = 0; c < outcomes->n_cells && status == 0; c++) {
        const struct cell *cell = &outcomes->cells[c];
        const struct outcome *outcome = first_done(outcomes, cell);
        if (!outcome || cell == reference)
            continue;
        struct config_differences differences;
        json_t *config = comparable(outcome);
        char *title = cell_label(outcomes, cell, -1);
        add_element(page, "h3", title);
        if (config_diff(base, config, json_object_get(outcomes->sweep, "privacy_keys"), &differences) == 0)
            add_difference_list(page, &differences);
        else
            status = error_memory(error);
        config_diff_free(&differences);
        json_decref(config);
        free(title);
    }
    json_decref(base);
    free(label);
    return status;
}

/* ---- results ------------------------------------------------------------------------------------------ */

static int add_means(struct text *page, const struct outcomes *outcomes, struct dpf_error *error)
{
    char number[64];
    const char **titles = memory_new(outcomes->n_metrics + 1, sizeof *titles);
    if (!titles)
        return error_memory(error);
    titles[0] = "combination";
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        titles[m + 1] = outcomes->metrics[m];
    text_add(
        page,
        "<h2>Results</h2>\n<p class=\"note\">Mean &plusmn; sample standard deviation over runs. Metrics are "
        "computed from private records: of the training part where the name says so, else of the test "
        "part. They are <span class=\"private\">private, not covered</span> by any guarantee; what "
        "[evaluate] "
        "release = noisy releases is in release/metrics.csv of each run.</p>\n");
    begin_table(page, titles, outcomes->n_metrics + 1, 1);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        text_add(page, "<tr>");
        add_label(page, outcomes, &outcomes->cells[c]);
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            outcome_tables_number(outcomes, &outcomes->cells[c], outcomes->metrics[m], " ± ", number);
            add_element(page, "td", number);
        }
        text_add(page, "</tr>\n");
    }
    end_table(page);
    free(titles);
    return 0;
}

static int add_tests(struct text *page, const struct outcomes *outcomes, struct dpf_error *error)
{
    static const char *const titles[] = {"metric",   "combination", "pairs",      "difference",
                                         "t-test p", "corrected",   "Wilcoxon p", "corrected"};
    struct outcome_tests tests;
    char p[16], difference[32];
    if (outcome_tests_make(outcomes, &tests, error) != 0)
        return -1;
    if (tests.n) {
        text_add(page, "<h2>Against the baseline ");
        add_escaped(page, of_sweep(outcomes, "baseline"));
        text_add(
            page,
            "</h2>\n<p class=\"note\">Paired by seed, two-sided, corrected by Holm's method over the rows of "
            "a metric.");
        if (outcomes->n_repetitions < 6)
            text_add(page, " With %zu pairs Wilcoxon's p cannot be below %.4f.", outcomes->n_repetitions,
                     2 * pow(0.5, (double)outcomes->n_repetitions));
        text_add(page, "</p>\n");
        begin_table(page, titles, 8, 2);
    }
    for (size_t i = 0; i < tests.n; i++) {
        const struct outcome_test *test = &tests.items[i];
        text_add(page, "<tr>");
        add_element(page, "td class=\"l\"", test->metric);
        add_label(page, outcomes, test->cell);
        snprintf(difference, sizeof difference, isnan(test->t.difference) ? "n/a" : "%+.4f",
                 test->t.difference);
        text_add(page, "<td>%lld</td><td>%s</td>", (long long)test->t.n, difference);
        const double values[] = {test->t.p, test->t_holm, test->wilcoxon.p, test->wilcoxon_holm};
        for (size_t v = 0; v < 4; v++)
            add_element(page, "td", outcome_tables_p(values[v], p));
        text_add(page, "</tr>\n");
    }
    if (tests.n)
        end_table(page);
    outcome_tests_free(&tests);
    return 0;
}

/* ---- plots -------------------------------------------------------------------------------------------- */

/* A file in base64, as the address of an image. */
static int add_image(struct text *page, const char *path, struct dpf_error *error)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_RUN, "cannot open %s: %s", path, strerror(errno));
    /* A multiple of 3, so that pieces can be joined. */
    enum { PIECE = 3 * 1024 };
    unsigned char bytes[PIECE];
    char encoded[PIECE / 3 * 4 + 1];
    text_add(page, "data:image/svg+xml;base64,");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, stream)) > 0;) {
        sodium_bin2base64(encoded, sizeof encoded, bytes, n, sodium_base64_VARIANT_ORIGINAL);
        text_add(page, "%s", encoded);
    }
    int failed = ferror(stream);
    fclose(stream);
    return failed ? error_set(error, DPF_FAULT_RUN, "cannot read %s", path) : 0;
}

static int add_plots(struct text *page, const struct outcomes *outcomes, const struct plots *plots,
                     int without_gnuplot, struct dpf_error *error)
{
    int status = 0;
    if (without_gnuplot)
        text_add(page, "<h2>Plots</h2>\n<p class=\"warn\">There are none: gnuplot was not found. Install "
                       "gnuplot-nox and "
                       "run dpframe report again.</p>\n");
    else if (plots->n)
        text_add(page, "<h2>Plots</h2>\n");
    for (size_t i = 0; i < plots->n && status == 0; i++) {
        const struct plot *plot = &plots->items[i];
        char *path = memory_format("%s/plots/%s.svg", outcomes->directory, plot->name);
        add_element(page, "h3", plot->title);
        text_add(page, "<figure><img alt=\"");
        add_escaped(page, plot->title);
        text_add(page, "\" width=\"720\" height=\"440\" src=\"");
        status = path ? add_image(page, path, error) : error_memory(error);
        text_add(page, "\">");
        add_element(page, "figcaption", plot->note);
        text_add(page, "</figure>\n");
        free(path);
    }
    return status;
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

static void add_published(struct text *page, const json_t *guarantee)
{
    const json_t *published = json_object_get(guarantee, "published");
    struct text cell = {0};
    size_t i;
    json_t *account;
    json_array_foreach(published, i, account)
    {
        char number[32];
        text_add(&cell, "%s%s", i ? "; " : "", number_in(account, "epsilon", number));
    }
    add_element(page, "td", cell.data ? cell.data : "-");
    text_free(&cell);
}

static void add_failing(struct text *page, const json_t *guarantee)
{
    const json_t *conditions = json_object_get(guarantee, "conditions");
    struct text cell = {0};
    size_t i;
    json_t *condition;
    json_array_foreach(conditions, i, condition)
    {
        const char *id = json_string_value(json_object_get(condition, "id"));
        const char *title = json_string_value(json_object_get(condition, "title"));
        if (!json_is_true(json_object_get(condition, "holds")) && id && title)
            text_add(&cell, "%s%s (%s)", cell.length ? ", " : "", id, title);
    }
    add_element(page, "td class=\"l w\"", cell.data ? cell.data : "none");
    text_free(&cell);
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

static void add_guarantees(struct text *page, const struct outcomes *outcomes)
{
    static const char *const titles[] = {"combination", "protects",          "proved epsilon",
                                         "delta",       "published epsilon", "conditions that fail"};
    text_add(page, "<h2>Guarantees</h2>\n");
    begin_table(page, titles, 6, 2);
    int any_plan = 0;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = first_done(outcomes, &outcomes->cells[c]);
        if (!outcome)
            continue;
        const json_t *guarantee = json_object_get(outcome->run, "guarantee");
        int plan;
        char protects[128], epsilon[64], number[32];
        double proved = outcome_proved(outcome, &plan);
        any_plan |= plan;
        text_add(page, "<tr>");
        add_label(page, outcomes, &outcomes->cells[c]);
        snprintf(protects, sizeof protects, "%s, %s", text_in(guarantee, "unit"),
                 text_in(guarantee, "adjacency"));
        add_element(page, "td class=\"l\"", protects);
        if (isnan(proved))
            snprintf(epsilon, sizeof epsilon, "none");
        else
            snprintf(epsilon, sizeof epsilon, "%s%s", guarantee_digits_up(proved, 5, number),
                     plan ? " (plan)" : "");
        add_element(page, "td", epsilon);
        text_add(page, "<td>%g</td>", json_number_value(json_object_get(guarantee, "delta")));
        add_published(page, guarantee);
        add_failing(page, guarantee);
        text_add(page, "</tr>\n");
    }
    end_table(page);
    if (any_plan)
        text_add(
            page,
            "<p class=\"warn\">(plan): proved for the configuration run with secure noise. These runs drew "
            "reproducible noise, which protects nothing that they released.</p>\n");
    if (outcomes->n > 1)
        text_add(page, "<p class=\"note\">Each value is that of one run. Whoever publishes several of them, "
                       "or chooses one "
                       "by its private metrics, spends more than that.</p>\n");
}

/* ---- by privacy weight --------------------------------------------------------------------------------- */

static void add_budget(struct text *page, const struct outcomes *outcomes, const struct cell *cell,
                       const json_t *line)
{
    static const char *const quantiles[] = {"least", "q05", "q25", "median", "q75", "q95", "largest"};
    char number[32];
    text_add(page, "<tr>");
    add_label(page, outcomes, cell);
    add_element(page, "td class=\"l\"", text_in(line, "of"));
    add_element(page, "td class=\"l\"", text_in(line, "group"));
    text_add(page, "<td>%lld</td>", (long long)json_integer_value(json_object_get(line, "n")));
    for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++)
        add_element(page, "td", number_in(line, quantiles[q], number));
    text_add(page, "</tr>\n");
}

/* How the epsilon of the whole run is spread where records have privacy weights. */
static void add_budgets(struct text *page, const struct outcomes *outcomes)
{
    static const char *const titles[] = {"combination", "of",     "group", "n",    "least",  "5 %",
                                         "25 %",        "median", "75 %",  "95 %", "largest"};
    int begun = 0;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = first_done(outcomes, &outcomes->cells[c]);
        const json_t *lines = outcome ? json_object_get(outcome->run, "record_budgets") : NULL;
        size_t i;
        json_t *line;
        if (json_array_size(lines) > 0 && !begun++) {
            text_add(page, "<h2>Epsilon of records and users</h2>\n");
            begin_table(page, titles, sizeof titles / sizeof titles[0], 3);
        }
        json_array_foreach(lines, i, line)
        {
            add_budget(page, outcomes, &outcomes->cells[c], line);
        }
    }
    if (!begun)
        return;
    end_table(page);
    text_add(page, "<p class=\"note\">Quantiles of the epsilon of the whole run by the accountant that knows "
                   "privacy weights, of each record and of each user's records together. They are proved "
                   "where no condition above fails. They tell who rated what: this table is private.</p>\n");
}

/* ---- timings and commands -------------------------------------------------------------------------------
 */

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

static void add_timings(struct text *page, const struct outcomes *outcomes)
{
    static const char *const titles[] = {"combination", "load", "plan", "train", "evaluate", "total"};
    text_add(page, "<h2>Seconds</h2>\n<p class=\"note\">Mean of a run, while others ran beside it.</p>\n");
    begin_table(page, titles, 6, 1);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        text_add(page, "<tr>");
        add_label(page, outcomes, &outcomes->cells[c]);
        for (size_t t = 1; t < 6; t++) {
            double seconds = mean_seconds(outcomes, &outcomes->cells[c], titles[t]);
            text_add(page, isnan(seconds) ? "<td>n/a</td>" : "<td>%.3f</td>", seconds);
        }
        text_add(page, "</tr>\n");
    }
    end_table(page);
}

static void add_commands(struct text *page, const struct outcomes *outcomes)
{
    text_add(page, "<h2>How to run it again</h2>\n<pre>");
    add_escaped(page, "# all of it, or what is missing\ndpframe -c ");
    add_escaped(page, of_sweep(outcomes, "config"));
    add_escaped(page, " --resume\n# one point alone\ndpframe -c ");
    add_escaped(page, outcomes->directory);
    text_add(page, "/configs/");
    add_escaped(page, outcomes->items[0].name);
    add_escaped(page, ".ini -O somewhere\n# this page\ndpframe report ");
    add_escaped(page, outcomes->directory);
    text_add(page,
             "</pre>\n<p class=\"note\">Numbers without rounding: tables.csv and results.csv. For a paper: "
             "tables.tex and plots/*.svg.</p>\n</body></html>\n");
}

int page_write(const struct outcomes *outcomes, const struct plots *plots, int without_gnuplot,
               struct dpf_error *error)
{
    struct text page = {0};
    char *path = files_join(outcomes->directory, "report.html");
    add_head(&page, outcomes);
    add_missing(&page, outcomes);
    int status = add_means(&page, outcomes, error);
    if (status == 0)
        status = add_tests(&page, outcomes, error);
    if (status == 0)
        status = add_plots(&page, outcomes, plots, without_gnuplot, error);
    if (status == 0)
        add_guarantees(&page, outcomes);
    if (status == 0)
        add_budgets(&page, outcomes);
    if (status == 0)
        status = add_variants(&page, outcomes, error);
    add_timings(&page, outcomes);
    add_commands(&page, outcomes);
    if (status == 0)
        status = path && !page.failed ? files_write_text(path, page.data, error) : error_memory(error);
    text_free(&page);
    free(path);
    return status;
}
