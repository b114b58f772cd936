/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_store.h"
#include "config/renamed.h"
#include "config/config_value.h"

/* What config_values.storage points to. */
struct storage {
    dpf_value *values;
    void **blocks; /* one for each value, or NULL */
    int64_t n;
};

static const dpf_param *param_at(const dpf_param *table, int64_t stride, int64_t index)
{
    return (const dpf_param *)(const void *)((const char *)table + index * stride);
}

void config_values_free(struct config_values *values)
{
    struct storage *storage = values->storage;
    if (storage) {
        for (int64_t i = 0; i < storage->n; i++)
            free(storage->blocks[i]);
        free(storage->blocks);
        free(storage->values);
        free(storage);
    }
    free(values->section);
    *values = (struct config_values){0};
}

static struct storage *storage_new(int64_t n)
{
    struct storage *storage = memory_new(1, sizeof *storage);
    if (!storage)
        return NULL;
    storage->values = memory_new((size_t)n, sizeof *storage->values);
    storage->blocks = memory_new((size_t)n, sizeof *storage->blocks);
    if (!storage->values || !storage->blocks) {
        free(storage->values);
        free(storage->blocks);
        free(storage);
        return NULL;
    }
    storage->n = n;
    return storage;
}

/* Replaces a path by its absolute form, relative to directory or to the current one; "-" is standard input. */
static int make_absolute(dpf_value *value, void **block, const char *directory, struct dpf_error *error)
{
    char here[4096];
    if (!*value->text || value->text[0] == '/' || strcmp(value->text, "-") == 0)
        return 0;
    char *joined = files_join(directory, value->text);
    if (!joined)
        return error_memory(error);
    if (joined[0] != '/') {
        if (!getcwd(here, sizeof here)) {
            free(joined);
            return error_set(error, DPF_FAULT_RUN, "cannot tell the current directory: %s", strerror(errno));
        }
        const char *relative = strncmp(joined, "./", 2) == 0 ? joined + 2 : joined;
        char *whole = files_join(here, relative);
        free(joined);
        if (!whole)
            return error_memory(error);
        joined = whole;
    }
    char *written = files_not_installed(joined);
    free(joined);
    if (!written)
        return error_memory(error);
    free(*block);
    *block = written;
    value->text = written;
    return 0;
}

/* One call of config_bind. */
struct binding {
    struct config *config;
    const char *section;
    const dpf_param *table;
    int64_t n;
    int64_t stride;
    const char *who;
    struct dpf_error *error;
};

static int bind_text(const struct binding *b, const dpf_param *param, const char *text,
                     const struct config_item *item, dpf_value *out, void **block)
{
    char problem[VALUE_PROBLEM];
    int status = value_parse(param, text, out, block, problem);
    if (status == -2)
        return error_memory(b->error);
    const struct renamed *renamed = status != 0 && item ? renamed_find(b->section, param->name, text) : NULL;
    if (renamed)
        return config_error(b->config, b->section, param->name, b->error,
                            "\"%s\" is now called \"%s\"; \"dpframe convert\" rewrites a file", text,
                            renamed->new_name);
    if (status != 0 && item)
        return config_error(b->config, b->section, param->name, b->error, "%s", problem);
    if (status != 0)
        return error_set(b->error, DPF_FAULT_PLUGIN, "the default of %s%s%s in [%s], \"%s\", is wrong: %s",
                         param->name, b->who ? " of " : "", b->who ? b->who : "", b->section, text, problem);
    if (param->type == DPF_TYPE_PATH)
        return make_absolute(out, block, item ? item->directory : ".", b->error);
    return 0;
}

static int bind_default(const struct binding *b, const dpf_param *param, dpf_value *out, void **block)
{
    *out = (dpf_value){.type = param->type};
    switch (param->type) {
    case DPF_TYPE_BOOL:
    case DPF_TYPE_INT:
        out->integer = param->default_integer;
        return 0;
    case DPF_TYPE_REAL:
        out->real = param->default_real;
        return 0;
    case DPF_TYPE_ENUM:
        out->integer = param->default_integer;
        if (out->integer >= 0 && out->integer < param->n_values)
            return 0;
        return error_set(b->error, DPF_FAULT_PLUGIN, "the default of %s in [%s] is not one of its values",
                         param->name, b->section);
    default:
        if (param->default_text && *param->default_text)
            return bind_text(b, param, param->default_text, NULL, out, block);
        /* No elements, or the empty text: nothing to parse. */
        out->text = param->type == DPF_TYPE_STRING || param->type == DPF_TYPE_PATH ? "" : NULL;
        return 0;
    }
}

static int refuse_missing(const struct binding *b, const dpf_param *param)
{
    return config_error(b->config, b->section, NULL, b->error, "the key \"%s\" is missing%s%s%s%s%s%s",
                        param->name, b->who ? ": " : "", b->who ? b->who : "", b->who ? " needs it" : "",
                        *param->help ? " (" : "", param->help, *param->help ? ")" : "");
}

