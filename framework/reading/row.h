/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - the fields of one line as a record of a chunk. */
#ifndef DPF_READING_ROW_H
#define DPF_READING_ROW_H

#include "reading/layout.h"
#include "reading/chunk.h"

/* Room for n records with the columns that the layout has. */
struct chunk *chunk_new(const struct layout *layout, int64_t n);
void chunk_free(struct chunk *chunk);
/* Adds the record on line `line` (from 0) of the block. The text of error lacks file and line. 0 with an
   error: the record was added, but with another value than the line has. */
int row_add(const struct file_options *options, const struct layout *layout, struct slot *slot,
            struct chunk *chunk, const struct field *fields, int64_t n, int64_t line,
            struct dpf_error *error);

#endif
