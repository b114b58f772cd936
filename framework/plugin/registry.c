/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/gone.h"
#include "plugin/loaded.h"
#include "plugin/plugin_scan.h"
#include "plugin/role_tables.h"
#include "plugin/scan_cache.h"
#include "plugin/search_path.h"

/* A component that the scan found; entry is filled once it is loaded. */
struct known {
    char *role;
    char *id;
    const char *path; /* belongs to the search path */
    struct registry_entry entry;
    int used;
    int is_ambiguous; /* another file has the same role and id */
};

struct registry {
    struct search_path path;
    struct known *known; /* sorted by role and id */
    size_t n;
    size_t capacity;
    struct known **used; /* in order of first use; room for all */
    int64_t n_used;
    struct text unusable; /* "FILE: why", separated by "; " */
};

static int by_role_and_id(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    int roles = strcmp(x->role, y->role);
    if (roles)
        return roles;
    int ids = strcmp(x->id, y->id);
    return ids ? ids : strcmp(x->path, y->path);
}

static void add_component(struct registry *registry, const char *path, const char *role, const char *id)
{
    registry->known =
        memory_need_grow(registry->known, &registry->capacity, registry->n + 1, sizeof *registry->known);
    registry->known[registry->n++] =
        (struct known){.path = path, .role = memory_text(role), .id = memory_text(id)};
}

/* Files that are not loaded yet. */
struct scanning {
    struct registry *registry;
    const char **paths;
    int64_t n;
};

static int found_component(void *context, int64_t index, const char *role, const char *id,
                           struct dpf_error *error)
{
    const struct scanning *scanning = context;
    (void)error;
    add_component(scanning->registry, scanning->paths[index], role, id);
    return 0;
}

/* A run makes several registries: the user gets the message once. */
static void warn_once(const char *what)
{
    enum { MOST = 64 };
    static char *told[MOST];
    static size_t n_told;
    for (size_t i = 0; i < n_told; i++)
        if (strcmp(told[i], what) == 0)
            return;
    if (n_told < MOST)
        told[n_told++] = memory_text(what);
    log_message(LOG_LEVEL_WARNING, "%s; it is not used", what);
}

static void add_unusable(struct registry *registry, const char *what)
{
    text_add(&registry->unusable, "%s%s", registry->unusable.length ? "; " : "", what);
    warn_once(what);
}

static int found_broken(void *context, int64_t index, const struct dpf_error *reason, struct dpf_error *error)
{
    struct registry *registry = ((const struct scanning *)context)->registry;
    const char *path = ((const struct scanning *)context)->paths[index];
    (void)error;
    /* What it has listed before it failed is at the end. */
    while (registry->n && registry->known[registry->n - 1].path == path) {
        registry->n--;
        free(registry->known[registry->n].role);
        free(registry->known[registry->n].id);
    }
    add_unusable(registry, reason->text);
    return 0;
}

static int same_component(const struct known *a, const struct known *b)
{
    return strcmp(a->role, b->role) == 0 && strcmp(a->id, b->id) == 0;
}

static void describe_twice(const struct known *a, const struct known *b, char *out, size_t size)
{
    snprintf(out, size, "two plugins offer %s %s: %s and %s; take one of them off the search path",
             role_name(a->role), a->id, a->path, b->path);
}

static void mark_duplicates(struct registry *registry)
{
    char text[1024];
    for (size_t i = 1; i < registry->n; i++) {
        struct known *a = &registry->known[i - 1], *b = &registry->known[i];
        if (!same_component(a, b))
            continue;
        a->is_ambiguous = b->is_ambiguous = 1;
        describe_twice(a, b, text, sizeof text);
        warn_once(text);
    }
}

static int cached_component(void *context, const char *path, const char *role, const char *id,
                            struct dpf_error *error)
{
    (void)error;
    add_component(context, path, role, id);
    return 0;
}

/* So that the next process need not scan what this one has. */
static void remember(struct scan_cache *cache, const struct scanning *scanning)
{
    const struct registry *registry = scanning->registry;
    for (int64_t s = 0; s < scanning->n; s++)
        for (size_t i = 0; i < registry->n; i++)
            if (registry->known[i].path == scanning->paths[s])
                scan_cache_add(cache, registry->known[i].path, registry->known[i].role,
                               registry->known[i].id);
    scan_cache_write(cache);
}

