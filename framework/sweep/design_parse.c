/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/design_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* "1..5" as its integers; 1 if it is not a range. */
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
        design_list_add(out, memory_format("%lld", (long long)i));
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
    const int status = braced ? 1 : add_range(text, out, problem);
    if (status != 1) {
        free(text);
        return status;
    }
    design_list_add(out, text);
    return 0;
}

int design_split(const char *text, char separator, struct design_list *out, char problem[DESIGN_PROBLEM])
{
    int depth = 0, quoted = 0;
    const char *start = text;
    for (const char *p = text;; p++) {
        quoted ^= *p == '"';
        if (quoted && *p == '\0') {
            snprintf(problem, DESIGN_PROBLEM, "a quote is not closed");
            return -1;
        }
        if (quoted)
            continue;
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (depth < 0 || depth > 1 || (*p == '\0' && depth != 0)) {
            snprintf(problem, DESIGN_PROBLEM, "braces do not match");
            return -1;
        }
        if (*p != '\0' && (*p != separator || depth))
            continue;
        if (add_element(start, (size_t)(p - start), out, problem) != 0)
            return -1;
        if (*p == '\0')
            return 0;
        start = p + 1;
    }
}

/* 1 for yes, 0 for no, in the spellings of a configuration; -1 for anything else. */
static int truth(const char *text, size_t length)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return (int)(i % 2);
    return -1;
}

static void add_canonical(struct text *out, const char *element, size_t length)
{
    char copy[64], number[32];
    double value;
    const int is_short = length > 0 && length < sizeof copy;
    const int yes = truth(element, length);
    if (is_short)
        snprintf(copy, sizeof copy, "%.*s", (int)length, element);
    if (yes >= 0)
        text_add(out, "%d", yes);
    else if (is_short && text_to_real(copy, &value) == 0)
        text_add(out, "%s", text_from_real(value + 0.0, number)); /* -0 is 0 */
    else
        text_add(out, "%.*s", (int)length, element);
}

char *design_canonical(const char *text)
{
    struct text out = {0};
    for (const char *at = text;; at++) {
        const char *end = at + strcspn(at, ",");
        const char *start = at + strspn(at, " \t"), *last = end;
        while (last > start && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        add_canonical(&out, start, start < last ? (size_t)(last - start) : 0);
        if (*end == '\0')
            break;
        text_add(&out, ",");
        at = end;
    }
    return out.data ? out.data : memory_text("");
}
