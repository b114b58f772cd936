/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ticker.h"

static void source_prepare(struct source *source, const char *path, size_t block_size)
{
    memset(source, 0, sizeof *source);
    source->path = path;
    source->block_size = block_size ? block_size : SOURCE_BLOCK;
    source->carry = memory_need_raw(source->block_size, 1);
    pthread_mutex_init(&source->lock, NULL);
}

int source_open(struct source *source, const char *path, size_t block_size, struct dpf_error *error)
{
    source_prepare(source, path, block_size);
    source->file = gzip_open(path, error);
    if (source->file)
        return 0;
    source_close(source);
    return -1;
}

void source_open_memory(struct source *source, const char *name, const char *bytes, size_t length,
                        size_t block_size)
{
    source_prepare(source, name, block_size);
    source->memory = bytes;
    source->memory_left = length;
}

#define PART_BLOCKS (INT64_C(1) << 40) /* more than a part can have */

int source_open_part(struct source *source, const char *path, size_t block_size, int part, int parts,
                     struct dpf_error *error)
{
    source_prepare(source, path, block_size);
    source->next = part * PART_BLOCKS;
    source->is_part = file_part_open(path, part, parts, &source->part, error) == 0;
    if (source->is_part)
        return 0;
    source_close(source);
    return -1;
}

void source_close(struct source *source)
{
    if (source->is_part)
        file_part_close(&source->part);
    if (source->file)
        gzip_close(source->file);
    if (source->carry)
        pthread_mutex_destroy(&source->lock);
    free(source->carry);
    memset(source, 0, sizeof *source);
}

void block_free(struct block *block)
{
    free(block->data);
    memset(block, 0, sizeof *block);
}

#define PIECE ((size_t)1 << 18) /* bytes that are hashed while the cache still has them */

static int read_piece(struct source *source, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    if (source->is_part) {
        const int status = file_part_read(&source->part, out, wanted, got, error);
        ticker_add((int64_t)*got);
        return status;
    }
    const int64_t before = gzip_offset(source->file);
    const int status = gzip_read(source->file, out, wanted, got, error);
    ticker_add(gzip_offset(source->file) - before);
    return status;
}

/* Up to `wanted` bytes; fewer only at the end. */
static int read_bytes(struct source *source, char *out, size_t wanted, size_t *got, struct dpf_error *error)
{
    *got = 0;
    while ((source->file || source->is_part) && *got < wanted) {
        const size_t piece = wanted - *got < PIECE ? wanted - *got : PIECE;
        size_t n = 0;
        if (read_piece(source, out + *got, piece, &n, error) != 0)
            return -1;
        if (source->hash)
            files_hash_add(source->hash, out + *got, n);
        *got += n;
        if (n < piece)
            return 0;
    }
    if (source->file || source->is_part)
        return 0;
    *got = wanted < source->memory_left ? wanted : source->memory_left;
    if (*got > 0)
        memcpy(out, source->memory, *got);
    source->memory += *got;
    source->memory_left -= *got;
    return 0;
}

/* Remarks what is hardly text, with the remedy. whole: the block is all of the
   file. Not an error by itself: where there is no header, a single record could begin like that. */
