/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/file_rows.h"

#include <string.h>

#include "lines/quoted.h"
#include "lines/source.h"

struct reading_rows {
    const char *path;
    const struct delimiter *delimiter;
    struct quoted *quoted; /* NULL: quotes are ordinary characters */
    file_row take;
    void *context;
    int64_t line; /* from 1 */
};

static int take_row(struct reading_rows *r, const struct field *fields, int64_t n, struct dpf_error *error)
{
    return n == 1 && fields[0].length == 0 ? 0 : r->take(r->context, r->line, fields, n, error);
}

static int take_line(struct reading_rows *r, const char *line, size_t length, struct dpf_error *error)
{
    struct field fields[FIELDS_MAX];
    if (r->line++ == 0) {
        const size_t mark = source_mark(line, length);
        line += mark;
        length -= mark;
    }
    if (r->quoted && (quoted_is_open(r->quoted) || memchr(line, '"', length))) {
        const int done = quoted_line(r->quoted, line, length + 1, error);
        if (done <= 0)
            return done;
        const int64_t quoted = quoted_fields(r->quoted, fields);
        return take_row(r, fields, quoted, error);
    }
    length -= length > 0 && line[length - 1] == '\r';
    const int64_t n = fields_split(r->delimiter, line, length, fields);
    return take_row(r, fields, n, error);
}

static int take_block(struct reading_rows *r, const struct block *block, struct dpf_error *error)
{
    for (size_t at = 0; at < block->length;) {
        const char *line = block->data + at;
        const size_t length = (size_t)((const char *)memchr(line, '\n', block->length - at) - line);
        at += length + 1;
        if (take_line(r, line, length, error) != 0)
            return -1;
    }
    return 0;
}

/* A text that lacks its place gets it. */
static int give_place(const struct reading_rows *r, const struct dpf_error *local, struct dpf_error *error)
{
    if (strncmp(local->text, r->path, strlen(r->path)) != 0 && local->fault != DPF_FAULT_RUN)
        return error_at(error, local->fault, r->path, (long)r->line, "%s", local->text);
    if (!error->fault)
        *error = *local;
    return -1;
}

int file_rows_read(const char *path, const struct delimiter *delimiter, int quoting, file_row take,
                   void *context, struct dpf_error *error)
{
    struct reading_rows r = {.path = path, .delimiter = delimiter, .take = take, .context = context};
    struct dpf_error local = {0};
    struct source source;
    struct block block = {0};
    if (source_open(&source, path, 0, error) != 0)
        return -1;
    int status = quoting && !(r.quoted = quoted_new(delimiter, &local)) ? -1 : 1;
    while (status > 0 && (status = source_next(&source, &block, &local)) > 0)
        status = take_block(&r, &block, &local) == 0 ? 1 : -1;
    if (status == 0 && r.quoted && quoted_is_open(r.quoted))
        status = error_set(&local, DPF_FAULT_DATA, "a quoted field is not closed before the end of the file");
    source_close(&source);
    block_free(&block);
    quoted_free(r.quoted);
    return status == 0 ? 0 : give_place(&r, &local, error);
}

int file_rows_first(const char *path, struct text *out, struct dpf_error *error)
{
    const struct reading_rows r = {.path = path, .line = 1};
    struct dpf_error local = {0};
    struct source source;
    struct block block = {0};
    if (source_open(&source, path, 0, error) != 0)
        return -1;
    const int status = source_next(&source, &block, &local);
    if (status > 0) {
        const size_t mark = source_mark(block.data, block.length);
        const char *line = block.data + mark;
        size_t length = (size_t)((const char *)memchr(line, '\n', block.length - mark) - line);
        text_append(out, line, length - (length > 0 && line[length - 1] == '\r'));
    }
    source_close(&source);
    block_free(&block);
    if (status < 0)
        return give_place(&r, &local, error);
    return 0;
}
