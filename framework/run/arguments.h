/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - what a use-case is told: the configuration, changes to it, and where results go. */
#ifndef DPF_RUN_ARGUMENTS_H
#define DPF_RUN_ARGUMENTS_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

#define MAX_OVERRIDES 256
#define MAX_PLUGIN_DIRS 16

/* A section of the configuration that the plan does not read. */
struct section {
    const char *name, *summary;
    const dpf_param *(*params)(int64_t *n);
    /* Marks its keys as known and checks their values; NULL: whoever opens a session reads it. */
    int (*check)(struct config *config, struct dpf_error *error);
};

/* Options that commands share, as given. */
struct arguments {
    const char *config;
    const char *overrides[MAX_OVERRIDES];
    int n_overrides;
    const char *plugin_dirs[MAX_PLUGIN_DIRS]; /* absolute */
    int n_plugin_dirs;
    const char *output;
    const char *format;       /* --format, or "json" for --json */
    const char *table_format; /* --format alone; NULL: not given */
    int quiet, verbose;
    int json;
    /* A point of a sweep, see struct config_request. */
    const char *const *layers;
    int n_layers;
    const char *const *settings;
    int n_settings;
    const char *settings_directory;
    /* Options of some commands. */
    int jobs; /* 0: not given */
    int dry_run, resume, all, profile;
    const char *profile_limits;   /* of the machine, a file; or NULL */
    int prepare, list, take_over; /* of a sweep that is run by points */
    int scores;                   /* of items */
    const char *point;
    int insecure_test; /* of a federation */
    const char *user, *data, *item, *exclude, *candidates;
    int64_t count;                  /* -n; 0: not given */
    int stand_in;                   /* set by comparisons, see struct plan_options */
    int without_data;               /* set by commands that can do without the files of [data] */
    const struct section *sections; /* those that the plan does not read */
    int n_sections;
    const char *rest[MAX_OVERRIDES]; /* operands */
    int n_rest;
};

#endif
