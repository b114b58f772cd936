/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "base/memory.h"

#define MANY_COLUMNS 10
#define FEW_CHARACTERS 36 /* beside margins, on a page of 390 pixels */
#define FEW_COLUMNS 4
#define SHORT 24 /* characters that are never broken over lines */
#define GAP 2    /* blanks between the columns of a text */

struct sheet_column {
    char *title;
    enum sheet_align align;
};

enum kind { CELL_TEXT, CELL_NUMBER, CELL_NOT_APPLICABLE, CELL_MISSING };
struct sheet_cell {
    enum kind kind;
    char *text, *deviation, *href;
};

/* ---- filling ------------------------------------------------------------------------------------------- */

void sheet_column(struct sheet *table, const char *title, enum sheet_align align)
{
    table->columns = memory_need_grow(table->columns, &table->columns_capacity, table->n_columns + 1,
                                      sizeof *table->columns);
    table->columns[table->n_columns++] = (struct sheet_column){memory_text(title), align};
}

/* text is taken over. */
static void add_cell(struct sheet *table, enum kind kind, char *text)
{
    table->cells =
        memory_need_grow(table->cells, &table->cells_capacity, table->n_cells + 1, sizeof *table->cells);
    table->cells[table->n_cells++] = (struct sheet_cell){.kind = kind, .text = text};
}

void sheet_text(struct sheet *table, const char *text)
{
    add_cell(table, text ? CELL_TEXT : CELL_NOT_APPLICABLE, text ? memory_text(text) : NULL);
}

void sheet_printf(struct sheet *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : memory_new((size_t)length + 1, 1);
    va_start(args, format);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    add_cell(table, CELL_TEXT, text);
}

void sheet_count(struct sheet *table, long long value)
{
    add_cell(table, CELL_NUMBER, memory_format("%lld", value));
}

void sheet_fixed(struct sheet *table, double value, int decimals)
{
    if (isnan(value))
        sheet_missing(table);
    else
        add_cell(table, CELL_NUMBER, memory_format("%.*f", decimals, value));
}

void sheet_exact(struct sheet *table, double value)
{
    char number[32];
    if (isfinite(value))
        add_cell(table, CELL_NUMBER, memory_text(text_from_real(value, number)));
    else
        sheet_missing(table);
}

void sheet_spread(struct sheet *table, const char *mean, const char *deviation)
{
    if (!mean) {
        sheet_missing(table);
        return;
    }
    const size_t before = table->n_cells;
    add_cell(table, CELL_NUMBER, memory_text(mean));
    if (deviation)
        table->cells[before].deviation = memory_text(deviation);
}

void sheet_missing(struct sheet *table)
{
    add_cell(table, CELL_MISSING, NULL);
}

void sheet_link(struct sheet *table, const char *href)
{
    if (table->n_cells == 0)
        return;
    struct sheet_cell *cell = &table->cells[table->n_cells - 1];
    free(cell->href);
    cell->href = memory_text(href);
}

size_t sheet_rows(const struct sheet *table)
{
    return table->n_columns ? table->n_cells / table->n_columns : 0;
}

void sheet_free(struct sheet *table)
{
    for (size_t c = 0; c < table->n_columns; c++)
        free(table->columns[c].title);
    for (size_t c = 0; c < table->n_cells; c++) {
        free(table->cells[c].text);
        free(table->cells[c].deviation);
        free(table->cells[c].href);
    }
    free(table->columns);
    free(table->cells);
    *table = (struct sheet){0};
}

static const struct sheet_cell *cell_at(const struct sheet *table, size_t row, size_t column)
{
    return &table->cells[row * table->n_columns + column];
}

/* ---- as text ------------------------------------------------------------------------------------------- */

/* What a cell reads like where nothing is escaped; "" is a cell without a value in CSV. Free it. */
static char *plain(const struct sheet_cell *cell, enum sheet_format format)
{
    switch (cell->kind) {
    case CELL_NOT_APPLICABLE:
        return memory_text(format == SHEET_CSV ? "" : "–");
    case CELL_MISSING:
        return memory_text(format == SHEET_CSV ? "" : "n/a");
    default:
        return cell->deviation ? memory_format("%s ± %s", cell->text, cell->deviation)
                               : memory_text(cell->text);
    }
}

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* The cells of a column, its title first, and how wide it is. */
struct texts {
    char **cells; /* (rows + 1) x columns */
    int *widths;
    size_t rows;
};

static void make_texts(const struct sheet *table, struct texts *out)
{
    const size_t rows = sheet_rows(table), columns = table->n_columns;
    out->rows = rows + 1;
    out->cells = memory_need((rows + 1) * columns + 1, sizeof *out->cells);
    out->widths = memory_need(columns + 1, sizeof *out->widths);
    for (size_t r = 0; r <= rows; r++)
        for (size_t c = 0; c < columns; c++) {
            char **cell = &out->cells[r * columns + c];
            *cell = r ? plain(cell_at(table, r - 1, c), SHEET_TEXT) : memory_text(table->columns[c].title);
            const int width = characters(*cell);
            out->widths[c] = width > out->widths[c] ? width : out->widths[c];
        }
}

