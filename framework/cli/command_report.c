/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "cli/command.h"
#include "run/run_report.h"
#include "sweep/sweep_report.h"

static const char usage[] =
    "usage: dpframe report DIRECTORY [--plugin-dir DIR]... [--json]\n"
    "\n"
    "Of a sweep: tables (tables.md, .csv, .tex and results.csv), plots, and a page that shows\n"
    "them and answers the sweep's question (report.html), in the directory of the sweep. Of\n"
    "an incomplete one, the points that are done, and which ones are missing.\n"
    "\n"
    "Of a single run: a page with the verdict, metrics of this and other models, the training\n"
    "curve, the distribution of recommendations over items, and the statement. It is written to\n"
    "private/, since metrics are computed from protected records; if metrics were released with\n"
    "noise, release/ gets a page of these and of the statement, too.\n"
    "\n"
    "Pages need no network and no other file. With --json, an error is one line of JSON.\n";

/* shown: the directory as its user named it. */
static int report_run(const struct arguments *arguments, const char *directory, const char *shown,
                      struct dpf_error *error)
{
    char *page = NULL;
    const int status = run_report_write(arguments, directory, &page, error);
    if (status == 0)
        printf("%s%s\n", shown, page + strlen(directory));
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
    size_t length = strlen(arguments->rest[0]);
    while (length > 1 && arguments->rest[0][length - 1] == '/')
        length--;
    char *shown = memory_format("%.*s", (int)length, arguments->rest[0]);
    const int status =
        holds(directory, "sweep.json") ? sweep_report(directory, shown, error)
        : holds(directory, "run.json")
            ? report_run(arguments, directory, shown, error)
            : error_set(error, DPF_FAULT_CONFIG,
                        "%s: it has neither a sweep.json nor a run.json; name the output directory of "
                        "a sweep, or of a run that is complete",
                        directory);
    free(directory);
    free(shown);
    return status;
}

int command_report(int argc, char **argv)
{
    return command_on(argc, argv, usage, 1, "the directory of one sweep or run", report);
}
