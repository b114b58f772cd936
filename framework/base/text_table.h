/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.h - tables of Markdown as a terminal shows them best: columns side by side, as wide as it is. */
#ifndef DPF_BASE_TEXT_TABLE_H
#define DPF_BASE_TEXT_TABLE_H

/*
 * Lines that begin with '|' become aligned columns, without rulers of the notation; a table that is wider
 * than width goes on below, each part beginning with the columns before the first numeric one. Other lines
 * are broken at width. NULL if memory ran out. Free it.
 */
char *text_table_render(const char *markdown, int width);

#endif
