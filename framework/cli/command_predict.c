/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "saved/predict_pairs.h"

static const char usage[] =
    "usage: dpframe predict RUN PAIRS [--output FILE] [--json]\n"
    "\n"
    "Predictions of the model in the directory of a run for the pairs of a file: a user and an item in\n"
    "its first two columns (or in those that a header names), separated as [data] of the run says. CSV,\n"
    "in the order of the file: user,item,prediction; empty where the model does not know the user or the\n"
    "item. Ratings are clipped to the declared range. What it writes is private: it is computed from\n"
    "users' own factors and records. With --json, an error is one line of JSON.\n";

int command_predict(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 2)
        status = error_set(&error, DPF_FAULT_CONFIG,
                           "name the directory of one run and a file of pairs (see --help)");
    if (status == 0)
        status = predict_pairs(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
