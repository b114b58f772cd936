/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "cli/account_utility.h"
#include "cli/command.h"
#include "plan/plan_make.h"
#include "plot/csv_plot.h"
#include "privacy/dp_event.h"
#include "select/select_run.h"
#include "sweep/sweep_run.h"
#include "sweep/sweep_statements.h"

static const char usage[] =
    "usage: dpframe account -c CONFIG [-o section.key=value]... [--json]\n"
    "                       [--curve FILE] [--odometer FILE] [--export FILE]\n"
    "                       [--utility [NAME=VALUE]...]\n"
    "                       [--choose EPSILON]\n"
    "\n"
    "Prints the privacy of the configured run: what was published about it, what is proved\n"
    "here, and every condition. --json prints the guarantee object alone.\n"
    "Of a sweep: a table with one row for each of its points.\n"
    "\n"
    "  --curve FILE     delta for each epsilon and accountant: as CSV, as pictures\n"
    "                   next to it (.svg, .png; by gnuplot), and as a table below\n"
    "  --odometer FILE  epsilon after so many rounds, for each accountant, as CSV and\n"
    "                   pictures\n"
    "  --export FILE    the ledger as an event of dp_accounting, an upper bound, as JSON\n"
    "  --utility        what the publications of losses and solvers prove about the error\n"
    "                   of a release, and what can be derived; NAME=VALUE replaces a\n"
    "                   number of the plan (the report shows their names)\n"
    "  --choose EPSILON instead of the statement: the least private settings of the\n"
    "                   mechanism with which the whole run stays within EPSILON\n";

struct files {
    const char *curve, *odometer, *ledger;
    int utility;
    const char *choose; /* an epsilon */
};

/* Takes this command's own options out of argv. Returns how many arguments are left, or -1. */
static int take_files(int argc, char **argv, struct files *files, struct dpf_error *error)
{
    const struct {
        const char *name, **into;
    } own[] = {{"--curve", &files->curve},
               {"--odometer", &files->odometer},
               {"--export", &files->ledger},
               {"--choose", &files->choose}};
    int left = 0;
    for (int i = 0; i < argc; i++) {
        int taken = strcmp(argv[i], "--utility") == 0;
        files->utility |= taken;
        for (size_t k = 0; k < sizeof own / sizeof own[0] && taken == 0; k++)
            taken = arguments_own_value(argc, argv, &i, own[k].name, own[k].into, error);
        if (taken < 0)
            return -1;
        if (!taken)
            argv[left++] = argv[i];
    }
    argv[left] = NULL;
    return left;
}

/* What is written later would replace what was written before. */
static int check_files(const struct files *files, struct dpf_error *error)
{
    const char *paths[] = {files->curve, files->odometer, files->ledger};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0)
                return error_set(
                    error, DPF_FAULT_CONFIG,
                    "--curve, --odometer and --export: %s is named twice; give each a file of its own",
                    paths[i]);
    return 0;
}

typedef int (*series)(const struct guarantee *, struct instance *const *, int, const struct ledger *, int64_t,
                      FILE *, struct dpf_error *);

static int write_series(const struct plan *plan, const char *path, series write, struct dpf_error *error)
{
    struct files_write file;
    if (files_open_write(&file, path, error) != 0)
        return -1;
    if (write(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger, plan->run_facts.rounds,
              file.stream, error) == 0)
        return files_commit_write(&file, error);
    files_abandon_write(&file);
    return -1;
}

