/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "cli/command.h"
#include "run/run_report.h"
#include "sweep/outcome_tables.h"
#include "sweep/html_report.h"
#include "sweep/sweep_list.h"

static const char usage[] =
    "usage: dpframe report DIRECTORY [--plugin-dir DIR]...\n"
    "\n"
    "Of a sweep: tables (tables.md, .csv, .tex and results.csv), plots, and a page that shows\n"
    "them and answers the sweep's question (report.html), in the directory of the sweep. Of\n"
    "one that is not complete, what is there, and which points are missing.\n"
    "\n"
    "Of a single run: a page with the verdict, metrics beside other models, the training curve,\n"
    "how recommendations are spread over items, and the statement. It lies in private/, since\n"
    "metrics are computed from protected records; where metrics were released with noise, there\n"
    "is a page of these and the statement in release/ as well.\n"
    "\n"
    "Pages need no network and no other file.\n";

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

static int report_sweep(const char *directory, struct dpf_error *error)
{
    struct outcomes outcomes;
    if (outcomes_read(directory, &outcomes, error) != 0)
        return -1;
    int status = outcome_tables_write(&outcomes, error);
    if (status == 0)
        status = draw(&outcomes, error);
    if (status == 0)
        printf("%s/report.html\n", outcomes.directory);
    outcomes_free(&outcomes);
    return status == 0 ? sweep_list_missing(directory, error) : status;
}

static int report_run(const struct arguments *arguments, const char *directory, struct dpf_error *error)
{
    char *page = NULL;
    const int status = run_report_write(arguments, directory, &page, error);
    if (status == 0)
        printf("%s\n", page);
    free(page);
    return status;
}

static int holds(const char *directory, const char *name)
{
    char *path = files_join(directory, name);
    const int is_there = path && access(path, F_OK) == 0;
    free(path);
    return is_there;
}

static int report(const struct arguments *arguments, struct dpf_error *error)
{
    char *directory = realpath(arguments->rest[0], NULL);
    if (!directory)
        return error_set(error, DPF_FAULT_CONFIG, "%s: %s", arguments->rest[0], strerror(errno));
    const int status =
        holds(directory, "sweep.json") ? report_sweep(directory, error)
        : holds(directory, "run.json")
            ? report_run(arguments, directory, error)
            : error_set(error, DPF_FAULT_CONFIG,
                        "%s: it has neither a sweep.json nor a run.json; name the output directory of "
                        "a sweep, or of a run that is complete",
                        directory);
    free(directory);
    return status;
}

int command_report(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 1)
        status = error_set(&error, DPF_FAULT_CONFIG, "name the directory of one sweep or run (see --help)");
    if (status == 0)
        status = report(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
