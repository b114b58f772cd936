/* SPDX-License-Identifier: Apache-2.0 */
#include "run/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "run/npy_header.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6
#define PREFIX_LENGTH 10 /* magic, two bytes of version, two of length */
#define ALIGNMENT 64
#define LONGEST_HEADER 65536

/* Magic, version, length, dictionary, blanks up to the alignment, newline. Returns the length. */
static size_t make_header(char header[4 * ALIGNMENT], const char *descr, int64_t rows, int64_t columns)
{
    char *text = header + PREFIX_LENGTH;
    int length =
        columns < 0
            ? snprintf(text, 3 * ALIGNMENT,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64 ",), }", descr, rows)
            : snprintf(text, 3 * ALIGNMENT,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                       descr, rows, columns);
    size_t used = PREFIX_LENGTH + (size_t)length + 1;
    size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t rest = total - PREFIX_LENGTH;
    memset(text + length, ' ', rest - (size_t)length);
    header[total - 1] = '\n';
    memcpy(header, MAGIC "\x01\x00", MAGIC_LENGTH + 2);
    header[8] = (char)(rest & 0xff);
    header[9] = (char)(rest >> 8);
    return total;
}

int npy_write(const char *path, const char *descr, size_t size, const void *data, int64_t rows,
              int64_t columns, int64_t stride, struct dpf_error *error)
{
    const int64_t width = columns < 0 ? 1 : columns;
    if (rows < 0 || stride < width)
        return error_set(error, DPF_FAULT_RUN, "cannot write %s: bad shape %lld x %lld, stride %lld", path,
                         (long long)rows, (long long)columns, (long long)stride);
    struct files_write write;
    if (files_open_write(&write, path, error) != 0)
        return -1;
    char header[4 * ALIGNMENT];
    size_t length = make_header(header, descr, rows, columns);
    int failed = fwrite(header, 1, length, write.stream) != length;
    for (int64_t r = 0; r < rows && width > 0 && !failed; r++) {
        const char *row = (const char *)data + (size_t)(r * stride) * size;
        failed = fwrite(row, size, (size_t)width, write.stream) != (size_t)width;
    }
    if (!failed)
        return files_commit_write(&write, error);
    error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", path, strerror(errno));
    files_abandon_write(&write);
    return -1;
}

int npy_write_float32(const char *path, const float *data, int64_t rows, int64_t columns, int64_t stride,
                      struct dpf_error *error)
{
    return npy_write(path, "<f4", sizeof *data, data, rows, columns, stride, error);
}

int npy_write_float64(const char *path, const double *data, int64_t rows, int64_t columns, int64_t stride,
                      struct dpf_error *error)
{
    return npy_write(path, "<f8", sizeof *data, data, rows, columns, stride, error);
}

/* ---- by several ranks -------------------------------------------------------------------------------------
 */

#define LONGEST_NAME 4096

struct shared_write {
    struct files_write write; /* of rank 0 */
    char name[LONGEST_NAME];  /* of the temporary file */
    int64_t columns, stride;
    int64_t start; /* of row 0 in the file */
};

