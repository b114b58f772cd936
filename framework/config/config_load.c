/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_line.h"
#include "config/config_merge.h"
#include "config/config_reader.h"
#include "config/config_store.h"

/* A file is known by its device and inode, so that no spelling of its path hides a cycle. */
struct visited {
    dev_t device;
    ino_t inode;
    const char *path;
};

struct loader {
    struct config *config;
    struct dpf_error *error;
    struct visited stack[CONFIG_DEPTH_MAX]; /* the files that are being read */
    int depth;
    struct visited done[CONFIG_FILES_MAX];
    int n_done;
};

/* The text of a stream, from malloc. */
static char *read_stream(FILE *stream, size_t *length)
{
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    for (;;) {
        text = memory_need_grow(text, &capacity, *length + 4096, 1);
        size_t n = fread(text + *length, 1, capacity - *length, stream);
        *length += n;
        if (n == 0 || *length > CONFIG_FILE_MAX)
            break;
    }
    if (ferror(stream) || *length > CONFIG_FILE_MAX) {
        errno = ferror(stream) ? errno : EFBIG;
        free(text);
        return NULL;
    }
    return text;
}

static char *read_file(const char *path, struct visited *identity, size_t *length)
{
    /* Without O_NONBLOCK a named pipe would wait for somebody who writes. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!stream && fd >= 0)
        close(fd);
    if (!stream)
        return NULL;
    struct stat info;
    char *text = NULL;
    if (fstat(fileno(stream), &info) == 0) {
        identity->device = info.st_dev;
        identity->inode = info.st_ino;
        /* Runs read their configuration more than once, and a pipe would be empty the second time. */
        errno = ESPIPE;
        if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
            text = read_stream(stream, length);
    }
    int saved = errno;
    fclose(stream);
    errno = saved;
    return text;
}

/* "a.ini -> b.ini -> a.ini" */
static int refuse_chain(struct loader *loader, const char *problem, const char *path,
                        const struct config_section *from)
{
    struct text chain = {0};
    for (int i = 0; i < loader->depth; i++)
        text_add(&chain, "%s -> ", loader->stack[i].path);
    text_add(&chain, "%s", path);
    error_at(loader->error, DPF_FAULT_CONFIG, from->file, from->line, "%s: %s", problem,
             chain.data ? chain.data : path);
    text_free(&chain);
    return -1;
}

