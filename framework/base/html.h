/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - escapes foreign texts for an HTML page that is also well-formed XML. */
#ifndef DPF_BASE_HTML_H
#define DPF_BASE_HTML_H

#include "base/text.h"

/* Adds a text for an element or an attribute in double quotes: what HTML would read as its own is escaped,
   and bytes that are not UTF-8 or not allowed in a page become U+FFFD. NULL adds nothing. */
void html_text(struct text *page, const char *what);
/* Adds <TAG>text</TAG>; tag may hold attributes, which the caller has escaped. */
void html_element(struct text *page, const char *tag, const char *what);
/* Adds <a href="...">text</a>. href is a path relative to the page: its bytes are percent-encoded where an
   address needs it, so that a file name with '#' or '?' stays one. */
void html_link(struct text *page, const char *href, const char *what);

#endif
