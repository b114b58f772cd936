/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include <math.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "data/load.h"
#include "run/session_warnings.h"
#include "select/select_run.h"
#include "sweep/sweep_run.h"
#include "sweep/sweep_statements.h"
#include "plan/unlisted.h"
#include "plan/charge.h"
#include "plan/plan_make.h"

static const char usage[] =
    "usage: dpframe check -c CONFIG [-o section.key=value]... [--output DIR] [--json]\n"
    "\n"
    "Validates the configuration, makes every component, and prints the resolved\n"
    "configuration, the pipeline and the guarantee, and the accountant that would prove\n"
    "more, if one is not listed. Trains nothing and writes nothing.\n"
    "Of a sweep, the guarantees of all its points, as a table.\n";

/* The lines of a text, as wide as the terminal; those of components go on where their parameters stand. */
static void print_lines(const char *lines)
{
    struct text out = {0};
    while (*lines) {
        const size_t length = strcspn(lines, "\n"), blanks = strspn(lines, " ");
        char *line = memory_format("%.*s", (int)length, lines);
        terminal_wrap(&out, "", blanks >= 4 ? 16 : (int)blanks + 2, line, terminal_width(STDOUT_FILENO));
        free(line);
        lines += length + (lines[length] == '\n');
    }
    fputs(!out.data ? lines : out.data, stdout);
    text_free(&out);
}

static void print_unlisted(const struct unlisted *tighter)
{
    char epsilon[32], listed[32];
    struct text text = {0};
    if (!tighter->accountant[0])
        return;
    text_add(&text, "Accountant %s, which is not listed, has epsilon = %s", tighter->accountant,
             guarantee_number_up(tighter->epsilon, epsilon));
    if (isfinite(tighter->listed))
        text_add(&text, "; the least of those that are listed is %s",
                 guarantee_number_up(tighter->listed, listed));
    text_add(&text, ". Add it to [accountants] list.\n");
    printf("\n# Accountants\n\n");
    print_lines(text.data ? text.data : "");
    text_free(&text);
}

static void print_text(const struct plan *plan, const struct unlisted *tighter)
{
    char *ini = plan_resolved_ini(plan), *pipeline = plan_text(plan),
         *statement = guarantee_text_wide(&plan->guarantee, terminal_width(STDOUT_FILENO));
    /* The configuration stays as it is: it is to be copied. */
    printf("# Resolved configuration\n\n%s# Pipeline\n\n", ini ? ini : "");
    print_lines(pipeline ? pipeline : "");
    printf("\n# Guarantee\n\n%s", statement ? statement : "");
    print_unlisted(tighter);
    free(ini);
    free(pipeline);
    free(statement);
}

static void print_json(const struct plan *plan, const struct unlisted *tighter)
{
    json_t *root = json_object();
    json_object_set_new(root, "config", plan_resolved(plan));
    json_object_set_new(root, "guarantee", guarantee_json(&plan->guarantee));
    json_object_set_new(root, "ledger", ledger_json(&plan->ledger));
    if (tighter->accountant[0])
        json_object_set_new(
            root, "tighter_accountant",
            json_pack("{s:s, s:f}", "accountant", tighter->accountant, "epsilon", tighter->epsilon));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
}

static int check_one(const struct arguments *arguments, struct dpf_error *error)
{
    struct session session = {0};
    int status = session_open(&session, arguments, 0, error);
    if (status == 0)
        status = session_complete_without_training(&session, error);
    struct unlisted tighter = {0};
    if (status == 0)
        status = session_check(&session, error);
    if (status == 0)
        status = data_check_text(&session.plan.data, &session.plan.split, error);
    if (status == 0)
        plan_measure(&session.plan);
    if (status == 0)
        status = plan_charge(&session.plan, 0, error);
    if (status == 0)
        status = unlisted_find(&session.plan, &tighter, error);
    if (status == 0) {
        (arguments->json ? print_json : print_text)(&session.plan, &tighter);
    }
    session_close(&session);
    return status;
}

int command_check(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0)
        status = arguments_no_operands(&arguments, "check", &error);
    if (status == 0)
        status = select_is_described(&arguments)  ? select_statement(&arguments, NULL, NULL, &error)
                 : sweep_is_described(&arguments) ? sweep_statements(&arguments, &error)
                                                  : check_one(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
