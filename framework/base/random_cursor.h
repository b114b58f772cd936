/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_cursor.h - what lies in a dpf_cursor: a window on a ChaCha20 keystream.
 *
 * For the samplers of this room only. All fields are 64-bit words, as dpf_cursor.opaque is, so that
 * reading one through the other is no aliasing violation. Nothing is generated before the first word
 * is asked for: seeking is free.
 */
#ifndef DPF_BASE_RANDOM_CURSOR_H
#define DPF_BASE_RANDOM_CURSOR_H

#include <stdint.h>

#include "base/random.h"

__extension__ typedef unsigned __int128 random_u128;

#define RANDOM_BLOCK_WORDS 8 /* one ChaCha20 block */
#define RANDOM_WINDOW_WORDS 64

struct random_cursor {
    uint64_t words[RANDOM_WINDOW_WORDS];
    uint64_t position;   /* next word of the window */
    uint64_t filled;     /* words in the window */
    uint64_t next_block; /* block counter of the next refill */
    uint64_t nonce[2];   /* 12 bytes: draw, party, row, each little-endian */
    uint64_t stream;     /* const dpf_stream * */
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

/* In [0, 1), a multiple of 2^-53. */
static inline double random_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

/* In (0, 1], a multiple of 2^-53: its logarithm is finite. */
static inline double random_unit_positive(uint64_t word)
{
    return (double)((word >> 11) + 1) * 0x1p-53;
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
