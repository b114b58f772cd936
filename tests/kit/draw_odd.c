/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/draw_odd.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *bytes;
    size_t n;
} odd[] = {
#define ODD(TEXT)                                                                                            \
    {                                                                                                        \
        TEXT, sizeof(TEXT) - 1                                                                               \
    }
    ODD(""),
    ODD("NaN"),
    ODD("inf"),
    ODD("1e39"),
    ODD("-0"),
    ODD("007"),
    ODD("3;5"),
    ODD("\""),
    ODD("\"4\""),
    ODD("4\"5"),
    ODD("\0"),
    ODD("3\0"),
    ODD("\r"),
    ODD(" 3 "),
    ODD("\t4"),
    ODD("\xef\xbb\xbf"
        "4"),
    ODD("\x1f\x8b"),
    ODD("\xe9"),
    ODD("\xc3"),
    ODD("2001-02-03"),
    ODD("7:"),
    ODD("x"),
    ODD("0x5"),
    ODD("1e-400"),
    ODD("--4"),
    ODD("+4"),
    ODD("4."),
    ODD("99999999999999999999"),
    ODD("'4'"),
    ODD("rating")};

static int value_field(const struct draw_form *form)
{
    return form->sections ? 1 : 2;
}

void draw_odd_value(struct draw_line *line, struct draw_random *random, const struct draw_form *form)
{
    char text[30];
    const int kind = draw_below(random, 3), i = draw_below(random, (int)(sizeof odd / sizeof odd[0]));
    if (kind == 0) {
        snprintf(text, sizeof text, "%g", draw_chance(random, 50) ? form->hi + 4 : form->lo - 3);
        draw_line_set(line, value_field(form), text, strlen(text));
    } else if (kind == 1) {
        draw_line_set(line, value_field(form), "x", 1);
    } else {
        draw_line_set(line, value_field(form), odd[i].bytes, odd[i].n);
    }
}

void draw_odd_line(struct draw_line *line, struct draw_random *random, const struct draw_form *form)
{
    const int first = value_field(form), i = draw_below(random, (int)(sizeof odd / sizeof odd[0]));
    switch (draw_below(random, 8)) {
    case 0:
        if (line->n < DRAW_FIELDS)
            draw_line_set(line, line->n, "1", 1);
        break;
    case 1:
        if (line->n > first)
            line->n--;
        break;
    case 2:
        line->is_long = draw_chance(random, 2);
        break;
    case 3:
    case 4:
        draw_line_set(line, first + draw_below(random, line->n > first ? line->n - first : 1), odd[i].bytes,
                      odd[i].n);
        break;
    default:
        draw_odd_value(line, random, form);
    }
}

void draw_odd_rest(struct draw_line *line, struct draw_random *random, const struct draw_form *form)
{
    const int kind = draw_below(random, 5);
    line->intact = 0;
    if (kind == 0 || line->n < 2) {
        line->n = 0;
        draw_line_set(line, 0, "", 0);
    } else if (kind == 1) {
        line->n = 0;
        draw_line_set(line, 0, "  ", 2);
    } else if (kind == 2) {
        line->n = 0;
        draw_line_set(line, 0, "7:", 2);
    } else if (kind == 3 && strcmp(form->delimiter, " ") != 0) { /* blanks in a row may be one delimiter */
        draw_line_set(line, 1, "", 0);
    } else {
        line->n = 1;
    }
}
