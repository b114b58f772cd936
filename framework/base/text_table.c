/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/terminal.h"

#define MOST_COLUMNS 256
#define GAP 2

struct cells {
    char **texts; /* rows x columns, from malloc */
    size_t rows, columns, capacity;
    int widths[MOST_COLUMNS];
    int numeric[MOST_COLUMNS]; /* aligned on the right */
};

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* The cell that begins behind a '|' at *at, which moves to the next '|'. Free it. */
static char *next_cell(const char **at)
{
    const char *start = *at + 1, *end = start;
    while (*end && *end != '\n' && !(*end == '|' && end[-1] != '\\'))
        end++;
    *at = end;
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    char *text = memory_format("%.*s", (int)(end - start), start), *to = text;
    for (const char *from = text; from && *from; from++)
        if (!(from[0] == '\\' && from[1] == '|'))
            *to++ = *from;
    if (to)
        *to = '\0';
    return text;
}

static int is_ruler(const char *line)
{
    return line[strspn(line, "|-: ")] == '\n';
}

static int add_row(struct cells *cells, const char *line)
{
    /* The head says how many columns there are. */
    const size_t most = cells->rows ? cells->columns : MOST_COLUMNS;
    size_t column = 0;
    const char *at = line;
    for (; *at == '|' && at[1] && at[1] != '\n' && column < most; column++) {
        char **grown =
            memory_grow(cells->texts, &cells->capacity, (cells->rows + 1) * MOST_COLUMNS, sizeof *grown);
        if (!grown)
            return -1;
        cells->texts = grown;
        char *text = next_cell(&at);
        if (!text)
            return -1;
        cells->texts[cells->rows * MOST_COLUMNS + column] = text;
        const int width = characters(text);
        if (width > cells->widths[column])
            cells->widths[column] = width;
        /* A head says nothing of what is below it. */
        if (cells->rows > 0 && !strchr("0123456789-+<n", *text))
            cells->numeric[column] = 0;
    }
    for (size_t c = column; c < cells->columns && cells->rows > 0; c++)
        cells->texts[cells->rows * MOST_COLUMNS + c] = memory_text("");
    if (cells->rows == 0)
        cells->columns = column;
    cells->rows++;
    return 0;
}

static void cells_free(struct cells *cells)
{
    for (size_t r = 0; r < cells->rows; r++)
        for (size_t c = 0; c < cells->columns; c++)
            free(cells->texts[r * MOST_COLUMNS + c]);
    free(cells->texts);
}

static void add_cell(struct text *out, const struct cells *cells, size_t row, size_t column, int is_first)
{
    const char *text = cells->texts[row * MOST_COLUMNS + column];
    const int blanks = cells->widths[column] - characters(text);
    text_add(out, "%*s", is_first ? 0 : GAP, "");
    if (cells->numeric[column])
        text_add(out, "%*s%s", blanks, "", text);
    else
        text_add(out, "%s%*s", text, blanks, "");
}

/* Rows with the key columns, and those from first to last. */
static void add_part(struct text *out, const struct cells *cells, size_t keys, size_t first, size_t last)
{
    for (size_t r = 0; r < cells->rows; r++) {
        for (size_t c = 0; c < keys; c++)
            add_cell(out, cells, r, c, c == 0);
        for (size_t c = first; c < last; c++)
            add_cell(out, cells, r, c, c == 0);
        while (!out->failed && out->length && out->data[out->length - 1] == ' ')
            out->data[--out->length] = '\0';
        text_add(out, "\n");
    }
}

static void add_table(struct text *out, const struct cells *cells, int width)
{
    size_t keys = 0;
    int used = 0;
    while (keys < cells->columns && !cells->numeric[keys] && used + cells->widths[keys] + GAP <= width / 2)
        used += cells->widths[keys++] + GAP;
    for (size_t first = keys; first < cells->columns || first == 0;) {
        int here = used;
        size_t last = first;
        while (last < cells->columns && (last == first || here + cells->widths[last] <= width))
            here += cells->widths[last++] + GAP;
        if (first > keys)
            text_add(out, "\n");
        add_part(out, cells, keys, first, last);
        if (last == first)
            break;
        first = last;
    }
}

/* The table at *at, which moves behind it. */
static int render_table(struct text *out, const char **at, int width)
{
    struct cells cells = {0};
    int status = 0;
    for (size_t c = 0; c < MOST_COLUMNS; c++)
        cells.numeric[c] = 1;
    while (**at == '|' && status == 0) {
        const char *end = strchr(*at, '\n');
        if (!is_ruler(*at))
            status = add_row(&cells, *at);
        *at = end ? end + 1 : *at + strlen(*at);
    }
    if (status == 0)
        add_table(out, &cells, width);
    cells_free(&cells);
    return status;
}

char *text_table_render(const char *markdown, int width)
{
    struct text out = {0};
    int status = 0;
    while (*markdown && status == 0) {
        if (*markdown == '|') {
            status = render_table(&out, &markdown, width);
            continue;
        }
        const size_t length = strcspn(markdown, "\n");
        char *line = memory_format("%.*s", (int)length, markdown);
        if (line)
            terminal_wrap(&out, "", 0, line, width);
        status = line ? 0 : -1;
        free(line);
        markdown += length + (markdown[length] == '\n');
    }
    if (status != 0 || out.failed)
        text_free(&out);
    return out.data;
}
