/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - adds what lines say to a chunk. */
#ifndef DPF_READING_ROW_H
#define DPF_READING_ROW_H

#include "reading/chunk.h"
#include "reading/line.h"

/* Room for n records with the columns that the form has, from the slot's slabs. */
struct chunk *chunk_new(const struct input_form *form, struct slot *slot, int64_t n);
void chunk_free(struct chunk *chunk);
/* What is not needed any more once rows are built: all but users, items and their lines. */
void chunk_free_columns(struct chunk *chunk);
/* Adds the line with this number (from 0) of the block as a record, or does with a void one what the file's rule
   says. -1 if memory runs out. */
int row_add(const struct input_form *form, struct slot *slot, struct chunk *chunk, enum line_kind kind,
            const struct line *line, int64_t number);

/* Keeps the time of the record that is added next, if times are kept. -1 if memory runs out. */
int row_keep_time(struct chunk *chunk, double time);
/* Notes the line of the record that is added next. -1 if memory runs out. */
int row_note_line(struct chunk *chunk, int64_t line);

#endif
