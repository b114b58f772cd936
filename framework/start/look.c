/* SPDX-License-Identifier: Apache-2.0 */
#include "start/look.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "lines/fields.h"
#include "lines/quoted.h"
#include "lines/source.h"
#include "reading/data_options.h"
#include "reading/layout.h"

#define BLOCK ((size_t)1 << 16)
#define LINES 40

struct line {
    const char *data;
    size_t length;
};

/* One way to cut lines into fields. */
struct cut {
    const char *format, *delimiter; /* delimiter NULL: the format's own */
    const char *parse;              /* for delimiter_parse */
    int quotes;
};

/* In the order of preference where several cut all lines alike. Blanks stand in texts, so they come last. */
static const struct cut cuts[] = {{"csv", "double-colon", "double-colon", 0},
                                  {"tsv", NULL, "tab", 0},
                                  {"csv", "semicolon", "semicolon", 1},
                                  {"csv", "pipe", "pipe", 1},
                                  {"csv", NULL, "comma", 1},
                                  {"csv", "spaces", "spaces", 0}};
#define N_CUTS (sizeof cuts / sizeof cuts[0])

/* ---- lines and fields ---------------------------------------------------------------------------------- */

static int take_lines(const struct block *block, struct line lines[LINES])
{
    int n = 0;
    for (size_t at = 0; at < block->length && n < LINES;) {
        const char *line = block->data + at, *end = memchr(line, '\n', block->length - at);
        const size_t whole = end ? (size_t)(end - line) : block->length - at;
        const size_t mark = source_mark(line, whole);
        const size_t length = whole - mark - (whole > mark && line[whole - 1] == '\r');
        if (length > 0)
            lines[n++] = (struct line){line + mark, length};
        at += whole + 1;
    }
    return n;
}

/* Rows of the lines, cut in one way, one after the other. */
struct rows {
    struct delimiter delimiter;
    struct quoted *quoted; /* NULL: quotes are ordinary characters */
    const struct line *lines;
    int n, at;
};

static int rows_open(struct rows *rows, const struct cut *cut, const struct line *lines, int n,
                     struct dpf_error *error)
{
    *rows = (struct rows){.lines = lines, .n = n};
    delimiter_parse(cut->parse, &rows->delimiter);
    if (cut->quotes && !(rows->quoted = quoted_new(&rows->delimiter, error)))
        return -1;
    return 0;
}

/* Back to the first row. */
static void rows_rewind(struct rows *rows)
{
    rows->at = 0;
    if (rows->quoted)
        quoted_reset(rows->quoted);
}

/* 1: a row is complete; 0: it goes on; -1: the reader would refuse it. */
static int add_quoted(struct rows *rows, const struct line *line)
{
    struct dpf_error refused = {0};
    const int done = quoted_line(rows->quoted, line->data, line->length, &refused);
    return done ? done : quoted_line(rows->quoted, "\n", 1, &refused);
}

/* The next row's fields, valid until the call after it, and their number; -1: there is none. A line that the reader would
   refuse is shown as it is. */
static int64_t rows_next(struct rows *rows, struct field fields[FIELDS_MAX])
{
    int complete = 0;
    if (rows->at == rows->n)
        return -1;
    const struct line *first = &rows->lines[rows->at];
    while (rows->quoted && complete == 0 && rows->at < rows->n)
        complete = add_quoted(rows, &rows->lines[rows->at++]);
    if (complete == 1)
        return quoted_fields(rows->quoted, fields);
    if (rows->quoted)
        quoted_reset(rows->quoted);
    if (rows->quoted && complete == 0 && first > rows->lines)
        return -1; /* the last row goes on behind the lines that are looked at */
    rows->at = (int)(first - rows->lines) + 1;
    return fields_split(&rows->delimiter, first->data, first->length, fields);
}

/* How many fields each row has, if all have as many; else 1: this does not cut them. -1: out of memory. */
static int64_t common_fields(const struct cut *cut, const struct line *lines, int n, struct dpf_error *error)
{
    struct field fields[FIELDS_MAX];
    struct rows rows;
    int64_t common = -1;
    if (rows_open(&rows, cut, lines, n, error) != 0)
        return -1;
    for (int64_t here; (here = rows_next(&rows, fields)) >= 0;)
        common = common < 0 || here == common ? here : 1;
    quoted_free(rows.quoted);
    return common;
}

/* Blanks in a list of ids are part of them. */
static const struct cut *choose_cut(const struct line *lines, int n, int is_list, int64_t *fields,
                                    struct dpf_error *error)
{
    const struct cut *best = &cuts[N_CUTS - 2]; /* commas, for a file of one column */
    *fields = 1;
    for (size_t i = 0; i < N_CUTS; i++) {
        const int is_last = i + 1 == N_CUTS;
        const int64_t common =
            is_last && (is_list || *fields > 1) ? 1 : common_fields(&cuts[i], lines, n, error);
        if (common < 0)
            return NULL;
        if (common > *fields) {
            best = &cuts[i];
            *fields = common;
        }
    }
    return best;
}

