/* SPDX-License-Identifier: Apache-2.0 */
/* line_text.h - the bytes of a line as text. */
#ifndef DPF_LINES_LINE_TEXT_H
#define DPF_LINES_LINE_TEXT_H

#include "base/error.h"
#include "lines/fields.h"

/* The text of a line without its end, and without a byte order mark. */
struct field line_text(const char *bytes, size_t n);
int line_text_is_blank(const struct field *text);
/* What is wrong with a line before its fields are looked at. longest: 0; or the line is longer than so many
   bytes, and these are its first. */
int line_check(const struct field *text, size_t longest, struct dpf_error *error);

#endif
