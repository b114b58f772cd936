/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - splits a line of text into fields, and reads fields as numbers. */
#ifndef DPF_LINES_FIELDS_H
#define DPF_LINES_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#define FIELDS_MAX 64 /* columns that can be named; lines may have more */

struct field {
    const char *data; /* not NUL-terminated */
    size_t length;
};

struct delimiter {
    char text[8];
    size_t length;
    int runs; /* one or more blanks or tabs; those at both ends of the line are ignored */
};

/* From a configured name ("comma", "tab", "spaces", ...) or the characters themselves. -1 if it is neither.
 */
int delimiter_parse(const char *text, struct delimiter *out);
/* "TAB", "'::'": for messages. Returns buffer. */
const char *delimiter_name(const struct delimiter *delimiter, char buffer[32]);

/* What may separate the fields of a line that the configured delimiter does not cut: a question that names
 * the value to set; NULL if nothing in the line looks like it. */
const char *delimiter_suggest(const struct field *line);

/* Stores the first FIELDS_MAX fields, trimmed of blanks, and returns the number of all. */
int64_t fields_split(const struct delimiter *delimiter, const char *line, size_t length,
                     struct field fields[FIELDS_MAX]);

/* A canonical integer: no leading zeros, no plus sign, within int64. 0, or -1. */
int field_integer(const struct field *field, int64_t *out);
/* A decimal number, correctly rounded. 0, or -1; NaN is refused. */
int field_real(const struct field *field, double *out);
/* The text in quotes, cut to fit, with unprintable bytes as \xNN. Returns buffer. */
const char *field_show(const struct field *field, char buffer[96]);
/* 1 if the field equals the text, ignoring the case of ASCII letters. */
int field_is(const struct field *field, const char *text);

#endif
