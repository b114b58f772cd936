/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/compare_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/json_in.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/ticker.h"
#include "evaluate/metric_table.h"
#include "privacy/guarantee.h"
#include "run/accounts.h"
#include "run/by_user_file.h"

#define LEVEL 0.05

/* ---- reading ------------------------------------------------------------------------------------------ */

static int read_ids(struct compared *run, struct dpf_error *error)
{
    const char *file = json_string_value(json_object_get(json_object_get(run->run, "files"), "user_ids"));
    if (!file)
        return error_set(error, DPF_FAULT_DATA, "%s/run.json does not name a list of users", run->directory);
    char *path = files_join(run->directory, file);
    run->ids = memory_need((size_t)run->values->n_users + 1, sizeof *run->ids);
    struct files_lines lines = {0};
    int status = files_open_lines(&lines, path, error);
    const int is_open = status == 0;
    int64_t n = 0;
    for (char *line; status == 0 && (line = files_next_line(&lines)); n++)
        if (n < run->values->n_users)
            run->ids[n] = memory_text(line);
    if (status == 0 && n != run->values->n_users)
        status = error_set(error, DPF_FAULT_DATA, "%s has %lld users, and " BY_USER_FILE " has %lld", path,
                           (long long)n, (long long)run->values->n_users);
    if (is_open)
        files_close_lines(&lines);
    free(path);
    return status;
}

static int read_run(const char *directory, struct compared *out, struct dpf_error *error)
{
    json_error_t problem;
    char *path = files_join(directory, "run.json");
    out->directory = directory;
    out->run = json_load_file(path, 0, &problem);
    int status = out->run ? 0
                          : error_set(error, DPF_FAULT_DATA, "%s: %s; name the directory of a finished run",
                                      path, problem.text);
    free(path);
    if (status == 0)
        status = by_user_read(directory, out->run, &out->values, error);
    return status == 0 ? read_ids(out, error) : status;
}

/* ---- the same test records ---------------------------------------------------------------------------- */

struct user {
    const char *id;
    int64_t row;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct user *)a)->id, ((const struct user *)b)->id);
}

static int is_tested(const struct user_values *values, int64_t row)
{
    const double *numbers = user_values_row(values, row);
    for (int m = 0; m < values->n_metrics; m++)
        if (numbers[2 * m + 1] > 0)
            return 1;
    return 0;
}

/* Users with test records, by id. Free it. */
static struct user *tested(const struct compared *run, int64_t *n)
{
    struct user *users = memory_need((size_t)run->values->n_users + 1, sizeof *users);
    *n = 0;
    for (int64_t row = 0; row < run->values->n_users; row++)
        if (is_tested(run->values, row))
            users[(*n)++] = (struct user){run->ids[row], row};
    qsort(users, (size_t)*n, sizeof *users, by_id);
    return users;
}

static int differ(const struct compared *a, const struct compared *b, const char *id, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    return error_set(error, DPF_FAULT_DATA,
                     "%s and %s do not have the same test records: those of user %s differ. Compare runs of "
                     "the same data, "
                     "[split] and run.seed",
                     a->directory, b->directory, text_show(id, shown));
}

static double test_part(const struct compared *run, int64_t row)
{
    return user_values_row(run->values, row)[2 * run->values->n_metrics + USER_TEST_PART];
}

static int match(const struct compared *first, struct compared *run, struct dpf_error *error)
{
    int64_t n = 0, m = 0;
    struct user *a = tested(first, &n), *b = tested(run, &m);
    run->matched = memory_need((size_t)n + 1, sizeof *run->matched);
    int status = 0;
    for (int64_t i = 0; status == 0 && i < (n > m ? n : m); i++) {
        const int order = i == n ? 1 : i == m ? -1 : strcmp(a[i].id, b[i].id);
        if (order != 0 || test_part(first, a[i].row) != test_part(run, b[i].row)) {
            status = differ(first, run, order <= 0 ? a[i].id : b[i].id, error);
            break;
        }
        run->matched[i][0] = a[i].row;
        run->matched[i][1] = b[i].row;
    }
    run->n_matched = n;
    free(a);
    free(b);
    return status;
}

int compare_runs_open(char *const *directories, int n, struct compare_runs *out, struct dpf_error *error)
{
    *out = (struct compare_runs){.seeded = random_root_seeded(1, "compare", error)};
    if (n < 2 || n > COMPARE_MOST_RUNS)
        return error_set(error, DPF_FAULT_CONFIG, "name the directories of 2 to %d runs", COMPARE_MOST_RUNS);
    int status = out->seeded ? 0 : -1;
    for (int i = 0; i < n && status == 0; i++) {
        out->n++;
        status = read_run(directories[i], &out->runs[i], error);
        if (status == 0)
            status = match(&out->runs[0], &out->runs[i], error);
    }
    return status;
}

void compare_runs_close(struct compare_runs *runs)
{
    for (int i = 0; i < runs->n; i++) {
        struct compared *run = &runs->runs[i];
        for (int64_t u = 0; run->ids && u < run->values->n_users; u++)
            free(run->ids[u]);
        free(run->ids);
        free(run->matched);
        user_values_free(run->values);
        json_decref(run->run);
    }
    random_root_free(runs->seeded);
    *runs = (struct compare_runs){0};
}

