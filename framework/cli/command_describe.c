/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/sections.h"
#include "config/gone.h"
#include "config/renamed.h"

static const char usage[] =
    "usage: dpframe describe NAME|KEY|NAME.KEY [--format text|markdown|json] [--plugin-dir DIR]...\n"
    "       dpframe describe --format markdown        (everything: the reference pages)\n"
    "\n"
    "Parameters of a component (its id, or role:id where two roles share an id), or of a section of\n"
    "the configuration (run, data, split, model, parties, privacy, accountants, users, items, evaluate,\n"
    "sweep, select, federation, consent, audit). Of a key: its row in each of them that has it, or in that\n"
    "one alone.\n";

/* What is described: a section or a component. */
struct subject {
    const char *name, *summary, *citation, *role, *version, *path;
    const dpf_param *params;
    int64_t n, stride;
};

static const dpf_param *param_at(const struct subject *subject, int64_t i)
{
    return (const dpf_param *)(const void *)((const char *)subject->params + i * subject->stride);
}

static const char *type_name(int32_t type)
{
    static const char *const names[] = {"?",    "yes or no", "integer",          "number",         "one of",
                                        "text", "path",      "list of integers", "list of numbers"};
    return type >= 1 && type <= DPF_TYPE_REAL_LIST ? names[type] : names[0];
}

static int is_number(const dpf_param *p)
{
    return p->type == DPF_TYPE_INT || p->type == DPF_TYPE_REAL || p->type == DPF_TYPE_INT_LIST ||
           p->type == DPF_TYPE_REAL_LIST;
}

/* "0 < x <= 1", or "" where nothing is bounded. */
static const char *bounds_text(const dpf_param *p, char buffer[96])
{
    char lo[32], hi[32];
    buffer[0] = '\0';
    if (!is_number(p) || (isinf(p->lo) && isinf(p->hi)))
        return buffer;
    int n = 0;
    if (!isinf(p->lo))
        n = snprintf(buffer, 96, "%s %s ", text_from_real(p->lo, lo),
                     p->flags & DPF_PARAM_OPEN_LO ? "<" : "<=");
    n += snprintf(buffer + n, 96 - (size_t)n, "x");
    if (!isinf(p->hi))
        snprintf(buffer + n, 96 - (size_t)n, " %s %s",
                 p->flags & DPF_PARAM_OPEN_HI ? "<" : "<=", text_from_real(p->hi, hi));
    return buffer;
}

static char *default_text(const dpf_param *p)
{
    dpf_value value = {.type = p->type,
                       .integer = p->default_integer,
                       .real = p->default_real,
                       .text = p->default_text ? p->default_text : ""};
    if (p->type == DPF_TYPE_INT_LIST || p->type == DPF_TYPE_REAL_LIST) {
        struct text text = {0};
        text_add(&text, "%s", p->default_text ? p->default_text : "");
        return text.data;
    }
    return config_value_text(p, &value);
}

static void print_wrapped(const char *first, int indent, const char *body)
{
    struct text text = {0};
    terminal_wrap(&text, first, indent, body, terminal_width(STDOUT_FILENO));
    fputs(text.data ? text.data : body, stdout);
    text_free(&text);
}

static void print_head(const dpf_param *p, const char *bounds)
{
    struct text head = {0};
    text_add(&head, "%s (%s%s%s%s%s)%s", p->name, type_name(p->type), *p->unit ? ", " : "", p->unit,
             *bounds ? ", " : "", bounds, p->flags & DPF_PARAM_PRIVACY ? "  affects privacy" : "");
    putchar('\n');
    print_wrapped("  ", 6, head.data ? head.data : p->name);
    text_free(&head);
}

static void describe_text(const struct subject *s)
{
    char first[64];
    printf("%s%s%s\n", s->role, *s->role ? " " : "section ", s->name);
    print_wrapped("  ", 2, s->summary);
    if (*s->citation)
        print_wrapped("  Source: ", 4, s->citation);
    if (*s->path)
        printf("  Version %s, %s\n", s->version, s->path);
    for (int64_t i = 0; i < s->n; i++) {
        const dpf_param *p = param_at(s, i);
        char bounds[96], *value = default_text(p);
        bounds_text(p, bounds);
        print_head(p, bounds);
        print_wrapped("      ", 6, p->help);
        for (int64_t v = 0; v < p->n_values && p->type == DPF_TYPE_ENUM; v++) {
            snprintf(first, sizeof first, "        %-16s ", p->values[v].name);
            print_wrapped(first, 25, p->values[v].help);
        }
        if (p->flags & DPF_PARAM_REQUIRED)
            printf("      Required.\n");
        else
            printf("      Default: %s\n", value && *value ? value : "(empty)");
        free(value);
    }
    putchar('\n');
}

