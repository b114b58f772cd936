/* SPDX-License-Identifier: Apache-2.0 */
#include "bit_columns.h"

#include <string.h>

/* Row r's bit c to row c's bit r: swaps blocks of 32, then 16 ... 1 (Warren, Hacker's Delight, 7-3). */
static void turn_64(uint64_t m[64])
{
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (int step = 32; step; step >>= 1, mask ^= mask << step)
        for (int r = 0; r < 64; r = ((r | step) + 1) & ~step) {
            const uint64_t moved = ((m[r] >> step) ^ m[r | step]) & mask;
            m[r] ^= moved << step;
            m[r | step] ^= moved;
        }
}

void bit_columns_turn(const uint64_t *rows, int64_t n_rows, int64_t row_words, int64_t block,
                      uint64_t *columns, int64_t column_words)
{
    for (int64_t w = 0; w < row_words; w++) {
        uint64_t *const tile = bit_tile(columns, w, column_words) + block * TILE_ITEMS;
        for (int64_t r = 0; r < TILE_ITEMS; r++)
            tile[r] = r < n_rows ? rows[r * row_words + w] : 0;
        turn_64(tile);
    }
}

void bit_columns_copy(uint64_t *columns, int64_t column_words, int64_t item, uint64_t *out)
{
    const uint64_t *from = bit_tile(columns, item / TILE_ITEMS, column_words) + item % TILE_ITEMS;
    for (int64_t w = 0; w < column_words; w++)
        out[w] = from[w * TILE_ITEMS];
}

/* ---- counts -------------------------------------------------------------------------------------- */

#define SIMD_TEMPLATE "bit_count_loops.h"
#include "each_kind.h"

void bit_columns_count(int kind, const uint64_t *tile, const uint64_t *column, int64_t column_words,
                       int64_t counts[TILE_ITEMS])
{
    SIMD_PICK(kind, count_tile)(tile, column, column_words, counts);
}
