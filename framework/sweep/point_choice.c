/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/point_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static int is_number(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789") == length;
}

/* 1 if the text is I or I-J. */
static int read_numbers(const char *text, int64_t *first, int64_t *last)
{
    const char *dash = strchr(text, '-');
    if (!dash) {
        *last = 0;
        if (!is_number(text, strlen(text)) || text_to_int(text, first) != 0)
            return 0;
        *last = *first;
        return 1;
    }
    char *before = memory_format("%.*s", (int)(dash - text), text);
    const int ok = before && is_number(before, strlen(before)) && is_number(dash + 1, strlen(dash + 1)) &&
                   text_to_int(before, first) == 0 && text_to_int(dash + 1, last) == 0;
    free(before);
    return ok;
}

static int refuse_name(const char *text, const struct points *points, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    const char **names = memory_need(points->n, sizeof *names);
    for (size_t i = 0; i < points->n; i++)
        names[i] = points->items[i].name;
    const char *nearest = text_nearest(text, names, points->n);
    error_set(error, DPF_FAULT_CONFIG,
              "--point %s: the sweep has no point of that name%s%s%s; --list prints all of them",
              text_show(text, shown), nearest ? "; did you mean " : "", nearest ? nearest : "",
              nearest ? "?" : "");
    free(names);
    return -1;
}

int point_choice_read(const char *text, const struct points *points, size_t *first, size_t *last,
                      struct dpf_error *error)
{
    int64_t from, to;
    if (read_numbers(text, &from, &to)) {
        if (from < 1 || to < from || (uint64_t)to > points->n)
            return error_set(error, DPF_FAULT_CONFIG,
                             "--point %s: the sweep has the points 1 to %zu; give one of them, or I-J with I "
                             "not above J",
                             text, points->n);
        *first = (size_t)from - 1;
        *last = (size_t)to - 1;
        return 0;
    }
    for (size_t i = 0; i < points->n; i++)
        if (strcmp(points->items[i].name, text) == 0) {
            *first = *last = i;
            return 0;
        }
    return refuse_name(text, points, error);
}
