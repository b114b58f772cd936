/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the reader's terminal: its width, and whether it has colours. */
#ifndef DPF_BASE_TERMINAL_H
#define DPF_BASE_TERMINAL_H

#include "base/text.h"

#define TERMINAL_WIDTH 80 /* where nothing else is known */

/* Columns: those of the variable COLUMNS, else of the terminal at that descriptor, else 80; 40 to 400. */
int terminal_width(int fd);

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_BOLD };
/* The sequence that begins a colour, or ends it (NONE), at that descriptor; "" where it is no terminal, where
   it is dumb, and where NO_COLOR is set to anything (no-color.org). */
const char *terminal_colour(int fd, enum colour colour);

/* Adds text, broken at blanks so that no line is longer than width. first begins the first line; the others
   begin with `indent` blanks. Line ends of the text stay. */
void terminal_wrap(struct text *out, const char *first, int indent, const char *text, int width);

/*
 * Draws over the line on standard error: a bar, filled to that part (0 to 1), and a text beside it. The bar
 * is as long as fits, 30 characters at most; a text that does not fit is cut off.
 */
void terminal_bar(double part, const char *words);

/* A line of JSON on standard error, for programs that show progress themselves. what: of the program's own words. */
void terminal_progress_json(const char *what, int64_t done, int64_t total);

#endif
