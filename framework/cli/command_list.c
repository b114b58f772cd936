/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "plugin/role_tables.h"

static const char usage[] =
    "usage: dpframe list [ROLE] [--json] [--plugin-dir DIR]...\n"
    "\n"
    "Every component of every plugin on the search path, by role; of one role alone:\n"
    "loss, sampler, transform, mechanism, aggregator, solver, accountant, recommender, link,\n"
    "comm.\n";

/* The components of a role, or all. NULL on error. Free it. */
static const struct registry_entry **entries_of(struct registry *registry, const char *role, int64_t *n,
                                                struct dpf_error *error)
{
    const struct registry_entry **entries = memory_new((size_t)registry_count(registry) + 1, sizeof *entries);
    *n = 0;
    if (!entries)
        error_memory(error);
    for (int64_t i = 0; entries && i < registry_count(registry); i++) {
        if (role && strcmp(role_name(registry_role_at(registry, i)), role) != 0)
            continue;
        if (!(entries[*n] = registry_at(registry, i, error))) {
            free(entries);
            return NULL;
        }
        (*n)++;
    }
    return entries;
}

static void print_text(const struct registry_entry **entries, int64_t n)
{
    const char *last = "";
    char first[64];
    const int width = terminal_width(STDOUT_FILENO);
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = entries[i];
        struct text text = {0};
        if (strcmp(last, entry->component->role) != 0)
            printf("%s%s\n", *last ? "\n" : "", role_name(entry->component->role));
        last = entry->component->role;
        snprintf(first, sizeof first, "  %-18s ", entry->component->id);
        terminal_wrap(&text, first, 21, entry->component->summary, width);
        fputs(text.data ? text.data : first, stdout);
        text_free(&text);
    }
}

static void print_json(const struct registry_entry **entries, int64_t n)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = entries[i];
        const dpf_component *c = entry->component;
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "role", role_name(c->role),
                                        "id", c->id, "version", c->version, "summary", c->summary, "citation",
                                        c->citation, "plugin", entry->plugin->id, "path", entry->path));
    }
    json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
}

static int check_role(const char *role, struct dpf_error *error)
{
    const char *names[N_ROLES];
    char shown[TEXT_SHOWN];
    for (int i = 0; i < N_ROLES; i++) {
        names[i] = role_table[i].name;
        if (strcmp(names[i], role) == 0)
            return 0;
    }
    const char *nearest = text_nearest(role, names, N_ROLES);
    return error_set(error, DPF_FAULT_CONFIG, "\"%s\" is not a role%s%s%s: see dpframe list --help",
                     text_show(role, shown), nearest ? "; did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "");
}

int command_list(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct registry *registry = NULL;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    const char *role = arguments.n_rest ? arguments.rest[0] : NULL;
    if (status == 0 && arguments.n_rest > 1)
        status =
            error_set(&error, DPF_FAULT_CONFIG, "list takes one role, not \"%s\" as well", arguments.rest[1]);
    if (status == 0 && role)
        status = check_role(role, &error);
    if (status == 0) {
        registry = registry_open(arguments.plugin_dirs, arguments.n_plugin_dirs, &error);
        int64_t n = 0;
        const struct registry_entry **entries = registry ? entries_of(registry, role, &n, &error) : NULL;
        status = entries ? 0 : -1;
        if (entries && arguments.json)
            print_json(entries, n);
        else if (entries)
            print_text(entries, n);
        free(entries);
    }
    registry_free(registry);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