static void inspect_start(const struct block *block, int whole, const char **remark)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *what;
    } foreign[] = {
        {"\xff\xfe", 2, "UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"\xfe\xff", 2, "UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"PK\3\4", 4, "a ZIP archive, or an Excel file: unpack it, or save it as CSV"},
        {"SQLite format 3", 15, "an SQLite database: write its records as CSV (sqlite3 -csv FILE QUERY)"},
        {"\x93NUMPY", 6, "a NumPy array, not text: export it as text first"},
        {"{\"", 2, "JSON, not fields: convert it to CSV"},
        {"[{", 2, "JSON, not fields: convert it to CSV"},
        {"\x1f\x8b\x08", 3, "compressed by gzip: give it a name that ends in .gz"},
        {"BZh", 3, "compressed by bzip2: unpack it first, or use gzip"},
        {"\xfd"
         "7zXZ",
         5, "compressed by xz: unpack it first, or use gzip"},
        {"\x28\xb5\x2f\xfd", 4, "compressed by zstd: unpack it first, or use gzip"},
        {"\x89HDF", 4, "HDF5, not text: export it as text first"},
        {"MATLAB ", 7, "a MATLAB file, not text: export it as text first"},
        {"PAR1", 4,
         "Parquet, not text: convert it, for example by pandas.read_parquet(FILE).to_csv(...) "
         "(docs/python.md)"},
        {"\x7f"
         "ELF",
         4, "a program, not text"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (block->length >= foreign[i].length &&
            memcmp(block->data, foreign[i].magic, foreign[i].length) == 0)
            *remark = foreign[i].what;
    if (whole && block->length > 0 && !memchr(block->data, '\n', block->length) &&
        memchr(block->data, '\r', block->length - 1))
        *remark = "one line, since lines end with CR alone: convert them (tr '\\r' '\\n' <old >new)";
}

#define CUT_LENGTH 64

/* Keeps whole lines in the block and saves the rest for the next one. A line that fills the block is cut to
   its beginning, and what follows is passed over. */
static void cut_at_line(struct source *source, struct block *block)
{
    size_t end = block->length;
    while (end > 0 && block->data[end - 1] != '\n')
        end--;
    if (end == 0) {
        block->cut = 1;
        block->length = block->length < CUT_LENGTH ? block->length : CUT_LENGTH;
        block->data[block->length++] = '\n';
        source->passing = 1;
        return;
    }
    source->carry_length = block->length - end;
    memcpy(source->carry, block->data + end, source->carry_length);
    block->length = end;
}

/* The block begins within a line that is too long: what is left of it goes. */
static void pass_line(struct source *source, struct block *block)
{
    const char *end = memchr(block->data, '\n', block->length);
    const size_t gone = end ? (size_t)(end - block->data) + 1 : block->length;
    source->passing = !end;
    block->length -= gone;
    memmove(block->data, block->data + gone, block->length);
}

/* The next bytes, behind what was saved. */
static int fill(struct source *source, struct block *block, struct dpf_error *error)
{
    size_t got, wanted = source->block_size - source->carry_length;
    memcpy(block->data, source->carry, source->carry_length);
    if (read_bytes(source, block->data + source->carry_length, wanted, &got, error) != 0)
        return -1;
    block->length = source->carry_length + got;
    source->carry_length = 0;
    source->ended = got < wanted;
    return 0;
}

size_t source_section_name(const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length < 2 || length > SOURCE_SECTION || line[length - 1] != ':' || memchr(line, ',', length))
        return 0;
    return length - 1;
}

/* Blocks are fetched in order, so the section in force at the next one's beginning is known when this one is.
 */
static void pass_sections(struct source *source, struct block *block)
{
    memcpy(block->section, source->section, sizeof block->section);
    for (size_t end = block->length; source->sectioned && end > 0;) {
        size_t start = end - 1; /* of a line end */
        while (start > 0 && block->data[start - 1] != '\n')
            start--;
        const char *line = block->data + start, *text = line + source_mark(line, end - 1 - start);
        const size_t name = source_section_name(text, end - 1 - (size_t)(text - block->data));
        end = start;
        if (name == 0)
            continue;
        memcpy(source->section, text, name);
        source->section[name] = '\0';
        return;
    }
}

static int fetch(struct source *source, struct block *block, struct dpf_error *error)
{
    block->index = source->next;
    block->length = 0;
    block->cut = 0;
    if (source->ended)
        return 0;
    if (interrupt_is_wanted()) {
        char during[1024];
        snprintf(during, sizeof during, "%.1000s was read", source->path);
        return interrupt_check(during, error);
    }
    if (block->capacity < source->block_size + 1) {
        block_free(block);
        block->index = source->next;
        block->data = memory_need_raw(source->block_size + 1 + BLOCK_MARGIN, 1);
        block->capacity = source->block_size + 1;
    }
    if (fill(source, block, error) != 0)
        return -1;
    while (source->passing) {
        pass_line(source, block);
        if (source->ended)
            break;
        memcpy(source->carry, block->data, block->length); /* what follows, and more to fill a block */
        source->carry_length = block->length;
        if (fill(source, block, error) != 0)
            return -1;
    }
    if (block->index == 0)
        inspect_start(block, source->ended, &source->remark);
    if (source->ended) {
        if (block->length == 0)
            return 0;
        if (block->data[block->length - 1] != '\n')
            block->data[block->length++] = '\n';
    } else {
        cut_at_line(source, block);
    }
    pass_sections(source, block);
    source->next++;
    return 1;
}

int source_next(struct source *source, struct block *block, struct dpf_error *error)
{
    pthread_mutex_lock(&source->lock);
    int status = fetch(source, block, error);
    if (status < 0)
        source->ended = 1; /* nobody reads behind a fault */
    pthread_mutex_unlock(&source->lock);
    return status;
}

const char *source_foreign(const char *path)
{
    struct dpf_error ignored = {0};
    struct source source;
    struct block block = {0};
    if (source_open(&source, path, (size_t)1 << 12, &ignored) != 0)
        return NULL;
    (void)source_next(&source, &block, &ignored);
    const char *remark = source.remark;
    block_free(&block);
    source_close(&source);
    return remark;
}
