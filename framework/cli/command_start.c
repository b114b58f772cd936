/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "start/start_config.h"
#include "start/start_facts.h"

static const char usage[] =
    "usage: dpframe start FILE [FACT=VALUE]... [--output CONFIG] [--plugin-dir DIR]... [--json]\n"
    "\n"
    "Writes a commented configuration for a file of records into the current directory (FILE's name\n"
    "with .ini, or --output), checks it, and prints the guarantee, the accuracy to expect, and how to\n"
    "train. Declared facts decide the recipe; of the file only the first lines are read. On a\n"
    "terminal it shows what they look like, and asks whether that is right, and for missing facts;\n"
    "elsewhere it prints the facts to add. With --json, an error is one line of JSON.\n"
    "The facts:\n";

int command_start(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 1 && !arguments_prints_options())
        start_facts_print_help();
    if (status == 0)
        status = start_config(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
