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

static int similar(const struct arguments *arguments, struct dpf_error *error)
{
    return arguments->item ? similar_items(arguments, error)
                           : error_set(error, DPF_FAULT_CONFIG, "give --item ID (see --help)");
}

int command_similar(int argc, char **argv)
{
    return command_on(argc, argv, usage, 1, "the directory of one run, and the item as --item ID", similar);
}
