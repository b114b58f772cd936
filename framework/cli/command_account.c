/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "privacy/dp_event.h"

static const char usage[] = "usage: dpframe account -c CONFIG [-o section.key=value]... [--json]\n"
                            "                       [--curve FILE] [--odometer FILE] [--export FILE]\n"
                            "\n"
                            "The privacy of the configured run: what was published about it, what is proved\n"
                            "here, and every condition. --json prints the guarantee object alone.\n"
                            "\n"
                            "  --curve FILE     delta for each epsilon and accountant, as CSV\n"
                            "  --odometer FILE  epsilon after so many rounds, for each accountant, as CSV\n"
                            "  --export FILE    the ledger as an event of dp_accounting, as JSON\n";

struct files {
    const char *curve, *odometer, *ledger;
};

/* Takes this command's own options out of argv. Returns how many arguments are left, or -1. */
static int take_files(int argc, char **argv, struct files *files, struct dpf_error *error)
{
    int left = 0;
    for (int i = 0; i < argc; i++) {
        const char **into = strcmp(argv[i], "--curve") == 0      ? &files->curve
                            : strcmp(argv[i], "--odometer") == 0 ? &files->odometer
                            : strcmp(argv[i], "--export") == 0   ? &files->ledger
                                                                 : NULL;
        if (!into) {
            argv[left++] = argv[i];
            continue;
        }
        if (i + 1 == argc)
            return error_set(error, DPF_FAULT_CONFIG, "%s needs a file", argv[i]);
        *into = argv[++i];
    }
    argv[left] = NULL;
    return left;
}

typedef int (*series)(const struct guarantee *, struct instance *const *, int, const struct ledger *, int64_t,
                      FILE *, struct dpf_error *);

static int write_series(const struct plan *plan, const char *path, series write, struct dpf_error *error)
{
    if (!path)
        return 0;
    FILE *file = fopen(path, "w");
    if (!file)
        return error_set(error, DPF_FAULT_CONFIG, "%s cannot be written: %s", path, strerror(errno));
    int status = write(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                       plan->run_facts.rounds, file, error);
    const int bad = ferror(file);
    if ((fclose(file) != 0 || bad) && status == 0)
        status = error_set(error, DPF_FAULT_CONFIG, "%s could not be written in full", path);
    return status;
}

static int write_ledger(const struct plan *plan, const char *path, struct dpf_error *error)
{
    if (!path)
        return 0;
    json_t *event = dp_event_json(&plan->ledger, &plan->guarantee);
    const int failed = json_dump_file(event, path, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0;
    json_decref(event);
    return failed ? error_set(error, DPF_FAULT_CONFIG, "%s cannot be written", path) : 0;
}

static int write_files(const struct plan *plan, const struct files *files, struct dpf_error *error)
{
    return write_series(plan, files->curve, curve_write, error) != 0 ||
                   write_series(plan, files->odometer, odometer_write, error) != 0 ||
                   write_ledger(plan, files->ledger, error) != 0
               ? -1
               : 0;
}

static void print(const struct guarantee *guarantee, int as_json)
{
    if (as_json) {
        json_t *json = guarantee_json(guarantee);
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(json);
        return;
    }
    char *statement = guarantee_text(guarantee);
    fputs(statement ? statement : "", stdout);
    free(statement);
}

int command_account(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments = {0};
    struct session session = {0};
    struct files files = {NULL, NULL, NULL};
    argc = take_files(argc, argv, &files, &error);
    int status = argc < 0 ? -1 : arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest)
        status = error_set(&error, DPF_FAULT_CONFIG, "account takes no argument \"%s\"", arguments.rest[0]);
    arguments.without_data = 1;
    if (status == 0)
        status = session_open(&session, &arguments, 0, &error);
    if (status == 0)
        status = session_complete_without_training(&session, &error);
    if (status == 0)
        status = write_files(&session.plan, &files, &error);
    if (status == 0)
        print(&session.plan.guarantee, arguments.json);
    session_close(&session);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
