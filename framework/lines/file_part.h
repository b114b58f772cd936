/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_part.h - cuts a file between lines into parts of about equal size.
 *
 * Cut the file into parts of equal size: a line belongs to the part that contains its first byte. So each
 * line is in exactly one part, and finding a part does not need the others. A part may be empty.
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
/* SHA-256 of each part, and of the whole file, in one reading. */
int file_part_hashes(const char *path, int parts, char (*hashes)[65], char whole[65],
                     struct dpf_error *error);
void file_part_close(struct file_part *part);

#endif
