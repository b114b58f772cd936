/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
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
#include "config/gone.h"
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
    struct storage *storage = memory_need(1, sizeof *storage);
    *storage = (struct storage){.values = memory_need((size_t)n, sizeof *storage->values),
                                .blocks = memory_need((size_t)n, sizeof *storage->blocks),
                                .n = n};
    return storage;
}

/* One call of config_bind. The first error ends it: a value's place is known here, and nobody else adds to it. */
struct binding {
    struct config *config;
    const char *section;
    const dpf_param *table;
    int64_t n;
    int64_t stride;
    const char *who;
    struct dpf_error *error;
    int failed;
};

#define FAIL(b, report) ((b)->failed |= (report) != 0)

/* Replaces a path by its absolute form, relative to directory or to the current one; "-" is standard input. */
static void make_absolute(struct binding *b, dpf_value *value, void **block, const char *directory)
{
    char here[4096];
    if (!*value->text || value->text[0] == '/' || strcmp(value->text, "-") == 0)
        return;
    char *joined = files_join(directory, value->text);
    if (joined[0] != '/' && !getcwd(here, sizeof here)) {
        FAIL(b, error_set(b->error, DPF_FAULT_RUN, "cannot tell the current directory: %s", strerror(errno)));
    } else if (joined[0] != '/') {
        char *relative = joined;
        joined = files_join(here, strncmp(relative, "./", 2) == 0 ? relative + 2 : relative);
        free(relative);
    }
    free(*block);
    value->text = *block = files_not_installed(joined);
    free(joined);
}

static void bind_text(struct binding *b, const dpf_param *param, const char *text,
                      const struct config_item *item, dpf_value *out, void **block)
{
    char problem[VALUE_PROBLEM];
    value_parse(param, text, out, block, problem);
    const struct renamed *renamed = *problem && item ? renamed_find(b->section, param->name, text) : NULL;
    if (renamed)
        FAIL(b, config_error(b->config, b->section, param->name, b->error,
                             "\"%s\" is now called \"%s\"; \"dpframe convert\" rewrites a file", text,
                             renamed->new_name));
    else if (*problem && item)
        FAIL(b, config_error(b->config, b->section, param->name, b->error, "%s", problem));
    else if (*problem)
        FAIL(b,
             error_set(b->error, DPF_FAULT_PLUGIN, "the default of %s%s%s in [%s], \"%s\", is wrong: %s",
                       param->name, b->who ? " of " : "", b->who ? b->who : "", b->section, text, problem));
    else if (param->type == DPF_TYPE_PATH)
        make_absolute(b, out, block, item ? item->directory : ".");
}

static void bind_default(struct binding *b, const dpf_param *param, dpf_value *out, void **block)
{
    *out = (dpf_value){.type = param->type};
    switch (param->type) {
    case DPF_TYPE_BOOL:
    case DPF_TYPE_INT:
        out->integer = param->default_integer;
        break;
    case DPF_TYPE_REAL:
        out->real = param->default_real;
        break;
    case DPF_TYPE_ENUM:
        out->integer = param->default_integer;
        if (out->integer < 0 || out->integer >= param->n_values)
            FAIL(b, error_set(b->error, DPF_FAULT_PLUGIN,
                              "the default of %s in [%s] is not one of its values", param->name, b->section));
        break;
    default:
        if (param->default_text && *param->default_text)
            bind_text(b, param, param->default_text, NULL, out, block);
        else /* No elements, or the empty text: nothing to parse. */
            out->text = param->type == DPF_TYPE_STRING || param->type == DPF_TYPE_PATH ? "" : NULL;
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

static void bind_one(struct binding *b, const dpf_param *param, dpf_value *out, void **block)
{
    char buffer[CONFIG_FULL_MAX];
    const char *full = config_full_name(b->section, param->name, buffer);
    struct config_item *item = full ? source_find(&b->config->merged, full) : NULL;
    if (!item && param->flags & DPF_PARAM_REQUIRED) {
        FAIL(b, refuse_missing(b, param));
        return;
    }
    if (item)
        item->consumed = 1;
    if (item && param->flags & DPF_PARAM_DEPRECATED)
        log_message(LOG_LEVEL_WARNING, "[%s] %s, set in %s, is deprecated: %s", b->section, param->name,
                    item->entry.file, param->help);
    if (!item || is_emptied(param, item)) {
        bind_default(b, param, out, block);
        return;
    }
    bind_text(b, param, item->entry.value, item, out, block);
    out->is_set = 1;
}

/* Remembers the table's keys, for suggestions in config_check_consumed. */
static void remember_keys(const struct binding *b)
{
    struct config *config = b->config;
    const char *section = config_keep(config, memory_text(b->section));
    /* One entry without a key stands for the section, whose table may be empty. */
    for (int64_t i = -1; i < b->n; i++) {
        const char *key =
            config_keep(config, memory_text(i < 0 ? "" : param_at(b->table, b->stride, i)->name));
        const char *full = config_keep(config, memory_format(i < 0 ? "%s" : "%s.%s", section, key));
        config->known = memory_need_grow(config->known, &config->known_capacity, config->n_known + 1,
                                         sizeof *config->known);
        config->known[config->n_known++] = (struct config_known){section, key, full};
    }
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
    const char **names = memory_need((size_t)b->n, sizeof *names);
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
                 all.data ? all.data : "");
    free(names);
    text_free(&all);
    return -1;
}

static int check_strict(const struct binding *b)
{
    for (size_t i = 0; i < b->config->merged.n_items; i++) {
        const struct config_item *item = &b->config->merged.items[i];
        /* What another table has read belongs to two, which is not for us to refuse. */
        if (strcmp(item->entry.section, b->section) != 0 || item->consumed || is_in_table(b, item->entry.key))
            continue;
        const int gone = gone_check(b->config, &item->entry, b->error);
        if (gone <= 0)
            return gone < 0 ? -1 : refuse_unknown(b, &item->entry);
    }
    return 0;
}

int config_bind(struct config *config, const char *section, const dpf_param *table, int64_t n, int64_t stride,
                const char *who, int strict, struct config_values *out, struct dpf_error *error)
{
    struct binding binding = {config, section, table, n, stride, who, error, 0};
    struct storage *storage = storage_new(n);
    *out = (struct config_values){.config = config,
                                  .table = table,
                                  .table_stride = stride,
                                  .section = memory_text(section),
                                  .storage = storage,
                                  .params = {(uint32_t)sizeof out->params, (uint32_t)n, storage->values}};
    remember_keys(&binding);
    if (strict)
        FAIL(&binding, check_strict(&binding));
    for (int64_t i = 0; i < n && !binding.failed; i++)
        bind_one(&binding, param_at(table, stride, i), &storage->values[i], &storage->blocks[i]);
    if (binding.failed)
        config_values_free(out);
    return binding.failed ? -1 : 0;
}

int config_value_error(const struct config_values *values, const char *key, struct dpf_error *error,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int status =
        config_error_text(values->config, values->section ? values->section : "", key, error, format, args);
    va_end(args);
    return status;
}
