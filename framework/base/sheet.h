/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h - describes a table once and writes it as text for a terminal, Markdown, CSV, LaTeX or HTML.
 *
 * Add the columns first, then the cells, row by row. Only sheet_write fails: it reports whether memory ran
 * out anywhere.
 */
#ifndef DPF_BASE_SHEET_H
#define DPF_BASE_SHEET_H

#include "base/text.h"

enum sheet_format {
    SHEET_TEXT,     /* aligned columns, as wide as the terminal */
    SHEET_MARKDOWN, /* with pipes */
    SHEET_CSV,      /* RFC 4180 but for LF line ends */
    SHEET_LATEX,    /* a tabular with booktabs' rules */
    SHEET_HTML      /* a <table>; see below for its classes */
};
enum sheet_align { SHEET_LEFT, SHEET_RIGHT };

struct sheet_column;
struct sheet_cell;
struct sheet {
    struct sheet_column *columns;
    size_t n_columns, columns_capacity;
    struct sheet_cell *cells;
    size_t n_cells, cells_capacity;
    const char *caption; /* HTML: a description of the table for screen readers, or NULL. Borrowed */
};

/* Numbers stand on the right. Columns before the first right one name the row. */
void sheet_column(struct sheet *table, const char *title, enum sheet_align align);

/* Each adds the next cell. A cell that does not apply is "–", one without a value "n/a", both "" in CSV. */
void sheet_text(struct sheet *table, const char *text); /* NULL: does not apply */
void sheet_printf(struct sheet *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_count(struct sheet *table, long long value);
/* So many decimals; a NaN has no value. */
void sheet_fixed(struct sheet *table, double value, int decimals);
/* The shortest text that reads back as the same number; a number that is not finite has none. */
void sheet_exact(struct sheet *table, double value);
/* A mean with its deviation: "0.93 ± 0.02". deviation NULL: none. mean NULL: no value. */
void sheet_spread(struct sheet *table, const char *mean, const char *deviation);
void sheet_missing(struct sheet *table); /* no value */
/* The link of the last cell, in HTML; a path relative to the page. */
void sheet_link(struct sheet *table, const char *href);

size_t sheet_rows(const struct sheet *table);
/*
 * Adds the table to out; -1 if memory ran out. width is for SHEET_TEXT: a wider table goes on below, each
 * part beginning with the columns that name the row; 0 is as wide as it needs.
 *
 * HTML: cells of text columns have the class "l", and "s" where they are short, cells without a value "na",
 * deviations "sd"; each cell has its
 * column's title in data-l, so that a style sheet can stack the cells of a row on a narrow page. The table is
 * of the class "many" from 10 columns on, and "few" if it is a name and up to three numbers that are narrow
 * enough for a telephone.
 */
void sheet_write(const struct sheet *table, enum sheet_format format, int width, struct text *out);
void sheet_free(struct sheet *table);

#endif