/* In a table '|' ends a cell. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
}

static void describe_markdown(const struct subject *s)
{
    printf("### %s%s`%s`\n\n%s.\n", s->role, *s->role ? " " : "", s->name, s->summary);
    if (*s->citation)
        printf("\nSource: %s\n", s->citation);
    if (s->n)
        printf("\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for (int64_t i = 0; i < s->n; i++) {
        const dpf_param *p = param_at(s, i);
        char bounds[96], *value = default_text(p);
        bounds_text(p, bounds);
        printf("| `%s`%s | %s%s%s%s%s | %s%s%s | ", p->name, p->flags & DPF_PARAM_PRIVACY ? " (privacy)" : "",
               type_name(p->type), *bounds ? ", " : "", bounds, *p->unit ? ", " : "", p->unit,
               value && *value ? "`" : "",
               p->flags & DPF_PARAM_REQUIRED ? "required"
               : value                       ? value
                                             : "",
               value && *value ? "`" : "");
        print_cell(p->help);
        for (int64_t v = 0; v < p->n_values && p->type == DPF_TYPE_ENUM; v++) {
            printf("%s `%s`: ", v ? ";" : "", p->values[v].name);
            print_cell(p->values[v].help);
        }
        printf(" |\n");
        free(value);
    }
    putchar('\n');
}

static json_t *param_json(const dpf_param *p)
{
    char *value = default_text(p);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:b, s:b, s:s, s:s}", "name", p->name, "type", type_name(p->type), "unit",
                  p->unit, "affects_privacy", (p->flags & DPF_PARAM_PRIVACY) != 0, "required",
                  (p->flags & DPF_PARAM_REQUIRED) != 0, "default", value ? value : "", "help", p->help);
    free(value);
    if (is_number(p)) {
        json_object_set_new(object, "minimum", isfinite(p->lo) ? json_real(p->lo) : json_null());
        json_object_set_new(object, "maximum", isfinite(p->hi) ? json_real(p->hi) : json_null());
        json_object_set_new(object, "minimum_open", json_boolean(p->flags & DPF_PARAM_OPEN_LO));
        json_object_set_new(object, "maximum_open", json_boolean(p->flags & DPF_PARAM_OPEN_HI));
    }
    if (p->type == DPF_TYPE_ENUM) {
        json_t *values = json_array();
        for (int64_t v = 0; v < p->n_values; v++)
            json_array_append_new(
                values, json_pack("{s:s, s:s}", "name", p->values[v].name, "help", p->values[v].help));
        json_object_set_new(object, "values", values);
    }
    return object;
}

static json_t *subject_json(const struct subject *s)
{
    json_t *params = json_array();
    for (int64_t i = 0; i < s->n; i++)
        json_array_append_new(params, param_json(param_at(s, i)));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "name", s->name, "role", s->role, "summary",
                     s->summary, "citation", s->citation, "version", s->version, "path", s->path,
                     "parameters", params);
}

/* ---- finding subjects --------------------------------------------------------------------------------- */

static struct subject section_subject(const char *name, const char *summary, const dpf_param *params,
                                      int64_t n)
{
    return (struct subject){.name = name,
                            .summary = summary,
                            .citation = "",
                            .role = "",
                            .version = "",
                            .path = "",
                            .params = params,
                            .n = n,
                            .stride = sizeof(dpf_param)};
}

static struct subject component_subject(const struct registry_entry *entry, char role[32])
{
    const dpf_component *c = entry->component;
    const char *dot = strchr(c->role, '.');
    snprintf(role, 32, "%s", dot ? dot + 1 : c->role);
    role[strcspn(role, "/")] = '\0';
    return (struct subject){.name = c->id,
                            .summary = c->summary,
                            .citation = c->citation,
                            .role = role,
                            .version = c->version,
                            .path = entry->path,
                            .params = c->params,
                            .n = c->n_params,
                            .stride = c->param_stride};
}

struct output {
    const char *format;
    json_t *json;    /* array, for json */
    const char *key; /* of what is shown this row alone; NULL: all */
    int found;
};

/* Narrows the subject to its row of that key; 0: it has none. */
static int only_key(const struct subject *subject, const char *key, struct subject *one)
{
    for (int64_t i = 0; i < subject->n; i++)
        if (strcmp(param_at(subject, i)->name, key) == 0) {
            *one = *subject;
            one->params = param_at(subject, i);
            one->n = 1;
            return 1;
        }
    return 0;
}

static void show(struct output *output, const struct subject *subject)
{
    struct subject one;
    if (output->key && !only_key(subject, output->key, &one))
        return;
    subject = output->key ? &one : subject;
    output->found++;
    if (output->json)
        json_array_append_new(output->json, subject_json(subject));
    else if (strcmp(output->format, "markdown") == 0)
        describe_markdown(subject);
    else
        describe_text(subject);
}

