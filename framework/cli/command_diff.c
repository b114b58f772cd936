/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "config/config_diff.h"
#include "plan/plan_make.h"

static const char usage[] =
    "usage: dpframe diff A.ini B.ini [-o section.key=value]... [--json]\n"
    "\n"
    "Shows what differs between two configurations after they are resolved, defaults\n"
    "included. Keys that affect the guarantee come first. Overrides go to both.\n";

static int resolve(const struct arguments *arguments, const char *path, json_t **resolved,
                   json_t *privacy_keys, struct dpf_error *error)
{
    struct arguments *own = memory_new(1, sizeof *own);
    struct session session = {0};
    if (!own)
        return error_memory(error);
    *own = *arguments;
    own->config = path;
    own->without_data = 1;
    int status = session_open(&session, own, 0, error);
    if (status == 0)
        status = plan_check_read(&session.plan, error);
    if (status == 0) {
        json_t *keys = plan_privacy_keys(&session.plan);
        *resolved = plan_resolved(&session.plan);
        json_object_update(privacy_keys, keys);
        json_decref(keys);
    }
    session_close(&session);
    free(own);
    return status;
}

static const char *shown(const char *value)
{
    return !value ? "(not there)" : *value ? value : "(empty)";
}

static void print_part(const struct config_differences *differences, int affects_privacy, const char *title)
{
    int n = 0;
    for (size_t i = 0; i < differences->n; i++) {
        const struct config_difference *d = &differences->items[i];
        if (d->affects_privacy != affects_privacy)
            continue;
        if (n++ == 0)
            printf("%s\n", title);
        struct text line = {0};
        char *words = memory_format("%s: %s -> %s", d->key, shown(d->a), shown(d->b));
        terminal_wrap(&line, "  ", 6, words, terminal_width(STDOUT_FILENO));
        fputs(line.data ? line.data : d->key, stdout);
        text_free(&line);
        free(words);
    }
}

static void print_json(const struct config_differences *differences)
{
    json_t *array = json_array();
    for (size_t i = 0; i < differences->n; i++) {
        const struct config_difference *d = &differences->items[i];
        json_array_append_new(array, json_pack("{s:s, s:s?, s:s?, s:b}", "key", d->key, "a", d->a, "b", d->b,
                                               "affects_privacy", d->affects_privacy));
    }
    json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
}

static int compare(const struct arguments *arguments, struct dpf_error *error)
{
    json_t *a = NULL, *b = NULL, *keys = json_object();
    struct config_differences differences = {0};
    int status = resolve(arguments, arguments->rest[0], &a, keys, error);
    if (status == 0)
        status = resolve(arguments, arguments->rest[1], &b, keys, error);
    if (status == 0)
        config_diff(a, b, keys, &differences);
    if (status == 0 && arguments->json) {
        print_json(&differences);
    } else if (status == 0) {
        print_part(&differences, 1, "affects the guarantee:");
        print_part(&differences, 0, "does not:");
        if (!differences.n)
            puts("no difference");
    }
    config_diff_free(&differences);
    json_decref(a);
    json_decref(b);
    json_decref(keys);
    return status;
}

int command_diff(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && (arguments.n_rest != 2 || arguments.config))
        status = error_set(&error, DPF_FAULT_CONFIG, "name two configurations (see --help)");
    if (status == 0)
        status = compare(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
