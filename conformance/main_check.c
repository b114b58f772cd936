/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpframe-check - does a plugin keep the rules of docs/rules.md?
 *
 * Exit status: 0 nothing failed, 1 a rule failed or crashed, 2 the command is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "conformance/check_runner.h"

static const char usage[] =
    "usage: dpframe-check FILE.so [--json] [--in-process] [--seed N] [--component ID] [--rule PREFIX]\n"
    "                     [--set KEY=VALUE]... [--skips FILE] [--verbose]\n"
    "       dpframe-check --rules\n";

static int value_of(int argc, char **argv, int *i, const char *option, const char **value)
{
    if (strcmp(argv[*i], option) != 0 || *i + 1 >= argc)
        return 0;
    *value = argv[++*i];
    return 1;
}

static int parse(int argc, char **argv, struct check_options *options, const char **skips)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        int64_t seed;
        if (strcmp(argv[i], "--json") == 0)
            options->json = 1;
        else if (strcmp(argv[i], "--in-process") == 0)
            options->in_process = 1;
        else if (strcmp(argv[i], "--verbose") == 0)
            options->verbose = 1;
        else if (strcmp(argv[i], "--rules") == 0)
            options->list_rules = 1;
        else if (value_of(argc, argv, &i, "--seed", &value)) {
            if (text_to_int(value, &seed) != 0)
                return -1;
            options->seed = (uint64_t)seed;
        } else if (value_of(argc, argv, &i, "--component", &value))
            options->component = value;
        else if (value_of(argc, argv, &i, "--rule", &value))
            options->rule = value;
        else if (value_of(argc, argv, &i, "--skips", &value))
            *skips = value;
        else if (value_of(argc, argv, &i, "--set", &value)) {
            if (!strchr(value, '='))
                return -1;
            options->settings[options->n_settings++] = value;
        } else if (argv[i][0] == '-' || options->path)
            return -1;
        else
            options->path = argv[i];
    }
    return options->path || options->list_rules ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct check_options options = {.seed = 1};
    setenv("OPENBLAS_NUM_THREADS", "1",
           0); /* read when a plugin loads it; as the host has it: workers are enough */
    options.settings = memory_new((size_t)argc, sizeof *options.settings);
    if (!options.settings)
        return 2;
    log_set_level(LOG_LEVEL_WARNING);
    const char *skips = NULL;
    struct check_skips *list = NULL;
    struct dpf_error error = {0};
    int status;
    if (parse(argc, argv, &options, &skips) != 0) {
        fputs(usage, stderr);
        status = 2;
    } else if (skips && !(list = check_skips_read(skips, &error))) {
        fprintf(stderr, "dpframe-check: %s\n", error.text);
        status = 2;
    } else if (options.list_rules) {
        status = check_print_rules();
    } else {
        char *path = realpath(options.path, NULL);
        if (!path) {
            fprintf(stderr, "dpframe-check: there is no file %s\n", options.path);
            status = 2;
        } else {
            options.path = path;
            options.skips = list;
            status = check_run_all(&options);
        }
        free(path);
    }
    free(options.settings);
    check_skips_free(list);
    return status;
}
