/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/param_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static int consists_of(const char *text, const char *characters)
{
    return text && text[0] && text[strspn(text, characters)] == '\0';
}

int param_table_within(const dpf_param *param, double value)
{
    if (!(value >= param->lo && value <= param->hi))
        return 0;
    if ((param->flags & DPF_PARAM_OPEN_LO) && value == param->lo)
        return 0;
    return !((param->flags & DPF_PARAM_OPEN_HI) && value == param->hi);
}

static int is_numeric(int32_t type)
{
    return type == DPF_TYPE_INT || type == DPF_TYPE_REAL || type == DPF_TYPE_INT_LIST ||
           type == DPF_TYPE_REAL_LIST;
}

static const char *bounds_fault(const dpf_param *param)
{
    if (!is_numeric(param->type))
        return NULL;
    if (isnan(param->lo) || isnan(param->hi) || param->lo > param->hi)
        return "its bounds are NaN or the wrong way round";
    if (param->lo == param->hi && (param->flags & (DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI)))
        return "its bounds leave no value";
    return NULL;
}

static const char *enum_fault(const dpf_param *param)
{
    if (!param->values || param->n_values < 1 || param->n_values > 1000)
        return "an enum without values";
    for (int64_t i = 0; i < param->n_values; i++) {
        if (!consists_of(param->values[i].name, LOWER UPPER DIGITS "-_.+"))
            return "an enum value is not made of letters, digits and - _ . +";
        if (!param->values[i].help || !param->values[i].help[0])
            return "an enum value has no help";
        for (int64_t j = 0; j < i; j++)
            if (strcmp(param->values[i].name, param->values[j].name) == 0)
                return "an enum value occurs twice";
    }
    return NULL;
}

/* Elements of a default list, separated by commas; an empty text is the empty list. */
static const char *list_default_fault(const dpf_param *param)
{
    char *copy = memory_text(param->default_text);
    const char *wrong = NULL;
    for (char *rest = copy; *copy && rest && !wrong;) {
        char *element = rest + strspn(rest, " \t");
        char *comma = strchr(element, ',');
        rest = comma ? comma + 1 : NULL;
        size_t length = comma ? (size_t)(comma - element) : strlen(element);
        while (length && (element[length - 1] == ' ' || element[length - 1] == '\t'))
            length--;
        element[length] = '\0';
        int64_t integer;
        double real;
        int bad =
            param->type == DPF_TYPE_INT_LIST ? text_to_int(element, &integer) : text_to_real(element, &real);
        if (bad)
            wrong = "an element of the default list is not a number";
        else if (!param_table_within(param, param->type == DPF_TYPE_INT_LIST ? (double)integer : real))
            wrong = "an element of the default list is outside the bounds";
    }
    free(copy);
    return wrong;
}

static const char *default_fault(const dpf_param *param)
{
    if (param->flags & DPF_PARAM_REQUIRED)
        return NULL;
    switch (param->type) {
    case DPF_TYPE_BOOL:
        return param->default_integer == 0 || param->default_integer == 1 ? NULL
                                                                          : "the default is neither 0 nor 1";
    case DPF_TYPE_INT:
        return param_table_within(param, (double)param->default_integer)
                   ? NULL
                   : "the default is outside the bounds";
    case DPF_TYPE_REAL:
        return param_table_within(param, param->default_real) ? NULL : "the default is outside the bounds";
    case DPF_TYPE_ENUM:
        return param->default_integer >= 0 && param->default_integer < param->n_values
                   ? NULL
                   : "the default is not an index of the values";
    default:
        if (!param->default_text)
            return "the default text is NULL (use \"\")";
        return is_numeric(param->type) ? list_default_fault(param) : NULL;
    }
}

static const char *row_fault(const dpf_param *param)
{
    const uint32_t known = DPF_PARAM_PRIVACY | DPF_PARAM_REQUIRED | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI |
                           DPF_PARAM_DEPRECATED | DPF_PARAM_SIMULATES;
    if (!consists_of(param->name, LOWER DIGITS "-_") || param->name[0] < 'a' || strlen(param->name) > 48)
        return "the name is not made of at most 48 of a-z 0-9 - _, starting with a letter";
    if (param->type < DPF_TYPE_BOOL || param->type > DPF_TYPE_REAL_LIST)
        return "the type is not one of DPF_TYPE_*";
    if (param->flags & ~known)
        return "flags has an unknown bit";
    if (!param->help || !param->help[0])
        return "there is no help text";
    if (!param->unit)
        return "the unit is NULL (use \"\")";
    const char *wrong = bounds_fault(param);
    if (!wrong && param->type == DPF_TYPE_ENUM)
        wrong = enum_fault(param);
    return wrong ? wrong : default_fault(param);
}

int param_table_fault(const dpf_param *param, char *reason, size_t size)
{
    const char *wrong = row_fault(param);
    if (wrong)
        snprintf(reason, size, "%s", wrong);
    return wrong != NULL;
}
