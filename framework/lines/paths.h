/* SPDX-License-Identifier: Apache-2.0 */
/* paths.h - turns a configured path, or a pattern, into a list of existing files. */
#ifndef DPF_LINES_PATHS_H
#define DPF_LINES_PATHS_H

#include <stddef.h>

#include "base/error.h"

struct paths {
    char **files;
    size_t n, capacity;
};

/* An existing file is taken as it is, plain or gzipped; else *, ? and [ ] match names, sorted. `without`, if
   not "", is left out. Faults: DPF_FAULT_DATA. */
int paths_expand(const char *path, const char *without, struct paths *out, struct dpf_error *error);
/* Archives have files plain and copies of them gzipped: the path, or if there is no such file that with .gz
   added or taken away, if there is one. NULL: out of memory. Free it. */
char *paths_plain_or_gzipped(const char *path);
/* Whether two names lead to one file, or to a file and its gzipped copy beside it. */
int paths_same_file(const char *a, const char *b);
void paths_free(struct paths *paths);

#endif
