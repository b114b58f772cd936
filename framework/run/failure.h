/* SPDX-License-Identifier: Apache-2.0 */
/* failure.h - how an error is told to whoever runs dpframe. */
#ifndef DPF_RUN_FAILURE_H
#define DPF_RUN_FAILURE_H

#include "base/error.h"

/* Prints the error as dpframe does and returns its exit code. With as_json, as one line of JSON:
   {"error": {"kind", "message", "file", "line", "key", "value"}}, null where the fault has no such part. */
void failures_as_json(int as_json);
int failure_report(const struct dpf_error *error);

#endif
