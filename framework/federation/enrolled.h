/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enrolled.h - who may take part now: the names in the file of [federation] enrolled, one a line. The file is read
 * again when it changes, so that a party is revoked by taking its line out, and let in by adding one, while the
 * server runs.
 */
#ifndef DPF_FEDERATION_ENROLLED_H
#define DPF_FEDERATION_ENROLLED_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

struct enrolled {
    char *path; /* NULL: everybody on the list of parties */
    char **names;
    int64_t n;
    struct timespec changed;
    off_t size;
};

/* path: "" for everybody. */
int enrolled_open(struct enrolled *enrolled, const char *path, struct dpf_error *error);
/* 1: the file has been read again, and names may have come or gone. If it cannot be read, what it said before holds,
   which is said once. */
int enrolled_refresh(struct enrolled *enrolled);
int enrolled_has(const struct enrolled *enrolled, const char *name);
void enrolled_close(struct enrolled *enrolled);

#endif
