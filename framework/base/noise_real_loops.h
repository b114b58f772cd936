/* SPDX-License-Identifier: Apache-2.0 */
/* noise_real_loops.h - words to normal and Laplace numbers. A kernel of loops: see simd_loops.h. */
#include "simd/simd_loops.h"

/* Box and Muller, Ann. Math. Stat. 29, 1958: two words to two numbers. */
static SIMD_LOOP_TARGET void SIMD_LOOP(make_normals)(const uint64_t *words, int64_t n_pairs, double *out)
{
    for (int64_t i = 0; i < n_pairs; i++) {
        const double radius = __builtin_sqrt(-2 * real_log(real_unit(words[2 * i])));
        double x, y;
        real_direction(words[2 * i + 1], &x, &y);
        out[2 * i] = radius * x;
        out[2 * i + 1] = radius * y;
    }
}

/* One word to one number: its highest bit is the sign. */
static SIMD_LOOP_TARGET void SIMD_LOOP(make_laplaces)(const uint64_t *words, int64_t n, double *out)
{
    const uint64_t sign = UINT64_C(1) << 63;
    for (int64_t i = 0; i < n; i++)
        out[i] = real_of_bits(real_bits(-real_log(real_unit(words[i] << 1))) | (words[i] & sign));
}
