/* SPDX-License-Identifier: Apache-2.0 */
/* file_rows.h - a whole file of text, plain or gzipped, row by row, for public tables that are read once. */
#ifndef DPF_LINES_FILE_ROWS_H
#define DPF_LINES_FILE_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "lines/fields.h"

/* n: of all fields; the first FIELDS_MAX are there, and valid until the next row. -1 stops. */
typedef int (*file_row)(void *context, int64_t line, const struct field *fields, int64_t n,
                        struct dpf_error *error);

/* Empty rows are left out. quoting: fields may be in double quotes, also over line ends; the delimiter is one character then.
   Faults name the file and the line. */
int file_rows_read(const char *path, const struct delimiter *delimiter, int quoting, file_row take,
                   void *context, struct dpf_error *error);
/* The first line without its end, into out; empty if the file is. */
int file_rows_first(const char *path, struct text *out, struct dpf_error *error);

#endif
