/* SPDX-License-Identifier: Apache-2.0 */
/* quoted.h - reads lines with quoted fields, by libcsv (RFC 4180: doubled quotes, line ends in quotes). */
#ifndef DPF_LINES_QUOTED_H
#define DPF_LINES_QUOTED_H

#include "base/error.h"
#include "lines/fields.h"

struct quoted;

/* delimiter must be one character. NULL with an error set. */
struct quoted *quoted_new(const struct delimiter *delimiter, struct dpf_error *error);
void quoted_free(struct quoted *quoted);
/* Takes one line with its '\n'. 1: a row is complete; 0: it goes on in the next line; -1: error. */
int quoted_line(struct quoted *quoted, const char *line, size_t length, struct dpf_error *error);
/* The fields of the complete row, valid until the next line. Returns the number of all. */
int64_t quoted_fields(const struct quoted *quoted, struct field fields[FIELDS_MAX]);
/* Forgets a row that is not complete, or that was refused: the next line begins a new one. */
void quoted_reset(struct quoted *quoted);
/* 1 if a row has begun and is not complete. */
int quoted_is_open(const struct quoted *quoted);

#endif
