/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include "account/account_choose.h"
#include "account/account_files.h"
#include "account/account_utility.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "privacy/dp_event.h"
#include "select/select_run.h"
#include "sweep/sweep_run.h"
#include "sweep/sweep_statements.h"

static const char usage[] =
    "usage: dpframe account -c CONFIG [-o section.key=value]... [--json]\n"
    "                       [--curve FILE] [--odometer FILE] [--export FILE]\n"
    "                       [--certificate FILE]\n"
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
    "  --certificate FILE  what dpframe-verify checks the statement by, as a run writes it\n"
    "                   to release/certificate.json\n"
    "  --utility        what the publications of losses and solvers prove about the error\n"
    "                   of a release, and what can be derived; NAME=VALUE replaces a\n"
    "                   number of the plan (the report shows their names)\n"
    "  --choose EPSILON instead of the statement: the least private settings of a\n"
    "                   mechanism that has more than a scale, such as pbm, with which the\n"
    "                   whole run stays within EPSILON. The scale of other noise is\n"
    "                   chosen by [privacy] budget = total, total-epsilon = EPSILON\n";

struct own {
    struct account_files files;
    int utility;
    const char *choose; /* an epsilon */
};

/* Takes this command's own options out of argv. Returns how many arguments are left, or -1. */
static int take_own(int argc, char **argv, struct own *own, struct dpf_error *error)
{
    const struct {
        const char *name, **into;
    } options[] = {{"--curve", &own->files.curve},
                   {"--odometer", &own->files.odometer},
                   {"--export", &own->files.ledger},
                   {"--certificate", &own->files.certificate},
                   {"--choose", &own->choose}};
    int left = 0;
    for (int i = 0; i < argc; i++) {
        int taken = strcmp(argv[i], "--utility") == 0;
        own->utility |= taken;
        for (size_t k = 0; k < sizeof options / sizeof options[0] && taken == 0; k++)
            taken = arguments_own_value(argc, argv, &i, options[k].name, options[k].into, error);
        if (taken < 0)
            return -1;
        if (!taken)
            argv[left++] = argv[i];
    }
    argv[left] = NULL;
    return left;
}

/* What is written later would replace what was written before. */
static int check_files(const struct account_files *files, struct dpf_error *error)
{
    const char *paths[] = {files->curve, files->odometer, files->ledger, files->certificate};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0)
                return error_set(error, DPF_FAULT_CONFIG,
                                 "--curve, --odometer, --export and --certificate: %s is named twice; give "
                                 "each a file of its own",
                                 paths[i]);
    return 0;
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
    if (status == 0) {
        char *statement = guarantee_text_wide(&session->plan.guarantee, terminal_width(STDOUT_FILENO));
        fputs(statement ? statement : "", stdout);
        fputs(utility ? bounds.data : "", stdout);
        free(statement);
    }
    text_free(&bounds);
    return status;
}

static void print_curve(const struct plan *plan)
{
    struct text text = {0};
    curve_table(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                plan->run_facts.rounds, terminal_width(STDOUT_FILENO), &text);
    fputs(text.data, stdout);
    text_free(&text);
}

static int account_one(const struct arguments *arguments, const struct own *own, struct dpf_error *error)
{
    struct session session = {0};
    int status = session_open(&session, arguments, 0, error);
    if (status == 0)
        status = session_complete_without_training(&session, error);
    if (status == 0)
        plan_measure(&session.plan);
    if (status == 0)
        status = plan_charge(&session.plan, 0, error);
    if (status == 0)
        status = account_files_write(&session.plan, &own->files, error);
    if (status == 0 && own->choose)
        status = account_choose(arguments, &session, own->choose, error);
    else if (status == 0)
        status = (arguments->json ? print_json : print_text)(&session, arguments, own->utility, error);
    if (status == 0 && own->files.curve && !own->choose && !arguments->json)
        print_curve(&session.plan);
    session_close(&session);
    return status;
}

static int write_of_selection(void *context, const struct plan *plan, struct dpf_error *error)
{
    return account_files_write(plan, context, error);
}

static int account_selection(const struct arguments *arguments, struct own *own, struct dpf_error *error)
{
    if (own->files.odometer || own->utility || own->choose)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s describes a selection: --odometer, --utility and --choose are for one "
                         "configuration, such as one of its variants",
                         arguments->config);
    return select_statement(arguments, write_of_selection, &own->files, error);
}

static int account_sweep(const struct arguments *arguments, const struct own *own, struct dpf_error *error)
{
    if (own->files.curve || own->files.odometer || own->files.ledger || own->files.certificate ||
        own->utility || own->choose)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s describes a sweep: --curve, --odometer, --export, --certificate, --utility and --choose are "
            "for one configuration, such as one of its variants",
            arguments->config);
    return sweep_statements(arguments, error);
}

int command_account(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments = {0};
    struct own own = {0};
    argc = take_own(argc, argv, &own, &error);
    int status = argc < 0 ? -1 : arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && !own.utility)
        status = arguments_no_operands(&arguments, "account", &error);
    if (status == 0 && own.choose && own.utility)
        status = error_set(&error, DPF_FAULT_CONFIG,
                           "--choose shows the error of what it chooses: leave --utility out, or --choose");
    if (status == 0)
        status = check_files(&own.files, &error);
    arguments.without_data = 1;
    if (status == 0)
        status = select_is_described(&arguments)  ? account_selection(&arguments, &own, &error)
                 : sweep_is_described(&arguments) ? account_sweep(&arguments, &own, &error)
                                                  : account_one(&arguments, &own, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