/* Rank 0 makes the file and its header, and tells the others where it is. */
static int begin_shared(struct shared_write *s, const char *path, int64_t rows, struct dpf_error *error)
{
    char header[4 * ALIGNMENT];
    s->start = (int64_t)make_header(header, "<f4", rows, s->columns);
    if (ranks_rank() > 0)
        return 0;
    if (files_open_write(&s->write, path, error) != 0)
        return -1;
    const char *temporary = s->write.temporary;
    if (!temporary || strlen(temporary) >= sizeof s->name)
        return error_set(error, DPF_FAULT_RUN,
                         "cannot write %s by several ranks: it is no file with a short name", path);
    strcpy(s->name, temporary);
    if (fwrite(header, 1, (size_t)s->start, s->write.stream) != (size_t)s->start ||
        fflush(s->write.stream) != 0)
        return error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

static int write_rows(const struct shared_write *s, const float *data, int64_t first, int64_t last,
                      struct dpf_error *error)
{
    enum { ROWS = 1024 };
    const size_t bytes = (size_t)s->columns * sizeof *data;
    char *rows = memory_raw(ROWS * bytes + 1, 1);
    const int fd = rows ? open(s->name, O_WRONLY | O_CLOEXEC) : -1;
    int failed = fd < 0;
    for (int64_t r = first; r < last && !failed; r += ROWS) {
        const int64_t n = last - r < ROWS ? last - r : ROWS;
        for (int64_t i = 0; i < n; i++)
            memcpy(rows + (size_t)i * bytes, data + (r + i) * s->stride, bytes);
        failed = files_write_at(fd, rows, (size_t)n * bytes, s->start + r * (int64_t)bytes) != 0;
    }
    failed = failed || fsync(fd) != 0;
    const int reason = errno;
    free(rows);
    if (fd >= 0)
        close(fd);
    return failed
               ? error_set(
                     error, DPF_FAULT_RUN,
                     "rank %d cannot write its rows to %s: %s; results must lie where all ranks reach them",
                     ranks_rank(), s->name, strerror(reason))
               : 0;
}

int npy_write_shares(const char *path, const float *data, int64_t columns, int64_t stride,
                     const int64_t *offsets, struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    struct shared_write *s = memory_need(1, sizeof *s);
    s->columns = columns;
    s->stride = stride;
    int status = ranks_agree(begin_shared(s, path, offsets[size], error), error);
    if (status == 0)
        status = ranks_broadcast(s->name, sizeof s->name, 0, error);
    if (status == 0)
        status = ranks_agree(write_rows(s, data, offsets[rank], offsets[rank + 1], error), error);
    if (rank == 0 && status == 0)
        status = files_commit_write(&s->write, error);
    else if (rank == 0)
        files_abandon_write(&s->write);
    free(s);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------
 */

static int refuse(const char *path, const char *why, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_DATA, "%s: %s", path, why);
}

/* The length of the dictionary, which two bytes hold in format 1.0 and four in later ones. */
static int read_prefix(FILE *stream, const char *path, size_t *length, struct dpf_error *error)
{
    unsigned char prefix[12];
    if (fread(prefix, 1, PREFIX_LENGTH, stream) != PREFIX_LENGTH || memcmp(prefix, MAGIC, MAGIC_LENGTH) != 0)
        return refuse(path, "this is not a .npy file", error);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return error_set(error, DPF_FAULT_DATA, "%s: .npy format %d.%d is not known; save it as 1.0", path,
                         prefix[6], prefix[7]);
    *length = prefix[8] | (size_t)prefix[9] << 8;
    if (prefix[6] > 1) {
        if (fread(prefix + PREFIX_LENGTH, 1, 2, stream) != 2)
            return refuse(path, "the file ends within its header", error);
        *length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    }
    if (*length > LONGEST_HEADER)
        return refuse(path, "the header is longer than any matrix needs", error);
    return 0;
}

static int read_header(FILE *stream, const char *path, struct npy_header *header, struct dpf_error *error)
{
    size_t length;
    if (read_prefix(stream, path, &length, error) != 0)
        return -1;
    char *text = memory_need(length + 1, 1);
    const char *wrong = NULL;
    if (fread(text, 1, length, stream) != length)
        wrong = "the file ends within its header";
    else if (strlen(text) != length)
        wrong = "the header holds a NUL";
    else
        wrong = npy_header_parse(text, header);
    free(text);
    return wrong ? refuse(path, wrong, error) : 0;
}

/* What this program can use, and how to get it from what it cannot. */
static int check_header(const char *path, const struct npy_header *header, struct dpf_error *error)
{
    if (header->n_dimensions != 2)
        return error_set(error, DPF_FAULT_DATA, "%s: the array has %d dimensions, but a matrix has 2", path,
                         header->n_dimensions);
    if (strcmp(header->descr, "<f4") != 0 && strcmp(header->descr, "<f8") != 0)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: the type is %s, but <f4 or <f8 is needed: save array.astype('<f8')", path,
                         header->descr);
    if (header->fortran_order)
        return refuse(path, "the array is in Fortran order: save numpy.ascontiguousarray(array)", error);
    return 0;
}

/*
 * The rest of the file must be the data and nothing else. Checked before the memory is taken, so that
 * a damaged shape is a message about the file and not about memory.
 */
