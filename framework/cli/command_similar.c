/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/similar_items.h"

static const char usage[] =
    "usage: dpframe similar RUN --item ID [-n N] [--output FILE] [--format FORM] [--json]\n"
    "\n"
    "The N items (default 10) that are most similar to the item, from the directory of a run. Of a\n"
    "factorization: those whose factors point most nearly in the direction of the item's (cosine, biases\n"
    "left out): item, similar, its name if [data] item-names gave it one, rank, cosine. Of a recommender: "
    "those with the highest scores for\n"
    "somebody who has the item and nothing else, or whose predicted ratings rise most by the highest\n"
    "rating of it; the last column is weight. The output is as private as\n"
    "the factors or the state that it comes from; run.json says which files are released.\n"
    "With --json, an error is one line of JSON.\n"
    "\n"
    "  --format FORM      text, csv, tsv or jsonl (a JSON object a line). Without it the name of FILE says:\n"
    "                     .txt, .csv, .tsv, .jsonl, each also with .gz; else csv, on a terminal text\n";

int command_similar(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && (arguments.n_rest != 1 || !arguments.item))
        status =
            error_set(&error, DPF_FAULT_CONFIG, "name the directory of one run, and --item ID (see --help)");
    if (status == 0)
        status = similar_items(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