/* ---- columns --------------------------------------------------------------------------------------------- */

struct column_look {
    int numbers, whole, dates; /* values of the kind, below the header */
    double lo, hi;
};

static int is_date(const struct field *field)
{
    return field->length >= 10 && field->data[4] == '-' && field->data[7] == '-';
}

static void add_value(struct column_look *column, const struct field *field)
{
    double number;
    int64_t whole;
    column->dates += is_date(field);
    column->whole += field_integer(field, &whole) == 0;
    if (field_real(field, &number) != 0)
        return;
    column->lo = column->numbers == 0 || number < column->lo ? number : column->lo;
    column->hi = column->numbers == 0 || number > column->hi ? number : column->hi;
    column->numbers++;
}

/* A first line of words above numbers, or with a usual name, is a header. */
static int is_header(const struct field *first, const struct column_look *below, int n_fields, int n_below)
{
    int numbers = 0, words_above = 0;
    for (int c = 0; c < n_fields; c++) {
        double number;
        const int is_number = field_real(&first[c], &number) == 0;
        numbers += is_number;
        words_above += !is_number && !is_date(&first[c]) && n_below > 0 && below[c].numbers == n_below;
        for (enum column role = COLUMN_USER; role <= COLUMN_TIME; role++)
            if (layout_is_usual(role, &first[c]))
                return 1;
    }
    return numbers == 0 && words_above > 0;
}

static int is_free(const struct look *look, int c)
{
    for (int role = 0; role < LOOK_ROLES; role++)
        if (look->columns[role] == c)
            return 0;
    return 1;
}

/* Ids may be large numbers, and stand before the time where there is no header. */
static int looks_like_time(const struct column_look *column, int c, int n)
{
    return n > 0 && (column->dates == n || (c >= 2 && column->whole == n && column->lo >= 1e8));
}

static int looks_like_rating(const struct column_look *column, int n)
{
    return n > 0 && column->numbers == n && column->lo >= -100 && column->hi <= 1000;
}

