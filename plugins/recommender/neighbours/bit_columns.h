/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_columns.h - a matrix of bits by users turned into one by items, and how many users items share.
 *
 * Bit b of a matrix row is bit b % 64 of word b / 64. Unused bits of the last word are 0. Columns lie in tiles of 64 items, which are
 * counted together: a tile has 64 words, one for each of its items, for each word of users.
 */
#ifndef DPF_NEIGHBOURS_BIT_COLUMNS_H
#define DPF_NEIGHBOURS_BIT_COLUMNS_H

#include <stdint.h>

#define TILE_ITEMS 64

static inline int64_t bit_words(int64_t bits)
{
    return (bits + 63) / 64;
}

/* The mask of the bits of word w that a row of so many bits uses. */
static inline uint64_t bit_mask(int64_t bits, int64_t w)
{
    const int64_t left = bits - 64 * w;
    return left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
}

/* The tile of items 64 tile .. 64 tile + 63. */
static inline uint64_t *bit_tile(uint64_t *columns, int64_t tile, int64_t column_words)
{
    return columns + tile * TILE_ITEMS * column_words;
}

/*
 * Users 64 block .. 64 block + 63 (n_rows of them, each in row_words words): word `block` of every item's column of
 * column_words words. Blocks write different words, so they may run at the same time. There are row_words tiles.
 */
void bit_columns_turn(const uint64_t *rows, int64_t n_rows, int64_t row_words, int64_t block,
                      uint64_t *columns, int64_t column_words);

/* The column of an item by itself. */
void bit_columns_copy(uint64_t *columns, int64_t column_words, int64_t item, uint64_t *out);

/* How many users of a column have each item of a tile, on a kind of processor (SIMD_KIND_...). */
void bit_columns_count(int kind, const uint64_t *tile, const uint64_t *column, int64_t column_words,
                       int64_t counts[TILE_ITEMS]);

#endif
