/* SPDX-License-Identifier: Apache-2.0 */
/* feature_options.h - the format of a file of public features: [data] item-features.*. */
#ifndef DPF_READING_FEATURE_OPTIONS_H
#define DPF_READING_FEATURE_OPTIONS_H

#include "base/error.h"
#include "config/config.h"
#include "lines/fields.h"

enum feature_format { FEATURES_TABLE, FEATURES_ML1M, FEATURES_ML100K };

#define FEATURE_COLUMNS_MAX 64

/* Columns of a line that say the same kind of thing. */
struct feature_columns {
    char *names[FEATURE_COLUMNS_MAX]; /* each a name of the header, or a number from 1 */
    int64_t n;
};

struct feature_options {
    const char *path; /* "" if there is none */
    enum feature_format format;
    int by_name;      /* whether a column is given by its name, which the first line then has */
    const char *item; /* the id's column in the records, if configured by name; else NULL */
    struct feature_columns categories, numbers, year;
    struct feature_columns flags; /* of the format */
};

/* Free what it fills, also after an error. */
int feature_options_read(const struct config_values *data, struct feature_options *out,
                         struct dpf_error *error);
void feature_options_free(struct feature_options *options);

#endif
