/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_file.h - for targets of what is read from disk: bytes as files that have a path, in memory. */
#ifndef DPF_FUZZ_FILE_H
#define DPF_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(CONDITION)                                                                                   \
    do {                                                                                                     \
        if (!(CONDITION)) {                                                                                  \
            fprintf(stderr, "broken: %s\n", #CONDITION);                                                     \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

struct fuzz_file {
    int fd; /* 0 before its first use */
    char path[32];
};

static inline void fuzz_file_set(struct fuzz_file *file, const void *bytes, size_t length)
{
    if (!file->fd) {
        file->fd = memfd_create("fuzz", 0);
        PROMISE(file->fd > 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    PROMISE(ftruncate(file->fd, 0) == 0);
    PROMISE(length == 0 || pwrite(file->fd, bytes, length, 0) == (ssize_t)length);
}

/* Takes the next part of an input, up to a line "%" or the end. */
static inline const uint8_t *fuzz_part(const uint8_t **data, size_t *size, size_t *length)
{
    const uint8_t *part = *data, *mark = memmem(part, *size, "\n%\n", 3);
    *length = mark ? (size_t)(mark - part) + 1 : *size;
    const size_t used = mark ? *length + 2 : *length;
    *data += used;
    *size -= used;
    return part;
}

#endif
