/* SPDX-License-Identifier: Apache-2.0 */
/* config_diff.h - the differences between two resolved configurations, keys that affect privacy first. */
#ifndef DPF_CONFIG_CONFIG_DIFF_H
#define DPF_CONFIG_CONFIG_DIFF_H

#include <jansson.h>
#include <stddef.h>

struct config_difference {
    char *key;         /* "items.mechanism.epsilon" */
    const char *a, *b; /* NULL: not there */
    int affects_privacy;
};
struct config_differences {
    struct config_difference *items;
    size_t n, capacity;
};

/*
 * a and b: {"section": {"key": "value"}}, as plan_resolved gives; privacy_keys: an object whose keys are the
 * names that affect the guarantee. Values belong to a and b.
 */
void config_diff(const json_t *a, const json_t *b, const json_t *privacy_keys,
                 struct config_differences *out);
void config_diff_free(struct config_differences *differences);

#endif