/* ---- comparisons -------------------------------------------------------------------------------------- */

struct test {
    int run, metric; /* of the first run */
    struct paired_users paired;
    double holm;
};

struct tests {
    struct test *items;
    int n;
};

/* The run is "a", so that a win is its win; its rows are the second of each pair. Free it. */
static int64_t (*turn(const struct compared *run))[2]
{
    int64_t(*turned)[2] = memory_need((size_t)run->n_matched + 1, sizeof *turned);
    for (int64_t i = 0; i < run->n_matched; i++) {
        turned[i][0] = run->matched[i][1];
        turned[i][1] = run->matched[i][0];
    }
    return turned;
}

static int compare(const struct compare_runs *runs, int run, int metric, struct paired_users *out,
                   struct dpf_error *error)
{
    const struct compared *other = &runs->runs[run];
    const struct user_values *first = runs->runs[0].values;
    const char *name = first->metrics[metric].name;
    int64_t(*turned)[2] = turn(other);
    const int status = paired_users_compare(other->values, first, user_values_find(other->values, name),
                                            metric, (const int64_t(*)[2])turned, other->n_matched,
                                            metric_smaller_is_better(name), 1, runs->seeded, out, error);
    free(turned);
    return status;
}

static void correct(struct tests *tests, int first, double *p)
{
    for (int i = first; i < tests->n; i++)
        p[i - first] = tests->items[i].paired.p;
    statistics_holm(p, tests->n - first);
    for (int i = first; i < tests->n; i++)
        tests->items[i].holm = p[i - first];
}

