/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - zeroed, 64-byte aligned blocks, and arrays that grow.
 *
 * Large things (records, sums, models) may be refused: their functions return NULL, and the caller says what it is that
 * needs so much. Small things (names, lists of a configuration, components) are never NULL: where there is no memory
 * for a few bytes the process ends, by memory_out.
 */
#ifndef DPF_BASE_MEMORY_H
#define DPF_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for count elements, or NULL (also when the product overflows). Release with free. */
void *memory_new(size_t count, size_t size);
/* As above, but not zeroed: for large arrays that are about to be filled. */
void *memory_raw(size_t count, size_t size);
/* The same for arrays that may be large and are filled in any order: in large pages where there are such. */
void *memory_large(size_t count, size_t size);
/* Zeroed memory in which unwritten pages take no room: for all rows where a rank has
   some. Release with memory_sparse_free. */
void *memory_sparse(size_t count, size_t size);
void memory_sparse_free(void *block);
/*
 * Makes room for `needed` elements, at least doubling. *capacity counts elements. Returns the array
 * (maybe moved), or NULL with the old one still valid. Grown arrays come from realloc.
 */
void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* ---- small things, never NULL ---- */

void *memory_need(size_t count, size_t size);     /* as memory_new */
void *memory_need_raw(size_t count, size_t size); /* as memory_raw: what most uses fill a little of */
void *memory_need_grow(void *array, size_t *capacity, size_t needed, size_t size);
char *memory_text(const char *text); /* a copy */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Ends the process with exit code 1 and a line on stderr, without unwinding. That is safe at any point: the kernel
 * releases the locks of directories, launchers end the other ranks, whoever started a job sees that it failed, files of
 * results take their names once they are whole, and what a run is charged is in the ledger before it trains.
 */
_Noreturn void memory_out(void);

#endif
