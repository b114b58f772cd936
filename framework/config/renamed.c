/* SPDX-License-Identifier: Apache-2.0 */
#include "config/renamed.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "config/config_line.h"
#include "config/config_store.h"
#include "config/gone.h"
#include "config/moved_keys.h"

static const struct renamed table[] = {
    {"privacy", "support", NULL, "interaction-pattern"},
    {"run", "finish", NULL, "final-step"},
    {"users", "site", NULL, "solve-at"},
    {"items", "site", NULL, "solve-at"},
    {"users*", "participations", NULL, "max-participations"},
    {"items*", "participations", NULL, "max-participations"},
    {"users*", "messages", NULL, "send"},
    {"items*", "messages", NULL, "send"},
    {"users*", "bounds", "data", "empirical"},
    {"items*", "bounds", "data", "empirical"},
    {"data.*-features", "format", "csv", "table"},
    {"data.*-features", "format", "tsv", "table"},
    {"users*", "mechanism", "laplace-symmetric", "laplace"},
    {"items*", "mechanism", "laplace-symmetric", "laplace"},
};

const struct renamed *renamed_find(const char *section, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct renamed *r = &table[i];
        if (strcmp(r->key, key) == 0 && fnmatch(r->section, section, 0) == 0 && !r->value == !value &&
            (!value || strcmp(r->value, value) == 0))
            return r;
    }
    return NULL;
}

const char *renamed_component(const char *id)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].value && fnmatch("users*", table[i].section, 0) == 0 && strcmp(table[i].value, id) == 0)
            return table[i].new_name;
    return NULL;
}

int renamed_refuse(const struct config_entry *entry, struct dpf_error *error)
{
    const struct renamed *r = renamed_find(entry->section, entry->key, NULL);
    if (!r)
        return 0;
    return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                    "\"%s\" in [%s] is now called \"%s\"; \"dpframe convert\" rewrites a file", entry->key,
                    entry->section, r->new_name);
}

/* Keys may hold dots: [data] relation.path is [data.relation] path. full is changed. */
static const struct renamed *find_full(char *full, const char *value)
{
    char *dot = strrchr(full, '.');
    if (!dot)
        return NULL;
    *dot = '\0';
    return renamed_find(full, dot + 1, value);
}

struct converter {
    const struct config *config;
    const char *file;
    long number; /* of the line */
    struct text *out;
    long changes;
    struct moved_keys moves;
};

static const struct renamed *find_name(const char *name, size_t length, const char *value)
{
    char full[CONFIG_FULL_MAX];
    if (length >= sizeof full)
        return NULL;
    memcpy(full, name, length);
    full[length] = '\0';
    return find_full(full, value);
}