/* Metrics in the order of the first run, and runs in their order; Holm's correction over the runs of a metric. */
static int make_tests(const struct compare_runs *runs, struct tests *out, struct dpf_error *error)
{
    const struct user_values *first = runs->runs[0].values;
    double p[COMPARE_MOST_RUNS];
    *out = (struct tests){
        .items = memory_need((size_t)first->n_metrics * (size_t)runs->n + 1, sizeof *out->items)};
    int status = 0;
    ticker_begin("comparing runs", (int64_t)first->n_metrics * (runs->n - 1));
    for (int metric = 0; metric < first->n_metrics && status == 0; metric++) {
        const int begin = out->n;
        for (int run = 1; run < runs->n && status == 0; run++) {
            const struct compared *other = &runs->runs[run];
            ticker_add(1);
            if (user_values_find(other->values, first->metrics[metric].name) < 0)
                continue;
            struct test *test = &out->items[out->n++];
            *test = (struct test){.run = run, .metric = metric};
            status = interrupt_check("runs were compared", error);
            if (status == 0)
                status = compare(runs, run, metric, &test->paired, error);
        }
        correct(out, begin, p);
    }
    ticker_end();
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------- */

static double metric_of(const struct compared *run, const char *name)
{
    const json_t *value = json_object_get(json_object_get(run->run, "metrics"), name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

struct sheet compare_runs_metrics(const struct compare_runs *runs)
{
    struct sheet table = {0};
    sheet_column(&table, "run", SHEET_LEFT);
    const struct user_values *first = runs->runs[0].values;
    for (int m = 0; m < first->n_metrics; m++)
        sheet_column(&table, first->metrics[m].name, SHEET_RIGHT);
    for (int i = 0; i < runs->n; i++) {
        sheet_text(&table, runs->runs[i].directory);
        for (int m = 0; m < first->n_metrics; m++)
            sheet_fixed(&table, metric_of(&runs->runs[i], first->metrics[m].name), 4);
    }
    return table;
}

static void add_columns(struct sheet *table)
{
    static const char *const numbers[] = {"users", "difference", "95 % interval", "win", "lose", "tie"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sheet_column(table, numbers[i], SHEET_RIGHT);
}

static void add_paired(struct sheet *table, const struct paired_users *paired)
{
    sheet_count(table, (long long)paired->users);
    if (isnan(paired->difference))
        sheet_missing(table);
    else
        sheet_printf(table, "%+.4f", paired->difference);
    if (isnan(paired->low))
        sheet_text(table, NULL);
    else
        sheet_printf(table, "%+.4f to %+.4f", paired->low, paired->high);
    sheet_count(table, (long long)paired->wins);
    sheet_count(table, (long long)paired->losses);
    sheet_count(table, (long long)paired->ties);
}

static void add_p(struct sheet *table, double p)
{
    if (isnan(p))
        sheet_missing(table);
    else
        sheet_printf(table, p < 1e-4 ? "<0.0001" : "%.4f", p);
}

static const char *words_of(const struct test *test, int smaller_is_better)
{
    if (!(test->holm < LEVEL))
        return "cannot tell";
    return (test->paired.difference > 0) != smaller_is_better ? "better" : "worse";
}

int compare_runs_tests(const struct compare_runs *runs, struct sheet *out, struct dpf_error *error)
{
    struct tests tests;
    *out = (struct sheet){0};
    sheet_column(out, "run", SHEET_LEFT);
    sheet_column(out, "metric", SHEET_LEFT);
    add_columns(out);
    sheet_column(out, "p", SHEET_RIGHT);
    sheet_column(out, "p (Holm)", SHEET_RIGHT);
    sheet_column(out, "would be found", SHEET_RIGHT);
    sheet_column(out, "verdict", SHEET_LEFT);
    const int status = make_tests(runs, &tests, error);
    for (int i = 0; i < tests.n && status == 0; i++) {
        const struct test *test = &tests.items[i];
        const char *name = runs->runs[0].values->metrics[test->metric].name;
        sheet_text(out, runs->runs[test->run].directory);
        sheet_text(out, name);
        add_paired(out, &test->paired);
        add_p(out, test->paired.p);
        add_p(out, test->holm);
        sheet_fixed(out, test->paired.visible, 4);
        sheet_text(out, test->paired.why_not ? test->paired.why_not
                                             : words_of(test, metric_smaller_is_better(name)));
    }
    free(tests.items);
    return status;
}

static int add_bands(const struct compare_runs *runs, int run, struct sheet *out, struct dpf_error *error)
{
    const struct compared *other = &runs->runs[run];
    const struct user_values *first = runs->runs[0].values;
    const char *name = first->metrics[0].name;
    struct paired_band bands[PAIRED_BANDS];
    int n;
    int64_t(*turned)[2] = turn(other);
    const int status = paired_users_bands(other->values, first, user_values_find(other->values, name), 0,
                                          (const int64_t(*)[2])turned, other->n_matched,
                                          metric_smaller_is_better(name), runs->seeded, bands, &n, error);
    free(turned);
    for (int band = 0; status == 0 && band < n; band++) {
        sheet_text(out, other->directory);
        sheet_printf(out, "%.0f to %.0f", bands[band].least, bands[band].most);
        add_paired(out, &bands[band].paired);
    }
    return status;
}

int compare_runs_bands(const struct compare_runs *runs, struct sheet *out, struct dpf_error *error)
{
    const char *name = runs->runs[0].values->metrics[0].name;
    *out = (struct sheet){0};
    sheet_column(out, "run", SHEET_LEFT);
    sheet_column(out, "training records", SHEET_LEFT);
    add_columns(out);
    for (int run = 1; run < runs->n; run++)
        if (user_values_find(runs->runs[run].values, name) >= 0 && add_bands(runs, run, out, error) != 0)
            return -1;
    return 0;
}

struct sheet compare_runs_privacy(const struct compare_runs *runs)
{
    struct sheet table = {0};
    static const char *const columns[] = {"run", "unit", "adjacency", "observer"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&table, columns[i], SHEET_LEFT);
    sheet_column(&table, "epsilon proved", SHEET_RIGHT);
    sheet_column(&table, "delta", SHEET_RIGHT);
    sheet_column(&table, "note", SHEET_LEFT);
    for (int i = 0; i < runs->n; i++) {
        const json_t *guarantee = json_object_get(runs->runs[i].run, "guarantee");
        const double epsilon = least_account(guarantee, "proved", NULL);
        char number[32];
        sheet_text(&table, runs->runs[i].directory);
        sheet_text(&table, json_text_in(guarantee, "unit"));
        sheet_text(&table, json_text_in(guarantee, "adjacency"));
        sheet_text(&table, json_text_in(guarantee, "observer"));
        if (isnan(epsilon))
            sheet_text(&table, "none");
        else
            sheet_text(&table, guarantee_number_up(epsilon, number));
        sheet_exact(&table, json_number_value(json_object_get(guarantee, "delta")));
        sheet_text(&table, json_is_true(json_object_get(guarantee, "reproducible"))
                               ? "for the plan: noise from a seed"
                               : "");
    }
    return table;
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *compare_runs_json(const struct compare_runs *runs, struct dpf_error *error)
{
    struct tests tests;
    json_t *array = json_array();
    if (make_tests(runs, &tests, error) != 0) {
        free(tests.items);
        json_decref(array);
        return NULL;
    }
    for (int i = 0; i < tests.n; i++) {
        const struct test *test = &tests.items[i];
        const struct paired_users *paired = &test->paired;
        const char *name = runs->runs[0].values->metrics[test->metric].name;
        json_array_append_new(
            array,
            json_pack(
                "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:s, s:s?}",
                "run", runs->runs[test->run].directory, "baseline", runs->runs[0].directory, "metric", name,
                "value", real_or_null(paired->a), "baseline_value", real_or_null(paired->b), "difference",
                real_or_null(paired->difference), "low", real_or_null(paired->low), "high",
                real_or_null(paired->high), "p", real_or_null(paired->p), "p_holm", real_or_null(test->holm),
                "would_be_found", real_or_null(paired->visible), "users", (json_int_t)paired->users, "wins",
                (json_int_t)paired->wins, "losses", (json_int_t)paired->losses, "ties",
                (json_int_t)paired->ties, "verdict", words_of(test, metric_smaller_is_better(name)),
                "why_not", paired->why_not));
    }
    free(tests.items);
    return array;
}
