/* SPDX-License-Identifier: Apache-2.0 */
/* hadamard_loops.h - the transform for one kind of processor: loops, see simd_loops.h. Every number is made
 * by the same sums and differences in the same order, so all kinds give the same bytes. */
#include "simd_loops.h"

/* Two steps at once: of half and of 2 half numbers. */
static SIMD_LOOP_TARGET void SIMD_LOOP(hadamard_two)(double *values, int64_t n, int64_t half)
{
    for (int64_t at = 0; at < n; at += 4 * half) {
        double *restrict a = values + at, *restrict b = a + half, *restrict c = b + half,
                         *restrict d = c + half;
        for (int64_t i = 0; i < half; i++) {
            const double ab = a[i] + b[i], a_b = a[i] - b[i], cd = c[i] + d[i], c_d = c[i] - d[i];
            a[i] = ab + cd;
            b[i] = a_b + c_d;
            c[i] = ab - cd;
            d[i] = a_b - c_d;
        }
    }
}

static SIMD_LOOP_TARGET void SIMD_LOOP(hadamard_one)(double *values, int64_t n, int64_t half)
{
    for (int64_t at = 0; at < n; at += 2 * half) {
        double *restrict a = values + at, *restrict b = a + half;
        for (int64_t i = 0; i < half; i++) {
            const double sum = a[i] + b[i], difference = a[i] - b[i];
            a[i] = sum;
            b[i] = difference;
        }
    }
}

/* In each eight numbers, steps of 1, 2 and 4: where the partner lies in the same register. The partner of a
 * difference comes first in it: a - b = a + (-b). */
static SIMD_LOOP_TARGET void SIMD_LOOP(hadamard_eights)(double *values, int64_t n)
{
    const hadamard_bits minus = {0, UINT64_C(1) << 63, 0, UINT64_C(1) << 63,
                                 0, UINT64_C(1) << 63, 0, UINT64_C(1) << 63};
    const hadamard_bits minus2 = __builtin_shufflevector(minus, minus, 0, 0, 1, 1, 0, 0, 1, 1);
    const hadamard_bits minus4 = __builtin_shufflevector(minus, minus, 0, 0, 0, 0, 1, 1, 1, 1);
    for (int64_t at = 0; at < n; at += 8) {
        hadamard_reals v;
        memcpy(&v, values + at, sizeof(v));
        v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6) +
            (hadamard_reals)((hadamard_bits)v ^ minus);
        v = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5) +
            (hadamard_reals)((hadamard_bits)v ^ minus2);
        v = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3) +
            (hadamard_reals)((hadamard_bits)v ^ minus4);
        memcpy(values + at, &v, sizeof(v));
    }
}

/* to = (from scale) again */
static SIMD_LOOP_TARGET void SIMD_LOOP(hadamard_scale)(const double *from, int64_t n, double scale,
                                                       double again, double *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (from[i] * scale) * again;
}

/* Numbers times the signs of their bits, 64 at most. */
static SIMD_LOOP_TARGET void SIMD_LOOP(hadamard_signs)(const double *from, int64_t n, uint64_t signs,
                                                       double *to)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, from + i, sizeof(bits));
        bits ^= (signs >> i) << 63;
        memcpy(to + i, &bits, sizeof(bits));
    }
}

static const struct hadamard_kernels SIMD_LOOP(hadamard_kernels) = {
    SIMD_LOOP(hadamard_two),   SIMD_LOOP(hadamard_one),   SIMD_LOOP(hadamard_eights),
    SIMD_LOOP(hadamard_scale), SIMD_LOOP(hadamard_signs),
};
