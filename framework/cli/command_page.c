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
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 1)
        status = error_set(&error, DPF_FAULT_CONFIG, "name the directory of one run (see --help)");
    if (status == 0)
        status = page_file_write(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
