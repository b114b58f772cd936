/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "base/memory.h"
#include "lines/paths.h"

#define INPUT ((size_t)1 << 18)
#define GZIP_WINDOW (15 + 16) /* the largest window; a gzip header and nothing else */

enum place { PLACE_PLAIN, PLACE_MEMBER, PLACE_BETWEEN, PLACE_END };

/*
 * ISA-L unpacks, three times as fast as zlib. zlib unpacks a member from its beginning if ISA-L fails at it, or if its header has
 * flags that ISA-L does not check. So zlib decides what is accepted, and its messages say why the rest is not.
 */
struct gzip {
    int fd;
    enum place place;
    struct inflate_state *fast; /* NULL: zlib unpacks, */
    int64_t member;             /* where in the file the member begins, */
    int64_t taken;              /* and how many of its bytes have been unpacked */
    int has_stream;             /* to be ended */
    z_stream stream;            /* next_in, avail_in: what is read and not used, in plain files too */
    int64_t offset;             /* of the file: what has been read of it */
    unsigned char *input;
};

/* Reads more behind what is not used yet. 1, or 0 at the end of the file. */
static int refill(struct gzip *gzip, struct dpf_error *error)
{
    memmove(gzip->input, gzip->stream.next_in, gzip->stream.avail_in);
    gzip->stream.next_in = gzip->input;
    for (;;) {
        const size_t used = gzip->stream.avail_in;
        ssize_t n = read(gzip->fd, gzip->input + used, INPUT - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(error, DPF_FAULT_DATA, "cannot read further: %s", strerror(errno));
        gzip->stream.avail_in += (uInt)n;
        gzip->offset += n;
        return n > 0;
    }
}

/* At least n unused bytes, if the file has them. 1, or 0 if it does not. */
static int look_ahead(struct gzip *gzip, size_t n, struct dpf_error *error)
{
    while (gzip->stream.avail_in < n) {
        const int status = refill(gzip, error);
        if (status <= 0)
            return status;
    }
    return 1;
}

static int begins_member(const struct gzip *gzip)
{
    return gzip->stream.avail_in >= 2 && gzip->stream.next_in[0] == 0x1f && gzip->stream.next_in[1] == 0x8b;
}

/* The name alone says it: the first bytes of a file without a header are those of one user's record. */
static int is_named_gzip(const char *path)
{
    const size_t n = strlen(path);
    return n >= 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* Bits of a member's flags that zlib alone looks at: those that must be 0, and that of a checksum of the header. */
#define FLAGS_FOR_ZLIB 0xe2

static int begin_member(struct gzip *gzip, struct dpf_error *error)
{
    const int status = look_ahead(gzip, 4, error);
    if (status < 0)
        return -1;
    gzip->place = PLACE_MEMBER;
    gzip->member = gzip->offset - (int64_t)gzip->stream.avail_in;
    gzip->taken = 0;
    if (status == 0 || (gzip->stream.next_in[3] & FLAGS_FOR_ZLIB)) {
        free(gzip->fast);
        gzip->fast = NULL;
    }
    if (!gzip->fast)
        return 0;
    isal_inflate_init(gzip->fast);
    gzip->fast->crc_flag = ISAL_GZIP;
    return 0;
}

struct gzip *gzip_open(const char *path, struct dpf_error *error)
{
    struct gzip *gzip = memory_need(1, sizeof *gzip);
    gzip->input = memory_need_raw(INPUT, 1);
    gzip->stream.next_in = gzip->input;
    char *found = paths_plain_or_gzipped(path);
    gzip->fd = open(found, O_RDONLY | O_CLOEXEC);
    struct stat info;
    int status = 0;
    if (gzip->fd < 0)
        status = error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno));
    else if (fstat(gzip->fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = error_set(error, DPF_FAULT_DATA, "%s is a directory: name a file", path);
    else
        status = look_ahead(gzip, 2, error);
    if (status >= 0 && is_named_gzip(found) && !begins_member(gzip)) {
        status =
            error_set(error, DPF_FAULT_DATA,
                      "%s is not compressed by gzip, although its name ends in .gz; compress it, or give "
                      "it another name",
                      found);
    } else if (status > 0 && is_named_gzip(found)) {
        gzip->has_stream = inflateInit2(&gzip->stream, GZIP_WINDOW) == Z_OK;
        if (!gzip->has_stream)
            memory_out();
        gzip->fast = memory_need_raw(1, sizeof *gzip->fast);
        status = begin_member(gzip, error);
    }
    free(found);
    if (status >= 0)
        return gzip;
    gzip_close(gzip);
    return NULL;
}

int64_t gzip_offset(const struct gzip *gzip)
{
    return gzip->offset;
}

void gzip_close(struct gzip *gzip)
{
    if (!gzip)
        return;
    if (gzip->has_stream)
        inflateEnd(&gzip->stream);
    if (gzip->fd >= 0)
        close(gzip->fd);
    free(gzip->input);
    free(gzip->fast);
    free(gzip);
}

/* Past the buffer: what is read of a plain file is nobody's to look at. */
static int read_directly(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    for (;;) {
        const ssize_t n = read(gzip->fd, out, wanted < INPUT ? wanted : INPUT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(error, DPF_FAULT_DATA, "cannot read further: %s", strerror(errno));
        if (n == 0)
            gzip->place = PLACE_END;
        gzip->offset += n;
        *got = (size_t)n;
        return 0;
    }
}

static int read_plain(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    if (gzip->stream.avail_in == 0)
        return read_directly(gzip, out, wanted, got, error);
    const int status = look_ahead(gzip, 1, error);
    if (status <= 0) {
        gzip->place = PLACE_END;
        return status;
    }
    *got = gzip->stream.avail_in < wanted ? gzip->stream.avail_in : wanted;
    memcpy(out, gzip->stream.next_in, *got);
    gzip->stream.next_in += *got;
    gzip->stream.avail_in -= (uInt)*got;
    return 0;
}

static int damaged(const char *what, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_DATA, "cannot read further: %s; the file is truncated or damaged",
                     what);
}

static int read_slowly(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    const int status = look_ahead(gzip, 1, error);
    if (status < 0)
        return -1;
    gzip->stream.next_out = (unsigned char *)out;
    gzip->stream.avail_out = wanted < INPUT ? (uInt)wanted : (uInt)INPUT;
    const uInt room = gzip->stream.avail_out;
    const int code = inflate(&gzip->stream, Z_NO_FLUSH);
    *got = room - gzip->stream.avail_out;
    gzip->taken += (int64_t)*got;
    if (code == Z_STREAM_END)
        gzip->place = PLACE_BETWEEN;
    else if (code == Z_MEM_ERROR)
        memory_out();
    else if (code != Z_OK && code != Z_BUF_ERROR)
        return damaged(gzip->stream.msg ? gzip->stream.msg : "invalid compressed data", error);
    else if (status == 0 && *got == 0)
        return damaged("unexpected end of file", error);
    return 0;
}

/* From the beginning of the member to where it was left, by zlib. */
static int go_slowly(struct gzip *gzip, struct dpf_error *error)
{
    const int64_t taken = gzip->taken;
    char *room = memory_need_raw(INPUT, 1);
    free(gzip->fast);
    gzip->fast = NULL;
    gzip->stream.avail_in = 0;
    gzip->stream.next_in = gzip->input;
    gzip->offset = gzip->member;
    gzip->taken = 0;
    int status =
        lseek(gzip->fd, (off_t)gzip->member, SEEK_SET) < 0 ? damaged("invalid compressed data", error) : 0;
    while (status == 0 && gzip->taken < taken && gzip->place == PLACE_MEMBER) {
        const int64_t left = taken - gzip->taken;
        size_t got = 0;
        status = read_slowly(gzip, room, left < (int64_t)INPUT ? (size_t)left : INPUT, &got, error);
    }
    free(room);
    return status;
}

static int read_member(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    struct inflate_state *fast = gzip->fast;
    if (!fast)
        return read_slowly(gzip, out, wanted, got, error);
    const int status = look_ahead(gzip, 1, error);
    if (status < 0)
        return -1;
    const uint32_t room = wanted < INPUT ? (uint32_t)wanted : (uint32_t)INPUT;
    fast->next_in = gzip->stream.next_in;
    fast->avail_in = gzip->stream.avail_in;
    fast->next_out = (unsigned char *)out;
    fast->avail_out = room;
    const int code = isal_inflate(fast);
    gzip->stream.next_in = fast->next_in;
    gzip->stream.avail_in = fast->avail_in;
    *got = room - fast->avail_out;
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
        *got = 0;
        return go_slowly(gzip, error);
    }
    gzip->taken += (int64_t)*got;
    if (fast->block_state == ISAL_BLOCK_FINISH)
        gzip->place = PLACE_BETWEEN;
    else if (status == 0 && *got == 0)
        return damaged("unexpected end of file", error);
    return 0;
}

/* How much of the file is unused, by its size. */
static int64_t bytes_left(const struct gzip *gzip)
{
    struct stat info;
    const int64_t unread = fstat(gzip->fd, &info) == 0 ? (int64_t)info.st_size - gzip->offset : 0;
    return (unread > 0 ? unread : 0) + (int64_t)gzip->stream.avail_in;
}

/* Another member, or the end; zeros at the end are padding. */
static int leave_member(struct gzip *gzip, struct dpf_error *error)
{
    int status = look_ahead(gzip, 2, error);
    if (status > 0 && begins_member(gzip)) {
        inflateReset(&gzip->stream);
        return begin_member(gzip, error);
    }
    const int64_t left = bytes_left(gzip);
    while (status >= 0 && (status = look_ahead(gzip, 1, error)) > 0) {
        if (*gzip->stream.next_in != 0)
            return error_set(
                error, DPF_FAULT_DATA,
                "%lld bytes after the end of the compressed data are not gzip: the file is damaged, or "
                "compressed and uncompressed parts were joined; compress all parts, or none",
                (long long)left);
        gzip->stream.next_in++;
        gzip->stream.avail_in--;
    }
    gzip->place = PLACE_END;
    return status;
}

int gzip_is_plain(const struct gzip *gzip)
{
    return gzip->place == PLACE_PLAIN;
}

int gzip_read(struct gzip *gzip, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    *got = 0;
    while (*got < wanted && gzip->place != PLACE_END) {
        size_t n = 0;
        const int status = gzip->place == PLACE_PLAIN ? read_plain(gzip, out + *got, wanted - *got, &n, error)
                           : gzip->place == PLACE_MEMBER
                               ? read_member(gzip, out + *got, wanted - *got, &n, error)
                               : leave_member(gzip, error);
        if (status < 0)
            return -1;
        *got += n;
    }
    return 0;
}
