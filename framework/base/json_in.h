/* SPDX-License-Identifier: Apache-2.0 */
/* json_in.h - reads members of an object of which some may be missing. */
#ifndef DPF_BASE_JSON_IN_H
#define DPF_BASE_JSON_IN_H

#include <jansson.h>
#include <math.h>

/* "" where it is no text. The object's own. */
static inline const char *json_text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* NaN where it is no number. */
static inline double json_number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

#endif
