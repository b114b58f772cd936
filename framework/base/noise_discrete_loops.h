/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_discrete_loops.h - turns words into integers and marks those that are uncertain. Loops: see
 * simd_loops.h. noise_discrete.c explains the error bounds.
 */
#include "simd/simd_loops.h"

/* k = floor(y), y = d - t ln v, v = (2 w + 1) 2^-64 with the lower 63 bits w of the word; its highest is the
 * sign. */
static SIMD_LOOP_TARGET void SIMD_LOOP(make_laplace_cells)(const uint64_t *words, int64_t n, double t,
                                                           double d, int64_t *out, uint64_t *open)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = real_of_word(words[i] << 1 | 1);
        const double y = real_fma(-t, real_log_by(x * 0x1p-64, SIMD_LOOP_FUSED), d, SIMD_LOOP_FUSED);
        /* 2^-e for the exponent e of x */
        const double step =
            real_of_bits(UINT64_C(0x7fe0000000000000) - (real_bits(x) & UINT64_C(0x7ff0000000000000)));
        const double error =
            real_fma(y, 0x1p-50, real_fma(t, 0x1p-52 + step, 0x1p-40, SIMD_LOOP_FUSED), SIMD_LOOP_FUSED);
        const double low = real_floor(y - error), high = real_floor(y + error);
        const uint64_t negative = 0 - (words[i] >> 63);
        open[i] = (low != high) | (low < 0);
        out[i] = (int64_t)(((uint64_t)real_integer(low) ^ negative) - negative);
    }
}

/* Pairs of words to pairs of integers. */
static SIMD_LOOP_TARGET void SIMD_LOOP(make_gaussian_cells)(const uint64_t *words, int64_t n_pairs,
                                                            const struct gaussian_scale *g, int64_t *out,
                                                            uint64_t *open)
{
    const struct gaussian_scale scale = *g;
    for (int64_t i = 0; i < n_pairs; i++) {
        const uint64_t w1 = words[2 * i], w2 = words[2 * i + 1];
        const double exponent = gaussian_exponent(w1);
        const double radius = scale.wide * __builtin_sqrt(2 * exponent);
        double x, y;
        gaussian_direction(w2 >> 20, &x, &y);
        const double kx = real_nearest(radius * x), ky = real_nearest(radius * y);
        const uint64_t unsure = (w1 < GAUSSIAN_LEAST_WORD) | (exponent < GAUSSIAN_LEAST_EXPONENT);
        open[2 * i] = unsure | gaussian_open(&scale, radius * x, kx, exponent, x, w2 >> 10 & 1023);
        open[2 * i + 1] = unsure | gaussian_open(&scale, radius * y, ky, exponent, y, w2 & 1023);
        out[2 * i] = real_integer(kx);
        out[2 * i + 1] = real_integer(ky);
    }
}
