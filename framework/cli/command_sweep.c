/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep whose points are started by somebody else: a cluster's scheduler, GNU parallel, make. */
#include <stdio.h>

#include "cli/command.h"
#include "select/select_run.h"
#include "sweep/sweep_list.h"
#include "sweep/sweep_run.h"

static const char usage[] =
    "usage: dpframe sweep -c CONFIG --prepare\n"
    "       dpframe sweep -c CONFIG --list [--json]\n"
    "       dpframe sweep -c CONFIG --point NAME|I|I-J [--jobs N] [--take-over]\n"
    "       each with [-o section.key=value]... [--output DIR] [--plugin-dir DIR]... [-q]\n"
    "\n"
    "Runs a sweep by its points, on one machine or on many that share a directory.\n"
    "  --prepare    writes the list of points and their configurations, and runs none\n"
    "  --list       says how far each point is: waiting, running, abandoned, failed, done\n"
    "  --point P    runs the point of that name or number, or those from I to J; exits\n"
    "               with 0 if all of them are done, also where others have done them\n"
    "  -j, --jobs N with --point: N of them at the same time\n"
    "  --take-over  with --point: also points that a process on another machine holds.\n"
    "               Give it only if that process is known to be dead; of processes on\n"
    "               this machine dpframe knows it itself\n"
    "The same CONFIG, -o and --output are given each time. \"dpframe report DIRECTORY\"\n"
    "makes tables and plots of what is there, and says what is missing. Without any of\n"
    "these options all points are run here, as by \"dpframe run\".\n";

static int check_options(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments_no_operands(arguments, "sweep", error) != 0)
        return -1;
    if (arguments->prepare + arguments->list + (arguments->point != NULL) > 1)
        return error_set(error, DPF_FAULT_CONFIG, "give one of --prepare, --list and --point");
    if (arguments->take_over && !arguments->point)
        return error_set(error, DPF_FAULT_CONFIG, "--take-over is for --point");
    if (arguments->jobs && (arguments->prepare || arguments->list))
        return error_set(error, DPF_FAULT_CONFIG, "--jobs is for --point: nothing is run here");
    return 0;
}

static int check_config(const struct arguments *arguments, struct dpf_error *error)
{
    struct config *config =
        config_load(arguments->config, arguments->overrides, arguments->n_overrides, error);
    config_free(config);
    if (!config)
        return -1;
    if (!sweep_is_described(arguments))
        return error_set(error, DPF_FAULT_CONFIG, "%s has no section [sweep]", arguments->config);
    if (select_is_described(arguments))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s has a section [select]: which points are run is drawn, so that they cannot be run "
            "by name; use \"dpframe run\"",
            arguments->config);
    return 0;
}

static int sweep(const struct arguments *arguments, struct dpf_error *error)
{
    if (!arguments->config)
        return error_set(error, DPF_FAULT_CONFIG, "name the configuration: dpframe sweep -c CONFIG");
    if (check_options(arguments, error) != 0 || check_config(arguments, error) != 0)
        return -1;
    return arguments->list ? sweep_list(arguments, error) : sweep_run(arguments, error);
}

int command_sweep(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0)
        status = sweep(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
