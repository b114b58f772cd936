/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "saved/evaluate_saved.h"

static const char usage[] =
    "usage: dpframe evaluate RUN [--data FILE] [-o evaluate.KEY=VALUE]... [--json]\n"
    "                        [--format trec --output DIR]\n"
    "\n"
    "Metrics of the model in the directory of a run: on its own test part, or on the\n"
    "records of another file, which is read as [data] of the run says. Records of pairs that\n"
    "it was trained on, and of users and items that it does not know, are counted and left out.\n"
    "\n"
    "--format trec also writes DIR/run.txt and DIR/qrels.txt, lists and positives of all tested\n"
    "users, for trec_eval, pytrec_eval and ranx: the full ranking, cut at the largest k of\n"
    "[evaluate]. Both are private.\n";

static void print_metrics(const struct metrics *metrics, int json)
{
    json_t *root = json_object();
    for (int64_t i = 0; i < metrics->n; i++) {
        const struct metric *metric = &metrics->items[i];
        if (json)
            json_object_set_new(root, metric->name,
                                isfinite(metric->value) ? json_real(metric->value) : json_null());
        else if (isfinite(metric->value) && isfinite(metric->low))
            printf("%-24s %-10.6g %.6g to %.6g\n", metric->name, metric->value, metric->low, metric->high);
        else if (isfinite(metric->value))
            printf("%-24s %.6g\n", metric->name, metric->value);
        else
            printf("%-24s n/a\n", metric->name);
    }
    if (!json)
        printf("Private, not covered by a guarantee.\n");
    if (json) {
        json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    json_decref(root);
}

static int check(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments->n_rest != 1 || arguments->config)
        return error_set(error, DPF_FAULT_CONFIG, "name the directory of one run (see --help)");
    const char *format = arguments->format;
    const int trec = strcmp(format, "trec") == 0;
    if (!trec && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return error_set(error, DPF_FAULT_CONFIG, "--format %s: must be text, json or trec", format);
    if (trec != (arguments->output != NULL))
        return error_set(error, DPF_FAULT_CONFIG, "--format trec and --output DIR go together");
    for (int i = 0; i < arguments->n_overrides; i++)
        if (strncmp(arguments->overrides[i], "evaluate.", 9) != 0)
            return error_set(error, DPF_FAULT_CONFIG,
                             "-o %s: only keys of [evaluate] can be changed; the model is what was trained",
                             arguments->overrides[i]);
    return 0;
}

int command_evaluate(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct metrics metrics = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0)
        status = check(&arguments, &error);
    if (status == 0)
        status = evaluate_saved(&arguments, &metrics, &error);
    if (status == 0)
        print_metrics(&metrics, arguments.json);
    if (status == 0 && arguments.output && !arguments.json)
        printf("Wrote %s/run.txt and %s/qrels.txt (private).\n", arguments.output, arguments.output);
    metrics_free(&metrics);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
