/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/public_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "dpframe/privacy.h"
#include "lines/file_rows.h"
#include "lines/paths.h"
#include "reading/layout.h"

static int is_file(const char *configured, size_t length)
{
    char *path = memory_format("%.*s", (int)length, configured), *found = paths_plain_or_gzipped(path);
    const int there = found && access(found, F_OK) == 0;
    free(path);
    free(found);
    return there;
}

/* The colon in front of a column, or NULL. A file whose name has a colon is that file. A column's name may have colons, too,
   as RecBole's item_id:token: the first colon behind a file is meant, and where there is no file the last. */
static const char *colon_of(const char *configured)
{
    const char *slash = strrchr(configured, '/'), *name = slash ? slash + 1 : configured, *last = NULL;
    if (!strchr(name, ':') || is_file(configured, strlen(configured)))
        return NULL;
    for (const char *colon = strchr(name, ':'); colon; colon = strchr(colon + 1, ':')) {
        if (colon == name || !colon[1])
            continue;
        last = colon;
        if (is_file(configured, (size_t)(colon - configured)))
            break;
    }
    return last;
}

char *public_file_path(const char *configured)
{
    const char *colon = colon_of(configured);
    return memory_format("%.*s", (int)(colon ? colon - configured : (long)strlen(configured)), configured);
}

/* A TAB, which texts do not have; else the delimiter that stands first in the line, behind a quoted field. */
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
        if (at && delimiter.text[0] == '\t')
            return;
    }
}

/* As the rows are read: with quotes. A field that goes on in the next line is left as it stands. */
static void split(struct public_file *file)
{
    struct dpf_error ignored = {0};
    const size_t length = file->line.length;
    if (file->quoting && memchr(file->line.data, '"', length))
        file->quoted = quoted_new(&file->delimiter, &ignored);
    text_append(&file->line, "\n", 1);
    if (file->quoted && quoted_line(file->quoted, file->line.data, length + 1, &ignored) == 1)
        file->n = quoted_fields(file->quoted, file->fields);
    else
        file->n = fields_split(&file->delimiter, file->line.data, length, file->fields);
}

int public_file_look(const char *configured, struct public_file *out, struct dpf_error *error)
{
    const char *colon = colon_of(configured);
    *out = (struct public_file){.path = public_file_path(configured),
                                .column = colon ? memory_text(colon + 1) : NULL};
    if (file_rows_first(out->path, &out->line, error) != 0)
        return -1;
    if (out->line.length == 0)
        return error_at(
            error, DPF_FAULT_DATA, out->path, 1,
            "the first line is empty, but it says how the file is to be read: remove it, or write "
            "the names of the columns (or the first id) there");
    guess_delimiter(out->line.data, &out->delimiter);
    out->quoting = out->delimiter.length == 1 && strchr(",;", out->delimiter.text[0]) != NULL;
    split(out);
    return 0;
}

void public_file_free(struct public_file *file)
{
    free(file->path);
    free(file->column);
    text_free(&file->line);
    quoted_free(file->quoted);
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

int public_file_header_read(const struct public_file *file, const struct ids *ids, struct dpf_error *error)
{
    enum { FEWEST = 3 };
    char shown[96];
    if (ids->n < FEWEST || ids->n_texts != 1 || ids->lengths[0] < 0)
        return 0;
    const struct field id = {ids->bytes + ids->numbers[0], (size_t)ids->lengths[0]};
    return error_at(
        error, DPF_FAULT_DATA, file->path, 1,
        "the id %s is the only one that is no number, so this line seems to be a header. Name columns by it "
        "instead of by their numbers, with the column of ids called as in the records; or remove the line",
        field_show(&id, shown));
}

int public_file_no_column(const struct public_file *file, const char *key, const char *column,
                          struct dpf_error *error)
{
    enum { SHOWN = 6 };
    char delimiter[32], shown[96];
    int64_t number;
    struct text names = {0};
    const int by_name = text_to_int(column, &number) != 0;
    for (int64_t i = 0; i < file->n && i < SHOWN && by_name; i++)
        text_add(&names, "%s%s", i ? ", " : ", and none of that name; it has ",
                 field_show(&file->fields[i], shown));
    if (by_name)
        text_add(&names, "%s: name one of these, or", file->n > SHOWN ? ", ..." : "");
    error_at(error, DPF_FAULT_DATA, file->path, 1,
             "data.%s names column %s, but the first line has %lld field(s) separated by %s%s count from 1",
             key, column, (long long)file->n, delimiter_name(&file->delimiter, delimiter),
             names.data ? names.data : ":");
    text_free(&names);
    return -1;
}
