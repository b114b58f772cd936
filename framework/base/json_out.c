/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"

#include <stdlib.h>

#include "base/files.h"

int json_write(const char *path, json_t *json, struct dpf_error *error)
{
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    const int status = text
                           ? files_write_text(path, text, error)
                           : error_set(error, DPF_FAULT_RUN,
                                       "cannot write %s: a text in it is not UTF-8, or memory ran out", path);
    free(text);
    json_decref(json);
    return status;
}
