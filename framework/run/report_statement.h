/* SPDX-License-Identifier: Apache-2.0 */
/* report_statement.h - the privacy statement as a section of a page: readable on a telephone, from run.json. */
#ifndef DPF_RUN_REPORT_STATEMENT_H
#define DPF_RUN_REPORT_STATEMENT_H

#include <jansson.h>

#include "base/text.h"

/* guarantee: of run.json. text: of release/guarantee.txt, or NULL. protects: there is noise at all. Of a page that
 * runs out of memory, page->failed is set. */
void report_statement_add(struct text *page, const json_t *guarantee, const char *text, int protects);
/* "Proved: epsilon 1.93 at delta 1e-06 ...", or that nothing is. run: run.json. */
void report_statement_promise(const json_t *run, struct text *text);

#endif
