/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char usage[] = "usage: dpframe list [--json] [--plugin-dir DIR]...\n"
                            "\n"
                            "Every component of every plugin on the search path, by role.\n";

/* "dpframe.loss/1" -> "loss" */
static const char *role_name(const char *role, char buffer[32])
{
    const char *dot = strchr(role, '.');
    snprintf(buffer, 32, "%s", dot ? dot + 1 : role);
    char *slash = strchr(buffer, '/');
    if (slash)
        *slash = '\0';
    return buffer;
}

static void print_text(struct registry *registry, int64_t n)
{
    const char *last = "";
    char name[32];
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (strcmp(last, entry->component->role) != 0)
            printf("%s%s\n", *last ? "\n" : "", role_name(entry->component->role, name));
        last = entry->component->role;
        printf("  %-18s %s\n", entry->component->id, entry->component->summary);
    }
}

static void print_json(struct registry *registry, int64_t n)
{
    json_t *array = json_array();
    char name[32];
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        const dpf_component *c = entry->component;
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "role",
                                               role_name(c->role, name), "id", c->id, "version", c->version,
                                               "summary", c->summary, "citation", c->citation, "plugin",
                                               entry->plugin->id, "path", entry->path));
    }
    json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
}

int command_list(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct registry *registry = NULL;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest)
        status = error_set(&error, DPF_FAULT_CONFIG, "list takes no argument \"%s\"", arguments.rest[0]);
    if (status == 0) {
        registry = registry_open(arguments.plugin_dirs, arguments.n_plugin_dirs, &error);
        int64_t n = registry ? registry_count(registry, &error) : -1;
        status = n < 0 ? -1 : 0;
        if (status == 0 && arguments.json)
            print_json(registry, n);
        else if (status == 0)
            print_text(registry, n);
    }
    registry_free(registry);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
