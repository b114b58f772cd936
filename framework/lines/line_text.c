/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/line_text.h"

#include <string.h>

#include "lines/source.h"

struct field line_text(const char *bytes, size_t n)
{
    const size_t end = n > 0 && bytes[n - 1] == '\n' ? n - 1 : n, mark = source_mark(bytes, end);
    struct field text = {bytes + mark, end - mark};
    if (text.length > 0 && text.data[text.length - 1] == '\r')
        text.length--;
    return text;
}

int line_text_is_blank(const struct field *text)
{
    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] != ' ' && text->data[i] != '\t')
            return 0;
    return 1;
}

int line_check(const struct field *text, size_t longest, struct dpf_error *error)
{
    if (longest)
        return error_set(error, DPF_FAULT_DATA, SOURCE_TOO_LONG, longest);
    if (memchr(text->data, 0, text->length))
        return error_set(error, DPF_FAULT_DATA, "a NUL byte: the file is damaged or is not text");
    return 0;
}
