/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "base/terminal.h"
#include "cli/command.h"
#include "saved/compare_runs.h"

static const char usage[] = "usage: dpframe compare RUN RUN... [--json]\n"
                            "\n"
                            "Compares finished runs with the first one, on the same test records: the "
                            "metrics side by side; the paired\n"
                            "difference of users' results with its 95 % interval (bootstrap over users) and "
                            "p (sign flips; corrected by\n"
                            "Holm's method over the runs); how many users win and lose, also by their number "
                            "of training records; and what\n"
                            "is proved of each run. \"would be found\" is the difference that this test part "
                            "shows with probability .8.\n"
                            "\n"
                            "The comparison is about these models, with one draw of noise and initial values "
                            "each. To compare methods,\n"
                            "repeat them: a sweep over run.seed. All of it is computed from test records: "
                            "private, for the curator.\n";

static void print(struct sheet *table, const char *title)
{
    struct text text = {0};
    const int is_terminal = isatty(STDOUT_FILENO);
    sheet_write(table, is_terminal ? SHEET_TEXT : SHEET_MARKDOWN, terminal_width(STDOUT_FILENO), &text);
    sheet_free(table);
    printf("%s\n\n%s\n", title, text.data);
    text_free(&text);
}

static int print_tables(const struct compare_runs *runs, struct dpf_error *error)
{
    struct sheet tests = {0}, bands = {0};
    char title[128];
    int status = compare_runs_tests(runs, &tests, error);
    if (status == 0)
        status = compare_runs_bands(runs, &bands, error);
    if (status != 0) {
        sheet_free(&tests);
        sheet_free(&bands);
        return status;
    }
    struct sheet metrics = compare_runs_metrics(runs), privacy = compare_runs_privacy(runs);
    print(&metrics, "Metrics of the test part (private, not covered by a guarantee):");
    snprintf(title, sizeof title, "Against %.90s, user by user:", runs->runs[0].directory);
    print(&tests, title);
    snprintf(title, sizeof title, "%.40s by users' training records:", runs->runs[0].values->metrics[0].name);
    print(&bands, title);
    print(&privacy, "Privacy:");
    return 0;
}

static int print_json(const struct compare_runs *runs, struct dpf_error *error)
{
    json_t *json = compare_runs_json(runs, error);
    if (!json)
        return -1;
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
    return 0;
}

int command_compare(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct compare_runs runs = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0)
        status = compare_runs_open((char *const *)arguments.rest, arguments.n_rest, &runs, &error);
    if (status == 0)
        status = (arguments.json ? print_json : print_tables)(&runs, &error);
    compare_runs_close(&runs);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
