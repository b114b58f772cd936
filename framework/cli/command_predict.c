/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/predict_pairs.h"

static const char usage[] =
    "usage: dpframe predict RUN PAIRS [--output FILE] [--format FORM] [--json]\n"
    "\n"
    "Predictions of the model in the directory of a run for the pairs of a file: a user and an item in\n"
    "its first two columns (or in those that a header names), separated as [data] of the run says. In the\n"
    "order of the file: user, item, its name if [data] item-names gave it one, and prediction, which is\n"
    "empty where the model does not know the user or the item. Ratings are clipped to the declared range. "
    "What it writes is private: it is computed from\n"
    "users' own factors and records. With --json, an error is one line of JSON.\n"
    "\n"
    "  --format FORM      text, csv, tsv or jsonl (a JSON object a line). Without it the name of FILE says:\n"
    "                     .txt, .csv, .tsv, .jsonl, each also with .gz; else csv, on a terminal text\n";

int command_predict(int argc, char **argv)
{
    return command_on(argc, argv, usage, 2, "the directory of one run and a file of pairs", predict_pairs);
}
