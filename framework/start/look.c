/* SPDX-License-Identifier: Apache-2.0 */
#include "start/look.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lines/fields.h"
#include "lines/source.h"
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

/* The fields of a line; a field in quotes without them. Returns the number of all. */
static int64_t split(const struct cut *cut, const struct delimiter *delimiter, const struct line *line,
                     struct field fields[FIELDS_MAX])
{
    if (!cut->quotes || !memchr(line->data, '"', line->length))
        return fields_split(delimiter, line->data, line->length, fields);
    int64_t n = 0;
    const char *at = line->data, *end = line->data + line->length;
    for (;;) {
        const int quoted = at < end && *at == '"';
        const char *stop = at + quoted;
        while (stop < end && (quoted ? !(*stop == '"' && (stop + 1 == end || stop[1] == *delimiter->text))
                                     : *stop != *delimiter->text))
            stop++;
        if (n < FIELDS_MAX)
            fields[n] = (struct field){at + quoted, (size_t)(stop - at) - (size_t)quoted};
        n++;
        at = stop + quoted;
        if (at >= end)
            return n;
        at++;
    }
}

/* How many fields each line has, if all have as many; else 1: this does not cut them. */
static int64_t common_fields(const struct cut *cut, const struct line *lines, int n)
{
    struct field fields[FIELDS_MAX];
    struct delimiter delimiter;
    int64_t common = 0;
    delimiter_parse(cut->parse, &delimiter);
    for (int i = 0; i < n; i++) {
        const int64_t here = split(cut, &delimiter, &lines[i], fields);
        if (i > 0 && here != common)
            return 1;
        common = here;
    }
    return common;
}

static const struct cut *choose_cut(const struct line *lines, int n, int64_t *fields)
{
    const struct cut *best = &cuts[N_CUTS - 2]; /* commas, for a file of one column */
    *fields = 1;
    for (size_t i = 0; i < N_CUTS; i++) {
        const int is_last = i + 1 == N_CUTS;
        const int64_t common = is_last && *fields > 1 ? 1 : common_fields(&cuts[i], lines, n);
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
                        int n)
{
    const int fields = look->fields < LOOK_FIELDS ? (int)look->fields : LOOK_FIELDS;
    for (int role = 0; role < LOOK_ROLES; role++)
        look->columns[role] = -1;
    for (int c = 0; c < fields && header; c++)
        for (int role = LOOK_ROLES - 1; role >= 0; role--)
            if (look->columns[role] < 0 && is_free(look, c) && layout_is_usual((enum column)role, &header[c]))
                look->columns[role] = c;
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

static void look_at_lines(const struct line *lines, int n, struct look *out)
{
    struct field first[FIELDS_MAX], fields[FIELDS_MAX];
    struct column_look columns[LOOK_FIELDS] = {{0}};
    struct delimiter delimiter;
    const struct cut *cut = choose_cut(lines, n, &out->fields);
    const int width = out->fields < LOOK_FIELDS ? (int)out->fields : LOOK_FIELDS;
    delimiter_parse(cut->parse, &delimiter);
    out->lines = n;
    out->format = cut->format;
    out->delimiter = cut->delimiter;
    split(cut, &delimiter, &lines[0], first);
    for (int i = 1; i < n; i++) {
        split(cut, &delimiter, &lines[i], fields);
        for (int c = 0; c < width; c++)
            add_value(&columns[c], &fields[c]);
    }
    out->has_header = is_header(first, columns, width, n - 1);
    for (int c = 0; c < width; c++) {
        if (!out->has_header)
            add_value(&columns[c], &first[c]);
        else
            snprintf(out->names[c], LOOK_WORDS, "%.*s", (int)first[c].length, first[c].data);
    }
    if (out->has_header && strcmp(cut->format, "tsv") == 0 && strchr(out->names[0], ':'))
        out->format = "recbole";
    guess_roles(out, out->has_header ? first : NULL, columns, n - out->has_header);
    for (int i = out->has_header; i < n && i < out->has_header + 3; i++) {
        split(cut, &delimiter, &lines[i], fields);
        for (int c = 0; c < width; c++)
            show_field(&fields[c], out->examples[c], i > out->has_header);
    }
    for (int c = 0; c < width; c++)
        drop_quotes(out->examples[c]);
}

int look_at(const char *path, struct look *out, struct dpf_error *error)
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
        if (n > 0)
            look_at_lines(lines, n, out);
    }
    block_free(&block);
    source_close(&source);
    return status < 0 ? -1 : 0;
}

void look_table(const struct look *look, const char *path, struct text *out)
{
    static const char *const roles[LOOK_ROLES] = {"user", "item", "rating", "time"};
    const int width = look->fields < LOOK_FIELDS ? (int)look->fields : LOOK_FIELDS;
    text_add(out, "%s by its first %lld lines, which are for your eyes alone:\n", path,
             (long long)look->lines);
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
    text_add(out, "Fields are separated by %s; the first line %s.\n",
             look->delimiter                    ? look->delimiter
             : strcmp(look->format, "csv") == 0 ? "comma"
                                                : "tab",
             look->has_header ? "names the columns" : "is a record, so there is no header");
}
