/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "config/config_store.h"

struct config *config_new(const char *path)
{
    struct config *config = memory_need(1, sizeof *config);
    config->path = config_keep(config, memory_text(path));
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    source_free(&config->merged);
    for (size_t i = 0; i < config->n_kept; i++)
        free(config->kept[i]);
    free(config->kept);
    free(config->known);
    free(config);
}

const char *config_keep(struct config *config, char *text)
{
    config->kept =
        memory_need_grow(config->kept, &config->kept_capacity, config->n_kept + 1, sizeof(*config->kept));
    config->kept[config->n_kept++] = text;
    return text;
}

const char *config_full_name(const char *section, const char *key, char buffer[CONFIG_FULL_MAX])
{
    int length = snprintf(buffer, CONFIG_FULL_MAX, "%s.%s", section, key);
    return length > 0 && length < CONFIG_FULL_MAX ? buffer : NULL;
}

struct config_item *source_find(const struct config_source *source, const char *full)
{
    for (size_t i = 0; i < source->n_items; i++)
        if (strcmp(source->items[i].full, full) == 0)
            return &source->items[i];
    return NULL;
}

struct config_section *source_find_section(const struct config_source *source, const char *name)
{
    for (size_t i = 0; i < source->n_sections; i++)
        if (strcmp(source->sections[i].name, name) == 0)
            return &source->sections[i];
    return NULL;
}

int source_add_item(struct config_source *source, const struct config_item *item, struct dpf_error *error)
{
    if (source->n_items >= CONFIG_ENTRIES_MAX)
        return error_at(error, DPF_FAULT_CONFIG, item->entry.file, item->entry.line,
                        "too many keys (limit %d)", CONFIG_ENTRIES_MAX);
    source->items =
        memory_need_grow(source->items, &source->items_capacity, source->n_items + 1, sizeof *source->items);
    source->items[source->n_items++] = *item;
    return 0;
}

int source_add_section(struct config_source *source, const struct config_section *section,
                       struct dpf_error *error)
{
    if (source->n_sections >= CONFIG_ENTRIES_MAX)
        return error_at(error, DPF_FAULT_CONFIG, section->file, section->line, "too many sections (limit %d)",
                        CONFIG_ENTRIES_MAX);
    source->sections = memory_need_grow(source->sections, &source->sections_capacity, source->n_sections + 1,
                                        sizeof *source->sections);
    source->sections[source->n_sections++] = *section;
    return 0;
}

void source_free(struct config_source *source)
{
    free(source->items);
    free(source->sections);
    free(source->includes);
    *source = (struct config_source){0};
}

const char *config_path(const struct config *config)
{
    return config->path;
}

const struct config_entry *config_find(const struct config *config, const char *section, const char *key)
{
    char buffer[CONFIG_FULL_MAX];
    const char *full = config_full_name(section, key, buffer);
    const struct config_item *item = full ? source_find(&config->merged, full) : NULL;
    return item ? &item->entry : NULL;
}

int64_t config_size(const struct config *config)
{
    return (int64_t)config->merged.n_items;
}

const struct config_entry *config_at(const struct config *config, int64_t index)
{
    if (index < 0 || index >= config_size(config))
        return NULL;
    return &config->merged.items[index].entry;
}

int config_has_section(const struct config *config, const char *section)
{
    return source_find_section(&config->merged, section) != NULL;
}

void config_consume(struct config *config, const char *section, const char *key)
{
    char buffer[CONFIG_FULL_MAX];
    const char *full = config_full_name(section, key, buffer);
    struct config_item *item = full ? source_find(&config->merged, full) : NULL;
    if (item)
        item->consumed = 1;
}

void config_consume_section(struct config *config, const char *section)
{
    for (size_t i = 0; i < config->merged.n_items; i++)
        if (strcmp(config->merged.items[i].entry.section, section) == 0)
            config->merged.items[i].consumed = 1;
}

int config_error_text(const struct config *config, const char *section, const char *key,
                      struct dpf_error *error, const char *format, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    if (!config)
        return error_set(error, DPF_FAULT_CONFIG, "[%s] %s: %s", section, key, text);
    char shown[TEXT_SHOWN];
    const struct config_entry *entry = key ? config_find(config, section, key) : NULL;
    if (error->fault == DPF_FAULT_NONE) {
        snprintf(error->key, sizeof error->key, "%s%s%s", section, key ? "." : "", key ? key : "");
        text_show(entry ? entry->value : "", error->value);
    }
    if (entry)
        return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line, "[%s] %s = %s: %s", section, key,
                        text_show(entry->value, shown), text);
    const struct config_section *place = source_find_section(&config->merged, section);
    return error_at(error, DPF_FAULT_CONFIG, place ? place->file : config->path, place ? place->line : 0,
                    "[%s]%s%s: %s", section, key ? " " : "", key ? key : "", text);
}

int config_error(const struct config *config, const char *section, const char *key, struct dpf_error *error,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int status = config_error_text(config, section, key, error, format, args);
    va_end(args);
    return status;
}
