/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_cursor.h - the content of a dpf_cursor, a window on a sequence; and the blocks of rows of cells.
 *
 * For the samplers of this room only. All fields are 64-bit words, as dpf_cursor.opaque is, so that
 * reading one through the other does not violate aliasing rules. A cursor generates nothing before its first
 * word is read, so seeking is free.
 */
#ifndef DPF_BASE_RANDOM_CURSOR_H
#define DPF_BASE_RANDOM_CURSOR_H

#include <stdint.h>

#include "dpframe/host.h"

#include "base/random_layout.h"

__extension__ typedef unsigned __int128 random_u128;

#define RANDOM_WINDOW_WORDS 64

struct random_cursor {
    uint64_t words[RANDOM_WINDOW_WORDS];
    uint64_t position; /* next word of the window */
    uint64_t filled;   /* words in the window */
    uint64_t row;
    uint64_t block; /* of the row: the first that is not in the window */
    uint64_t nonce;
    uint64_t stream; /* const dpf_stream * */
};

_Static_assert(sizeof(struct random_cursor) <= sizeof(dpf_cursor), "a cursor holds its state");

static inline struct random_cursor *random_cursor_of(dpf_cursor *cursor)
{
    return (struct random_cursor *)cursor->opaque;
}

/* Refills an empty window: one block at first, for those who need a word or two; then all of it. */
void random_cursor_refill(struct random_cursor *cursor);
/* Refills an empty window with all that fits, for those who will need many words. Which words come is
   the same either way. */
void random_cursor_fill(struct random_cursor *cursor);
/* Most of the next n words, from an empty window, without passing through it; returns how many, perhaps 0. */
int64_t random_cursor_bulk(struct random_cursor *cursor, uint64_t *out, int64_t n);

/* Blocks block .. block + n_blocks - 1 of a row; those of the rows behind it follow, if there are so many. */
void random_row_blocks(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                       uint32_t row, uint64_t block, uint64_t n_blocks, uint64_t *out);

#define RANDOM_SCATTERED_BLOCKS 256
/* All blocks of the rows of those numbers, one row after another, that many blocks at most. */
void random_scattered_rows(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                           const int32_t *ids, int64_t n, uint64_t *out);

/* What the cells of one row read beyond their words in it. Holds a key: wipe it with sodium_memzero. */
struct random_overflow {
    uint8_t key[32];
};

/* layout {0}: of a row that is read as a sequence, whose cells are its words. */
void random_overflow_open(const dpf_stream *stream, const struct random_layout *layout, uint64_t nonce,
                          uint32_t row, struct random_overflow *overflow);
void random_overflow_block(const struct random_overflow *overflow, uint64_t cell, uint64_t block,
                           uint64_t out[RANDOM_BLOCK_WORDS]);

/* Tells that n draws follow. */
static inline void random_cursor_expect(struct random_cursor *cursor, int64_t n)
{
    if (n > RANDOM_BLOCK_WORDS && cursor->position == cursor->filled)
        random_cursor_fill(cursor);
}

static inline uint64_t random_word(struct random_cursor *cursor)
{
    if (__builtin_expect(cursor->position == cursor->filled, 0))
        random_cursor_refill(cursor);
    return cursor->words[cursor->position++];
}

/* Ends the program: for what has a probability below 2^-2000. */
_Noreturn void random_generator_fault(void);

/* In [0, 1), a multiple of 2^-53. */
static inline double random_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

/* Uniform on 0 .. bound-1. Lemire, ACM TOMACS 29(1), 2019: a division in a fraction bound/2^64 of cases. */
static inline uint64_t random_word_below(struct random_cursor *cursor, uint64_t bound)
{
    random_u128 product = (random_u128)random_word(cursor) * bound;
    if (__builtin_expect((uint64_t)product < bound, 0)) {
        uint64_t excess = (0 - bound) % bound; /* 2^64 mod bound */
        while ((uint64_t)product < excess)
            product = (random_u128)random_word(cursor) * bound;
    }
    return (uint64_t)(product >> 64);
}

#endif
