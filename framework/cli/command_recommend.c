/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/recommend_lists.h"

static const char usage[] =
    "usage: dpframe recommend RUN --user ID [-n N] [--output FILE] [--format FORM] [--json]\n"
    "       dpframe recommend RUN --all --output FILE [-n N] [--format FORM]\n"
    "\n"
    "The N items (default 10) with the highest scores among those that the user has no record\n"
    "of, in the training or the test part, from the model in the directory of a run: user, item, its\n"
    "name if [data] item-names gave it one, rank, score and audience. FILE \"-\" is standard output. With "
    "--json, an error is one\n"
    "line of JSON.\n"
    "\n"
    "A list is private, and every line says so: \"own user only\". It is computed from that user's\n"
    "own factors and records. Joint differential privacy covers a list that its own user alone\n"
    "sees, never lists that are shown to others or published.\n"
    "\n"
    "  --data FILE        for these records, read as [data] of the run says, in place of those that\n"
    "                     it was trained on: new users, or more records of the same ones. Users'\n"
    "                     factors are solved at home for the items' saved ones; nothing is trained\n"
    "  --candidates FILE  among these items alone, one id a line; plain or gzipped. Without it, items\n"
    "                     are left out whose released count is too low to tell anything\n"
    "  --exclude FILE     without these items, one id a line\n"
    "  --format FORM      text, csv, tsv or jsonl (a JSON object a line). Without it the name of FILE says:\n"
    "                     .txt, .csv, .tsv, .jsonl, each also with .gz; else csv, on a terminal text\n";

static int recommend(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments->config || arguments->n_overrides)
        return error_set(error, DPF_FAULT_CONFIG,
                         "recommend takes no configuration: that of the run is used as it is (see --help)");
    if (!arguments->all == !arguments->user)
        return error_set(error, DPF_FAULT_CONFIG, "give either --user ID or --all");
    if (arguments->all && !arguments->output)
        return error_set(error, DPF_FAULT_CONFIG, "--all needs --output FILE (\"-\" is standard output)");
    return recommend_lists(arguments, error);
}

int command_recommend(int argc, char **argv)
{
    return command_on(argc, argv, usage, 1, "the directory of one run", recommend);
}
