/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - reads INI files into typed values that remember their file and line.
 *
 * Reading: config_load reads a file with inih through a line-counting reader, follows
 * "include = other.ini" (a key of the unnamed head of a file, before any section; the including file
 * wins, key by key), and applies overrides "section.key=value", of which the last one wins. Every entry
 * keeps its file and line; an override's file is its own text, -o "section.key=value", and its line 0.
 *
 * An entry's identity is "section.key" as a whole: keys may hold dots. If an including file or an
 * override names another component, the parameters of the former one are dropped; see
 * config_merge.h and docs/configuration.md.
 *
 * Binding: config_bind matches a section with a table of dpf_param and gives typed values. It
 * consumes the keys that it knows; config_check_consumed then refuses the other keys and names the
 * nearest known one.
 */
#ifndef DPF_CONFIG_CONFIG_H
#define DPF_CONFIG_CONFIG_H

#include <stdint.h>

#include "base/error.h"
#include "dpframe/params.h"

struct config;

/* One configured value. Strings belong to the config. */
struct config_entry {
    const char *section;
    const char *key;
    const char *value;
    const char *file;
    long line;
};

/* Reads path and applies overrides, each "section.key=value" (section may hold dots; the last dot
   before '=' splits). Faults are DPF_FAULT_CONFIG. */
struct config *config_load(const char *path, const char *const *overrides, int n_overrides,
                           struct dpf_error *error);
/*
 * The same in layers, each over the one before: the file; further files; overrides; settings, which are like
 * overrides but have paths relative to settings_directory (a sweep's, to the file that describes it).
 */
struct config_request {
    const char *path;
    const char *const *layers;
    int n_layers;
    const char *const *overrides;
    int n_overrides;
    const char *const *settings;
    int n_settings;
    const char *settings_directory;
};
struct config *config_load_layers(const struct config_request *request, struct dpf_error *error);
/* The same from text in memory (tests, fuzzing); includes are refused. */
struct config *config_parse(const char *name, const char *text, uint64_t length, struct dpf_error *error);
void config_free(struct config *config);

/* The path given to config_load. */
const char *config_path(const struct config *config);
/* The entry, or NULL. */
const struct config_entry *config_find(const struct config *config, const char *section, const char *key);
/* All entries in order of sections and keys as first named; for sections: config_has_section. */
int64_t config_size(const struct config *config);
const struct config_entry *config_at(const struct config *config, int64_t index);
int config_has_section(const struct config *config, const char *section);

/* Typed values of one section, which know where they were read. params.values[i] belongs to table[i]. */
struct config_values {
    const struct config *config; /* NULL: made by hand, for tests */
    dpf_params params;
    const dpf_param *table; /* as given */
    int64_t table_stride;
    char *section;
    void *storage; /* private */
};

/*
 * Parses the section against a table (entries stride bytes apart). Keys in the section that the
 * table lacks are left for others unless `strict`, when they are an error naming file, line, key and
 * the nearest known name. Missing keys get their defaults; missing required keys are an error that
 * names the section and the file. who names the component in messages ("mechanism laplace"), or NULL.
 * Paths are made absolute: relative to the file that names them, or to the current directory for
 * overrides.
 */
int config_bind(struct config *config, const char *section, const dpf_param *table, int64_t n, int64_t stride,
                const char *who, int strict, struct config_values *out, struct dpf_error *error);
void config_values_free(struct config_values *values);

/*
 * An error about a value, with the place where it was configured, or its section's if it is a default. Whoever has the values needs
 * nothing else for the message; config_error is for keys that are looked at before they are values.
 */
int config_value_error(const struct config_values *values, const char *key, struct dpf_error *error,
                       const char *format, ...) DPF_PRINTF(4, 5);
int config_error(const struct config *config, const char *section, const char *key, struct dpf_error *error,
                 const char *format, ...) DPF_PRINTF(5, 6);

/* Marks a key as read by other means than config_bind. */
void config_consume(struct config *config, const char *section, const char *key);
void config_consume_section(struct config *config, const char *section);
/*
 * An error for the first entry that nobody consumed: unknown section or unknown key, with the
 * nearest of known_sections (n_known) or of the keys bound in that section.
 */
int config_check_consumed(const struct config *config, const char *const *known_sections, int n_known,
                          struct dpf_error *error);

/* The value as text that parses back to the same value: for resolved configurations and reports.
   Free it. */
char *config_value_text(const dpf_param *param, const dpf_value *value);

#endif
