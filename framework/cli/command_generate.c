/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "reading/data_params.h"
#include "synthetic/generate.h"

static const char usage[] =
    "usage: dpframe generate --output FILE [seed=N] [KEY=VALUE]...\n"
    "\n"
    "Writes synthetic ratings as comma-separated values (user,item,rating,timestamp; a header line).\n"
    "Keys are those of [data] that begin with \"synthetic.\" (without that prefix: users, items,\n"
    "ratings, rank, ...) and value-min, value-max: see \"dpframe describe data\". The output is a\n"
    "function of the keys and the seed alone. FILE \"-\" is standard output.\n";

/* KEY=VALUE operands become a [data] section; the seed is taken out. */
static int take_operands(const struct arguments *arguments, struct text *ini, int64_t *seed,
                         struct dpf_error *error)
{
    text_add(ini, "[data]\nformat = synthetic\n");
    for (int i = 0; i < arguments->n_rest; i++) {
        const char *operand = arguments->rest[i];
        if (!strchr(operand, '=') || strchr(operand, '\n'))
            return error_set(error, DPF_FAULT_CONFIG, "\"%s\" is not KEY=VALUE: see dpframe generate --help",
                             operand);
        if (strncmp(operand, "seed=", 5) == 0) {
            if (text_to_int(operand + 5, seed) != 0 || *seed < 0)
                return error_set(error, DPF_FAULT_CONFIG, "%s: the seed is an integer >= 0", operand);
            continue;
        }
        text_add(ini, "%s%s\n", strncmp(operand, "value-", 6) == 0 ? "" : "synthetic.", operand);
    }
    return 0;
}

/* The section is not in a file of the user: a message names the operand instead of a line. */
static void name_operand(const struct arguments *arguments, struct dpf_error *error)
{
    char text[sizeof error->text], shown[TEXT_SHOWN];
    long line = 0;
    int at = 0;
    if (sscanf(error->text, "generate:%ld: %n", &line, &at) != 1 || at == 0)
        return;
    snprintf(text, sizeof text, "%s", error->text + at);
    const enum dpf_fault fault = error->fault;
    *error = (struct dpf_error){0};
    line -= 2; /* what take_operands writes before */
    for (int i = 0; i < arguments->n_rest; i++)
        if (strncmp(arguments->rest[i], "seed=", 5) != 0 && --line == 0)
            error_set(error, fault, "\"%s\": %s", text_show(arguments->rest[i], shown), text);
    error_set(error, fault, "%s", text); /* unless an operand was named */
}

static int write_ratings(const struct generate_options *options, int64_t seed, const char *target,
                         struct dpf_error *error)
{
    struct random_root *root = random_root_seeded((uint64_t)seed, "run", error);
    struct generator *generator = root ? generator_new(options, root, error) : NULL;
    int status = generator ? 0 : -1;
    if (status == 0 && strcmp(target, "-") == 0) {
        status = generator_write_csv(generator, stdout, "to standard output", error);
        if (status == 0 && fflush(stdout) != 0)
            status = error_set(error, DPF_FAULT_RUN, "cannot write to standard output");
    } else if (status == 0) {
        struct files_write write;
        status = files_open_write(&write, target, error);
        if (status == 0) {
            status = generator_write_csv(generator, write.stream, target, error);
            if (status == 0)
                status = files_commit_write(&write, error);
            else
                files_abandon_write(&write);
        }
    }
    generator_free(generator);
    random_root_free(root);
    return status;
}

static int read_options(const struct text *ini, struct generate_options *options, struct dpf_error *error)
{
    struct config_values values = {0};
    int64_t n;
    const dpf_param *table = data_params(&n);
    struct config *config = config_parse("generate", ini->data, ini->length, error);
    int status = config ? config_bind(config, "data", table, n, sizeof *table, NULL, 1, &values, error) : -1;
    if (status == 0)
        status = data_synthetic_options(&values, options, error);
    config_values_free(&values);
    config_free(config);
    return status;
}

int command_generate(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct text ini = {0};
    struct generate_options options;
    int64_t seed = 1;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && !arguments.output)
        status =
            error_set(&error, DPF_FAULT_CONFIG, "generate needs --output FILE (\"-\" is standard output)");
    if (status == 0)
        status = take_operands(&arguments, &ini, &seed, &error);
    if (status == 0)
        status = read_options(&ini, &options, &error);
    if (status != 0)
        name_operand(&arguments, &error);
    if (status == 0)
        status = write_ratings(&options, seed, arguments.output, &error);
    text_free(&ini);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
