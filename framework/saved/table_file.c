/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/table_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

/* ---- which form -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *ending;
    enum table_kind kind;
} kinds[] = {{"text", ".txt", TABLE_TEXT},
             {"csv", ".csv", TABLE_CSV},
             {"tsv", ".tsv", TABLE_TSV},
             {"jsonl", ".jsonl", TABLE_JSONL},
             {"ndjson", ".ndjson", TABLE_JSONL}};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* By its name; a directory's dots are none of its own. */
static int kind_of_name(const char *path, struct table_output *out, struct dpf_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    out->gzipped = length > 3 && strcmp(name + length - 3, ".gz") == 0;
    length -= out->gzipped ? 3 : 0;
    size_t dot = length;
    while (dot > 0 && name[dot - 1] != '.')
        dot--;
    if (dot <= 1) /* no ending, or a hidden file */
        return 0;
    for (size_t i = 0; i < N_KINDS; i++)
        if (strlen(kinds[i].ending) == length - dot + 1 &&
            strncmp(name + dot - 1, kinds[i].ending, length - dot + 1) == 0) {
            out->kind = kinds[i].kind;
            out->is_asked = 1;
            return 0;
        }
    return error_set(
        error, DPF_FAULT_CONFIG,
        "--output %s: \"%.*s\" is no form that is written here: end the name with .csv, .tsv, .jsonl "
        "or .txt, plain or with .gz, or give --format",
        path, (int)(length - dot + 1), name + dot - 1);
}

int table_output_read(const struct arguments *arguments, struct table_output *out, struct dpf_error *error)
{
    const char *path = arguments->output, *asked = arguments->table_format;
    const int is_file = path && strcmp(path, "-") != 0;
    struct dpf_error unknown = {0};
    *out = (struct table_output){.kind = !is_file && isatty(STDOUT_FILENO) ? TABLE_TEXT : TABLE_CSV};
    if (is_file && kind_of_name(path, out, &unknown) != 0 && !asked) {
        *error = unknown;
        return -1;
    }
    if (!asked)
        return 0;
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(asked, kinds[i].name) == 0) {
            out->kind = kinds[i].kind;
            out->is_asked = 1;
            return 0;
        }
    return error_set(error, DPF_FAULT_CONFIG, "--format %s: it is text, csv, tsv or jsonl", asked);
}

/* ---- cells ------------------------------------------------------------------------------------------------- */

#define TEXT_BREAK '\x1f' /* between cells that are aligned later; no cell has it */

static void add_csv(struct text *to, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        text_append(to, text, strlen(text));
        return;
    }
    text_append(to, "\"", 1);
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        text_append(to, text, (size_t)(quote - text) + 1);
        text_append(to, "\"", 1);
    }
    text_append(to, text, strlen(text));
    text_append(to, "\"", 1);
}

