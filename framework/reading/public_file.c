/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/public_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "dpframe/privacy.h"
#include "lines/file_rows.h"
#include "reading/layout.h"

/* The colon in front of a column, or NULL. A file whose name has a colon is that file. */
static const char *colon_of(const char *configured)
{
    const char *colon = strrchr(configured, ':');
    return colon && colon > configured && colon[1] && !strchr(colon, '/') && access(configured, F_OK) != 0
               ? colon
               : NULL;
}

char *public_file_path(const char *configured)
{
    const char *colon = colon_of(configured);
    return memory_format("%.*s", (int)(colon ? colon - configured : (long)strlen(configured)), configured);
}

/* The delimiter that stands first in the line, behind a quoted field. */
static void guess_delimiter(const char *line, struct delimiter *out)
{
    static const char *const known[] = {"tab", "::", ";", "|", "comma"};
    struct delimiter delimiter;
    const char *first = NULL, *start = *line == '"' && strchr(line + 1, '"') ? strchr(line + 1, '"') : line;
    (void)delimiter_parse("comma", out);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        (void)delimiter_parse(known[i], &delimiter);
        const char *at = strstr(start, delimiter.text);
        if (at && (!first || at < first)) {
            first = at;
            *out = delimiter;
        }
    }
}

int public_file_look(const char *configured, struct public_file *out, struct dpf_error *error)
{
    const char *colon = colon_of(configured);
    *out = (struct public_file){.path = public_file_path(configured),
                                .column = colon ? memory_text(colon + 1) : NULL};
    if (file_rows_first(out->path, &out->line, error) != 0)
        return -1;
    if (out->line.length == 0)
        return error_at(error, DPF_FAULT_DATA, out->path, 0, "the file has no first line");
    guess_delimiter(out->line.data, &out->delimiter);
    out->quoting = out->delimiter.length == 1 && strchr(",;", out->delimiter.text[0]) != NULL;
    out->n = fields_split(&out->delimiter, out->line.data, out->line.length, out->fields);
    for (int64_t i = 0; i < out->n && i < FIELDS_MAX && out->quoting; i++) { /* names of a header in quotes */
        struct field *field = &out->fields[i];
        if (field->length >= 2 && field->data[0] == '"' && field->data[field->length - 1] == '"')
            *field = (struct field){field->data + 1, field->length - 2};
    }
    return 0;
}

void public_file_free(struct public_file *file)
{
    free(file->path);
    free(file->column);
    text_free(&file->line);
    *file = (struct public_file){.path = NULL};
}

int public_file_column(const struct public_file *file, const char *column)
{
    const int64_t there = file->n < FIELDS_MAX ? file->n : FIELDS_MAX;
    int64_t number;
    if (text_to_int(column, &number) == 0)
        return number >= 1 && number <= there ? (int)number - 1 : -1;
    for (int64_t i = 0; i < there; i++)
        if (field_is(&file->fields[i], column))
            return (int)i;
    return -1;
}

int public_file_id_column(const struct public_file *file, int side, const char *item)
{
    const int64_t there = file->n < FIELDS_MAX ? file->n : FIELDS_MAX;
    for (int64_t i = 0; i < there; i++)
        if (item ? field_is(&file->fields[i], item)
                 : layout_is_usual(side == DPF_SIDE_ITEMS ? COLUMN_ITEM : COLUMN_USER, &file->fields[i]))
            return (int)i;
    return -1;
}
