/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Whether `name` of that length is an element of the comma-separated list. */
static int list_has(const char *list, const char *name, size_t length)
{
    while (*list) {
        list += strspn(list, " \t,");
        size_t element = strcspn(list, ",");
        size_t trimmed = element;
        while (trimmed > 0 && (list[trimmed - 1] == ' ' || list[trimmed - 1] == '\t'))
            trimmed--;
        if (trimmed > 0 && trimmed == length && memcmp(list, name, length) == 0)
            return 1;
        list += element;
    }
    return 0;
}

/*
 * The part of `path` below `prefix`: "" if they are equal, what follows the dot if path is deeper,
 * NULL if it lies elsewhere.
 */
static const char *below(const char *path, const char *prefix, size_t length)
{
    if (strncmp(path, prefix, length) != 0 || (path[length] != '\0' && path[length] != '.'))
        return NULL;
    return path[length] == '.' ? path + length + 1 : path + length;
}

struct change {
    const char *section;
    const char *key;
    const char *before;
    const char *after;
};

/* Whether the name at the head of `rest` was in the old list and is not in the new one. Names may hold
   dots, so every prefix that ends at one is tried. */
static int names_a_removed(const char *rest, const struct change *change)
{
    for (size_t length = 1; length <= strlen(rest); length++)
        if ((rest[length] == '\0' || rest[length] == '.') && list_has(change->before, rest, length) &&
            !list_has(change->after, rest, length))
            return 1;
    return 0;
}

static int names_a_kept(const char *rest, const struct change *change)
{
    for (size_t length = 1; length <= strlen(rest); length++)
        if ((rest[length] == '\0' || rest[length] == '.') && list_has(change->before, rest, length) &&
            list_has(change->after, rest, length))
            return 1;
    return 0;
}

static int is_stale(const char *section, const struct change *change)
{
    const char *inside = below(section, change->section, strlen(change->section));
    if (!inside || !*inside)
        return 0;
    size_t length = strlen(change->key);
    const char *rest = below(inside, change->key, length);
    if (rest)
        return !names_a_kept(rest, change);
    if (names_a_removed(inside, change))
        return 1;
    if (length < 2 || change->key[length - 1] != 's')
        return 0;
    rest = below(inside, change->key, length - 1);
    return rest && names_a_removed(rest, change);
}

static void drop_stale(struct config_source *merged, const struct change *change)
{
    size_t kept = 0;
    for (size_t i = 0; i < merged->n_items; i++)
        if (!is_stale(merged->items[i].entry.section, change))
            merged->items[kept++] = merged->items[i];
        else
            log_message(LOG_LEVEL_DEBUG, "%s:%ld: [%s] %s is dropped: [%s] %s is no longer \"%s\"",
                        merged->items[i].entry.file, merged->items[i].entry.line,
                        merged->items[i].entry.section, merged->items[i].entry.key, change->section,
                        change->key, change->before);
    merged->n_items = kept;
    kept = 0;
    for (size_t i = 0; i < merged->n_sections; i++)
        if (!is_stale(merged->sections[i].name, change))
            merged->sections[kept++] = merged->sections[i];
    merged->n_sections = kept;
}

/* First all drops, so that the source's own parameters survive wherever they stand in it. */
static void drop_all_stale(struct config_source *merged, const struct config_source *source)
{
    for (size_t i = 0; i < source->n_items; i++) {
        const struct config_item *item = &source->items[i];
        const struct config_item *old = source_find(merged, item->full);
        if (!old || strcmp(old->entry.value, item->entry.value) == 0)
            continue;
        struct change change = {old->entry.section, old->entry.key, old->entry.value, item->entry.value};
        drop_stale(merged, &change);
    }
}

static int ensure_section(struct config_source *merged, const struct config_section *section,
                          struct dpf_error *error)
{
    return source_find_section(merged, section->name) ? 0 : source_add_section(merged, section, error);
}

int merge_source(struct config *config, const struct config_source *source, struct dpf_error *error)
{
    struct config_source *merged = &config->merged;
    drop_all_stale(merged, source);
    for (size_t i = 0; i < source->n_sections; i++)
        if (ensure_section(merged, &source->sections[i], error) != 0)
            return -1;
    for (size_t i = 0; i < source->n_items; i++) {
        const struct config_item *item = &source->items[i];
        struct config_item *old = source_find(merged, item->full);
        if (!old) {
            struct config_section section = {item->entry.section, item->entry.file, item->entry.line};
            if (ensure_section(merged, &section, error) != 0 || source_add_item(merged, item, error) != 0)
                return -1;
            continue;
        }
        old->entry.value = item->entry.value;
        old->entry.file = item->entry.file;
        old->entry.line = item->entry.line;
        old->directory = item->directory;
    }
    return 0;
}

static int by_order(const void *a, const void *b)
{
    size_t x = ((const struct config_item *)a)->order;
    size_t y = ((const struct config_item *)b)->order;
    return (x > y) - (x < y);
}

void merge_finish(struct config *config)
{
    struct config_source *merged = &config->merged;
    for (size_t i = 0; i < merged->n_items; i++) {
        const struct config_section *section = source_find_section(merged, merged->items[i].entry.section);
        size_t rank = section ? (size_t)(section - merged->sections) : merged->n_sections;
        merged->items[i].order = rank * CONFIG_ENTRIES_MAX + i;
    }
    if (merged->n_items)
        qsort(merged->items, merged->n_items, sizeof *merged->items, by_order);
}