/* What would end a field is written as jq's @tsv does: \t, \n, \r, and \\ for the sign itself. */
static void add_tsv(struct text *to, const char *text)
{
    for (size_t plain; *text; text += plain + (text[plain] != '\0')) {
        plain = strcspn(text, "\t\n\r\\");
        text_append(to, text, plain);
        const char c = text[plain];
        if (c)
            text_append(to, c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\\\", 2);
        if (!c)
            break;
    }
}

static int is_plain_json(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
            return 0;
    return 1;
}

static void add_json(struct text *to, const char *text)
{
    if (is_plain_json(text)) {
        text_append(to, "\"", 1);
        text_append(to, text, strlen(text));
        text_append(to, "\"", 1);
        return;
    }
    json_t *json = json_string(text);
    char *dump = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    if (dump)
        text_append(to, dump, strlen(dump));
    else
        memory_out();
    free(dump);
    json_decref(json);
}

static void add_for_people(struct text *to, const char *text)
{
    for (; *text; text++)
        text_append(to, (unsigned char)*text < ' ' ? " " : text, 1);
}

static void add_member(const struct table_file *table, struct text *to, int column, const char *text)
{
    text_append(to, column == 0 ? "{" : ",", 1);
    add_json(to, table->columns[column].name);
    text_append(to, ":", 1);
    if (!table->columns[column].is_number)
        add_json(to, text);
    else
        text_append(to, *text ? text : "null", *text ? strlen(text) : 4);
}

void table_file_cell(const struct table_file *table, struct text *to, int column, const char *text)
{
    static const char breaks[] = {[TABLE_TEXT] = TEXT_BREAK, [TABLE_CSV] = ',', [TABLE_TSV] = '\t'};
    const enum table_kind kind = table->form.kind;
    if (kind == TABLE_JSONL) {
        add_member(table, to, column, text);
    } else {
        if (column > 0)
            text_append(to, &breaks[kind], 1);
        (kind == TABLE_CSV ? add_csv : kind == TABLE_TSV ? add_tsv : add_for_people)(to, text);
    }
    if (column == table->n_columns - 1)
        text_append(to, kind == TABLE_JSONL ? "}\n" : "\n", kind == TABLE_JSONL ? 2 : 1);
}

/* ---- aligned text ------------------------------------------------------------------------------------------ */

/* Characters of a cell, whose end it moves. */
static int width_of(const char *cell, const char **end)
{
    int width = 0;
    for (; *cell != TEXT_BREAK && *cell != '\n'; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    *end = cell;
    return width;
}

static void measure(const struct text *kept, int widths[TABLE_COLUMNS])
{
    int column = 0;
    const char *end;
    for (const char *at = kept->data; at < kept->data + kept->length; at = end + 1) {
        const int width = width_of(at, &end);
        widths[column] = width > widths[column] ? width : widths[column];
        column = *end == '\n' ? 0 : column + 1;
    }
}

static void put_bytes(struct table_file *table, const char *bytes, size_t n)
{
    if (n == 0)
        return;
    if (table->gzip)
        table->failed |= gzfwrite(bytes, 1, n, table->gzip) != n;
    else
        fwrite(bytes, 1, n, table->stream);
}

static void put_aligned(struct table_file *table)
{
    int widths[TABLE_COLUMNS] = {0}, column = 0;
    const struct text *kept = &table->kept;
    const char *end;
    measure(kept, widths);
    for (const char *at = kept->data; at < kept->data + kept->length; at = end + 1) {
        const int room = widths[column] - width_of(at, &end), is_last = *end == '\n';
        const int is_number = table->columns[column].is_number;
        char blanks[32];
        memset(blanks, ' ', sizeof blanks);
        for (int left = is_number ? room : 0; left > 0; left -= (int)sizeof blanks)
            put_bytes(table, blanks, left < (int)sizeof blanks ? (size_t)left : sizeof blanks);
        put_bytes(table, at, (size_t)(end - at));
        for (int left = is_number || is_last ? 0 : room; left > 0; left -= (int)sizeof blanks)
            put_bytes(table, blanks, left < (int)sizeof blanks ? (size_t)left : sizeof blanks);
        put_bytes(table, is_last ? "\n" : "  ", is_last ? 1 : 2);
        column = is_last ? 0 : column + 1;
    }
}

/* ---- files ------------------------------------------------------------------------------------------------- */

int table_file_column(struct table_file *table, const char *name, int is_number)
{
    table->columns[table->n_columns] = (struct table_column){name, is_number};
    return table->n_columns++;
}

static void write_head(struct table_file *table)
{
    struct text head = {0};
    table->head_is_due = 0;
    for (int c = 0; c < table->n_columns; c++)
        table_file_cell(table, &head, c, table->columns[c].name);
    table_file_write(table, &head);
    text_free(&head);
}

void table_file_write(struct table_file *table, const struct text *rows)
{
    if (rows->length == 0)
        return;
    if (table->head_is_due)
        write_head(table);
    if (table->form.kind == TABLE_TEXT)
        text_append(&table->kept, rows->data, rows->length);
    else
        put_bytes(table, rows->data, rows->length);
}

/* Packed bytes go through a descriptor of their own, which ends before the file is put in its place. */
static int open_gzip(struct table_file *table, struct dpf_error *error)
{
    const int fd = dup(fileno(table->stream));
    table->gzip = fd < 0 ? NULL : gzdopen(fd, "wb6");
    if (table->gzip)
        return 0;
    if (fd >= 0)
        close(fd);
    return error_set(error, DPF_FAULT_RUN, "cannot write a gzipped file: %s", strerror(errno));
}

int table_file_open(struct table_file *table, const struct table_output *form, const char *path,
                    struct dpf_error *error)
{
    table->form = *form;
    table->stream = stdout;
    table->is_file = path && strcmp(path, "-") != 0;
    if (table->is_file) {
        if (files_open_write(&table->write, path, error) != 0)
            return -1;
        table->stream = table->write.stream;
    }
    if (form->gzipped && open_gzip(table, error) != 0)
        return table_file_close(table, -1, error);
    table->head_is_due = form->kind != TABLE_JSONL; /* what is refused prints nothing */
    return 0;
}

int table_file_close(struct table_file *table, int status, struct dpf_error *error)
{
    if (status == 0 && table->head_is_due)
        write_head(table);
    if (status == 0 && table->form.kind == TABLE_TEXT)
        put_aligned(table);
    const int failed = table->failed;
    const int unpacked = table->gzip && gzclose(table->gzip) != Z_OK;
    const int problem = errno;
    table->gzip = NULL;
    text_free(&table->kept);
    if (status == 0 && unpacked)
        status = error_set(error, DPF_FAULT_RUN, "cannot write the gzipped file: %s", strerror(problem));
    else if (status == 0 && failed)
        status = error_memory(error);
    if (!table->is_file)
        return status;
    if (status == 0)
        return files_commit_write(&table->write, error);
    files_abandon_write(&table->write);
    return status;
}
