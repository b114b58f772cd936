/* SPDX-License-Identifier: Apache-2.0 */
/* pair_estimate_loops.h - the ascent of pair_estimate.c for one kind of processor: see simd_loops.h. */
#include "simd_loops.h"

static SIMD_LOOP_TARGET void SIMD_LOOP(climb_all)(struct climb *climb, int64_t iterations)
{
    climb_all(climb, iterations);
}

#undef ROW_LANES
#if defined(SIMD_AVX512)
#define ROW_LANES 8
#elif defined(SIMD_AVX2)
#define ROW_LANES 4
#else
#define ROW_LANES 2
#endif
typedef double SIMD_LOOP(row_reals) __attribute__((vector_size(8 * ROW_LANES)));
typedef int64_t SIMD_LOOP(row_bits) __attribute__((vector_size(8 * ROW_LANES)));

/* a where the mask is ones, else b. */
#undef CHOSEN
#define CHOSEN(mask, a, b) ((reals)(((mask) & (bits)(a)) | (~(mask) & (bits)(b))))

/* pair_estimate_inverse and pair_jaccard or pair_cosine, operation by operation. */
static SIMD_LOOP_TARGET void SIMD_LOOP(similarities)(const struct pair_row *row, float *out)
{
    typedef SIMD_LOOP(row_reals) reals;
    typedef SIMD_LOOP(row_bits) bits;
    const double q = row->channel->invent, d = row->channel->keep - row->channel->invent, n = row->n_users;
    const reals zero = {0.0}, one = zero + 1.0, true_first = zero + (row->first - n * q) / d;
    for (int at = 0; at < PAIR_ROW; at += ROW_LANES) {
        reals second, both, under;
        memcpy(&second, row->second + at, sizeof second);
        memcpy(&both, row->both + at, sizeof both);
        both = (both - q * (row->first + second) + n * q * q) / (d * d);
        const reals first_alone = true_first - both, second_alone = (second - n * q) / d - both;
        if (row->is_cosine) {
            const reals a = first_alone + both, b = second_alone + both;
            const reals square = CHOSEN((a > zero) & (b > zero), a * b, zero);
            double roots[ROW_LANES];
            for (int l = 0; l < ROW_LANES; l++)
                roots[l] = sqrt(square[l]);
            memcpy(&under, roots, sizeof under);
        } else {
            under = first_alone + second_alone + both;
        }
        const bits some = under > zero;
        const reals ratio = CHOSEN(some, both / CHOSEN(some, under, one), zero);
        const reals positive = CHOSEN(ratio > zero, ratio, zero);
        const reals limited = CHOSEN(positive < one, positive, one);
        for (int l = 0; l < ROW_LANES; l++)
            out[at + l] = (float)limited[l];
    }
}
