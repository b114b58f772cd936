/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"
#include "kit/keep_scans.h"
#include "plan/schema.h"
#include "reading/input_facts.h"

void draw_seed(struct draw_random *random, uint64_t seed)
{
    random->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static uint64_t next(struct draw_random *random)
{
    uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

int draw_below(struct draw_random *random, int n)
{
    return n < 2 ? 0 : (int)(next(random) % (uint64_t)n);
}

double draw_unit(struct draw_random *random)
{
    return (double)(next(random) >> 11) * 0x1p-53;
}

int draw_chance(struct draw_random *random, int percent)
{
    return draw_below(random, 100) < percent;
}

/* ---- all keys ----------------------------------------------------------------------------------------- */

static int add_table(struct draw_keys *keys, const char *place, const char *owner, const dpf_param *params,
                     int64_t n, int64_t stride, struct dpf_error *error)
{
    struct draw_key *list = realloc(keys->list, (size_t)(keys->n + n + 1) * sizeof *list);
    if (!list)
        return error_memory(error);
    keys->list = list;
    for (int64_t i = 0; i < n; i++) {
        struct draw_key *key = &keys->list[keys->n];
        char name[160];
        int several;
        *key =
            (struct draw_key){.param = (const dpf_param *)(const void *)((const char *)params + i * stride)};
        snprintf(key->place, sizeof key->place, "%s", place);
        snprintf(key->owner, sizeof key->owner, "%s", owner);
        key->left_out = draw_left_out(place, owner, key->param->name);
        key->is_fact = input_fact_has_key(place, key->param->name) || draw_has_pivot(key->param->name);
        const int is_text = key->param->type == DPF_TYPE_STRING || key->param->type == DPF_TYPE_PATH;
        if (is_text && !key->left_out && !draw_role_of(place, key->param->name, &several) &&
            !draw_texts(place, owner, key->param->name))
            return error_set(
                error, DPF_FAULT_RUN,
                "nobody has said which texts the key %s takes: add them to tests/kit/draw_values.c",
                draw_key_name(key, name));
        keys->n++;
    }
    return 0;
}

static int add_sections(struct draw_keys *keys, struct dpf_error *error)
{
    int64_t n_sections, n;
    const struct schema_section *sections = schema_sections(&n_sections);
    for (int64_t s = 0; s < n_sections; s++) {
        const char *name = sections[s].name;
        const dpf_param *params = sections[s].params(&n);
        if (strcmp(name, "items") == 0) /* the same table as that of users */
            continue;
        const char *place = strcmp(name, "users") == 0 ? "SIDE" : strchr(name, '.') ? "TERM" : name;
        if (add_table(keys, place, "", params, n, sizeof *params, error) != 0)
            return -1;
    }
    const dpf_param *params = evaluate_params(&n);
    return add_table(keys, "evaluate", "", params, n, sizeof *params, error);
}

/* Links and comms join processes; all other components are parts of any run. */
static int is_of_a_run(const char *role)
{
    return strcmp(role, "link") != 0 && strcmp(role, "comm") != 0;
}

static int add_components(struct draw_keys *keys, struct dpf_error *error)
{
    const int64_t n = registry_count(keys->registry);
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = registry_at(keys->registry, i, error);
        if (!entry)
            return -1;
        const dpf_component *component = entry->component;
        const char *dot = strchr(component->role, '.');
        char role[32];
        snprintf(role, sizeof role, "%s", dot ? dot + 1 : component->role);
        role[strcspn(role, "/")] = '\0';
        if (is_of_a_run(role) && add_table(keys, role, component->id, component->params, component->n_params,
                                           component->param_stride, error) != 0)
            return -1;
    }
    return 0;
}

const char *draw_plugins(const char *build)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/plugins", build);
    return path;
}

int draw_keys_open(struct draw_keys *keys, const char *build, struct dpf_error *error)
{
    const char *directory = draw_plugins(build);
    keep_scans();
    *keys = (struct draw_keys){.registry = registry_open(&directory, 1, error)};
    return keys->registry && add_sections(keys, error) == 0 ? add_components(keys, error) : -1;
}

void draw_keys_free(struct draw_keys *keys)
{
    registry_free(keys->registry);
    free(keys->list);
    *keys = (struct draw_keys){0};
}

const char *draw_key_name(const struct draw_key *key, char buffer[160])
{
    snprintf(buffer, 160, "%s%s%s %s", key->place, *key->owner ? " " : "", key->owner, key->param->name);
    return buffer;
}
