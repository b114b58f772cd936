/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "report/outcome_tables.h"

static const char usage[] =
    "usage: dpframe report DIRECTORY\n"
    "\n"
    "Tables of a sweep (tables.md, .csv, .tex and results.csv), plots, and a page that shows\n"
    "them (report.html), written into the directory of the sweep.\n";

static int report(const char *directory, struct dpf_error *error)
{
    struct outcomes outcomes;
    if (outcomes_read(directory, &outcomes, error) != 0)
        return -1;
    int status = outcome_tables_write(&outcomes, error);
    outcomes_free(&outcomes);
    return status;
}

int command_report(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 1)
        status = error_set(&error, DPF_FAULT_CONFIG, "name the directory of one sweep (see --help)");
    if (status == 0)
        status = report(arguments.rest[0], &error);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
