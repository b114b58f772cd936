/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/command.h"
#include "sweep/outcome_tables.h"
#include "sweep/html_report.h"

static const char usage[] =
    "usage: dpframe report DIRECTORY\n"
    "\n"
    "Tables of a sweep (tables.md, .csv, .tex and results.csv), plots, and a page that\n"
    "shows them (report.html), written into the directory of the sweep.\n";

static int draw(const struct outcomes *outcomes, struct dpf_error *error)
{
    struct plots plots;
    int missing = 0;
    if (plots_make(outcomes, &plots, error) != 0)
        return -1;
    int status = html_report_write(outcomes, &plots, error);
    if (status == 0)
        status = plots_draw(&plots, outcomes->directory, &missing, error);
    if (status == 0 && missing)
        log_message(LOG_LEVEL_WARNING,
                    "gnuplot was not found: the page has its plots, but there are no plots/*.svg and .png "
                    "(Debian: gnuplot-nox)");
    plots_free(&plots);
    return status;
}

static int report(const char *directory, struct dpf_error *error)
{
    struct outcomes outcomes;
    char *absolute = realpath(directory, NULL);
    if (!absolute)
        return error_set(error, DPF_FAULT_CONFIG, "%s: %s", directory, strerror(errno));
    int status = outcomes_read(absolute, &outcomes, error);
    free(absolute);
    if (status != 0)
        return -1;
    status = outcome_tables_write(&outcomes, error);
    if (status == 0)
        status = draw(&outcomes, error);
    if (status == 0)
        printf("%s/report.html\n", outcomes.directory);
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
    return status < 0 ? failure_report(&error) : 0;
}
