/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_page.h - an HTML page in one file, without scripts, fonts or other files to load.
 *
 * It is light or dark like the reader's system, readable from 320 px on, and printable. The markup is also
 * well-formed XML.
 */
#ifndef DPF_PLOT_HTML_PAGE_H
#define DPF_PLOT_HTML_PAGE_H

#include "base/html.h"
#include "base/sheet.h"

/* Up to and with the heading of the page. */
void html_page_begin(struct text *page, const char *title);
void html_page_end(struct text *page);
/* The style sheet of pages alone, for a page with another head. */
void html_page_style(struct text *style);

/* Links to sections, once those are known, of those that are there. */
struct html_section {
    int is_there;
    const char *id, *title;
};
void html_page_contents(struct text *page, const struct html_section *sections, size_t n);
/* A heading with an address: <h2 id="ID">. */
void html_page_section(struct text *page, const char *id, const char *title);
/* A paragraph in a box; its line ends stay. kind: "answer", "private", "warn" or "". */
void html_page_box(struct text *page, const char *kind, const char *what);
/* A paragraph of small print. */
void html_page_note(struct text *page, const char *what);
/* Adds the table and frees it; -1 if memory ran out. */
void html_page_table(struct text *page, struct sheet *table);

#endif
