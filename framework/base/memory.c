/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX lacks */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A positive multiple of 64, or 0 if the product overflows. */
static size_t padded_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64)
        return 0;
    return bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
}

void *memory_raw(size_t count, size_t size)
{
    size_t bytes = padded_bytes(count, size);
    return bytes ? aligned_alloc(64, bytes) : NULL;
}

void *memory_large(size_t count, size_t size)
{
    static const size_t page = (size_t)1 << 21;
    const size_t bytes = padded_bytes(count, size);
    if (bytes < page || bytes > SIZE_MAX - page)
        return memory_raw(count, size);
    const size_t whole =
        (bytes + page / 2) / page * page; /* a rest of less than half a page is not worth one */
    void *block = aligned_alloc(page, (bytes + page - 1) / page * page);
#ifdef MADV_HUGEPAGE
    if (block)
        madvise(block, whole, MADV_HUGEPAGE); /* a wish */
#endif
    return block;
}

void *memory_new(size_t count, size_t size)
{
    void *block = memory_raw(count, size);
    if (block)
        memset(block, 0, padded_bytes(count, size));
    return block;
}

#define SPARSE_HEAD ((size_t)4096) /* before a block that is mapped: a page, whose last word holds the size */
#define SMALL_HEAD ((size_t)64)    /* before any other: the last word is 0 */
#define SMALL_MOST ((size_t)65536) /* bytes that are cheaper to clear than to map */

void *memory_sparse(size_t count, size_t size)
{
    const size_t bytes = padded_bytes(count, size), all = bytes + SPARSE_HEAD;
    if (!bytes || all < bytes)
        return NULL;
    if (bytes <= SMALL_MOST) {
        char *small = memory_new(1, bytes + SMALL_HEAD);
        return small ? small + SMALL_HEAD : NULL;
    }
    char *base = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    memcpy(base + SPARSE_HEAD - sizeof all, &all, sizeof all);
    return base + SPARSE_HEAD;
}

void memory_sparse_free(void *block)
{
    size_t all;
    if (!block)
        return;
    memcpy(&all, (char *)block - sizeof all, sizeof all);
    if (all)
        munmap((char *)block - SPARSE_HEAD, all);
    else
        free((char *)block - SMALL_HEAD);
}

void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity && array)
        return array;
    size_t wanted = *capacity < 16 ? 16 : *capacity + *capacity / 2;
    if (wanted < needed)
        wanted = needed;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, size, &bytes))
        return NULL;
    void *grown = realloc(array, bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

_Noreturn void memory_out(void)
{
    static const char message[] = "dpframe: out of memory\n";
    const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(1);
}

static void *there(void *block)
{
    if (!block)
        memory_out();
    return block;
}

void *memory_need(size_t count, size_t size)
{
    return there(memory_new(count, size));
}

void *memory_need_raw(size_t count, size_t size)
{
    return there(memory_raw(count, size));
}

void *memory_need_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    return there(memory_grow(array, capacity, needed, size));
}

char *memory_text(const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(there(malloc(length)), text, length);
}

char *memory_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = there(length < 0 ? NULL : malloc((size_t)length + 1));
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
