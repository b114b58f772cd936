/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - adds the fields of one line to a chunk as a record. */
#ifndef DPF_READING_ROW_H
#define DPF_READING_ROW_H

#include "reading/chunk.h"
#include "reading/layout.h"

/* Room for n records with the columns that the layout has. */
struct chunk *chunk_new(const struct layout *layout, int64_t n);
void chunk_free(struct chunk *chunk);
/* Adds the record on line `line` (from 0) of the block. The text of error lacks file and line. 0 with an
   error: the record was added, but with another value than the line has. */
int row_add(const struct file_options *options, const struct layout *layout, struct slot *slot,
            struct chunk *chunk, const struct field *fields, int64_t n, int64_t line,
            struct dpf_error *error);

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
