/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - adds the fields of one line to a chunk as a record. */
#ifndef DPF_READING_ROW_H
#define DPF_READING_ROW_H

#include "reading/chunk.h"
#include "reading/layout.h"

/* Room for n records with the columns that the layout has, and for void ones where these stay. */
struct chunk *chunk_new(const struct file_options *options, const struct layout *layout, int64_t n);
void chunk_free(struct chunk *chunk);
/* Adds the record on line `line` (from 0) of the block, or does with a void line what its file's rule says. -1:
   an error, whose text lacks file and line: the line is at fault. */
int row_add(const struct file_options *options, const struct layout *layout, struct slot *slot,
            struct chunk *chunk, const struct field *fields, int64_t n, int64_t line,
            struct dpf_error *error);
/*
 * A line that is at fault before its fields could be counted: fields are the n that are complete. The ids are
 * those of its columns, counted from the left; a section's line has the item last. If one is missing or bad,
 * the line is nothing. -1 if memory runs out: error is then that, whatever it was.
 */
int row_add_void(const struct file_options *options, const struct layout *layout, struct slot *slot,
                 struct chunk *chunk, const struct field *fields, int64_t n, int64_t line,
                 struct dpf_error *error);
/* The value of void records: the lower end of the range, else the upper one, else 0. */
float void_value(const struct file_options *options);

/* What row_add makes of a field where it has nothing to say about it: 1; 0: it has, or the record goes. */
int row_value(const struct file_options *options, const struct layout *layout, const struct field *field,
              float *out);
int row_time(const struct file_options *options, const struct layout *layout, const struct field *field,
             double *out);
int row_weight(const struct file_options *options, const struct layout *layout, const struct field *field,
               float *out);
/* Keeps the time of the record that is added next, if times are kept. -1 if memory runs out. */
int row_keep_time(struct chunk *chunk, double time);
/* Notes the line of the record that is added next. -1 if memory runs out. */
int row_note_line(struct chunk *chunk, int64_t line);

#endif
