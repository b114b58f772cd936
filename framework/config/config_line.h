/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_line.h - checks the lines that inih parses, and reads the two kinds that it cannot.
 *
 * inih parses key = value. It is lenient where a mistyped privacy budget must be refused: it splits at ':'
 * too, and takes any bytes. So each line is checked against inih's result. This file reads section headers,
 * since inih does not report a section without keys and drops text behind a header (docs/adr/0014), and the
 * overrides of the command line, which have no file and line.
 */
#ifndef DPF_CONFIG_CONFIG_LINE_H
#define DPF_CONFIG_CONFIG_LINE_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* file and number are for messages in all of these. */

/* Refuses bytes that may not go to a terminal and into JSON: text (length bytes) must be UTF-8 without control
   bytes other than tabs. */
int line_check_bytes(const char *text, size_t length, const char *file, long number, struct dpf_error *error);
/* The name in a header, a line that begins with '['. It points into text, which changes. NULL with an error. */
char *line_section(char *text, const char *file, long number, struct dpf_error *error);
/* Checks the name and value that inih read from a line, which begins with the name. */
int line_check_key(const char *line, const char *name, const char *value, const char *file, long number,
                   struct dpf_error *error);
/* The error of a line that is neither blank, comment, header nor key = value. -1 */
int line_refuse(const char *line, const char *file, long number, struct dpf_error *error);
/* Splits "section.key=value" of the command line; section and key point into text. */
int line_split_override(char *text, const char *label, char **section, char **key, char **value,
                        struct dpf_error *error);
/* Hides ';' and '#' between quotes from inih, which would take them for comments; line_unquote brings them back. */
void line_hide_quoted(char *line);
/* A value as its key gets it: a text in double quotes loses them, and "" inside is one quote. Changes value. */
void line_unquote(char *value);
/* Adds a value as a file has to write it: in quotes where it would be read otherwise. */
void line_add_value(struct text *out, const char *value);
/* Without spaces and tabs at both ends; changes text. */
char *line_trim(char *text);
/* Whether a trimmed line says nothing. */
int line_is_blank(const char *line);

#endif
