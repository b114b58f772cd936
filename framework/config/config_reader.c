/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_reader.h"

#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config_line.h"

/*
 * Distributions build inih with its switches as variables; upstream has them at compile time. They are
 * set where they exist. Without them a line may be too long for inih, or a comment stay in a value: both are
 * refused, so nothing is misread.
 */
extern int ini_max_line __attribute__((weak));
extern bool ini_allow_inline_comments __attribute__((weak));
extern bool ini_allow_no_value __attribute__((weak));
extern bool ini_stop_on_first_error __attribute__((weak));

static void set_switches(void)
{
    if (&ini_max_line)
        ini_max_line = CONFIG_LINE_MAX + 3;
    if (&ini_allow_inline_comments)
        ini_allow_inline_comments = true;
    if (&ini_allow_no_value)
        ini_allow_no_value = false;
    if (&ini_stop_on_first_error)
        ini_stop_on_first_error = true;
}

struct reader {
    struct config *config;
    struct config_source *source;
    struct dpf_error *error;
    const char *text; /* what is left */
    size_t length;
    long number; /* of the current line */
    char bytes[CONFIG_LINE_MAX + 1];
    char *line; /* the current one, within bytes, without blanks at its ends */
    char section[CONFIG_NAME_MAX + 1];
    int waiting; /* inih has a line that must be a key, and has not yet reported it */
};

/* The next line into reader->line; 0 at the end, or with an error. */
static int next_line(struct reader *reader)
{
    if (reader->length == 0 || reader->error->fault)
        return 0;
    const char *end = memchr(reader->text, '\n', reader->length);
    size_t whole = end ? (size_t)(end - reader->text) : reader->length;
    const char *start = reader->text;
    reader->number++;
    reader->text += whole + (end != NULL);
    reader->length -= whole + (end != NULL);
    const size_t length = whole > 0 && start[whole - 1] == '\r' ? whole - 1 : whole;
    if (length > CONFIG_LINE_MAX) {
        error_at(reader->error, DPF_FAULT_CONFIG, reader->source->file, reader->number,
                 "the line is too long: %zu bytes, limit %d", length, CONFIG_LINE_MAX);
        return 0;
    }
    memcpy(reader->bytes, start, length);
    reader->bytes[length] = '\0';
    if (line_check_bytes(reader->bytes, length, reader->source->file, reader->number, reader->error) != 0)
        return 0;
    reader->line = line_trim(reader->bytes);
    return 1;
}

/* inih reports keys alone, so that a section is entered where its header is read. */
static int enter_section(struct reader *reader)
{
    struct config_section section = {.file = reader->source->file, .line = reader->number};
    const char *name = line_section(reader->line, section.file, section.line, reader->error);
    if (!name)
        return -1;
    snprintf(reader->section, sizeof reader->section, "%s", name);
    if (source_find_section(reader->source, reader->section))
        return 0;
    section.name = config_keep(reader->config, memory_text(reader->section));
    return source_add_section(reader->source, &section, reader->error);
}

/*
 * inih's reader, in place of fgets: counts the lines, and gives inih those that are keys, as they stand but for
 * blanks at their ends (an indented line would continue the one before it).
 */
static char *read_line(char *out, int size, void *context)
{
    struct reader *reader = context;
    if (reader->waiting) {
        line_refuse(reader->line, reader->source->file, reader->number, reader->error);
        return NULL;
    }
    do {
        if (!next_line(reader) || (*reader->line == '[' && enter_section(reader) != 0))
            return NULL;
    } while (line_is_blank(reader->line) || *reader->line == '[');
    reader->waiting = 1;
    const int written = snprintf(out, (size_t)size, "%s\n", reader->line);
    if (written < 0 || written >= size) {
        error_at(reader->error, DPF_FAULT_CONFIG, reader->source->file, reader->number,
                 "the line is too long for this build of inih: %d bytes, limit %d", written, size - 1);
        return NULL;
    }
    line_hide_quoted(out);
    return out;
}

static int add_include(struct reader *reader, const char *value)
{
    struct config_source *source = reader->source;
    char list[CONFIG_LINE_MAX + 1];
    snprintf(list, sizeof list, "%s", value);
    for (char *next = list; next;) {
        char *comma = strchr(next, ',');
        if (comma)
            *comma = '\0';
        const char *path = line_trim(next);
        next = comma ? comma + 1 : NULL;
        if (!*path)
            return error_at(reader->error, DPF_FAULT_CONFIG, source->file, reader->number,
                            "include: a file name is missing; write include = a.ini, b.ini");
        source->includes = memory_need_grow(source->includes, &source->includes_capacity,
                                            source->n_includes + 1, sizeof *source->includes);
        source->includes[source->n_includes++] = (struct config_section){
            config_keep(reader->config, memory_text(path)), source->file, reader->number};
    }
    return 0;
}

int reader_add(struct config *config, struct config_source *source, const struct config_entry *entry,
               int replace, struct dpf_error *error)
{
    char full[CONFIG_FULL_MAX];
    struct config_item item = {.entry = *entry, .directory = source->directory};
    if (!config_full_name(entry->section, entry->key, full))
        return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line, "the name is too long");
    struct config_item *first = source_find(source, full);
    if (first && !replace)
        return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                        "[%s] %s is set twice, first in line %ld: remove one", entry->section, entry->key,
                        first->entry.line);
    item.entry.value = config_keep(config, memory_text(entry->value));
    if (first) {
        first->entry.value = item.entry.value;
        first->entry.file = entry->file;
        first->entry.line = entry->line;
        return 0;
    }
    const struct config_section *section = source_find_section(source, entry->section);
    item.entry.section = section ? section->name : config_keep(config, memory_text(entry->section));
    item.entry.key = config_keep(config, memory_text(entry->key));
    item.full = config_keep(config, memory_text(full));
    return source_add_item(source, &item, error);
}

/* inih's handler: returns 0 to stop. Sections are the reader's own: inih has seen no header. */
static int take_key(void *context, const char *unused, const char *name, const char *value)
{
    struct reader *reader = context;
    const char *section = reader->section;
    (void)unused;
    if (reader->error->fault)
        return 0;
    reader->waiting = 0;
    if (line_check_key(reader->line, name, value, reader->source->file, reader->number, reader->error) != 0)
        return 0;
    char text[CONFIG_LINE_MAX + 1];
    snprintf(text, sizeof text, "%s", value);
    line_unquote(text);
    int is_include = strcmp(name, "include") == 0;
    if (!*section && is_include)
        return add_include(reader, text) == 0;
    if (!*section || is_include) {
        error_at(reader->error, DPF_FAULT_CONFIG, reader->source->file, reader->number,
                 is_include ? "include = ... must stand before the first section, not in [%s]"
                            : "%s\"%s\" stands before the first section, where only include = FILE may",
                 section, name);
        return 0;
    }
    struct config_entry entry = {reader->section, name, text, reader->source->file, reader->number};
    return reader_add(reader->config, reader->source, &entry, 0, reader->error) == 0;
}

int reader_parse(struct config *config, struct config_source *source, const char *text, size_t length,
                 struct dpf_error *error)
{
    struct reader *reader = memory_need(1, sizeof *reader);
    reader->config = config;
    reader->source = source;
    reader->error = error;
    reader->text = text;
    reader->length = length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        reader->text += 3;
        reader->length -= 3;
    }
    set_switches();
    int status = ini_parse_stream(read_line, reader, take_key, reader);
    if (!error->fault && (status != 0 || reader->waiting))
        line_refuse(reader->line, source->file, reader->number, error);
    free(reader);
    return error->fault ? -1 : 0;
}
