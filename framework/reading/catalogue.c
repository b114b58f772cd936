/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpframe/privacy.h"
#include "lines/file_rows.h"
#include "reading/public_file.h"

struct taking {
    const char *path;
    int column, has_header;
    int alone; /* the first line has one id in quotes, and so has each */
    enum ids_encoding encoding;
    struct ids ids; /* by line */
    struct text utf8;
};

/* Where the ids are. A list without a column has no header and one id on a line. */
static int decide(struct public_file *file, int side, const struct file_options *records, struct taking *t,
                  struct dpf_error *error)
{
    const char *key = side == DPF_SIDE_ITEMS ? "items-file" : "users-file";
    char shown[96];
    int64_t number;
    const char *named = records->columns[side == DPF_SIDE_ITEMS ? COLUMN_ITEM : COLUMN_USER];
    int ids = strcmp(named, "auto") != 0 && text_to_int(named, &number) != 0
                  ? public_file_id_column(file, side, named)
                  : -1;
    if (ids < 0)
        ids = public_file_id_column(file, side, NULL);
    if (!file->column && ids >= 0)
        return error_at(
            error, DPF_FAULT_DATA, file->path, 1,
            "the first line is a header, and data.%s names no column: write %s = FILE:COLUMN with "
            "the column %s",
            key, key, field_show(&file->fields[ids], shown));
    if (!file->column && file->n > 1) {
        char delimiter[32];
        return error_at(
            error, DPF_FAULT_DATA, file->path, 1,
            "the first line has %lld fields separated by %s, and data.%s names no column: write %s = "
            "FILE:COLUMN with the number or the name of the column of ids, such as FILE:1; ids that contain "
            "the separator stand in quotes",
            (long long)file->n, delimiter_name(&file->delimiter, delimiter), key, key);
    }
    t->alone = !file->column && file->quoted;
    if (t->alone)
        return 0;
    if (!file->column) {
        file->quoting = 0;
        return delimiter_parse("tab", &file->delimiter);
    }
    t->column = public_file_column(file, file->column);
    if (t->column < 0)
        return public_file_no_column(file, key, file->column, error);
    /* Also a header whose column is given by its number. */
    t->has_header = text_to_int(file->column, &number) != 0 || ids == t->column;
    return 0;
}

static int take_line(void *context, int64_t line, const struct field *fields, int64_t n,
                     struct dpf_error *error)
{
    struct taking *t = context;
    const int64_t before = t->ids.n;
    char shown[96];
    if (line == 1 && t->has_header)
        return 0;
    if (t->alone && n > 1)
        return error_at(
            error, DPF_FAULT_DATA, t->path, (long)line,
            "%lld fields instead of one id: put the id in quotes, or name the column of ids (FILE:COLUMN)",
            (long long)n);
    if (n <= t->column || fields[t->column].length == 0)
        return error_at(error, DPF_FAULT_DATA, t->path, (long)line, "the line has no id in field %d",
                        t->column + 1);
    const struct field *given = &fields[t->column];
    if (t->encoding == IDS_UTF8 && !ids_is_utf8(given->data, given->length))
        return error_at(error, DPF_FAULT_DATA, t->path, (long)line,
                        "the id %s is not UTF-8; set encoding = latin-1 or convert the file",
                        field_show(given, shown));
    const struct field id = ids_decoded(&t->utf8, given, t->encoding);
    if (ids_add(&t->ids, &id) < 0)
        return error_memory(error);
    return t->ids.n > before ? 0
                             : error_at(error, DPF_FAULT_DATA, t->path, (long)line,
                                        "this catalogue contains the id %s twice; remove one of the lines",
                                        field_show(&id, shown));
}

int catalogue_load(const char *configured, int side, const struct file_options *records, struct id_map *out,
                   struct dpf_error *error)
{
    struct public_file file;
    struct taking t = {.encoding = records->encoding};
    struct id_map sorted = {0};
    int32_t *rank = NULL;
    int status = public_file_look(configured, &file, error);
    t.path = file.path;
    if (status == 0)
        status = decide(&file, side, records, &t, error);
    if (status == 0)
        status = file_rows_read(file.path, &file.delimiter, file.quoting, take_line, &t, error);
    if (status == 0 && file.column && !t.has_header)
        status = public_file_header_read(&file, &t.ids, error);
    if (status == 0) {
        rank = memory_raw((size_t)t.ids.n + 1, sizeof *rank);
        if (!rank || ids_finish(&t.ids, &sorted, rank) != 0 || id_map_reorder(&sorted, rank, out) != 0)
            status = error_memory(error);
    }
    id_map_free(&sorted);
    free(rank);
    ids_free(&t.ids);
    text_free(&t.utf8);
    public_file_free(&file);
    return status;
}
