/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_rows.h - the fast path for simple lines: one character separates the fields, ids are plain ASCII, and
 * numbers have usual forms.
 *
 * It takes a line only if line_read makes a record of it without a message, and makes the same one. All other lines
 * (quotes but those about whole fields, blanks, other encodings, missing fields, faults, clipped values) go through
 * line_read.
 */
#ifndef DPF_READING_PLAIN_ROWS_H
#define DPF_READING_PLAIN_ROWS_H

#include "lines/source.h"
#include "reading/row.h"

struct plain_rows; /* of one thread and one file */

/* kind: of processor (SIMD_KIND_...). NULL with no fault: files of this form have no fast path. */
struct plain_rows *plain_rows_new(const struct input_form *form, int kind);
void plain_rows_free(struct plain_rows *rows);

/* A new block. */
void plain_rows_begin(struct plain_rows *rows, const struct block *block);
/* Takes lines from offset *at, where line number `line` of the block begins, to the first that needs care,
   and moves *at there. How many lines it took. */
int64_t plain_rows_take(struct plain_rows *rows, size_t *at, int64_t line, struct slot *slot,
                        struct chunk *chunk);

#endif
