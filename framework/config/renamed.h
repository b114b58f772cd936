/* SPDX-License-Identifier: Apache-2.0 */
/* renamed.h - old names of keys and values, from before 0.1.0: for remedies, and for converting old files. */
#ifndef DPF_CONFIG_RENAMED_H
#define DPF_CONFIG_RENAMED_H

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "config/config.h"

struct renamed {
    const char *section; /* a pattern of fnmatch */
    const char *key;
    const char *value;    /* NULL: the key has a new name, whatever its value */
    const char *new_name; /* of the key, or of the value */
};

/* What [section] key (value NULL) or its value is called now; NULL if neither was renamed. */
const struct renamed *renamed_find(const char *section, const char *key, const char *value);

/* Today's name of a component that was renamed; NULL: there was none of that name. */
const char *renamed_component(const char *id);
/* An error that names the new key if an unknown one was renamed; else 0. */
int renamed_refuse(const struct config_entry *entry, struct dpf_error *error);

/*
 * Rewrites a configuration with today's names, and leaves out keys that are gone where what they say holds always. A key
 * that has moved goes below the header of its section, or at the end, if that place is beyond doubt (moved_keys.h). Comments,
 * blank lines and order stay. In [sweep], names of keys within values are rewritten too. A line that the reader would refuse
 * is copied as it is; of a key or a component that is gone and said something else there is a warning. config is the file as it is read, which
 * knows the components that keys belong to; NULL where it cannot be read. Returns the number of changes, or -1; out is to be
 * freed with text_free either way.
 */
long renamed_convert(FILE *in, const char *file, const struct config *config, struct text *out,
                     struct dpf_error *error);

#endif
