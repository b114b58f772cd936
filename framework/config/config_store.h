/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_store.h - the content of struct config. For the files of this room only.
 *
 * An entry's identity is its full name, "section.key". Keys may hold dots, so [data] relation.path and
 * [data.relation] path are the same entry; an override is split at its last dot.
 */
#ifndef DPF_CONFIG_CONFIG_STORE_H
#define DPF_CONFIG_CONFIG_STORE_H

#include <stdarg.h>
#include <stddef.h>

#include "config/config.h"

#define CONFIG_NAME_MAX 49                /* bytes of the name of a section or key */
#define CONFIG_FULL_MAX 100               /* of a full name, NUL included */
#define CONFIG_LINE_MAX 4000              /* bytes of a line */
#define CONFIG_FILE_MAX ((size_t)1 << 20) /* bytes of a file */
#define CONFIG_ENTRIES_MAX 4096           /* of a file, and of the merged configuration */
#define CONFIG_DEPTH_MAX 16               /* files that include each other */
#define CONFIG_FILES_MAX 64

struct config_item {
    struct config_entry entry;
    const char *full;      /* "section.key" */
    const char *directory; /* that a path is relative to */
    size_t order;          /* rank of the section, then of the key, as first named */
    int consumed;
};

struct config_section {
    const char *name;
    const char *file;
    long line;
};

/* A key that some table knows, for suggestions. */
struct config_known {
    const char *section;
    const char *key;
    const char *full;
};

/* The entries of one file, or of all overrides together. Strings belong to the config. */
struct config_source {
    const char *file;
    const char *directory;
    struct config_item *items;
    size_t n_items, items_capacity;
    struct config_section *sections;
    size_t n_sections, sections_capacity;
    struct config_section *includes; /* name is the path as written */
    size_t n_includes, includes_capacity;
};

struct config {
    const char *path;
    struct config_source merged;
    struct config_known *known;
    size_t n_known, known_capacity;
    char **kept; /* all strings */
    size_t n_kept, kept_capacity;
};

struct config *config_new(const char *path);
/* Takes over a string from malloc. */
const char *config_keep(struct config *config, char *text);
/* config_error and config_value_error; config NULL: the place is not known. */
int config_error_text(const struct config *config, const char *section, const char *key,
                      struct dpf_error *error, const char *format, va_list args);
/* "section.key" into a buffer; NULL if it is longer than any entry's. */
const char *config_full_name(const char *section, const char *key, char buffer[CONFIG_FULL_MAX]);
struct config_item *source_find(const struct config_source *source, const char *full);
struct config_section *source_find_section(const struct config_source *source, const char *name);
/* Both append; the caller has looked for duplicates. */
int source_add_item(struct config_source *source, const struct config_item *item, struct dpf_error *error);
int source_add_section(struct config_source *source, const struct config_section *section,
                       struct dpf_error *error);
void source_free(struct config_source *source);

#endif