static void guess_roles(struct look *look, const struct field *header, const struct column_look *columns,
                        int n, int is_list)
{
    const int fields = look->fields < LOOK_FIELDS ? (int)look->fields : LOOK_FIELDS;
    for (int role = 0; role < LOOK_ROLES; role++)
        look->columns[role] = -1;
    for (int c = 0; c < fields && header; c++)
        for (int role = LOOK_ROLES - 1; role >= 0; role--)
            if (look->columns[role] < 0 && is_free(look, c) && layout_is_usual((enum column)role, &header[c]))
                look->columns[role] = c;
    if (is_list) { /* the id alone; it usually stands first */
        const int item = look->columns[LOOK_ITEM];
        for (int role = 0; role < LOOK_ROLES; role++)
            look->columns[role] = -1;
        look->columns[LOOK_ITEM] = item < 0 ? 0 : item;
        return;
    }
    for (int c = 0; c < fields; c++)
        if (look->columns[LOOK_TIME] < 0 && is_free(look, c) && looks_like_time(&columns[c], c, n))
            look->columns[LOOK_TIME] = c;
    for (int role = LOOK_USER; role <= LOOK_ITEM; role++)
        for (int c = 0; c < fields && look->columns[role] < 0; c++)
            if (is_free(look, c))
                look->columns[role] = c;
    for (int c = 0; c < fields; c++)
        if (look->columns[LOOK_RATING] < 0 && is_free(look, c) && looks_like_rating(&columns[c], n))
            look->columns[LOOK_RATING] = c;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static void show_field(const struct field *field, char out[LOOK_WORDS], int more)
{
    char show[96];
    const size_t used = strlen(out);
    snprintf(out + used, LOOK_WORDS - used, "%s%.15s", more ? ", " : "", field_show(field, show));
}

/* The quotes of field_show are for messages; in a table they would look like the file's own. */
static void drop_quotes(char *text)
{
    char *out = text;
    for (const char *p = text; *p; p++)
        if (*p != '"')
            *out++ = *p;
    *out = '\0';
}

/* The first row stays valid: it is read again once the others are counted. */
static void look_at_rows(struct rows *rows, const char *format, int is_list, struct look *out)
{
    struct field first[FIELDS_MAX], fields[FIELDS_MAX];
    struct column_look columns[LOOK_FIELDS] = {{0}};
    const int width = out->fields < LOOK_FIELDS ? (int)out->fields : LOOK_FIELDS;
    int below = 0;
    (void)rows_next(rows, fields);
    for (int64_t here; (here = rows_next(rows, fields)) >= 0; below++)
        for (int c = 0; c < width && c < here; c++)
            add_value(&columns[c], &fields[c]);
    rows_rewind(rows);
    (void)rows_next(rows, first);
    out->lines = below + 1;
    out->has_header = is_header(first, columns, width, below);
    for (int c = 0; c < width; c++) {
        if (!out->has_header)
            add_value(&columns[c], &first[c]);
        else
            snprintf(out->names[c], LOOK_WORDS, "%.*s", (int)first[c].length, first[c].data);
    }
    if (out->has_header && strcmp(format, "tsv") == 0 && strchr(out->names[0], ':'))
        out->format = "recbole";
    guess_roles(out, out->has_header ? first : NULL, columns, below + !out->has_header, is_list);
    if (!out->has_header)
        rows_rewind(rows);
    for (int i = 0; i < 3; i++) {
        const int64_t here = rows_next(rows, fields);
        for (int c = 0; c < width && c < here; c++)
            show_field(&fields[c], out->examples[c], i > 0);
    }
    for (int c = 0; c < width; c++)
        drop_quotes(out->examples[c]);
}

static int look_at_lines(const struct line *lines, int n, int is_list, struct look *out,
                         struct dpf_error *error)
{
    struct rows rows;
    const struct cut *cut = choose_cut(lines, n, is_list, &out->fields, error);
    if (!cut || rows_open(&rows, cut, lines, n, error) != 0)
        return -1;
    out->format = cut->format;
    out->delimiter = cut->delimiter;
    look_at_rows(&rows, cut->format, is_list, out);
    quoted_free(rows.quoted);
    return 0;
}

int look_at(const char *path, int is_list, struct look *out, struct dpf_error *error)
{
    struct source source;
    struct block block = {0};
    struct line lines[LINES];
    memset(out, 0, sizeof *out);
    if (source_open(&source, path, BLOCK, error) != 0)
        return -1;
    struct dpf_error problem = {0};
    int status = source_next(&source, &block, &problem);
    if (status < 0)
        error_set(error, problem.fault, "%s: %s", path, problem.text);
    else if (source.remark)
        status = error_set(error, DPF_FAULT_DATA, "%s: this is %s", path, source.remark);
    else if (status > 0 && memchr(block.data, '\0', block.length))
        status = error_set(error, DPF_FAULT_DATA, "%s: this is not text: export it as CSV first", path);
    if (status > 0) {
        const int n = take_lines(&block, lines);
        status = n > 0 ? look_at_lines(lines, n, is_list, out, error) : 0;
    }
    block_free(&block);
    source_close(&source);
    return status < 0 ? -1 : 0;
}

const char *look_delimiter(const struct look *look)
{
    return look->delimiter ? look->delimiter : strcmp(look->format, "csv") == 0 ? "comma" : "tab";
}

int look_fits(const struct look *look, const char *format)
{
    const struct data_form *form = data_form_named(format);
    const int has_names = form && form->header == HEADER_YES;
    if (!form || form->sections || (!form->fields && !has_names))
        return 1;
    return strcmp(look_delimiter(look), form->delimiter) == 0 &&
           (has_names ? strcmp(look->format, format) == 0
                      : look->fields == form->fields && !look->has_header);
}

int look_title(const struct look *look)
{
    static const char *const usual[] = {"title", "name", "movie_title", "item_name", "product_name"};
    const int width = look->fields < LOOK_FIELDS ? (int)look->fields : LOOK_FIELDS;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && look->has_header; i++)
        for (int c = 0; c < width; c++)
            if (strcasecmp(look->names[c], usual[i]) == 0)
                return c;
    return -1;
}

void look_table(const struct look *look, const char *path, struct text *out)
{
    static const char *const roles[LOOK_ROLES] = {"user", "item", "rating", "time"};
    const int width = look->fields < LOOK_FIELDS ? (int)look->fields : LOOK_FIELDS;
    text_add(out, "%s by its first %lld lines%s:\n", path, (long long)look->lines,
             look->columns[LOOK_USER] >= 0 ? ", which are for your eyes alone" : "");
    text_add(out, "  %-6s  %-7s  %-18s  %s\n", "column", "is", look->has_header ? "name" : "",
             "first values");
    for (int c = 0; c < width; c++) {
        const char *is = "";
        for (int role = 0; role < LOOK_ROLES; role++)
            is = look->columns[role] == c ? roles[role] : is;
        text_add(out, "  %-6d  %-7s  %-18s  %s\n", c + 1, is, look->names[c], look->examples[c]);
    }
    if (look->fields > width)
        text_add(out, "  and %lld more\n", (long long)look->fields - width);
    text_add(out, "Fields are separated by %s; the first line %s.\n", look_delimiter(look),
             look->has_header ? "names the columns" : "is a record, so there is no header");
}
