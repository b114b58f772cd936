/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void add(struct config_differences *out, const char *section, const char *key, const char *a,
                const char *b, const json_t *privacy_keys)
{
    char *name = memory_format("%s.%s", section, key);
    out->items = memory_need_grow(out->items, &out->capacity, out->n + 1, sizeof *out->items);
    out->items[out->n++] =
        (struct config_difference){name, a, b, json_object_get(privacy_keys, name) != NULL};
}

static const char *value_in(const json_t *root, const char *section, const char *key)
{
    return json_string_value(json_object_get(json_object_get(root, section), key));
}

/* Keys of `from` that `other` lacks, and, if both is set, those that it has with another value. */
static void walk(const json_t *from, const json_t *other, int both, const json_t *privacy_keys,
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
            add(out, section, key, both ? mine : NULL, both ? theirs : mine, privacy_keys);
        }
    }
}

static int by_privacy_then_name(const void *x, const void *y)
{
    const struct config_difference *a = x, *b = y;
    return a->affects_privacy != b->affects_privacy ? b->affects_privacy - a->affects_privacy
                                                    : strcmp(a->key, b->key);
}

void config_diff(const json_t *a, const json_t *b, const json_t *privacy_keys, struct config_differences *out)
{
    *out = (struct config_differences){0};
    walk(a, b, 1, privacy_keys, out);
    walk(b, a, 0, privacy_keys, out);
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_privacy_then_name);
}

void config_diff_free(struct config_differences *differences)
{
    for (size_t i = 0; i < differences->n; i++)
        free(differences->items[i].key);
    free(differences->items);
    *differences = (struct config_differences){0};
}
