/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the meaning of each column of a file, decided once from its first line. */
#ifndef DPF_READING_LAYOUT_H
#define DPF_READING_LAYOUT_H

#include <stdint.h>

#include "base/error.h"
#include "reading/data_options.h"

struct layout {
    int has_header;
    int64_t fields;            /* of every line */
    int columns[COLUMN_COUNT]; /* 0-based, or -1 */
    int drops_times;           /* time stamps are checked and not kept */
};

/* Whether files of ratings use the name for such a column in their headers. */
int layout_is_usual(enum column column, const struct field *field);
/* Decides from the fields of the first line that is not empty. The text of error lacks file and line. */
int layout_decide(const struct file_options *options, const struct field *fields, int64_t n,
                  struct layout *out, struct dpf_error *error);

#endif
