/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_line.h"

/* Elements of a list: far more than a sweep or a schedule needs, and no harm to memory. */
#define LIST_MAX 100000

static void complain(char problem[VALUE_PROBLEM], const char *format, ...) DPF_PRINTF(2, 3);

/* The first complaint stays. */
static void complain(char problem[VALUE_PROBLEM], const char *format, ...)
{
    va_list args;
    if (*problem)
        return;
    va_start(args, format);
    vsnprintf(problem, VALUE_PROBLEM, format, args);
    va_end(args);
}

/* " (help)", without the full stop at its end. */
static const char *help_clause(const dpf_param *param, char buffer[300])
{
    int length = param->help ? (int)strlen(param->help) : 0;
    while (length > 0 && (param->help[length - 1] == '.' || param->help[length - 1] == ' '))
        length--;
    if (length == 0)
        buffer[0] = '\0';
    else
        snprintf(buffer, 300, " (%.*s)", length, param->help);
    return buffer;
}

static int in_bounds(const dpf_param *param, long double value)
{
    int above = param->flags & DPF_PARAM_OPEN_LO ? value > param->lo : value >= param->lo;
    int beneath = param->flags & DPF_PARAM_OPEN_HI ? value < param->hi : value <= param->hi;
    return above && beneath;
}

static void complain_bounds(const dpf_param *param, char problem[VALUE_PROBLEM])
{
    char lo[32], hi[32], help[300];
    text_from_real(param->lo, lo);
    text_from_real(param->hi, hi);
    help_clause(param, help);
    const char *space = param->unit && *param->unit ? " " : "";
    const char *unit = param->unit ? param->unit : "";
    int open_lo = (param->flags & DPF_PARAM_OPEN_LO) != 0;
    int open_hi = (param->flags & DPF_PARAM_OPEN_HI) != 0;
    if (isfinite(param->lo) && isfinite(param->hi))
        complain(problem, "must lie in %c%s, %s%c%s%s%s", open_lo ? '(' : '[', lo, hi, open_hi ? ')' : ']',
                 space, unit, help);
    else if (isfinite(param->lo))
        complain(problem, "must be %s%s %s%s%s%s", open_hi ? "finite and " : "", open_lo ? ">" : ">=", lo,
                 space, unit, help);
    else if (isfinite(param->hi))
        complain(problem, "must be %s%s %s%s%s%s", open_lo ? "finite and " : "", open_hi ? "<" : "<=", hi,
                 space, unit, help);
    else
        complain(problem, "must be finite%s", help);
}

/*
 * A decimal number that is exactly an integer, however it is written: "1e6", "2.50e2". Works on digits,
 * since float64 would round 9007199254740993e0.
 */
static int parse_scientific_int(const char *text, int64_t *out)
{
    double unused;
    char digits[64];
    int n = 0;
    long scale = 0;
    if (text_to_real(text, &unused) != 0 || strchr(text, 'f'))
        return -1;
    int negative = *text == '-';
    int fraction = 0;
    const char *p = text + (*text == '-' || *text == '+');
    for (; *p && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = 1;
            continue;
        }
        if (n == (int)sizeof digits - 2)
            return -1;
        if (n > 0 || *p != '0')
            digits[n++] = *p;
        scale -= fraction;
    }
    if (*p)
        scale += strtol(p + 1, NULL, 10) % 100000;
    while (n > 0 && digits[n - 1] == '0') {
        n--;
        scale++;
    }
    if (n == 0) {
        *out = 0;
        return 0;
    }
    for (; scale > 0 && n < (int)sizeof digits - 1; scale--)
        digits[n++] = '0';
    if (scale != 0)
        return -1;
    char integer[72];
    snprintf(integer, sizeof integer, "%s%.*s", negative ? "-" : "", n, digits);
    return text_to_int(integer, out);
}

static void parse_int(const dpf_param *param, const char *text, int64_t *out, char problem[VALUE_PROBLEM])
{
    char help[300];
    if (text_to_int(text, out) != 0 && parse_scientific_int(text, out) != 0)
        complain(problem, "must be an integer%s", help_clause(param, help));
    else if (!in_bounds(param, *out))
        complain_bounds(param, problem);
}

static void parse_real(const dpf_param *param, const char *text, double *out, char problem[VALUE_PROBLEM])
{
    char help[300];
    if (text_to_real(text, out) != 0)
        complain(problem, "must be a number, written like 0.5 or 1e-6%s", help_clause(param, help));
    else if (!in_bounds(param, *out))
        complain_bounds(param, problem);
}

static void parse_bool(const char *text, dpf_value *out, char problem[VALUE_PROBLEM])
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            out->integer = (int64_t)(i % 2);
            return;
        }
    complain(problem, "must be yes or no");
}