static void free_texts(const struct sheet *table, struct texts *texts)
{
    for (size_t i = 0; i < texts->rows * table->n_columns; i++)
        free(texts->cells[i]);
    free(texts->cells);
    free(texts->widths);
}

static void add_padded(const struct sheet *table, const struct texts *texts, size_t row, size_t column,
                       int is_first, struct text *out)
{
    const char *text = texts->cells[row * table->n_columns + column];
    const int blanks = texts->widths[column] - characters(text);
    text_add(out, "%*s", is_first ? 0 : GAP, "");
    if (table->columns[column].align == SHEET_RIGHT)
        text_add(out, "%*s%s", blanks, "", text);
    else
        text_add(out, "%s%*s", text, blanks, "");
}

/* Rows with the key columns, and those from first to last. */
static void add_part(const struct sheet *table, const struct texts *texts, size_t keys, size_t first,
                     size_t last, struct text *out)
{
    for (size_t r = 0; r < texts->rows; r++) {
        for (size_t c = 0; c < keys; c++)
            add_padded(table, texts, r, c, c == 0, out);
        for (size_t c = first; c < last; c++)
            add_padded(table, texts, r, c, c == 0, out);
        while (out->length && out->data[out->length - 1] == ' ')
            out->data[--out->length] = '\0';
        text_add(out, "\n");
    }
}

static void write_text(const struct sheet *table, const struct texts *texts, int width, struct text *out)
{
    size_t keys = 0;
    int used = 0;
    while (keys < table->n_columns && table->columns[keys].align == SHEET_LEFT &&
           (width == 0 || used + texts->widths[keys] + GAP <= width * 3 / 5))
        used += texts->widths[keys++] + GAP;
    for (size_t first = keys; first < table->n_columns || first == keys;) {
        int here = used;
        size_t last = first;
        while (last < table->n_columns &&
               (last == first || width == 0 || here + texts->widths[last] <= width))
            here += texts->widths[last++] + GAP;
        if (first > keys)
            text_add(out, "\n");
        add_part(table, texts, keys, first, last, out);
        if (last == first)
            break;
        first = last;
    }
}

static void add_text(const struct sheet *table, int width, struct text *out)
{
    struct texts texts;
    make_texts(table, &texts);
    write_text(table, &texts, width, out);
    free_texts(table, &texts);
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

/* '|' ends a cell, and a line end the row. */
static void add_markdown_text(struct text *out, const char *what)
{
    for (; *what; what++)
        text_add(out, *what == '|' ? "\\|" : "%c", *what == '\n' ? ' ' : *what);
}

static void add_markdown(const struct sheet *table, struct text *out)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        text_add(out, "| ");
        add_markdown_text(out, table->columns[c].title);
        text_add(out, " ");
    }
    text_add(out, "|\n");
    for (size_t c = 0; c < table->n_columns; c++)
        text_add(out, table->columns[c].align == SHEET_RIGHT ? "|---:" : "|---");
    text_add(out, "|\n");
    for (size_t r = 0; r < sheet_rows(table); r++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            char *cell = plain(cell_at(table, r, c), SHEET_MARKDOWN);
            text_add(out, "| ");
            add_markdown_text(out, cell);
            text_add(out, " ");
            free(cell);
        }
        text_add(out, "|\n");
    }
}

/* ---- CSV ----------------------------------------------------------------------------------------------- */

static void add_field(struct text *out, const char *what, const char *after)
{
    if (!strpbrk(what, ",\"\n\r")) {
        text_add(out, "%s%s", what, after);
        return;
    }
    text_add(out, "\"");
    for (; *what; what++)
        text_add(out, *what == '"' ? "\"\"" : "%c", *what);
    text_add(out, "\"%s", after);
}

static void add_csv(const struct sheet *table, struct text *out)
{
    for (size_t c = 0; c < table->n_columns; c++)
        add_field(out, table->columns[c].title, c + 1 < table->n_columns ? "," : "\n");
    for (size_t r = 0; r < sheet_rows(table); r++)
        for (size_t c = 0; c < table->n_columns; c++) {
            char *cell = plain(cell_at(table, r, c), SHEET_CSV);
            add_field(out, cell, c + 1 < table->n_columns ? "," : "\n");
            free(cell);
        }
}

/* ---- LaTeX --------------------------------------------------------------------------------------------- */

