/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/design_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static int add(struct design_list *out, char *text)
{
    struct dpf_error ignored = {0};
    return design_list_add(out, text, &ignored) == 0 ? 0 : -2;
}

/* "1..5" as its integers; 1 if it is no range. */
static int add_range(const char *text, struct design_list *out, char problem[DESIGN_PROBLEM])
{
    char ends[2][24];
    int64_t lo, hi;
    const char *dots = strstr(text, "..");
    if (!dots || (size_t)(dots - text) >= sizeof ends[0] || strlen(dots + 2) >= sizeof ends[1])
        return 1;
    snprintf(ends[0], sizeof ends[0], "%.*s", (int)(dots - text), text);
    snprintf(ends[1], sizeof ends[1], "%s", dots + 2);
    if (text_to_int(ends[0], &lo) != 0 || text_to_int(ends[1], &hi) != 0)
        return 1;
    if (lo > hi || hi - lo >= DESIGN_MAX_POINTS) {
        snprintf(problem, DESIGN_PROBLEM, "the range %.60s is empty or too long", text);
        return -1;
    }
    for (int64_t i = lo; i <= hi; i++)
        if (add(out, memory_format("%lld", (long long)i)) != 0)
            return -2;
    return 0;
}

static int add_element(const char *start, size_t length, struct design_list *out,
                       char problem[DESIGN_PROBLEM])
{
    while (length && (*start == ' ' || *start == '\t')) {
        start++;
        length--;
    }
    while (length && (start[length - 1] == ' ' || start[length - 1] == '\t'))
        length--;
    if (length == 0) {
        snprintf(problem, DESIGN_PROBLEM, "an element of the list is empty; {} is the empty value");
        return -1;
    }
    int braced = start[0] == '{' && start[length - 1] == '}';
    char *text = braced ? memory_format("%.*s", (int)length - 2, start + 1)
                        : memory_format("%.*s", (int)length, start);
    int status = !text ? -2 : braced ? 1 : add_range(text, out, problem);
    if (status == 1)
        return add(out, text);
    free(text);
    return status;
}

int design_split(const char *text, char separator, struct design_list *out, char problem[DESIGN_PROBLEM])
{
    int depth = 0;
    const char *start = text;
    for (const char *p = text;; p++) {
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (depth < 0 || depth > 1 || (*p == '\0' && depth != 0)) {
            snprintf(problem, DESIGN_PROBLEM, "braces do not match");
            return -1;
        }
        if (*p != '\0' && (*p != separator || depth))
            continue;
        int status = add_element(start, (size_t)(p - start), out, problem);
        if (status != 0)
            return status;
        if (*p == '\0')
            return 0;
        start = p + 1;
    }
}
