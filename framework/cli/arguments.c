/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "base/log.h"

enum {
    OPTION_PLUGIN_DIR = 256,
    OPTION_JSON,
    OPTION_FORMAT,
    OPTION_DRY_RUN,
    OPTION_RESUME,
    OPTION_USER,
    OPTION_ALL,
    OPTION_DATA
};

static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},
    {"override", required_argument, NULL, 'o'},
    {"output", required_argument, NULL, 'O'},
    {"plugin-dir", required_argument, NULL, OPTION_PLUGIN_DIR},
    {"json", no_argument, NULL, OPTION_JSON},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"jobs", required_argument, NULL, 'j'},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"user", required_argument, NULL, OPTION_USER},
    {"all", no_argument, NULL, OPTION_ALL},
    {"data", required_argument, NULL, OPTION_DATA},
    {"number", required_argument, NULL, 'n'},
    {NULL, 0, NULL, 0},
};

static int add_plugin_dir(struct arguments *out, const char *directory, struct dpf_error *error)
{
    if (out->n_plugin_dirs == MAX_PLUGIN_DIRS)
        return error_set(error, DPF_FAULT_CONFIG, "--plugin-dir: at most %d directories", MAX_PLUGIN_DIRS);
    char *absolute = realpath(directory, NULL);
    if (!absolute)
        return error_set(error, DPF_FAULT_CONFIG, "--plugin-dir %s: there is no such directory", directory);
    out->plugin_dirs[out->n_plugin_dirs++] = absolute;
    return 0;
}

static int take_number(const char *name, int64_t most, int64_t *out, struct dpf_error *error)
{
    if (text_to_int(optarg, out) != 0 || *out < 1 || *out > most)
        return error_set(error, DPF_FAULT_CONFIG, "%s %s: must be a number from 1 to %lld", name, optarg,
                         (long long)most);
    return 0;
}

/* Options that only some commands have: those whose help names them. */
static int take_special(int option, const char *usage, struct arguments *out, struct dpf_error *error)
{
    static const struct {
        int option;
        const char *name;
    } specials[] = {{'j', "--jobs"},
                    {OPTION_DRY_RUN, "--dry-run"},
                    {OPTION_RESUME, "--resume"},
                    {OPTION_USER, "--user"},
                    {OPTION_ALL, "--all"},
                    {OPTION_DATA, "--data"},
                    {'n', "-n "}};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (specials[i].option == option && !strstr(usage, specials[i].name))
            return error_set(error, DPF_FAULT_CONFIG, "this command has no option %s (see --help)",
                             specials[i].name);
    int64_t jobs = 0;
    switch (option) {
    case 'j':
        if (take_number("--jobs", 1024, &jobs, error) != 0)
            return -1;
        out->jobs = (int)jobs;
        return 0;
    case 'n':
        return take_number("-n", 2147483647, &out->count, error);
    case OPTION_DRY_RUN:
        out->dry_run = 1;
        return 0;
    case OPTION_RESUME:
        out->resume = 1;
        return 0;
    case OPTION_ALL:
        out->all = 1;
        return 0;
    case OPTION_USER:
        out->user = optarg;
        return 0;
    case OPTION_DATA:
        out->data = optarg;
        return 0;
    default:
        return 1;
    }
}

static int take_option(int option, const char *usage, struct arguments *out, struct dpf_error *error)
{
    int special = take_special(option, usage, out, error);
    if (special <= 0)
        return special;
    switch (option) {
    case 'c':
        if (out->config)
            return error_set(error, DPF_FAULT_CONFIG, "-c is given twice");
        out->config = optarg;
        return 0;
    case 'o':
        if (out->n_overrides == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "-o: at most %d overrides", MAX_OVERRIDES);
        out->overrides[out->n_overrides++] = optarg;
        return 0;
    case 'O':
        out->output = optarg;
        return 0;
    case OPTION_PLUGIN_DIR:
        return add_plugin_dir(out, optarg, error);
    case OPTION_JSON:
        out->json = 1;
        out->format = "json";
        return 0;
    case OPTION_FORMAT:
        out->format = optarg;
        out->json = strcmp(optarg, "json") == 0;
        return 0;
    case 'q':
        out->quiet = 1;
        log_set_level(LOG_LEVEL_WARNING);
        return 0;
    case 'v':
        log_set_level(LOG_LEVEL_DEBUG);
        return 0;
    default:
        return error_set(error, DPF_FAULT_CONFIG, "unknown option or missing value: %s (see --help)",
                         optopt && optopt < 256 ? (char[]){'-', (char)optopt, 0} : "");
    }
}

int arguments_parse(int argc, char **argv, const char *usage, struct arguments *out, struct dpf_error *error)
{
    *out = (struct arguments){.format = "text"};
    optind = 1;
    opterr = 0;
    for (;;) {
        int at = optind;
        int option = getopt_long(argc, argv, ":c:o:O:j:n:qvh", options, NULL);
        if (option < 0)
            break;
        if (option == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (option == '?' || option == ':') {
            const char *text = at < argc ? argv[at] : "";
            return error_set(error, DPF_FAULT_CONFIG,
                             option == ':' ? "%s needs a value" : "unknown option %s", text);
        }
        if (take_option(option, usage, out, error) != 0)
            return -1;
    }
    for (; optind < argc; optind++) {
        if (out->n_rest == MAX_OVERRIDES)
            return error_set(error, DPF_FAULT_CONFIG, "too many arguments");
        out->rest[out->n_rest++] = argv[optind];
    }
    return 0;
}

void arguments_free(struct arguments *arguments)
{
    for (int i = 0; i < arguments->n_plugin_dirs; i++)
        free((char *)(uintptr_t)arguments->plugin_dirs[i]);
    arguments->n_plugin_dirs = 0;
}

int command_failed(const struct dpf_error *error)
{
    fprintf(stderr, "dpframe: %s\n", error->text);
    return error->fault == DPF_FAULT_NONE ? DPF_FAULT_RUN : (int)error->fault;
}
