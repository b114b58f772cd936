/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_file.h - tables that programs and people read: CSV, TSV, JSON Lines, or aligned text, plain or gzipped.
 *
 * The form follows from --format, else from the name of the file, before anything is computed: .csv, .tsv, .jsonl or
 * .ndjson, .txt, each with .gz behind it. Standard output is CSV, on a terminal text. A file appears when it is complete.
 */
#ifndef DPF_SAVED_TABLE_FILE_H
#define DPF_SAVED_TABLE_FILE_H

#include <stdio.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "run/arguments.h"

enum table_kind { TABLE_TEXT, TABLE_CSV, TABLE_TSV, TABLE_JSONL };

struct table_output {
    enum table_kind kind;
    int gzipped;
    int is_asked; /* by --format, or a name with an ending; else it is the usual one */
};
/* From --format and --output. Faults: DPF_FAULT_CONFIG. */
int table_output_read(const struct arguments *arguments, struct table_output *out, struct dpf_error *error);

struct table_column {
    const char *name;
    int is_number; /* its cells are numbers as text, or "": there is none */
};
#define TABLE_COLUMNS 8

struct table_file {
    struct table_output form;
    struct table_column columns[TABLE_COLUMNS];
    int n_columns;
    struct files_write write;
    FILE *stream;
    int is_file, head_is_due;
    void *gzip;       /* a gzFile; NULL: plain */
    struct text kept; /* of aligned text, which is written at the end */
    int failed;
};

/* A column more, before the file is opened. Returns its number. */
int table_file_column(struct table_file *table, const char *name, int is_number);
/* path NULL or "-": standard output. The head, if the form has one, comes before the first row, or at the end without rows. */
int table_file_open(struct table_file *table, const struct table_output *form, const char *path,
                    struct dpf_error *error);
/* Cells of a row, in the order of columns, at the end of a text: many threads may make such texts. */
void table_file_cell(const struct table_file *table, struct text *to, int column, const char *text);
/* Whole rows. */
void table_file_write(struct table_file *table, const struct text *rows);
/* status 0: the file appears; else nothing is left of it, and status is returned. */
int table_file_close(struct table_file *table, int status, struct dpf_error *error);

#endif