/* An empty value takes back what an included file has set, where there is such a value: of texts, paths and lists. */
static int is_emptied(const dpf_param *param, const struct config_item *item)
{
    const int can_be =
        param->type == DPF_TYPE_PATH || param->type == DPF_TYPE_INT_LIST || param->type == DPF_TYPE_REAL_LIST;
    return !*item->entry.value && can_be && !(param->flags & DPF_PARAM_REQUIRED) &&
           !(param->default_text && *param->default_text);
}

static int bind_one(const struct binding *b, const dpf_param *param, dpf_value *out, void **block)
{
    char buffer[CONFIG_FULL_MAX];
    const char *full = config_full_name(b->section, param->name, buffer);
    struct config_item *item = full ? source_find(&b->config->merged, full) : NULL;
    if (!item && param->flags & DPF_PARAM_REQUIRED)
        return refuse_missing(b, param);
    if (!item)
        return bind_default(b, param, out, block);
    item->consumed = 1;
    if (param->flags & DPF_PARAM_DEPRECATED)
        log_message(LOG_LEVEL_WARNING, "[%s] %s, set in %s, is deprecated: %s", b->section, param->name,
                    item->entry.file, param->help);
    if (is_emptied(param, item))
        return bind_default(b, param, out, block);
    if (bind_text(b, param, item->entry.value, item, out, block) != 0)
        return -1;
    out->is_set = 1;
    return 0;
}

/* Remembers the table's keys, for suggestions in config_check_consumed. */
static int remember_keys(const struct binding *b)
{
    struct config *config = b->config;
    const char *section = config_keep(config, memory_text(b->section), b->error);
    /* One entry without a key stands for the section, whose table may be empty. */
    for (int64_t i = -1; section && i < b->n; i++) {
        const char *name = i < 0 ? "" : param_at(b->table, b->stride, i)->name;
        struct config_known *grown =
            memory_grow(config->known, &config->known_capacity, config->n_known + 1, sizeof *grown);
        if (!grown)
            return error_memory(b->error);
        config->known = grown;
        const char *key = config_keep(config, memory_text(name), b->error);
        const char *full =
            key ? config_keep(config, memory_format(i < 0 ? "%s" : "%s.%s", section, key), b->error) : NULL;
        if (!full)
            return -1;
        config->known[config->n_known++] = (struct config_known){section, key, full};
    }
    return section ? 0 : -1;
}

static int is_in_table(const struct binding *b, const char *key)
{
    for (int64_t i = 0; i < b->n; i++)
        if (strcmp(param_at(b->table, b->stride, i)->name, key) == 0)
            return 1;
    return 0;
}

static int refuse_unknown(const struct binding *b, const struct config_entry *entry)
{
    if (renamed_refuse(entry, b->error) != 0)
        return -1;
    const char **names = memory_new((size_t)b->n, sizeof *names);
    if (!names)
        return error_memory(b->error);
    struct text all = {0};
    for (int64_t i = 0; i < b->n; i++) {
        names[i] = param_at(b->table, b->stride, i)->name;
        text_add(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = text_nearest(entry->key, names, b->n);
    const char *of = b->who ? " of " : "";
    const char *who = b->who ? b->who : "";
    if (nearest)
        error_at(b->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                 "unknown key \"%s\" in [%s]%s%s; did you mean \"%s\"?", entry->key, b->section, of, who,
                 nearest);
    else if (b->n == 0)
        error_at(b->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                 "unknown key \"%s\" in [%s]%s%s, which takes no keys", entry->key, b->section, of, who);
    else
        error_at(b->error, DPF_FAULT_CONFIG, entry->file, entry->line,
                 "unknown key \"%s\" in [%s]%s%s; its keys are: %s", entry->key, b->section, of, who,
                 all.data && !all.failed ? all.data : "(out of memory)");
    free(names);
    text_free(&all);
    return -1;
}

static int check_strict(const struct binding *b)
{
    for (size_t i = 0; i < b->config->merged.n_items; i++) {
        const struct config_item *item = &b->config->merged.items[i];
        /* What another table has read belongs to two, which is not for us to refuse. */
        if (strcmp(item->entry.section, b->section) == 0 && !item->consumed &&
            !is_in_table(b, item->entry.key))
            return refuse_unknown(b, &item->entry);
    }
    return 0;
}

int config_bind(struct config *config, const char *section, const dpf_param *table, int64_t n, int64_t stride,
                const char *who, int strict, struct config_values *out, struct dpf_error *error)
{
    const struct binding binding = {config, section, table, n, stride, who, error};
    *out = (struct config_values){.table = table, .table_stride = stride};
    if (remember_keys(&binding) != 0 || (strict && check_strict(&binding) != 0))
        return -1;
    struct storage *storage = storage_new(n);
    out->storage = storage;
    out->section = storage ? memory_text(section) : NULL;
    int status = out->section ? 0 : error_memory(error);
    for (int64_t i = 0; i < n && status == 0; i++)
        status = bind_one(&binding, param_at(table, stride, i), &storage->values[i], &storage->blocks[i]);
    if (status != 0) {
        config_values_free(out);
        return -1;
    }
    out->params = (dpf_params){(uint32_t)sizeof out->params, (uint32_t)n, storage->values};
    return 0;
}
