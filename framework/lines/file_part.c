/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/file_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"

#define LOOK 65536

/* Bytes from `at` on, 0 at the end of the file; -1 with an error. */
static ssize_t read_at(int fd, char *out, size_t wanted, int64_t at, struct dpf_error *error)
{
    for (;;) {
        const ssize_t n = pread(fd, out, wanted, (off_t)at);
        if (n >= 0 || errno != EINTR)
            return n >= 0 ? n : error_set(error, DPF_FAULT_DATA, "cannot read further: %s", strerror(errno));
    }
}

/* Where the first line begins whose first byte is not before `at`; the length if none does. */
static int64_t line_from(int fd, int64_t at, int64_t length, struct dpf_error *error)
{
    char bytes[LOOK];
    if (at == 0)
        return 0;
    for (int64_t from = at - 1; from < length;) {
        const ssize_t n = read_at(fd, bytes, sizeof bytes, from, error);
        if (n < 0)
            return -1;
        const char *end = memchr(bytes, '\n', (size_t)n);
        if (end)
            return from + (end - bytes) + 1;
        if (n == 0)
            break;
        from += n;
    }
    return length;
}

int file_part_open(const char *path, int part, int parts, struct file_part *out, struct dpf_error *error)
{
    struct stat info;
    out->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &info) != 0) {
        error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno));
        file_part_close(out);
        return -1;
    }
    const int64_t length = (int64_t)info.st_size;
    out->at = line_from(out->fd, (int64_t)((__int128)length * part / parts), length, error);
    out->end = part + 1 == parts
                   ? length
                   : line_from(out->fd, (int64_t)((__int128)length * (part + 1) / parts), length, error);
    if (out->at >= 0 && out->end >= 0)
        return 0;
    file_part_close(out);
    return -1;
}

int file_part_read(struct file_part *part, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    *got = 0;
    while (*got < wanted && part->at < part->end) {
        const int64_t left = part->end - part->at;
        const size_t most = (int64_t)(wanted - *got) < left ? wanted - *got : (size_t)left;
        const ssize_t n = read_at(part->fd, out + *got, most, part->at, error);
        if (n < 0)
            return -1;
        if (n == 0)
            return error_set(error, DPF_FAULT_DATA, "the file became shorter while it was read");
        *got += (size_t)n;
        part->at += n;
    }
    return 0;
}

void file_part_close(struct file_part *part)
{
    if (part->fd >= 0)
        close(part->fd);
    part->fd = -1;
}

/* Adds the bytes from *at to end to both. */
static int hash_to(int fd, char *room, size_t size, int64_t *at, int64_t end, struct files_hash *one,
                   struct files_hash *whole, struct dpf_error *error)
{
    while (*at < end) {
        const ssize_t n =
            read_at(fd, room, end - *at < (int64_t)size ? (size_t)(end - *at) : size, *at, error);
        if (n < 0)
            return -1;
        if (n == 0)
            return error_set(error, DPF_FAULT_DATA, "the file became shorter while it was read");
        files_hash_add(one, room, (size_t)n);
        files_hash_add(whole, room, (size_t)n);
        *at += n;
    }
    return 0;
}

static int hash_parts(int fd, int64_t length, int parts, char (*hashes)[65], struct files_hash *whole,
                      char *room, size_t size, struct dpf_error *error)
{
    int status = 0;
    int64_t at = 0;
    for (int p = 0; p < parts && status == 0; p++) {
        const int64_t end = p + 1 == parts
                                ? length
                                : line_from(fd, (int64_t)((__int128)length * (p + 1) / parts), length, error);
        struct files_hash *one = files_hash_new();
        status = end < 0 ? -1 : hash_to(fd, room, size, &at, end, one, whole, error);
        files_hash_end(one, hashes[p]);
    }
    return status;
}

int file_part_hashes(const char *path, int parts, char (*hashes)[65], char whole[65], struct dpf_error *error)
{
    const size_t size = (size_t)1 << 18;
    struct stat info;
    struct files_hash *all = files_hash_new();
    char *room = memory_need_raw(size, 1);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int status = fd < 0 || fstat(fd, &info) != 0
                           ? error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno))
                           : hash_parts(fd, (int64_t)info.st_size, parts, hashes, all, room, size, error);
    files_hash_end(all, whole);
    if (fd >= 0)
        close(fd);
    free(room);
    return status;
}
