/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_store.h"
#include "config/gone.h"
#include "config/renamed.h"

struct check {
    const struct config *config;
    const char *const *sections;
    int n_sections;
    struct dpf_error *error;
};

/* A section is known if the caller says so, or if a table or somebody else has read from it. */
static int is_known_section(const struct check *check, const char *section)
{
    const struct config *config = check->config;
    for (int i = 0; i < check->n_sections; i++)
        if (strcmp(check->sections[i], section) == 0)
            return 1;
    for (size_t i = 0; i < config->n_known; i++)
        if (strcmp(config->known[i].section, section) == 0)
            return 1;
    for (size_t i = 0; i < config->merged.n_items; i++)
        if (config->merged.items[i].consumed && strcmp(config->merged.items[i].entry.section, section) == 0)
            return 1;
    return 0;
}

static int is_known_full(const struct config *config, const char *full)
{
    for (size_t i = 0; i < config->n_known; i++)
        if (*config->known[i].key && strcmp(config->known[i].full, full) == 0)
            return 1;
    return 0;
}

/* Names near an unknown section: sections, and slots like users.mechanism, whose component would read it. */
static const char *nearest_section(const struct check *check, const char *section, const char **names)
{
    int64_t n = 0;
    for (int i = 0; i < check->n_sections; i++)
        names[n++] = check->sections[i];
    for (size_t i = 0; i < check->config->n_known; i++)
        names[n++] = check->config->known[i].full;
    return text_nearest(section, names, n);
}

static int refuse_section(const struct check *check, const struct config_section *section, const char **names)
{
    const char *dot = strrchr(section->name, '.');
    if (is_known_full(check->config, section->name))
        return error_at(check->error, DPF_FAULT_CONFIG, section->file, section->line,
                        "nothing reads [%s]: set \"%s\" in [%.*s], or remove the section", section->name,
                        dot + 1, (int)(dot - section->name), section->name);
    const char *nearest = nearest_section(check, section->name, names);
    dot = nearest ? strrchr(nearest, '.') : NULL;
    if (dot && !is_known_section(check, nearest))
        return error_at(check->error, DPF_FAULT_CONFIG, section->file, section->line,
                        "unknown section [%s]; did you mean the key \"%s\" of [%.*s]?", section->name,
                        dot + 1, (int)(dot - nearest), nearest);
    if (nearest)
        return error_at(check->error, DPF_FAULT_CONFIG, section->file, section->line,
                        "unknown section [%s]; did you mean [%s]?", section->name, nearest);
    return error_at(check->error, DPF_FAULT_CONFIG, section->file, section->line,
                    "nothing reads the section [%s]: remove it, or set the component that it belongs to",
                    section->name);
}

/* "; it is a key of [model]" where other sections have a key of that name; at most three of them. */
static void add_places(const struct config *config, const char *key, struct text *out)
{
    int n = 0;
    for (size_t i = 0; i < config->n_known && n < 3; i++) {
        int is_first = strcmp(config->known[i].key, key) == 0;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = strcmp(config->known[k].key, key) != 0 ||
                       strcmp(config->known[k].section, config->known[i].section) != 0;
        if (is_first)
            text_add(out, "%s[%s]", n++ ? ", " : "; it is a key of ", config->known[i].section);
    }
}

static int refuse_key(const struct check *check, const struct config_item *item, const char **names)
{
    const struct config *config = check->config;
    const struct config_entry *entry = &item->entry;
    int64_t n = 0;
    if (renamed_refuse(entry, check->error) != 0)
        return -1;
    for (size_t i = 0; i < config->n_known; i++)
        if (strcmp(config->known[i].section, entry->section) == 0)
            names[n++] = config->known[i].key;
    const char *nearest = text_nearest(entry->key, names, n);
    if (nearest)
        return error_at(check->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                        "unknown key \"%s\" in [%s]; did you mean \"%s\"?", entry->key, entry->section,
                        nearest);
    struct text places = {0};
    add_places(config, entry->key, &places);
    const int status = places.length
                           ? error_at(check->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                                      "unknown key \"%s\" in [%s]%s", entry->key, entry->section, places.data)
                           : error_at(check->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                                      "unknown key \"%s\" in [%s]; \"dpframe describe %s\" lists the keys",
                                      entry->key, entry->section, entry->section);
    text_free(&places);
    return status;
}

/* An override of a dotted key, "data.synthetic.usrs", looks like one of a section that does not exist. */
static int refuse_override(const struct check *check, const struct config_item *item, const char **names)
{
    const struct config *config = check->config;
    int64_t n = 0;
    for (size_t i = 0; i < config->n_known; i++)
        if (*config->known[i].key)
            names[n++] = config->known[i].full;
    const char *nearest = text_nearest(item->full, names, n);
    if (!nearest)
        return 0;
    return error_at(check->error, DPF_FAULT_CONFIG, item->entry.file, item->entry.line,
                    "unknown key \"%s\"; did you mean \"%s\"?", item->full, nearest);
}

/* All keys of such a section are read, or gone. */
static int has_keys(const struct config_source *merged, const char *section)
{
    for (size_t i = 0; i < merged->n_items; i++)
        if (strcmp(merged->items[i].entry.section, section) == 0)
            return 1;
    return 0;
}

static int check_all(const struct check *check, const char **names)
{
    const struct config_source *merged = &check->config->merged;
    for (size_t i = 0; i < merged->n_items; i++) {
        const struct config_item *item = &merged->items[i];
        const int gone = item->consumed ? 1 : gone_check(check->config, &item->entry, check->error);
        if (gone > 0)
            continue;
        if (gone < 0)
            return -1;
        if (is_known_section(check, item->entry.section))
            return refuse_key(check, item, names);
        if (item->entry.line == 0 && refuse_override(check, item, names) != 0)
            return -1;
        const struct config_section *header = source_find_section(merged, item->entry.section);
        const struct config_section place = {item->entry.section, item->entry.file, item->entry.line};
        const int in_file = header && header->file && strcmp(header->file, place.file) == 0;
        return refuse_section(check, in_file ? header : &place, names);
    }
    for (size_t i = 0; i < merged->n_sections; i++)
        if (!has_keys(merged, merged->sections[i].name) &&
            !is_known_section(check, merged->sections[i].name) &&
            !is_known_full(check->config, merged->sections[i].name))
            return refuse_section(check, &merged->sections[i], names);
    return 0;
}

int config_check_consumed(const struct config *config, const char *const *known_sections, int n_known,
                          struct dpf_error *error)
{
    const struct check check = {config, known_sections, n_known, error};
    const char **names = memory_need((size_t)n_known + config->n_known, sizeof *names);
    int status = check_all(&check, names);
    free(names);
    return status;
}
