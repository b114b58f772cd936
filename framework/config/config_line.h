/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_line.h - the syntax of one line, checked before inih sees it.
 *
 * inih is lenient where a mistyped privacy budget must not be: it cuts long names, splits at ':', takes
 * indented lines as continuations, and ignores text after a header. Here each line is either refused
 * or reduced to parts whose plain spelling, "[section]" or "key=value", no parser can misread.
 */
#ifndef DPF_CONFIG_CONFIG_LINE_H
#define DPF_CONFIG_CONFIG_LINE_H

#include <stddef.h>

#include "base/error.h"

enum line_kind { LINE_BLANK, LINE_SECTION, LINE_KEY };

/* name and value point into the line. */
struct config_line {
    enum line_kind kind;
    char *name;
    char *value;
};

/* Splits text (length bytes and a NUL; changed in place). file and number are for messages. */
int line_split(char *text, size_t length, const char *file, long number, struct config_line *out,
               struct dpf_error *error);
/* Splits "section.key=value" of the command line; section and key point into text. */
int line_split_override(char *text, const char *label, char **section, char **key, char **value,
                        struct dpf_error *error);
/* Without spaces and tabs at both ends; changes text. */
char *line_trim(char *text);

#endif
