/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "plugin/new_plugin.h"

static const char usage[] =
    "usage: dpframe new-plugin ROLE NAME [DIRECTORY]\n"
    "\n"
    "Writes a plugin that builds, passes dpframe-check and trains: source, CMake project, example\n"
    "and tests. ROLE is mechanism, loss, sampler, accountant or transform; NAME is the component's\n"
    "id in configurations, such as acme-noise; DIRECTORY is NAME where none is given.\n";

int command_new_plugin(int argc, char **argv)
{
    struct arguments arguments;
    struct dpf_error error = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    const char *const *rest = arguments.rest;
    if (status == 0 && (arguments.n_rest < 2 || arguments.n_rest > 3))
        status = error_set(&error, DPF_FAULT_CONFIG,
                           "give a role and a name: dpframe new-plugin mechanism acme-noise");
    const char *directory = status == 0 && arguments.n_rest == 3 ? rest[2] : rest[1];
    if (status == 0)
        status = new_plugin_write(rest[0], rest[1], directory, &error);
    if (status == 0 && !arguments.quiet)
        printf("wrote %s: %s %s that builds, passes dpframe-check and trains\n"
               "next: cmake -B %s/build -S %s && cmake --build %s/build && ctest --test-dir %s/build\n",
               directory, strchr("aeiou", rest[0][0]) ? "an" : "a", rest[0], directory, directory, directory,
               directory);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