static void parse_enum(const dpf_param *param, const char *text, dpf_value *out, char problem[VALUE_PROBLEM])
{
    struct text names = {0};
    const char *nearest = NULL;
    for (int64_t i = 0; i < param->n_values; i++) {
        const char *name = param->values[i].name;
        if (strcmp(name, text) == 0) {
            out->integer = i;
            text_free(&names);
            return;
        }
        text_add(&names, "%s%s", i > 0 ? ", " : "", name);
        /* The nearest of the best so far and this one. */
        const char *pair[2] = {nearest, name};
        nearest = text_nearest(text, pair, 2);
    }
    complain(problem, "must be one of: %s%s%s%s", names.data ? names.data : "",
             nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    text_free(&names);
}

struct list {
    const dpf_param *param;
    int64_t *integers;
    double *reals;
    size_t count;
    size_t capacity;
    char *problem;
};

static void append(struct list *list, int64_t integer, double real)
{
    int is_int = list->param->type == DPF_TYPE_INT_LIST;
    if (list->count >= LIST_MAX) {
        complain(list->problem, "has too many elements (limit %d)", LIST_MAX);
        return;
    }
    void *array = is_int ? (void *)list->integers : (void *)list->reals;
    void *grown = memory_need_grow(array, &list->capacity, list->count + 1, 8);
    if (is_int) {
        list->integers = grown;
        list->integers[list->count++] = integer;
    } else {
        list->reals = grown;
        list->reals[list->count++] = real;
    }
}

/* "1..5": both ends belong to it. */
static void append_range(struct list *list, char *text, char *dots)
{
    int64_t first = 0, last = 0;
    *dots = '\0';
    parse_int(list->param, line_trim(text), &first, list->problem);
    parse_int(list->param, line_trim(dots + 2), &last, list->problem);
    if (first > last)
        complain(list->problem, "a range goes upwards: %" PRId64 "..%" PRId64, last, first);
    if ((uint64_t)last - (uint64_t)first >= LIST_MAX)
        complain(list->problem, "has too many elements (limit %d)", LIST_MAX);
    for (uint64_t i = 0; !*list->problem && i <= (uint64_t)last - (uint64_t)first; i++)
        append(list, first + (int64_t)i, 0);
}

static void append_element(struct list *list, char *element)
{
    char *dots = list->param->type == DPF_TYPE_INT_LIST ? strstr(element, "..") : NULL;
    int64_t integer = 0;
    double real = 0;
    if (dots) {
        append_range(list, element, dots);
        return;
    }
    if (!*element)
        complain(list->problem, "is empty; write 1, 2, 3");
    else if (list->param->type == DPF_TYPE_INT_LIST)
        parse_int(list->param, element, &integer, list->problem);
    else
        parse_real(list->param, element, &real, list->problem);
    if (!*list->problem)
        append(list, integer, real);
}

static void parse_list(const dpf_param *param, const char *text, dpf_value *out, void **block,
                       char problem[VALUE_PROBLEM])
{
    char detail[VALUE_PROBLEM] = "";
    struct list list = {.param = param, .problem = detail};
    char *copy = memory_text(text);
    int number = 1;
    for (char *next = copy; next && !*problem; number++) {
        char *comma = strchr(next, ',');
        if (comma)
            *comma = '\0';
        char shown[TEXT_SHOWN];
        char *element = line_trim(next);
        text_show(element, shown);
        append_element(&list, element);
        if (*detail)
            complain(problem, "element %d, \"%s\": %.600s", number, shown, detail);
        next = comma ? comma + 1 : NULL;
    }
    free(copy);
    *block = param->type == DPF_TYPE_INT_LIST ? (void *)list.integers : (void *)list.reals;
    out->integers = list.integers;
    out->reals = list.reals;
    out->count = (int64_t)list.count;
}

void value_parse(const dpf_param *param, const char *text, dpf_value *out, void **block,
                 char problem[VALUE_PROBLEM])
{
    char help[300];
    *out = (dpf_value){.type = param->type};
    *block = NULL;
    *problem = '\0';
    if (!*text && param->type != DPF_TYPE_STRING) {
        complain(problem, "a value is missing%s", help_clause(param, help));
        return;
    }
    switch (param->type) {
    case DPF_TYPE_BOOL:
        parse_bool(text, out, problem);
        break;
    case DPF_TYPE_INT:
        parse_int(param, text, &out->integer, problem);
        break;
    case DPF_TYPE_REAL:
        parse_real(param, text, &out->real, problem);
        break;
    case DPF_TYPE_ENUM:
        parse_enum(param, text, out, problem);
        break;
    case DPF_TYPE_STRING:
    case DPF_TYPE_PATH:
        out->text = *block = memory_text(text);
        break;
    case DPF_TYPE_INT_LIST:
    case DPF_TYPE_REAL_LIST:
        parse_list(param, text, out, block, problem);
        break;
    default:
        complain(problem, "the parameter has type %" PRId32 ", which this dpframe does not know",
                 param->type);
    }
}

static char *list_text(const dpf_value *value)
{
    struct text text = {0};
    for (int64_t i = 0; i < value->count; i++) {
        char buffer[32];
        if (value->type == DPF_TYPE_INT_LIST)
            text_add(&text, "%s%" PRId64, i > 0 ? ", " : "", value->integers[i]);
        else
            text_add(&text, "%s%s", i > 0 ? ", " : "", text_from_real(value->reals[i], buffer));
    }
    return text.data ? text.data : memory_text("");
}

char *config_value_text(const dpf_param *param, const dpf_value *value)
{
    char buffer[32];
    switch (param->type) {
    case DPF_TYPE_BOOL:
        return memory_text(value->integer ? "yes" : "no");
    case DPF_TYPE_INT:
        return memory_format("%" PRId64, value->integer);
    case DPF_TYPE_REAL:
        return memory_text(text_from_real(value->real, buffer));
    case DPF_TYPE_ENUM:
        if (value->integer < 0 || value->integer >= param->n_values)
            return NULL;
        return memory_text(param->values[value->integer].name);
    case DPF_TYPE_INT_LIST:
    case DPF_TYPE_REAL_LIST:
        return list_text(value);
    default:
        return memory_text(value->text ? value->text : "");
    }
}
