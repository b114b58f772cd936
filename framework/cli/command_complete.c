/* SPDX-License-Identifier: Apache-2.0 */
/* Words for the completion of shells; see completion/. It says nothing where anything is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/sections.h"
#include "plugin/role_tables.h"

static const char usage[] =
    "usage: dpframe complete commands|roles|components|sections|keys [CONFIG]\n"
    "       dpframe complete options COMMAND\n"
    "\n"
    "Prints words, one a line, for the completion of shells: commands; roles; ids of\n"
    "components; sections; keys, as section.key=, those of the components that CONFIG\n"
    "names too; the options that the help of COMMAND has.\n";

static void print_commands(void)
{
    for (const struct command *command = command_table; command->name; command++)
        if (command->run != command_complete)
            puts(command->name);
}

static void print_roles(void)
{
    for (int i = 0; i < N_ROLES; i++)
        puts(role_table[i].name);
}

static void print_keys_of(const char *section, const dpf_param *table, int64_t n, int64_t stride)
{
    for (int64_t i = 0; i < n; i++)
        printf("%s.%s=\n", section,
               ((const dpf_param *)(const void *)((const char *)table + i * stride))->name);
}

static void print_table(const char *section, const dpf_param *(*params)(int64_t *n))
{
    int64_t n;
    const dpf_param *table = params(&n);
    print_keys_of(section, table, n, sizeof *table);
}

/* Sections of the schema: their names, or their keys. */
static void print_schema(int keys)
{
    int n_more;
    const struct section *more = sections_of_use_cases(&n_more);
    int64_t n;
    const struct schema_section *sections = schema_sections(&n);
    for (int64_t i = 0; i < n; i++) {
        if (strchr(sections[i].name, '.')) /* users.TERM */
            continue;
        if (!keys)
            puts(sections[i].name);
        else
            print_table(sections[i].name, sections[i].params);
    }
    for (int i = 0; i < n_more; i++) {
        if (!keys)
            puts(more[i].name);
        else
            print_table(more[i].name, more[i].params);
    }
    if (keys) {
        print_table("users", schema_term);
        print_table("items", schema_term);
    }
}

static void print_components(const struct arguments *arguments)
{
    struct dpf_error ignored = {0};
    struct registry *registry = registry_open(arguments->plugin_dirs, arguments->n_plugin_dirs, &ignored);
    const int64_t n = registry ? registry_count(registry) : 0;
    for (int64_t i = 0; i < n; i++)
        puts(registry_id_at(registry, i));
    registry_free(registry);
}

static void print_instance(struct instance *instance, void *context)
{
    const dpf_component *component = instance->entry->component;
    (void)context;
    print_keys_of(instance->values.section, component->params, component->n_params, component->param_stride);
}

/* Keys of the components that a configuration names. */
static void print_configured(struct arguments *arguments, const char *path)
{
    struct dpf_error ignored = {0};
    struct session session = {0};
    arguments->config = path;
    arguments->without_data = 1;
    if (session_open(&session, arguments, 0, &ignored) == 0)
        plan_visit(&session.plan, print_instance, NULL);
    session_close(&session);
}

/* Those of its help, so that none is forgotten. */
static void print_options_of(const char *name)
{
    const struct command *command = command_named(name);
    char *words[] = {memory_text(name), memory_text("--help"), NULL};
    arguments_print_options(1);
    if (command)
        command->run(2, words);
    arguments_print_options(0);
    free(words[0]);
    free(words[1]);
}

static void print_words(struct arguments *arguments)
{
    const char *what = arguments->rest[0];
    if (strcmp(what, "commands") == 0)
        print_commands();
    else if (strcmp(what, "roles") == 0)
        print_roles();
    else if (strcmp(what, "sections") == 0)
        print_schema(0);
    else if (strcmp(what, "components") == 0)
        print_components(arguments);
    else if (strcmp(what, "keys") == 0)
        print_schema(1);
    if (strcmp(what, "keys") == 0 && arguments->n_rest > 1)
        print_configured(arguments, arguments->rest[1]);
    if (strcmp(what, "options") == 0 && arguments->n_rest > 1)
        print_options_of(arguments->rest[1]);
}

int command_complete(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    log_set_level(LOG_LEVEL_NONE);
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest)
        print_words(&arguments);
    arguments_free(&arguments);
    return 0;
}
