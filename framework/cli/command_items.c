/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/catalogue_items.h"

static const char usage[] =
    "usage: dpframe items RUN [-n N] [--scores] [--output FILE] [--format FORM] [--json]\n"
    "\n"
    "The N items (all without it) that a released recommender ranks first for somebody of whom\n"
    "nothing is known, an id on each line: a catalogue for [data] items-file. RUN is usually one of\n"
    "private-popularity, whose noisy counts then choose the items of a factorization. It reads\n"
    "release/ alone, so the list is as public as that release and costs nothing more; a run on the\n"
    "same records that uses it is a second release. Name one [privacy] ledger in both: it adds them up.\n"
    "It warns where nothing is proved of the run. With --json, an error is one line of JSON.\n"
    "\n"
    "  --scores           a table with columns item and score instead, for [data] item-features\n"
    "  --format FORM      csv, tsv or jsonl, or an --output of such a name: a table with the items'\n"
    "                     names\n";

int command_items(int argc, char **argv)
{
    return command_on(argc, argv, usage, 1, "the directory of one run", catalogue_items);
}
