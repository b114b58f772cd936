/* SPDX-License-Identifier: Apache-2.0 */
#include "bit_columns.h"

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

void bit_columns_turn(const uint64_t *rows, int64_t n_rows, int64_t n_items, int64_t row_words, int64_t block,
                      uint64_t *columns, int64_t column_words)
{
    for (int64_t w = 0; w < row_words; w++) {
        uint64_t tile[64] = {0};
        for (int64_t r = 0; r < n_rows; r++)
            tile[r] = rows[r * row_words + w];
        turn_64(tile);
        for (int64_t c = 0; c < 64 && 64 * w + c < n_items; c++)
            columns[(64 * w + c) * column_words + block] = tile[c];
    }
}

static int64_t count_plain(const uint64_t *a, const uint64_t *b, int64_t n_words)
{
    int64_t sum = 0;
    for (int64_t w = 0; w < n_words; w++)
        sum += __builtin_popcountll(a[w] & b[w]);
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static int64_t count_popcnt(const uint64_t *a, const uint64_t *b,
                                                              int64_t n_words)
{
    int64_t sum = 0;
    for (int64_t w = 0; w < n_words; w++)
        sum += __builtin_popcountll(a[w] & b[w]);
    return sum;
}
#endif

bit_counter bit_columns_counter(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt"))
        return count_popcnt;
#endif
    return count_plain;
}
