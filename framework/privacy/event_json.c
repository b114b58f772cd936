/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/event_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_EVENTS 100000 /* of a run */

/* The numbers of an event in one order, each as a double: all of them are exact there. */
struct layout {
    dpf_event *event;
    double *numbers; /* to be written, or NULL */
    const double *given;
    int64_t at;
};

static void take_real(struct layout *l, double *value)
{
    if (l->numbers)
        l->numbers[l->at] = *value;
    else if (l->given)
        *value = l->given[l->at];
    l->at++;
}

static void take_int32(struct layout *l, int32_t *value)
{
    double number = *value;
    take_real(l, &number);
    if (l->given)
        *value = fabs(number) <= INT32_MAX ? (int32_t)number : -1;
}

static void take_uint32(struct layout *l, uint32_t *value)
{
    double number = *value;
    take_real(l, &number);
    if (l->given)
        *value = number >= 0 && number <= UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void take_int64(struct layout *l, int64_t *value)
{
    double number = (double)*value;
    take_real(l, &number);
    if (l->given)
        *value = fabs(number) <= 0x1p53 ? (int64_t)number : -1;
}

static void take_norms(struct layout *l, dpf_norms *norms)
{
    take_real(l, &norms->l1);
    take_real(l, &norms->l2);
    take_real(l, &norms->linf);
}

static void take_sampling(struct layout *l, dpf_sampling *sampling)
{
    take_int32(l, &sampling->kind);
    take_int32(l, &sampling->unit);
    take_int32(l, &sampling->hidden_from);
    take_real(l, &sampling->rate);
    take_real(l, &sampling->weight_max);
    take_real(l, &sampling->weight_from);
    take_real(l, &sampling->weight_below);
    take_real(l, &sampling->budget);
    take_real(l, &sampling->threshold);
}

/* All that accountants read. Returns how many numbers that are. */
static int64_t take_event(struct layout *l)
{
    dpf_event *e = l->event;
    l->at = 0;
    take_int32(l, &e->kind);
    take_uint32(l, &e->flags);
    take_int32(l, &e->lifetime);
    take_int32(l, &e->side);
    take_int64(l, &e->count);
    take_int32(l, &e->term);
    take_uint32(l, &e->blocks);
    take_int32(l, &e->round);
    take_int32(l, &e->weighted);
    take_real(l, &e->scale);
    take_real(l, &e->grid);
    for (size_t i = 0; i < sizeof e->p / sizeof e->p[0]; i++)
        take_real(l, &e->p[i]);
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            take_norms(l, &e->sensitivity.at[u][a]);
    take_norms(l, &e->unweighted);
    take_sampling(l, &e->sampling);
    return l->at;
}

enum { MOST_NUMBERS = 96 };

static json_t *number_json(double value)
{
    return isnan(value)   ? json_null()
           : isinf(value) ? json_string(value > 0 ? "infinity" : "-infinity")
                          : json_real(value);
}

json_t *events_to_json(const dpf_event *events, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < n; k++) {
        dpf_event copy = events[k];
        double numbers[MOST_NUMBERS];
        struct layout layout = {.event = &copy, .numbers = numbers};
        const int64_t count = take_event(&layout);
        json_t *one = json_array();
        for (int64_t i = 0; one && i < count; i++)
            json_array_append_new(one, number_json(numbers[i]));
        json_array_append_new(list, one);
    }
    return list;
}

static int read_number(const json_t *json, double *out)
{
    const char *text = json_string_value(json);
    *out = json_is_null(json)                       ? (double)NAN
           : text && strcmp(text, "infinity") == 0  ? (double)INFINITY
           : text && strcmp(text, "-infinity") == 0 ? -(double)INFINITY
                                                    : json_number_value(json);
    return json_is_null(json) || json_is_number(json) || (text && isinf(*out)) ? 0 : -1;
}

static int read_event(const json_t *list, dpf_event *out)
{
    double numbers[MOST_NUMBERS];
    struct layout layout = {.event = out, .given = numbers};
    struct layout counting = {.event = out};
    *out = (dpf_event){.sensitivity = dpf_unstated()};
    const size_t count = (size_t)take_event(&counting);
    if (json_array_size(list) != count)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (read_number(json_array_get(list, i), &numbers[i]) != 0)
            return -1;
    take_event(&layout);
    return out->kind >= 0 && out->count >= 0 && out->side >= 0 && out->side <= 1 && out->sampling.kind >= 0
               ? 0
               : -1;
}

dpf_event *events_from_json(const json_t *list, int64_t *n)
{
    *n = json_is_array(list) && json_array_size(list) <= MOST_EVENTS ? (int64_t)json_array_size(list) : -1;
    dpf_event *out = *n > 0 ? memory_new((size_t)*n, sizeof *out) : NULL;
    if (*n > 0 && !out)
        *n = -1;
    for (int64_t k = 0; k < *n; k++)
        if (read_event(json_array_get(list, (size_t)k), &out[k]) != 0) {
            free(out);
            *n = -1;
            return NULL;
        }
    return out;
}