static void add_latex_text(struct text *out, const char *what)
{
    for (; *what; what++) {
        if (strchr("&%$#_{}", *what))
            text_add(out, "\\%c", *what);
        else if (*what == '\\')
            text_add(out, "\\textbackslash{}");
        else if (*what == '~' || *what == '^')
            text_add(out, "\\%c{}", *what);
        else
            text_add(out, "%c", *what);
    }
}

static void add_latex_cell(struct text *out, const struct sheet_cell *cell)
{
    if (cell->kind == CELL_MISSING || cell->kind == CELL_NOT_APPLICABLE)
        text_add(out, "--");
    else if (cell->kind == CELL_TEXT)
        add_latex_text(out, cell->text);
    else if (cell->deviation)
        text_add(out, "$%s \\pm %s$", cell->text, cell->deviation);
    else
        text_add(out, "$%s$", cell->text);
}

static void add_latex(const struct sheet *table, struct text *out)
{
    text_add(out, "\\begin{tabular}{");
    for (size_t c = 0; c < table->n_columns; c++)
        text_add(out, table->columns[c].align == SHEET_RIGHT ? "r" : "l");
    text_add(out, "}\n\\toprule\n");
    for (size_t c = 0; c < table->n_columns; c++) {
        text_add(out, "%s", c ? " & " : "");
        add_latex_text(out, table->columns[c].title);
    }
    text_add(out, " \\\\\n\\midrule\n");
    for (size_t r = 0; r < sheet_rows(table); r++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            text_add(out, "%s", c ? " & " : "");
            add_latex_cell(out, cell_at(table, r, c));
        }
        text_add(out, " \\\\\n");
    }
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

static void add_html_cell(struct text *out, const struct sheet_column *column, const struct sheet_cell *cell,
                          int is_first)
{
    const char *element = is_first ? "th scope=\"row\"" : "td";
    const int is_empty = cell->kind == CELL_MISSING || cell->kind == CELL_NOT_APPLICABLE;
    const int is_short = column->align == SHEET_LEFT && (is_empty || characters(cell->text) <= SHORT);
    text_add(out, "<%s class=\"%s%s%s\" data-l=\"", element, column->align == SHEET_LEFT ? "l" : "r",
             is_short ? " s" : "", is_empty ? " na" : "");
    html_text(out, column->title);
    text_add(out, "\">");
    if (is_empty)
        text_add(out, cell->kind == CELL_MISSING ? "n/a" : "–");
    else if (cell->href)
        html_link(out, cell->href, cell->text);
    else
        html_text(out, cell->text);
    if (cell->deviation)
        text_add(out, " <span class=\"sd\">± %s</span>", cell->deviation);
    text_add(out, is_first ? "</th>" : "</td>");
}

/* Names and a few numbers fit on any page. */
static size_t narrowest(const struct sheet *table, size_t column)
{
    size_t most = 0;
    for (const char *word = table->columns[column].title; *word;) {
        const size_t length = strcspn(word, " ");
        most = length > most ? length : most;
        word += length + (word[length] == ' ');
    }
    for (size_t r = 0; r < sheet_rows(table); r++) {
        const struct sheet_cell *cell = cell_at(table, r, column);
        const size_t length = cell->text ? (size_t)characters(cell->text) : 3;
        most = length > most ? length : most;
    }
    return most;
}

static int is_small(const struct sheet *table)
{
    size_t width = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        if (c > 0 && table->columns[c].align == SHEET_LEFT)
            return 0;
        width += narrowest(table, c);
    }
    return table->n_columns <= FEW_COLUMNS && width <= FEW_CHARACTERS;
}

static void add_html(const struct sheet *table, struct text *out)
{
    text_add(out, "<div class=\"wide\"><table%s>",
             is_small(table)                    ? " class=\"few\""
             : table->n_columns >= MANY_COLUMNS ? " class=\"many\""
                                                : "");
    if (table->caption)
        html_element(out, "caption", table->caption);
    text_add(out, "<thead><tr>");
    for (size_t c = 0; c < table->n_columns; c++)
        html_element(out,
                     table->columns[c].align == SHEET_LEFT ? "th scope=\"col\" class=\"l\""
                                                           : "th scope=\"col\" class=\"r\"",
                     table->columns[c].title);
    text_add(out, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < sheet_rows(table); r++) {
        text_add(out, "<tr>");
        for (size_t c = 0; c < table->n_columns; c++)
            add_html_cell(out, &table->columns[c], cell_at(table, r, c), c == 0);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}

void sheet_write(const struct sheet *table, enum sheet_format format, int width, struct text *out)
{
    if (table->n_columns == 0)
        return;
    switch (format) {
    case SHEET_TEXT:
        add_text(table, width, out);
        break;
    case SHEET_MARKDOWN:
        add_markdown(table, out);
        break;
    case SHEET_CSV:
        add_csv(table, out);
        break;
    case SHEET_LATEX:
        add_latex(table, out);
        break;
    case SHEET_HTML:
        add_html(table, out);
        break;
    }
}
