/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_layout.h - which block of which keystream belongs to which row (docs/adr/0012).
 *
 * A ChaCha20 block has a key, a 64-bit nonce and a 64-bit counter (Bernstein 2008; libsodium's
 * crypto_stream_chacha20). The key is the stream's. The nonce is draw + 2^32 party. The counter is, from its
 * highest bit,
 *
 *   0  row: 32            block: 31      a sequence, read from its start as far as is wanted
 *   1  0  kind: 3  size: 8  place: 51    a row of cells of a kind: place = row B + block, block < B
 *   1  1  kind: 3  size: 8  place: 51    never a counter: names a row's overflow, place = row
 *
 * B, the number of blocks that a row owns, follows from the kind and the width of the row, which are public,
 * and never from the numbers drawn. It is rounded up to a number with an index, `size`: all up to 16, then eight
 * in each octave. So a counter alone tells its row, and rows of the same kind and width that
 * follow one another are one piece of keystream.
 *
 * A cell that needs more than its words in the row reads the row's overflow. The overflow has its own key,
 * derived with HChaCha20 from the stream's key and 16 bytes that are not the nonce and counter of any block;
 * there the nonce is the cell, which owns all 2^64 blocks.
 */
#ifndef DPF_BASE_RANDOM_LAYOUT_H
#define DPF_BASE_RANDOM_LAYOUT_H

#include <stdint.h>

#define RANDOM_BLOCK_WORDS 8 /* one ChaCha20 block */

#define LAYOUT_SEQUENCE_BITS 31 /* 128 GiB from one index */
#define LAYOUT_PLACE_BITS 51
#define LAYOUT_ROWS (UINT64_C(1) << 63)
#define LAYOUT_OVERFLOW (UINT64_C(1) << 62)
#define LAYOUT_KINDS 7 /* the eighth names the overflow of sequences */

/* Kinds of rows. Noise of two kinds at one index is independent. */
enum random_kind {
    RANDOM_KIND_BITS,
    RANDOM_KIND_NORMAL,
    RANDOM_KIND_LAPLACE,
    RANDOM_KIND_DISCRETE_LAPLACE,
    RANDOM_KIND_DISCRETE_GAUSSIAN,
    RANDOM_KIND_SKELLAM,
};

/* The rows of one kind and width. */
struct random_layout {
    uint64_t label;  /* the counter of block 0 of row 0 */
    uint64_t blocks; /* B; 0: there are no such rows */
};

/* Whose block it is. */
struct random_owner {
    uint64_t label; /* 0: a sequence */
    uint64_t row;
};

static inline uint64_t layout_nonce(uint32_t draw, uint32_t party)
{
    return draw | (uint64_t)party << 32;
}

static inline uint64_t layout_sequence(uint32_t row)
{
    return (uint64_t)row << LAYOUT_SEQUENCE_BITS;
}

/* The blocks that the size stands for, 0 .. 255. */
static inline uint64_t layout_blocks_of(unsigned size)
{
    return size < 16 ? size + 1 : (uint64_t)(9 + (size - 16) % 8) << ((size - 16) / 8 + 1);
}

/* The layout of rows of that many words; blocks = 0 where no size is large enough. */
static inline struct random_layout layout_rows(unsigned kind, uint64_t words)
{
    struct random_layout layout = {0};
    if (kind >= LAYOUT_KINDS || words == 0 || words > UINT64_C(1) << 34)
        return layout;
    const uint64_t blocks = (words + RANDOM_BLOCK_WORDS - 1) / RANDOM_BLOCK_WORDS;
    unsigned size = (unsigned)blocks - 1;
    if (blocks > 16) {
        unsigned shift = 1;
        while ((blocks - 1) >> shift >= 16)
            shift++;
        const uint64_t eighths = (blocks - 1) / (UINT64_C(1) << shift) + 1; /* 9 .. 16 */
        size = 16 + 8 * (shift - 1) + (unsigned)(eighths - 9);
    }
    layout.label = LAYOUT_ROWS | (uint64_t)kind << 59 | (uint64_t)size << LAYOUT_PLACE_BITS;
    layout.blocks = layout_blocks_of(size);
    return layout;
}

/* Rows 0 .. n - 1 have places. */
static inline int layout_has(const struct random_layout *layout, uint64_t n)
{
    return layout->blocks > 0 && n <= UINT64_C(1) << 32 &&
           n <= (UINT64_C(1) << LAYOUT_PLACE_BITS) / layout->blocks;
}

static inline uint64_t layout_counter(const struct random_layout *layout, uint32_t row)
{
    return layout->label + row * layout->blocks;
}

/* What HChaCha20 is given in place of a counter, for the overflow of a row. */
static inline uint64_t layout_overflow(const struct random_layout *layout, uint32_t row)
{
    return (layout->label ? layout->label : LAYOUT_ROWS | (uint64_t)LAYOUT_KINDS << 59) | LAYOUT_OVERFLOW |
           row;
}

/* The inverse: a block has one owner. */
static inline struct random_owner layout_owner(uint64_t counter)
{
    if (!(counter & LAYOUT_ROWS))
        return (struct random_owner){0, counter >> LAYOUT_SEQUENCE_BITS};
    const uint64_t place = counter & ((UINT64_C(1) << LAYOUT_PLACE_BITS) - 1);
    return (struct random_owner){counter - place,
                                 place / layout_blocks_of(counter >> LAYOUT_PLACE_BITS & 255)};
}

#endif
