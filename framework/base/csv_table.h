/* SPDX-License-Identifier: Apache-2.0 */
/* csv_table.h - writes comma-separated values (RFC 4180) to standard output, or to a file that appears only
 * when it is complete. */
#ifndef DPF_BASE_CSV_TABLE_H
#define DPF_BASE_CSV_TABLE_H

#include "base/files.h"
#include "base/text.h"

struct csv_table {
    FILE *stream;
    struct files_write write;
    int is_file;
};

/* path NULL or "-": standard output. head: the first line, without its end. */
int csv_table_open(struct csv_table *table, const char *path, const char *head, struct dpf_error *error);
/* An id, which may hold anything, and what follows it: ',' or the line's end. */
void csv_table_text(struct csv_table *table, const char *text, char end);
/* The same at the end of a text that is written later. */
void csv_table_append(struct text *to, const char *text, char end);
/* status 0: the file appears; else nothing is left of it, and status is returned. */
int csv_table_close(struct csv_table *table, int status, struct dpf_error *error);

#endif
