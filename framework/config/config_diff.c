/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int add(struct config_differences *out, const char *section, const char *key, const char *a,
               const char *b, const json_t *privacy_keys)
{
    struct config_difference *grown = memory_grow(out->items, &out->capacity, out->n + 1, sizeof *grown);
    char *name = memory_format("%s.%s", section, key);
    if (grown)
        out->items = grown;
    if (!grown || !name) {
        free(name);
        return -1;
    }
    out->items[out->n++] =
        (struct config_difference){name, a, b, json_object_get(privacy_keys, name) != NULL};
    return 0;
}

static const char *value_in(const json_t *root, const char *section, const char *key)
{
    return json_string_value(json_object_get(json_object_get(root, section), key));
}

/* Keys of `from` that `other` lacks, and, if both is set, those that it has with another value. */
static int walk(const json_t *from, const json_t *other, int both, const json_t *privacy_keys,
                struct config_differences *out)
{
    const char *section, *key;
    json_t *object, *value;
    json_object_foreach((json_t *)(uintptr_t)from, section, object)
    {
        json_object_foreach(object, key, value)
        {
            const char *mine = json_string_value(value), *theirs = value_in(other, section, key);
            if (!mine || (theirs && (!both || strcmp(mine, theirs) == 0)))
                continue;
            if (add(out, section, key, both ? mine : NULL, both ? theirs : mine, privacy_keys) != 0)
                return -1;
        }
    }
    return 0;
}

static int by_privacy_then_name(const void *x, const void *y)
{
    const struct config_difference *a = x, *b = y;
    return a->affects_privacy != b->affects_privacy ? b->affects_privacy - a->affects_privacy
                                                    : strcmp(a->key, b->key);
}

int config_diff(const json_t *a, const json_t *b, const json_t *privacy_keys, struct config_differences *out)
{
    *out = (struct config_differences){0};
    if (walk(a, b, 1, privacy_keys, out) != 0 || walk(b, a, 0, privacy_keys, out) != 0) {
        config_diff_free(out);
        return -1;
    }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_privacy_then_name);
    return 0;
}

void config_diff_free(struct config_differences *differences)
{
    for (size_t i = 0; i < differences->n; i++)
        free(differences->items[i].key);
    free(differences->items);
    *differences = (struct config_differences){0};
}
