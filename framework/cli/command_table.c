/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/command.h"

const struct command command_table[] = {
    {"run", command_run},
    {"train", command_run},
    {"check", command_check},
    {"account", command_account},
    {"audit", command_audit},
    {"start", command_start},
    {"recommend", command_recommend},
    {"predict", command_predict},
    {"similar", command_similar},
    {"evaluate", command_evaluate},
    {"report", command_report},
    {"diff", command_diff},
    {"compare", command_compare},
    {"convert", command_convert},
    {"list", command_list},
    {"describe", command_describe},
    {"generate", command_generate},
    {"new-plugin", command_new_plugin},
    {"sweep", command_sweep},
    {"items", command_items},
    {"page", command_page},
    {"serve", command_serve},
    {"join", command_join},
    {"complete", command_complete},
    {NULL, NULL},
};

const struct command *command_named(const char *name)
{
    for (const struct command *command = command_table; command->name; command++)
        if (strcmp(name, command->name) == 0)
            return command;
    return NULL;
}
