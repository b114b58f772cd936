/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_part.h - a file cut into parts of about as many bytes, between lines.
 *
 * A line belongs to the part in which its first byte would lie if parts were cut at bytes; so each line is in
 * exactly one, whoever looks for it, and no part has to be read to find another. A part may be empty.
 */
#ifndef DPF_DATA_FILE_PART_H
#define DPF_DATA_FILE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct file_part {
    int fd;
    int64_t at, end; /* bytes of the file that are still to be read */
};
/* Part number `part`, from 0, of so many of a plain file. Faults: DPF_FAULT_DATA. */
int file_part_open(const char *path, int part, int parts, struct file_part *out, struct dpf_error *error);
/* Up to `wanted` bytes; fewer only at the end of the part. */
int file_part_read(struct file_part *part, char *out, size_t wanted, size_t *got, struct dpf_error *error);
void file_part_close(struct file_part *part);

#endif
