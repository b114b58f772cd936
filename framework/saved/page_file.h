/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_file.h - one HTML file that holds a released model and a script that scores by it: whoever opens it rates items and
 * sees their list, and nothing leaves the browser (docs/adr/0048).
 */
#ifndef DPF_SAVED_PAGE_FILE_H
#define DPF_SAVED_PAGE_FILE_H

#include "run/arguments.h"

/* Of arguments->rest[0], to --output, else release/page.html; from release/ alone. */
int page_file_write(const struct arguments *arguments, struct dpf_error *error);

#endif
