/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_count_loops.h - the counts of bit_columns.c for one kind of processor: see simd_loops.h.
 *
 * The ones of eight words at a time become a number of four bits in each place, of which only the eights are counted at
 * once, and ones, twos and fours are carried on (Harley and Seal). Lanes are items, so nothing is added across them.
 */
#include "simd_loops.h"

/* Vectors of the compiler, as wide as a register: in wider ones it falls back to single words. */
#undef COUNT_LANES
#if defined(SIMD_AVX512)
#define COUNT_LANES 8
#elif defined(SIMD_AVX2)
#define COUNT_LANES 4
#else
#define COUNT_LANES 2
#endif
typedef uint64_t SIMD_LOOP(count_lanes) __attribute__((vector_size(8 * COUNT_LANES)));

/* What these macros work on is the kind's own type; they are the same text for all of them. */
#ifndef COUNT_MACROS
#define COUNT_MACROS

/* Three bits to their sum: low and high. */
#define ADD_BITS(high, low, a, b, c)                                                                         \
    do {                                                                                                     \
        const lanes x_ = (a), y_ = (b), z_ = (c), odd_ = x_ ^ y_;                                            \
        (high) = (x_ & y_) | (odd_ & z_);                                                                    \
        (low) = odd_ ^ z_;                                                                                   \
    } while (0)

/* Adds the ones of each quarter of a word, 16 at most. */
#define ADD_QUARTERS(to, bits)                                                                               \
    do {                                                                                                     \
        lanes q_ = (bits);                                                                                   \
        q_ -= (q_ >> 1) & 0x5555555555555555;                                                                \
        q_ = (q_ & 0x3333333333333333) + ((q_ >> 2) & 0x3333333333333333);                                   \
        q_ = (q_ + (q_ >> 4)) & 0x0f0f0f0f0f0f0f0f;                                                          \
        (to) += (q_ & 0x00ff00ff00ff00ff) + ((q_ >> 8) & 0x00ff00ff00ff00ff);                                \
    } while (0)

/* Adds the four quarters. */
#define ADD_WORD(to, quarters, times)                                                                        \
    do {                                                                                                     \
        const lanes h_ = ((quarters)&0x0000ffff0000ffff) + (((quarters) >> 16) & 0x0000ffff0000ffff);        \
        (to) += (uint64_t)(times) * ((h_ & 0xffffffff) + (h_ >> 32));                                        \
    } while (0)

#define READ(word) (*(const lanes *)(const void *)(tile + (word)*TILE_ITEMS + at) & column[word])

/* Words whose eights fit the quarters of a word: 16 * 4,095 < 2^16. */
#define MOST_WORDS (8 * 4095)
#endif

static SIMD_LOOP_TARGET void SIMD_LOOP(count_tile)(const uint64_t *tile, const uint64_t *column,
                                                   int64_t n_words, int64_t *counts)
{
    /* Tiles are as aligned as their words: the type says so, and that other types may lie there. */
    typedef SIMD_LOOP(count_lanes) lanes __attribute__((aligned(8), may_alias));
    for (int64_t at = 0; at < TILE_ITEMS; at += COUNT_LANES) {
        lanes sum = {0}, ones = {0}, twos = {0}, fours = {0}, last = {0}, two = {0}, four = {0};
        int64_t w = 0;
        while (w + 8 <= n_words) {
            const int64_t whole = n_words / 8 * 8, end = whole - w < MOST_WORDS ? whole : w + MOST_WORDS;
            lanes quarters = {0};
            for (; w < end; w += 8) {
                lanes a, b, c, d, e, f, eights;
                ADD_BITS(a, ones, ones, READ(w), READ(w + 1));
                ADD_BITS(b, ones, ones, READ(w + 2), READ(w + 3));
                ADD_BITS(c, twos, twos, a, b);
                ADD_BITS(d, ones, ones, READ(w + 4), READ(w + 5));
                ADD_BITS(e, ones, ones, READ(w + 6), READ(w + 7));
                ADD_BITS(f, twos, twos, d, e);
                ADD_BITS(eights, fours, fours, c, f);
                ADD_QUARTERS(quarters, eights);
            }
            ADD_WORD(sum, quarters, 8);
        }
        for (; w < n_words; w++)
            ADD_QUARTERS(last, READ(w));
        ADD_QUARTERS(last, ones);
        ADD_QUARTERS(two, twos);
        ADD_QUARTERS(four, fours);
        ADD_WORD(sum, last, 1);
        ADD_WORD(sum, two, 2);
        ADD_WORD(sum, four, 4);
        memcpy(counts + at, &sum, sizeof sum);
    }
}
