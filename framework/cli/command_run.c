/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/ranks.h"
#include "cli/command.h"
#include "run/joined.h"
#include "run/run_once.h"
#include "select/select_run.h"
#include "sweep/sweep_run.h"

static const char usage[] =
    "usage: dpframe run CONFIG [-o section.key=value]... [--output DIR]\n"
    "                   [--plugin-dir DIR]... [-q] [--json] [--profile[=LIMITS]]\n"
    "       dpframe -c CONFIG ...           the same, as is dpframe train CONFIG\n"
    "\n"
    "Trains the configured model, evaluates it, and writes factors, metrics and the\n"
    "guarantee to [run] output. With --json, an error is one line of JSON, and the\n"
    "results are those of run.json; with -v as well, progress is lines of JSON on\n"
    "standard error. See \"dpframe --help\" for the other commands.\n"
    "\n"
    "--profile adds where the time went, stage by stage: seconds, processors, bytes\n"
    "and operations; with LIMITS, a file that scripts/bench machine writes, how near\n"
    "each stage came to what the machine can do.\n"
    "\n"
    "A configuration with a section [sweep] is run once for each of its points:\n"
    "  --dry-run    lists the points and runs none\n"
    "  -j, --jobs N runs N points at the same time (default: [sweep] jobs)\n"
    "  --resume     skips points that are done and made from the same configuration,\n"
    "               plugins and data\n"
    "With a section [select] as well, points are candidates: some are run, and the\n"
    "best run alone is released, under a guarantee that covers the choice. --resume\n"
    "continues with the same draws after an interruption.\n"
    "With [run] checkpoint = true, --resume continues a single run that was\n"
    "interrupted; it makes the round that had begun again, which counts twice.\n";

/* A file that cannot be read may well describe a sweep: what is wrong with it comes first. */
static int check_readable(const struct arguments *arguments, struct dpf_error *error)
{
    if (!arguments->config)
        return 0;
    struct config *config =
        config_load(arguments->config, arguments->overrides, arguments->n_overrides, error);
    config_free(config);
    return config ? 0 : -1;
}

static int run_or_sweep(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments_no_operands(arguments, "run", error) != 0)
        return -1;
    const int selects = select_is_described(arguments), sweeps = sweep_is_described(arguments);
    if ((selects || sweeps) && ranks_size() > 1)
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s describes many runs, which %d ranks do not share: start it without mpirun (each "
                         "point may be run under it by itself)",
                         arguments->config, ranks_size());
    if (arguments->dry_run && arguments->jobs)
        return error_set(error, DPF_FAULT_CONFIG, "--dry-run lists points and runs none: leave --jobs out");
    if (arguments->profile && (selects || sweeps))
        return error_set(error, DPF_FAULT_CONFIG, "--profile is for one run: %s has a section [sweep]",
                         arguments->config);
    if (selects)
        return select_run(arguments, error);
    if (sweeps)
        return sweep_run(arguments, error);
    if ((arguments->jobs || arguments->dry_run) && check_readable(arguments, error) == 0)
        error_set(error, DPF_FAULT_CONFIG, "--jobs and --dry-run are for sweeps: %s has no section [sweep]",
                  arguments->config ? arguments->config : "(no configuration)");
    if (error->fault)
        return -1;
    const struct run_request request = {
        .arguments = arguments, .quiet = arguments->quiet, .whole_process = 1};
    return run_once(&request, error);
}

int command_run(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    arguments.quiet |= arguments.json;
    if (status == 0)
        status = joined_open(&arguments, &error);
    else if (status < 0)
        joined_fail(&error);
    if (status == 0)
        status = ranks_agree(run_or_sweep(&arguments, &error), &error);
    /* All ranks have the same error, of which rank 0 tells; one that could not join them tells of its own. They part
       when it has: a launcher ends all processes once one has failed. */
    const int silent = ranks_rank() > 0;
    int code = 0;
    if (status < 0)
        code = !silent ? failure_report(&error) : error.fault ? (int)error.fault : DPF_FAULT_RUN;
    fflush(stdout);
    joined_close();
    arguments_free(&arguments);
    return code;
}
