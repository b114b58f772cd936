/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - reads a file, plain or gzipped, as a sequence of blocks of whole lines.
 *
 * Several threads may fetch blocks; the blocks are numbered in the order of the file.
 */
#ifndef DPF_LINES_SOURCE_H
#define DPF_LINES_SOURCE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "lines/file_part.h"
#include "lines/gzip.h"

#define SOURCE_BLOCK ((size_t)1 << 21) /* usual size of a block, and the longest line there can be */

#define BLOCK_MARGIN 80
#define SOURCE_SECTION 64 /* bytes of a section's name and its NUL; longer ones are cut and match nothing */

struct source {
    struct gzip *file; /* NULL: reads from memory, or a part of a file */
    int is_part;
    struct file_part part;
    const char *memory;
    size_t memory_left;
    const char *path; /* the caller's */
    size_t block_size;
    char *carry; /* the beginning of a line whose end was not in the last block */
    size_t carry_length;
    int64_t next; /* number of the next block */
    int ended;
    const char *remark;           /* the likely format of a file that is not text, for "this is %s", or
                                     NULL */
    int passing;                  /* over the rest of a line that is too long */
    int sectioned;                /* set by the caller: lines "NAME:" begin sections */
    char section[SOURCE_SECTION]; /* in force behind the last block */
    struct files_hash
        *hash; /* set by the caller, and its own: gets the bytes of a plain file, or of the part, in order */
    pthread_mutex_t lock;
};

struct block {
    char *data; /* every line ends in '\n', the last one too; BLOCK_MARGIN bytes behind it may be read */
    size_t length;
    size_t capacity;
    int64_t index;
    char section[SOURCE_SECTION]; /* in force at the block's beginning; "": none yet */
    int cut; /* the first line is the beginning of one that is too long; the rest of it is passed over */
};
#define SOURCE_TOO_LONG                                                                                      \
    "a line is longer than %zu bytes; is this text with line ends (LF or CR LF)? Where lines end with CR "   \
    "alone, convert them (tr '\\r' '\\n' <old >new)"

/* Bytes of the line that begins at an offset of the block, with its end. */
static inline size_t block_line(const struct block *block, size_t at)
{
    const char *end = memchr(block->data + at, '\n', block->length - at);
    return (size_t)(end - block->data) + 1 - at;
}

/* The most bytes a line may have, if the one that begins at this offset of the block has more; else 0. */
static inline size_t block_longest(const struct block *block, size_t at)
{
    return block->cut && at == 0 ? block->capacity - 1 : 0;
}

/* block_size 0 means SOURCE_BLOCK. The path must outlive the source. */
int source_open(struct source *source, const char *path, size_t block_size, struct dpf_error *error);
/* The same over bytes in memory, for tests. They must outlive the source. */
void source_open_memory(struct source *source, const char *name, const char *bytes, size_t length,
                        size_t block_size);
/* A part of a plain file (file_part.h). Its blocks have numbers beyond those of all parts before it. */
int source_open_part(struct source *source, const char *path, size_t block_size, int part, int parts,
                     struct dpf_error *error);
/* 1: the next block; 0: the end; -1: the text of error lacks file and line
   and concerns the first line of block->index. Thread-safe. */
int source_next(struct source *source, struct block *block, struct dpf_error *error);
/* How many bytes of a byte order mark a line begins with. Any line may: which one is the first of a file is for
   no line to decide. */
static inline size_t source_mark(const char *line, size_t length)
{
    return length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The name in a line "NAME:" without its end, or a length of 0: the line is none of these. */
size_t source_section_name(const char *line, size_t length);
/* What a file likely is that is no text, for "this is %s", by its first bytes; NULL: text, or it cannot be read. */
const char *source_foreign(const char *path);
void source_close(struct source *source);
void block_free(struct block *block);

#endif
