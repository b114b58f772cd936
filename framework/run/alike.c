/* SPDX-License-Identifier: Apache-2.0 */
#include "run/alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int is_own(const struct alike_own *own, size_t n, const char *section, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(own[i].section, section) == 0 && (!own[i].key || strcmp(own[i].key, key) == 0))
            return 1;
    return 0;
}

static int set(json_t *list, char *name, json_t *value)
{
    const int status = name ? json_object_set(list, name, value) : -1;
    free(name);
    return status;
}

int alike_add_configuration(json_t *list, const struct plan *plan, const struct alike_own *own, size_t n_own)
{
    const char *section, *key;
    json_t *resolved = plan_resolved(plan), *object, *value;
    int status = resolved ? 0 : -1;
    json_object_foreach(resolved, section, object)
        json_object_foreach(object, key, value) if (status == 0 && !is_own(own, n_own, section, key)) status =
            set(list, memory_format("[%s] %s", section, key), value);
    json_decref(resolved);
    return status;
}

int alike_add_plugins(json_t *list, const struct registry *registry, int files)
{
    int status = 0;
    for (int64_t i = 0; i < registry_used_count(registry) && status == 0; i++) {
        const struct registry_entry *entry = registry_used_at(registry, i);
        const dpf_component *component = entry->component;
        json_t *value = json_string(files ? entry->sha256 : component->version);
        if (strcmp(component->role, DPF_ROLE_LINK) != 0)
            status = set(list, memory_format("plugin %s %s", component->role, component->id), value);
        json_decref(value);
    }
    return status;
}

static int take(struct alike_difference *out, const char *name, const json_t *here, const json_t *there)
{
    const char *a = here ? json_string_value(here) : "nothing";
    const char *b = there ? json_string_value(there) : "nothing";
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->here, sizeof out->here, "%s", a ? a : "something else");
    snprintf(out->there, sizeof out->there, "%s", b ? b : "something else");
    return 1;
}

int alike_differ(const json_t *here, const json_t *there, struct alike_difference *out)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)here, name, value)
    {
        const json_t *other = json_object_get(there, name);
        if (!json_equal(value, other))
            return take(out, name, value, other);
    }
    json_object_foreach((json_t *)(uintptr_t)there, name,
                        value) if (!json_object_get(here, name)) return take(out, name, NULL, value);
    return 0;
}