/* What is loaded already tells by itself; what an earlier process has found, and is unchanged, is in the cache. */
static int find_components(struct registry *registry, struct dpf_error *error)
{
    struct scanning scanning = {registry, memory_need(registry->path.n + 1, sizeof *scanning.paths), 0};
    struct scan_cache *cache = scan_cache_open();
    int status = 0;
    for (size_t i = 0; i < registry->path.n && status == 0; i++) {
        const char *path = registry->path.files[i];
        const struct loaded *loaded = loaded_find(path);
        const int is_cached = loaded ? 0 : scan_cache_find(cache, path, cached_component, registry, error);
        if (!loaded && is_cached == 0)
            scanning.paths[scanning.n++] = path;
        if (is_cached < 0)
            status = -1;
        for (uint32_t c = 0; loaded && c < loaded->plugin->n_components; c++)
            add_component(registry, path, loaded->plugin->components[c]->role,
                          loaded->plugin->components[c]->id);
    }
    if (status == 0)
        status = plugin_scan(scanning.paths, scanning.n, PLUGIN_SCAN_SECONDS, found_component, found_broken,
                             &scanning, error);
    if (status == 0 && scanning.n > 0)
        remember(cache, &scanning);
    scan_cache_free(cache);
    free(scanning.paths);
    return status;
}

struct registry *registry_open(const char *const *directories, int n_directories, struct dpf_error *error)
{
    struct registry *registry = memory_need(1, sizeof *registry);
    int status = search_path_collect(&registry->path, directories, n_directories, error);
    for (size_t i = 0; i < registry->path.n_left_out && status == 0; i++)
        add_unusable(registry, registry->path.left_out[i]);
    if (status == 0)
        status = find_components(registry, error);
    if (status != 0) {
        registry_free(registry);
        return NULL;
    }
    if (registry->n)
        qsort(registry->known, registry->n, sizeof *registry->known, by_role_and_id);
    registry->used = memory_need(registry->n, sizeof(*registry->used));
    mark_duplicates(registry);
    return registry;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->n; i++) {
        free(registry->known[i].role);
        free(registry->known[i].id);
    }
    free(registry->known);
    free(registry->used);
    text_free(&registry->unusable);
    search_path_free(&registry->path);
    free(registry);
}

static struct known *lookup(const struct registry *registry, const char *role, const char *id)
{
    for (size_t i = 0; i < registry->n; i++)
        if (strcmp(registry->known[i].role, role) == 0 && strcmp(registry->known[i].id, id) == 0)
            return &registry->known[i];
    return NULL;
}

static int refuse_ambiguous(const struct registry *registry, const struct known *known,
                            struct dpf_error *error)
{
    char text[1024];
    const struct known *other =
        known + 1 < registry->known + registry->n && same_component(known, known + 1) ? known + 1 : known - 1;
    describe_twice(known, other, text, sizeof text);
    return error_set(error, DPF_FAULT_PLUGIN, "%s", text);
}

static int fill_entry(struct known *known, struct dpf_error *error)
{
    if (known->entry.component)
        return 0;
    const struct loaded *loaded = loaded_get(known->path, error);
    if (!loaded)
        return -1;
    const dpf_plugin *plugin = loaded->plugin;
    for (uint32_t i = 0; i < plugin->n_components; i++) {
        const dpf_component *component = plugin->components[i];
        if (strcmp(component->role, known->role) == 0 && strcmp(component->id, known->id) == 0) {
            known->entry.plugin = plugin;
            known->entry.path = known->path;
            known->entry.component = component;
            return 0;
        }
    }
    return error_at(error, DPF_FAULT_PLUGIN, known->path, 0,
                    "offered %s %s when it was scanned, but no longer does", role_name(known->role),
                    known->id);
}

/* Another role that has a component of this id; NULL if none has. */
static const char *role_of_id(const struct registry *registry, const char *id)
{
    for (size_t i = 0; i < registry->n; i++)
        if (strcmp(registry->known[i].id, id) == 0)
            return role_name(registry->known[i].role);
    return NULL;
}

/* Where was looked, how to look elsewhere, and what could not be used. Free it. */
static char *where_searched(const struct registry *registry)
{
    const char *directories = registry->path.directories.data;
    return memory_format("Plugins are searched for in %s; --plugin-dir and DPFRAME_PLUGIN_PATH name further "
                         "directories%s%s",
                         directories ? directories : "no directory",
                         registry->unusable.length ? ". Not usable: " : "",
                         registry->unusable.length ? registry->unusable.data : "");
}