static void show_sections(struct output *output, const char *name)
{
    int64_t n;
    const struct schema_section *sections = schema_sections(&n);
    for (int64_t i = 0; i < n; i++) {
        if (name && strcmp(name, sections[i].name) != 0)
            continue;
        int64_t count;
        const dpf_param *params = sections[i].params(&count);
        struct subject subject = section_subject(sections[i].name, sections[i].summary, params, count);
        show(output, &subject);
        if (name && (strcmp(name, "users") == 0 || strcmp(name, "items") == 0)) {
            params = schema_term(&count);
            subject = section_subject(name, "keys of its term; with several terms they are in [SIDE.TERM]",
                                      params, count);
            show(output, &subject);
        }
    }
    int n_more;
    const struct section *more = sections_of_use_cases(&n_more);
    for (int i = 0; i < n_more; i++) {
        if (name && strcmp(name, more[i].name) != 0)
            continue;
        int64_t count;
        const dpf_param *params = more[i].params(&count);
        struct subject subject = section_subject(more[i].name, more[i].summary, params, count);
        show(output, &subject);
    }
}

static int show_components(struct output *output, struct registry *registry, const char *name,
                           struct dpf_error *error)
{
    for (int64_t i = 0; i < registry_count(registry); i++) {
        const char *id = registry_id_at(registry, i), *behind = name ? strchr(name, ':') : NULL;
        char role[32], full[160];
        if (name && !output->key && strcmp(id, name) != 0 && (!behind || strcmp(id, behind + 1) != 0))
            continue;
        const struct registry_entry *entry = registry_at(registry, i, error);
        if (!entry)
            return -1;
        struct subject subject = component_subject(entry, role);
        snprintf(full, sizeof full, "%s:%s", role, subject.name);
        if (!name || strcmp(name, subject.name) == 0 || strcmp(name, full) == 0 ||
            (output->key && strcmp(name, role) == 0))
            show(output, &subject);
    }
    return 0;
}

static int unknown_name(struct registry *registry, const char *name, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    const char *names[512], *behind = strchr(name, ':');
    int64_t n_sections, known = 0;
    int n_more;
    const char *id = behind ? behind + 1 : name, *instead = gone_component(id), *now = renamed_component(id);
    if (now)
        return error_set(error, DPF_FAULT_CONFIG, "\"%s\" is now called \"%s\"", text_show(name, shown), now);
    if (instead)
        return error_set(error, DPF_FAULT_CONFIG, "\"%s\" is gone: %s", text_show(name, shown), instead);
    const struct schema_section *sections = schema_sections(&n_sections);
    const struct section *more = sections_of_use_cases(&n_more);
    for (int64_t i = 0; i < n_sections && known < 100; i++)
        names[known++] = sections[i].name;
    for (int i = 0; i < n_more && known < 200; i++)
        names[known++] = more[i].name;
    for (int64_t i = 0; i < registry_count(registry) && known < 512; i++)
        names[known++] = registry_id_at(registry, i);
    const char *nearest = text_nearest(name, names, known);
    return error_set(error, DPF_FAULT_CONFIG, "nothing is called \"%s\"%s%s%s: see dpframe list",
                     text_show(name, shown), nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

/*
 * A key by its name alone is shown of all sections and components that have it; SECTION.KEY, ID.KEY or the full name of a line
 * ("items.mechanism.epsilon") of those whose name or role stands before it. Keys may hold dots.
 */
static int show_keys(struct output *output, struct registry *registry, const char *name,
                     struct dpf_error *error)
{
    output->key = name;
    show_sections(output, NULL);
    int status = show_components(output, registry, NULL, error);
    for (const char *dot = strchr(name, '.'); dot && status == 0 && !output->found;
         dot = strchr(dot + 1, '.')) {
        char *before = memory_format("%.*s", (int)(dot - name), name);
        const char *last = strrchr(before, '.');
        output->key = dot + 1;
        show_sections(output, before);
        status = show_components(output, registry, last ? last + 1 : before, error);
        free(before);
    }
    output->key = NULL;
    return status;
}

int command_describe(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct registry *registry = NULL;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 1)
        return 0;
    struct output output = {.format = arguments.format};
    const char *name = arguments.n_rest ? arguments.rest[0] : NULL;
    if (status == 0 && strcmp(output.format, "text") != 0 && strcmp(output.format, "markdown") != 0 &&
        strcmp(output.format, "json") != 0)
        status =
            error_set(&error, DPF_FAULT_CONFIG, "--format %s: must be text, markdown or json", output.format);
    if (status == 0 && (arguments.n_rest > 1 || (!name && strcmp(output.format, "text") == 0)))
        status = error_set(&error, DPF_FAULT_CONFIG, "describe takes one name: see dpframe list");
    if (status == 0) {
        registry = registry_open(arguments.plugin_dirs, arguments.n_plugin_dirs, &error);
        status = registry ? 0 : -1;
    }
    if (status == 0 && arguments.json)
        output.json = json_array();
    if (status == 0) {
        show_sections(&output, name);
        status = show_components(&output, registry, name, &error);
    }
    if (status == 0 && name && !output.found)
        status = show_keys(&output, registry, name, &error);
    if (status == 0 && !output.found)
        status = unknown_name(registry, name, &error);
    if (status == 0 && output.json) {
        const json_t *shown = name && output.found == 1 ? json_array_get(output.json, 0) : output.json;
        json_dumpf(shown, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    json_decref(output.json);
    registry_free(registry);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
