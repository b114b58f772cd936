/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - reads a file, and unpacks all members of a gzipped one (RFC 1952); other content is an error.
 * zlib's gzread would take foreign bytes behind a member for the end of the file.
 */
#ifndef DPF_LINES_GZIP_H
#define DPF_LINES_GZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gzip;

/* Gzipped if the name ends in .gz, and an error if it is not, else plain: the name alone decides. NULL on error,
 * DPF_FAULT_DATA or DPF_FAULT_RUN. */
struct gzip *gzip_open(const char *path, struct dpf_error *error);
/* Up to `wanted` bytes into out; *got is smaller only at the end. Messages name neither file nor line. For
   one thread at a time. */
int gzip_read(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error);
/* Bytes of the file, packed or not, that have been read. */
int64_t gzip_offset(const struct gzip *gzip);
/* Whether the bytes are the file's own. */
int gzip_is_plain(const struct gzip *gzip);
void gzip_close(struct gzip *gzip);

#endif