static int is_name_byte(char c)
{
    return c &&
           (strchr("-_.", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

/* A part of the text as it is. */
static void copy(struct converter *converter, const char *text, size_t length)
{
    text_add(converter->out, "%.*s", (int)length, text);
}

/* The value of the key name, up to one of the bytes in ends. Returns what is left of the text. */
static const char *convert_value(struct converter *converter, const char *name, size_t length,
                                 const char *text, const char *ends)
{
    char value[CONFIG_NAME_MAX + 1];
    size_t n = 0;
    while (is_name_byte(text[n]))
        n++;
    if (n == 0 || n >= sizeof value || (text[n] && !strchr(ends, text[n])))
        return text;
    memcpy(value, text, n);
    value[n] = '\0';
    const struct renamed *r = find_name(name, length, value);
    if (!r)
        return text;
    text_add(converter->out, "%s", r->new_name);
    converter->changes++;
    return text + n;
}

/* A line of [sweep]: "privacy.support" wherever it stands. */
static void convert_names(struct converter *converter, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (is_name_byte(text[n]))
            n++;
        const struct renamed *r = n > 0 ? find_name(text, n, NULL) : NULL;
        if (r) {
            copy(converter, text, n - strlen(r->key));
            text_add(converter->out, "%s", r->new_name);
            converter->changes++;
        } else {
            copy(converter, text, n > 0 ? n : 1);
        }
        const char *name = text;
        text += n > 0 ? n : 1;
        if (n > 0 && *text == '=') {
            copy(converter, "=", 1);
            text = convert_value(converter, name, n, text + 1, " \t,;");
        }
    }
    copy(converter, text, strlen(text));
}

/* The key `name` begins at `key` within the line. */
static void convert_key(struct converter *converter, const char *section, const char *line, const char *key,
                        const char *name)
{
    char full[CONFIG_FULL_MAX];
    const char *after = key + strlen(name);
    if (!config_full_name(section, name, full)) {
        copy(converter, line, strlen(line));
        return;
    }
    const size_t length = strlen(full);
    const struct renamed *r = find_name(full, length, NULL);
    if (r) {
        copy(converter, line, (size_t)(after - line) - strlen(r->key));
        text_add(converter->out, "%s", r->new_name);
        converter->changes++;
    } else {
        copy(converter, line, (size_t)(after - line));
    }
    const char *value = strchr(after, '=') + 1;
    value += strspn(value, " \t");
    copy(converter, after, (size_t)(value - after));
    value = convert_value(converter, full, length, value, " \t");
    copy(converter, value, strlen(value));
}

/* Whether the line says what holds always now, or moves. One that says something else stays: what to do is for its author to
   decide. */
static int is_void(const struct converter *converter, const char *section, const char *key, char *after)
{
    struct dpf_error why = {0};
    char *value = line_trim(after);
    for (char *mark = value; *mark; mark++)
        if ((*mark == ';' || *mark == '#') && (mark == value || mark[-1] == ' ' || mark[-1] == '\t'))
            *mark-- = '\0';
    const struct config_entry entry = {section, key, line_trim(value), converter->file, converter->number};
    const char *instead = gone_component_named(&entry);
    if (instead)
        log_message(LOG_LEVEL_WARNING, "%s:%ld: the %s \"%s\" is gone: %s. The line stays", converter->file,
                    converter->number, key, entry.value, instead);
    if (moved_has(&converter->moves, converter->number))
        return 1;
    const int gone = gone_check(converter->config, &entry, &why);
    if (gone < 0)
        log_message(LOG_LEVEL_WARNING, "%s. The line stays", why.text);
    return gone > 0;
}

/* Lines that are neither header nor key are copied: the program says what is wrong when the file is used. Returns 0 for a line
   that goes, 2 for a header. */
static int convert_line(struct converter *converter, const char *line, char section[CONFIG_FULL_MAX])
{
    struct dpf_error ignored = {0};
    char *parts = memory_text(line);
    char *start = line_trim(parts), *equals = strchr(start, '=');
    const char *key = line + (start - parts);
    const char *header =
        *start == '[' ? line_section(start, converter->file, converter->number, &ignored) : NULL;
    const int is_key = *start != '[' && !line_is_blank(start) && equals;
    if (header)
        snprintf(section, CONFIG_FULL_MAX, "%s", header);
    if (is_key)
        *equals = '\0';
    const int goes = is_key && is_void(converter, section, line_trim(start), equals + 1);
    if (goes)
        converter->changes++;
    else if (is_key && strcmp(section, "sweep") == 0)
        convert_names(converter, line);
    else if (is_key)
        convert_key(converter, section, line, key, line_trim(start));
    else
        copy(converter, line, strlen(line));
    free(parts);
    return goes ? 0 : header ? 2 : 1;
}

long renamed_convert(FILE *in, const char *file, const struct config *config, struct text *out,
                     struct dpf_error *error)
{
    struct converter converter = {.config = config, .file = file, .out = out};
    char section[CONFIG_FULL_MAX] = "", *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    int status = 0;
    moved_find(&converter.moves, config, file);
    for (long number = 1; status == 0 && (n = getline(&line, &capacity, in)) >= 0; number++) {
        const size_t bare = strcspn(line, "\r\n"), end = (size_t)n - bare;
        char ending[3] = "";
        if (bare + strspn(line + bare, "\r\n") != (size_t)n || end > 2) {
            status = error_at(error, DPF_FAULT_CONFIG, file, number,
                              "the line contains a control byte: configurations are plain text");
            break;
        }
        memcpy(ending, line + bare, end);
        line[bare] = '\0';
        converter.number = number;
        const int kept = convert_line(&converter, line, section);
        if (kept)
            text_add(out, "%s", ending);
        if (kept == 2)
            moved_write(&converter.moves, section, out);
    }
    moved_write(&converter.moves, NULL, out);
    moved_free(&converter.moves);
    if (status == 0 && ferror(in))
        status = error_set(error, DPF_FAULT_CONFIG, "cannot read %s: %s", file, strerror(errno));
    free(line);
    return status != 0 ? -1 : converter.changes;
}
