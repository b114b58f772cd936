/* SPDX-License-Identifier: Apache-2.0 */
/* line_text.h - the bytes of a line as text. */
#ifndef DPF_LINES_LINE_TEXT_H
#define DPF_LINES_LINE_TEXT_H

#include "base/error.h"
#include "lines/fields.h"
#include "lines/source.h"

/* The text of a line without its end, and without a byte order mark. */
static inline struct field line_text(const char *bytes, size_t n)
{
    const size_t end = n > 0 && bytes[n - 1] == '\n' ? n - 1 : n, mark = source_mark(bytes, end);
    struct field text = {bytes + mark, end - mark};
    if (text.length > 0 && text.data[text.length - 1] == '\r')
        text.length--;
    return text;
}

static inline int line_text_is_blank(const struct field *text)
{
    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] != ' ' && text->data[i] != '\t')
            return 0;
    return 1;
}

/* What is wrong with a line before its fields are looked at. longest: 0; or the line is longer than so many
   bytes, and these are its first. */
int line_check(const struct field *text, size_t longest, struct dpf_error *error);

#endif