static int check_length(FILE *stream, const char *path, const struct npy_header *header, size_t size,
                        size_t *count, struct dpf_error *error)
{
    int64_t elements, bytes;
    long start = ftell(stream);
    if (start < 0 || fseek(stream, 0, SEEK_END) != 0)
        return error_set(error, DPF_FAULT_DATA, "cannot read %s: %s", path, strerror(errno));
    int64_t rest = (int64_t)ftell(stream) - start;
    if (fseek(stream, start, SEEK_SET) != 0)
        return error_set(error, DPF_FAULT_DATA, "cannot read %s: %s", path, strerror(errno));
    if (__builtin_mul_overflow(header->shape[0], header->shape[1], &elements) ||
        __builtin_mul_overflow(elements, (int64_t)size, &bytes) || bytes != rest)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: a matrix of %lld x %lld does not fill the %lld bytes after the header", path,
                         (long long)header->shape[0], (long long)header->shape[1], (long long)rest);
    *count = (size_t)elements;
    return 0;
}

static int read_matrix(FILE *stream, const char *path, struct npy_matrix *out, struct dpf_error *error)
{
    struct npy_header header;
    size_t count = 0;
    if (read_header(stream, path, &header, error) != 0 || check_header(path, &header, error) != 0)
        return -1;
    int wide = strcmp(header.descr, "<f8") == 0;
    size_t size = wide ? sizeof(double) : sizeof(float);
    if (check_length(stream, path, &header, size, &count, error) != 0)
        return -1;
    void *data = memory_raw(count, size);
    if (!data)
        return error_memory(error);
    if (fread(data, size, count, stream) != count) {
        free(data);
        return error_set(error, DPF_FAULT_DATA, "cannot read %s", path);
    }
    out->rows = header.shape[0];
    out->columns = header.shape[1];
    if (wide)
        out->float64 = data;
    else
        out->float32 = data;
    return 0;
}

int npy_read(const char *path, struct npy_matrix *out, struct dpf_error *error)
{
    memset(out, 0, sizeof *out);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno));
    int status = read_matrix(stream, path, out, error);
    fclose(stream);
    return status;
}

/* ---- mapping ---------------------------------------------------------------------------------------------- */

/* The numbers begin where the stream is; the rest of the file must be they and nothing else. */
static int map_rest(FILE *stream, const char *path, const struct npy_header *header, struct npy_map *out,
                    struct dpf_error *error)
{
    const char *d = header->descr;
    const size_t size = (size_t)(strlen(d) == 3 && (d[0] == '<' || d[0] == '|') ? d[2] - '0' : 0);
    struct npy_header matrix = *header;
    size_t count;
    if (header->n_dimensions < 1 || header->n_dimensions > 2 || header->fortran_order ||
        (size != 1 && size != 4 && size != 8))
        return refuse(
            path, "an array of one or two dimensions, of little-endian numbers in C order, is needed", error);
    if (header->n_dimensions == 1)
        matrix.shape[1] = 1;
    const long start = ftell(stream);
    if (start < 0 || check_length(stream, path, &matrix, size, &count, error) != 0)
        return -1;
    if ((size_t)start % size)
        return refuse(path, "its numbers do not begin at a multiple of their size", error);
    out->bytes = (size_t)start + count * size;
    out->block = mmap(NULL, out->bytes, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    if (out->block == MAP_FAILED) {
        out->block = NULL;
        return error_set(error, DPF_FAULT_DATA, "cannot map %s: %s", path, strerror(errno));
    }
    snprintf(out->descr, sizeof out->descr, "%s", d);
    out->rows = matrix.shape[0];
    out->columns = matrix.shape[1];
    out->data = (const char *)out->block + start;
    return 0;
}

int npy_map(const char *path, struct npy_map *out, struct dpf_error *error)
{
    struct npy_header header;
    *out = (struct npy_map){.rows = 0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno));
    int status = read_header(stream, path, &header, error);
    if (status == 0)
        status = map_rest(stream, path, &header, out, error);
    fclose(stream);
    return status;
}

void npy_unmap(struct npy_map *map)
{
    if (map->block)
        munmap(map->block, map->bytes);
    *map = (struct npy_map){.rows = 0};
}

void npy_free(struct npy_matrix *matrix)
{
    free(matrix->float32);
    free(matrix->float64);
    memset(matrix, 0, sizeof *matrix);
}
