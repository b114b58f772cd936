/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <stdio.h>

#include "cli/command.h"

static const char usage[] =
    "usage: dpframe check -c CONFIG [-o section.key=value]... [--json]\n"
    "\n"
    "Validates the configuration, makes every component, and prints the resolved\n"
    "configuration, the pipeline and the guarantee. Trains nothing and writes nothing.\n"
    "Of a sweep, the guarantees of all its points, as a table.\n";

static void print_text(const struct plan *plan)
{
    char *ini = plan_resolved_ini(plan), *pipeline = plan_text(plan),
         *statement = guarantee_text(&plan->guarantee);
    printf("# Resolved configuration\n\n%s# Pipeline\n\n%s\n# Guarantee\n\n%s", ini ? ini : "",
           pipeline ? pipeline : "", statement ? statement : "");
    free(ini);
    free(pipeline);
    free(statement);
}

static void print_json(const struct plan *plan)
{
    json_t *root = json_object();
    json_object_set_new(root, "config", plan_resolved(plan));
    json_object_set_new(root, "guarantee", guarantee_json(&plan->guarantee));
    json_object_set_new(root, "ledger", ledger_json(&plan->ledger));
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
    if (status == 0) {
        if (arguments->json)
            print_json(&session.plan);
        else
            print_text(&session.plan);
    }
    session_close(&session);
    return status;
}

int command_check(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest)
        status = error_set(&error, DPF_FAULT_CONFIG, "check takes no argument \"%s\"", arguments.rest[0]);
    if (status == 0)
        status = (session_is_sweep(&arguments) ? sweep_statements : check_one)(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