static int same_file(const struct visited *a, const struct visited *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* 1 if the file is to be read, 0 if it has been, -1 if it must not be. */
static int admit(struct loader *loader, const struct visited *file, const struct config_section *from)
{
    for (int i = 0; i < loader->depth; i++)
        if (same_file(&loader->stack[i], file))
            return refuse_chain(loader, "files include each other in a circle", file->path, from);
    for (int i = 0; i < loader->n_done; i++)
        if (same_file(&loader->done[i], file))
            return 0;
    if (loader->depth == CONFIG_DEPTH_MAX)
        return refuse_chain(loader, "more than 16 files deep", file->path, from);
    if (loader->n_done + loader->depth >= CONFIG_FILES_MAX)
        return error_at(loader->error, DPF_FAULT_CONFIG, from->file, from->line,
                        "more than %d files are included", CONFIG_FILES_MAX);
    return 1;
}

static int load_file(struct loader *loader, const char *path, const struct config_section *from);

static int load_include(struct loader *loader, const struct config_source *source, size_t index)
{
    const struct config_section *include = &source->includes[index];
    const char *path = config_keep(loader->config, files_join(source->directory, include->name));
    return load_file(loader, path, include);
}

/* Reads a text and what it includes; merges the latter first. */
static int load_text(struct loader *loader, const struct visited *file, const char *text, size_t length)
{
    struct config_source source = {.file = file->path};
    source.directory = config_keep(loader->config, files_directory(file->path));
    int status = reader_parse(loader->config, &source, text, length, loader->error);
    loader->stack[loader->depth++] = *file;
    for (size_t i = 0; i < source.n_includes && status == 0; i++)
        status = load_include(loader, &source, i);
    loader->depth--;
    if (status == 0)
        status = merge_source(loader->config, &source, loader->error);
    if (status == 0)
        loader->done[loader->n_done++] = *file;
    source_free(&source);
    return status;
}

/* path is kept by the config; from is the line that includes it, or NULL. */
static int load_file(struct loader *loader, const char *path, const struct config_section *from)
{
    struct visited file = {.path = path};
    size_t length;
    char *text = read_file(path, &file, &length);
    if (!text) {
        const char *why = errno == EFBIG    ? "larger than 1 MiB, the limit for a configuration"
                          : errno == ESPIPE ? "not a regular file; save its content to a file and name that"
                                            : strerror(errno);
        return from ? error_at(loader->error, DPF_FAULT_CONFIG, from->file, from->line,
                               "include = %s: cannot read %s: %s", from->name, path, why)
                    : error_set(loader->error, DPF_FAULT_CONFIG, "cannot read %s: %s", path, why);
    }
    int status = from ? admit(loader, &file, from) : 1;
    if (status == 1)
        status = load_text(loader, &file, text, length);
    free(text);
    return status;
}

/* How well a line of [sweep] explains a setting "items.solver.rate=0.1" of a point: 0 not at all. */
static int explains(const struct config_item *item, const char *setting, size_t n_key)
{
    if (strncmp(item->full, "sweep.", 6) != 0)
        return 0;
    const char *axis = item->full + 6, *in_value = item->entry.value;
    const size_t n = strlen(axis);
    if (n == n_key && strncmp(axis, setting, n) == 0)
        return 2;
    if (strncmp(axis, "variant.", 8) != 0 && strncmp(axis, "axis.", 5) != 0)
        return 0;
    if (n > n_key && axis[n - n_key - 1] == '.' && strncmp(axis + n - n_key, setting, n_key) == 0)
        return strcmp(in_value, setting + n_key + 1) == 0 ? 2 : 1;
    while ((in_value = strchr(in_value, setting[0])) && strncmp(in_value, setting, n_key + 1) != 0)
        in_value++;
    return in_value ? 1 : 0;
}

/* "FILE:LINE: " of the line of [sweep] that makes a setting; "" where none is found. */
static char *place_of(const struct config *config, const char *setting)
{
    const size_t n_key = strcspn(setting, "=");
    const struct config_item *best = NULL;
    int most = 0;
    for (size_t i = 0; setting[n_key] && i < config->merged.n_items; i++) {
        const int how = explains(&config->merged.items[i], setting, n_key);
        if (how > most) {
            best = &config->merged.items[i];
            most = how;
        }
    }
    return best && best->entry.line > 0 ? memory_format("%s:%ld: ", best->entry.file, best->entry.line)
                                        : memory_text("");
}

/* form makes the label that stands for a file in messages. */
static int read_override(struct config *config, struct config_source *source, const char *form,
                         const char *override, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    char *place = strcmp(form, "[sweep]") == 0 ? place_of(config, override) : memory_text("");
    const char *label =
        config_keep(config, memory_format("%s%s \"%s\"", place, form, text_show(override, shown)));
    char *text = memory_text(override);
    free(place);
    char *section, *key, *value;
    int status = line_split_override(text, label, &section, &key, &value, error);
    if (status == 0) {
        struct config_entry entry = {section, key, value, label, 0};
        status = reader_add(config, source, &entry, 1, error);
    }
    free(text);
    return status;
}

static int merge_overrides(struct config *config, const char *form, const char *directory,
                           const char *const *overrides, int n, struct dpf_error *error)
{
    struct config_source source = {.file = form};
    source.directory = config_keep(config, memory_text(directory));
    int status = 0;
    for (int i = 0; i < n && status == 0; i++)
        status = read_override(config, &source, form, overrides[i], error);
    if (status == 0)
        status = merge_source(config, &source, error);
    source_free(&source);
    return status;
}

static int load_layer(struct loader *loader, const char *path)
{
    if (loader->n_done >= CONFIG_FILES_MAX)
        return error_set(loader->error, DPF_FAULT_CONFIG, "%s: more than %d files", path, CONFIG_FILES_MAX);
    return load_file(loader, config_keep(loader->config, memory_text(path)), NULL);
}

static int load_layers(struct loader *loader, const struct config_request *request)
{
    struct config *config = loader->config;
    if (load_file(loader, config->path, NULL) != 0)
        return -1;
    for (int i = 0; i < request->n_layers; i++)
        if (load_layer(loader, request->layers[i]) != 0)
            return -1;
    if (merge_overrides(config, "-o", ".", request->overrides, request->n_overrides, loader->error) != 0)
        return -1;
    return request->n_settings ? merge_overrides(config, "[sweep]", request->settings_directory,
                                                 request->settings, request->n_settings, loader->error)
                               : 0;
}

struct config *config_load_layers(const struct config_request *request, struct dpf_error *error)
{
    struct loader loader = {.error = error};
    loader.config = config_new(request->path);
    if (load_layers(&loader, request) != 0) {
        config_free(loader.config);
        return NULL;
    }
    merge_finish(loader.config);
    return loader.config;
}

struct config *config_load(const char *path, const char *const *overrides, int n_overrides,
                           struct dpf_error *error)
{
    const struct config_request request = {.path = path, .overrides = overrides, .n_overrides = n_overrides};
    return config_load_layers(&request, error);
}

struct config *config_parse(const char *name, const char *text, uint64_t length, struct dpf_error *error)
{
    struct config *config = config_new(name);
    struct config_source source = {.file = config->path, .directory = "."};
    int status = length <= CONFIG_FILE_MAX ? reader_parse(config, &source, text, (size_t)length, error)
                                           : error_at(error, DPF_FAULT_CONFIG, name, 1,
                                                      "larger than 1 MiB, the limit for a configuration");
    if (status == 0 && source.n_includes)
        status = error_at(error, DPF_FAULT_CONFIG, name, source.includes[0].line,
                          "include = %s: only a file can include another", source.includes[0].name);
    if (status == 0)
        status = merge_source(config, &source, error);
    source_free(&source);
    if (status != 0) {
        config_free(config);
        return NULL;
    }
    merge_finish(config);
    return config;
}
