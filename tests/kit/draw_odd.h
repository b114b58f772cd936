/* SPDX-License-Identifier: Apache-2.0 */
/* draw_odd.h - fields and lines that are not what a reader hopes for. */
#ifndef DPF_TEST_DRAW_ODD_H
#define DPF_TEST_DRAW_ODD_H

#include "kit/draw_data.h"

/* Of a value: a number out of the range, no number, or bytes of any kind but the delimiter and line ends. */
void draw_odd_value(struct draw_line *line, struct draw_random *random, const struct draw_form *form);
/* Any field that is no id, or the number of fields. */
void draw_odd_line(struct draw_line *line, struct draw_random *random, const struct draw_form *form);
/* A line whose ids nobody can read: empty, blank, a section, half a line. */
void draw_odd_rest(struct draw_line *line, struct draw_random *random, const struct draw_form *form);

#endif
