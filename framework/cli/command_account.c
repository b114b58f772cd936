/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <stdio.h>

#include "cli/command.h"

static const char usage[] = "usage: dpframe account -c CONFIG [-o section.key=value]... [--json]\n"
                            "\n"
                            "The privacy of the configured run: what was published about it, what is proved\n"
                            "here, and every condition. --json prints the guarantee object alone.\n";

int command_account(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct session session = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest)
        status = error_set(&error, DPF_FAULT_CONFIG, "account takes no argument \"%s\"", arguments.rest[0]);
    arguments.without_data = 1;
    if (status == 0)
        status = session_open(&session, &arguments, 0, &error);
    if (status == 0)
        status = session_complete_without_training(&session, &error);
    if (status == 0 && arguments.json) {
        json_t *guarantee = guarantee_json(&session.plan.guarantee);
        json_dumpf(guarantee, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(guarantee);
    } else if (status == 0) {
        char *statement = guarantee_text(&session.plan.guarantee);
        fputs(statement ? statement : "", stdout);
        free(statement);
    }
    session_close(&session);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
