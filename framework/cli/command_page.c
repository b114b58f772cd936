/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/page_file.h"

static const char usage[] =
    "usage: dpframe page RUN [--output FILE] [--json]\n"
    "\n"
    "Writes one HTML file that holds the released model of a recommender and its items: whoever opens\n"
    "it in a browser searches items, rates some, and sees the list at once. The list is computed\n"
    "there; the page may load and send nothing (its content security policy says so), and what is\n"
    "rated is gone when it is closed. It reads release/ of the run and, for home terms, the public\n"
    "item-features, so that it is as public as the release. With --json, an error is one line of JSON.\n"
    "\n"
    "  --output FILE      where to write it; without it, RUN/release/page.html. The name is printed\n";

int command_page(int argc, char **argv)
{
    return command_on(argc, argv, usage, 1, "the directory of one run", page_file_write);
}