/* The picture beside it; beside a device or a pipe there is no place. */
static int draw_series(const struct csv_plot *plot, struct dpf_error *error)
{
    struct stat info;
    int missing = 0;
    if (stat(plot->path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    const int status = csv_plot_draw(plot, &missing, error);
    if (missing)
        fprintf(stderr, "dpframe: %s is not drawn: gnuplot is not installed\n", plot->path);
    return status;
}

static int write_curve(const struct plan *plan, const char *path, struct dpf_error *error)
{
    const struct csv_plot plot = {.path = path,
                                  .key = 1,
                                  .x = 2,
                                  .y = 3,
                                  .x_label = "epsilon",
                                  .y_label = "delta",
                                  .title = "Delta for each epsilon",
                                  .log_y = 1,
                                  .y_least = 1e-12};
    return !path ? 0 : write_series(plan, path, curve_write, error) == 0 ? draw_series(&plot, error) : -1;
}

static int write_odometer(const struct plan *plan, const char *path, struct dpf_error *error)
{
    const struct csv_plot plot = {.path = path,
                                  .key = 2,
                                  .x = 1,
                                  .y = 3,
                                  .x_label = "round",
                                  .y_label = "epsilon",
                                  .title = "Epsilon after so many rounds"};
    return !path ? 0 : write_series(plan, path, odometer_write, error) == 0 ? draw_series(&plot, error) : -1;
}

static int write_ledger(const struct plan *plan, const char *path, struct dpf_error *error)
{
    if (!path)
        return 0;
    json_t *file = dp_event_file(&plan->ledger, &plan->guarantee);
    const json_t *event = json_object_get(file, "event");
    char *text = file ? json_dumps(file, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    int status = text ? files_write_text(path, text, error) : error_memory(error);
    const int64_t unsupported = dp_event_unsupported(event);
    if (status == 0 && unsupported > 0)
        log_message(LOG_LEVEL_WARNING,
                    "%s: %lld of %lld events are an UnsupportedDpEvent, so dp_accounting refuses the ledger: "
                    "it has no class for mechanism pbm, for a selection among candidates that cost different "
                    "things, nor for "
                    "noise about which nothing is proved",
                    path, (long long)unsupported, (long long)plan->ledger.n);
    free(text);
    json_decref(file);
    return status;
}

static int write_files(const struct plan *plan, const struct files *files, struct dpf_error *error)
{
    return write_curve(plan, files->curve, error) != 0 || write_odometer(plan, files->odometer, error) != 0 ||
                   write_ledger(plan, files->ledger, error) != 0
               ? -1
               : 0;
}

static int print_json(const struct session *session, const struct arguments *arguments, int utility,
                      struct dpf_error *error)
{
    json_t *json = guarantee_json(&session->plan.guarantee), *bounds = utility ? json_object() : NULL;
    int status =
        utility ? account_utility(&session->plan, arguments->rest, arguments->n_rest, NULL, bounds, error)
                : 0;
    if (bounds)
        json_object_set_new(json, "utility", bounds);
    if (status == 0) {
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    json_decref(json);
    return status;
}

static int print_text(const struct session *session, const struct arguments *arguments, int utility,
                      struct dpf_error *error)
{
    struct text bounds = {0};
    int status =
        utility ? account_utility(&session->plan, arguments->rest, arguments->n_rest, &bounds, NULL, error)
                : 0;
    if (status == 0 && bounds.failed)
        status = error_memory(error);
    if (status == 0) {
        char *statement = guarantee_text_wide(&session->plan.guarantee, terminal_width(STDOUT_FILENO));
        fputs(statement ? statement : "", stdout);
        fputs(utility ? bounds.data : "", stdout);
        free(statement);
    }
    text_free(&bounds);
    return status;
}

static int print_curve(const struct plan *plan, struct dpf_error *error)
{
    struct text text = {0};
    const int status = curve_table(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                                   plan->run_facts.rounds, terminal_width(STDOUT_FILENO), &text, error);
    if (status == 0)
        fputs(text.data, stdout);
    text_free(&text);
    return status;
}

static int account_one(const struct arguments *arguments, const struct files *files, struct dpf_error *error)
{
    struct session session = {0};
    int status = session_open(&session, arguments, 0, error);
    if (status == 0)
        status = session_complete_without_training(&session, error);
    if (status == 0)
        status = plan_measure(&session.plan, error);
    if (status == 0)
        status = plan_charge(&session.plan, 0, error);
    if (status == 0)
        status = write_files(&session.plan, files, error);
    if (status == 0 && files->choose)
        status = account_choose(arguments, &session, files->choose, error);
    else if (status == 0)
        status = (arguments->json ? print_json : print_text)(&session, arguments, files->utility, error);
    if (status == 0 && files->curve && !files->choose && !arguments->json)
        status = print_curve(&session.plan, error);
    session_close(&session);
    return status;
}

static int write_of_selection(void *context, const struct plan *plan, struct dpf_error *error)
{
    return write_files(plan, context, error);
}

static int account_selection(const struct arguments *arguments, struct files *files, struct dpf_error *error)
{
    if (files->odometer || files->utility || files->choose)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s describes a selection: --odometer, --utility and --choose are for one "
                         "configuration, such as one of its variants",
                         arguments->config);
    return select_statement(arguments, write_of_selection, files, error);
}

static int account_sweep(const struct arguments *arguments, const struct files *files,
                         struct dpf_error *error)
{
    if (files->curve || files->odometer || files->ledger || files->utility || files->choose)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s describes a sweep: --curve, --odometer, --export, --utility and --choose are "
                         "for one configuration, such as one of its variants",
                         arguments->config);
    return sweep_statements(arguments, error);
}

int command_account(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments = {0};
    struct files files = {0};
    argc = take_files(argc, argv, &files, &error);
    int status = argc < 0 ? -1 : arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest && !files.utility)
        status = error_set(&error, DPF_FAULT_CONFIG, "account takes no argument \"%s\"", arguments.rest[0]);
    if (status == 0)
        status = check_files(&files, &error);
    arguments.without_data = 1;
    if (status == 0)
        status = select_is_described(&arguments)  ? account_selection(&arguments, &files, &error)
                 : sweep_is_described(&arguments) ? account_sweep(&arguments, &files, &error)
                                                  : account_one(&arguments, &files, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
