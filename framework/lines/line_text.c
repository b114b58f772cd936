/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/line_text.h"

#include <string.h>

#include "lines/source.h"

int line_check(const struct field *text, size_t longest, struct dpf_error *error)
{
    if (longest)
        return error_set(error, DPF_FAULT_DATA, SOURCE_TOO_LONG, longest);
    if (memchr(text->data, 0, text->length))
        return error_set(error, DPF_FAULT_DATA, "a NUL byte: the file is damaged or is not text");
    return 0;
}
