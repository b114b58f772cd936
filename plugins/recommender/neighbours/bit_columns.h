/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_columns.h - a matrix of bits by users turned into one by items, and how many users two items share.
 *
 * Bit b of a matrix row is bit b % 64 of word b / 64. Unused bits of the last word are 0.
 */
#ifndef DPF_NEIGHBOURS_BIT_COLUMNS_H
#define DPF_NEIGHBOURS_BIT_COLUMNS_H

#include <stdint.h>

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

/*
 * Users 64 block .. 64 block + 63 (n_rows of them, each n_items bits in row_words words): word `block` of
 * every item's column of column_words words. Blocks write different words, so they may run at the same time.
 */
void bit_columns_turn(const uint64_t *rows, int64_t n_rows, int64_t n_items, int64_t row_words, int64_t block,
                      uint64_t *columns, int64_t column_words);

typedef int64_t (*bit_counter)(const uint64_t *a, const uint64_t *b, int64_t n_words);
/* Counts the bits that two columns share: the fastest that the processor has. */
bit_counter bit_columns_counter(void);

#endif
