/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h - writes a value to a file. */
#ifndef DPF_BASE_JSON_OUT_H
#define DPF_BASE_JSON_OUT_H

#include <jansson.h>

#include "base/error.h"

/* With all digits, indented. Takes the value over; NULL is an error: something in it was no UTF-8. */
int json_write(const char *path, json_t *json, struct dpf_error *error);

#endif