static void unknown_id(const struct registry *registry, const char *role, const char *id,
                       struct dpf_error *error)
{
    const char **candidates = memory_new(registry->n, sizeof *candidates);
    struct text list = {0};
    int64_t n = 0;
    for (size_t i = 0; candidates && i < registry->n; i++)
        if (strcmp(registry->known[i].role, role) == 0) {
            text_add(&list, "%s%s", n ? ", " : "", registry->known[i].id);
            candidates[n++] = registry->known[i].id;
        }
    const char *nearest = n ? text_nearest(id, candidates, n) : NULL;
    const char *name = role_name(role);
    /* It may be in a file that exists but cannot be used: then that is the error. */
    const enum dpf_fault fault = registry->unusable.length ? DPF_FAULT_PLUGIN : DPF_FAULT_CONFIG;
    char *where = where_searched(registry);
    const char *rest = where ? where : "";
    if (gone_component(id))
        error_set(error, DPF_FAULT_CONFIG, "%s \"%s\" is gone: %s", name, id, gone_component(id));
    else if (n == 0)
        error_set(error, fault, "there is no %s \"%s\": no plugin on the search path has that role. %s", name,
                  id, rest);
    else if (role_of_id(registry, id))
        error_set(error, DPF_FAULT_CONFIG, "\"%s\" is a %s, not a %s (there are: %s)", id,
                  role_of_id(registry, id), name, list.data ? list.data : "");
    else if (nearest)
        error_set(error, fault, "there is no %s \"%s\"; did you mean \"%s\"? (there are: %s) %s", name, id,
                  nearest, list.data ? list.data : "", rest);
    else
        error_set(error, fault, "there is no %s \"%s\" (there are: %s). %s", name, id,
                  list.data ? list.data : "", rest);
    free(where);
    text_free(&list);
    free(candidates);
}

const struct registry_entry *registry_find(struct registry *registry, const char *role, const char *id,
                                           struct dpf_error *error)
{
    struct known *known = lookup(registry, role, id);
    if (!known) {
        unknown_id(registry, role, id, error);
        return NULL;
    }
    if ((known->is_ambiguous && refuse_ambiguous(registry, known, error) != 0) ||
        fill_entry(known, error) != 0)
        return NULL;
    if (!known->used) {
        if (loaded_sha256(known->path, known->entry.sha256, error) != 0)
            return NULL;
        known->used = 1;
        registry->used[registry->n_used++] = known;
    }
    return &known->entry;
}

int64_t registry_count(const struct registry *registry)
{
    return (int64_t)registry->n;
}

const char *registry_role_at(const struct registry *registry, int64_t index)
{
    return registry->known[index].role;
}

const char *registry_id_at(const struct registry *registry, int64_t index)
{
    return registry->known[index].id;
}

const struct registry_entry *registry_at(struct registry *registry, int64_t index, struct dpf_error *error)
{
    struct known *known = &registry->known[index];
    return fill_entry(known, error) == 0 ? &known->entry : NULL;
}

int registry_has(const struct registry *registry, const char *role, const char *id)
{
    return lookup(registry, role, id) != NULL;
}

const struct registry_entry *registry_look(struct registry *registry, const char *role, const char *id,
                                           struct dpf_error *error)
{
    struct known *known = lookup(registry, role, id);
    return known && fill_entry(known, error) == 0 ? &known->entry : NULL;
}

void registry_add_fitting(struct registry *registry, const char *role,
                          int (*fits)(const dpf_component *component, uint32_t flags), uint32_t flags,
                          struct text *out)
{
    int n = 0;
    for (size_t i = 0; i < registry->n; i++) {
        struct dpf_error ignored = {0};
        struct known *known = &registry->known[i];
        if (strcmp(known->role, role) == 0 && fill_entry(known, &ignored) == 0 &&
            fits(known->entry.component, flags))
            text_add(out, "%s%s", n++ ? ", " : "", known->id);
    }
    if (!n)
        text_add(out, "none");
}

int64_t registry_used_count(const struct registry *registry)
{
    return registry->n_used;
}

const struct registry_entry *registry_used_at(const struct registry *registry, int64_t index)
{
    return &registry->used[index]->entry;
}

void registry_add_used(const struct registry *registry, struct text *text)
{
    for (int64_t i = 0; i < registry_used_count(registry); i++) {
        const struct registry_entry *entry = registry_used_at(registry, i);
        text_add(text, "%s %s %s\n", entry->component->role, entry->component->id, entry->sha256);
    }
}
