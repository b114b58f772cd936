/* SPDX-License-Identifier: Apache-2.0 */
/* paths.h - a configured path, maybe a pattern, as a list of files that exist. */
#ifndef DPF_LINES_PATHS_H
#define DPF_LINES_PATHS_H

#include <stddef.h>

#include "base/error.h"

struct paths {
    char **files;
    size_t n, capacity;
};

/* An existing file is taken as it is; else *, ? and [ ] match names, sorted. `without`, if not "", is
   left out. Faults: DPF_FAULT_DATA. */
int paths_expand(const char *path, const char *without, struct paths *out, struct dpf_error *error);
void paths_free(struct paths *paths);

#endif
