/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_fma.h - X25519 of four secrets and four public keys, abreast, in 256-bit registers.
 *
 * AVX2 multiplies 32 bits by 32; its floating-point unit multiplies 53 by 53 and is as fast. So a number modulo
 * p = 2^255 - 19 is five limbs, integers of either sign in float64, of weight 2^(51 i), each limb a vector of four
 * lanes. Limbs of tight numbers are at most 2^50 + 2^13 in size, those of loose ones 2^51 + 2^23.
 *
 * A product of limbs, exact, is 2^51 high + low. With |a b| < 2^102, a b + 3 2^102 lies in [2^103, 2^104), where
 * float64 are multiples of 2^51, so the fused multiply-add rounds it to 3 2^102 + 2^51 high; from that follows low =
 * a b - 2^51 high, exactly, at most 2^50 in size; and 3 2^51 + low lies in [2^52, 2^53), where float64 are integers. In
 * both ranges the bits of a float64, as an integer, are a constant plus high or low, so integers add them up. Nothing
 * is ever subnormal, infinite or not a number, for which alone the time of an operation depends on its operands. The
 * processor rounds to the nearest, as it does unless a program asks for something else.
 */
#ifndef X25519_FMA_H
#define X25519_FMA_H

#include <immintrin.h>

#include "x25519_bytes.h"

#define X25519_TARGET __attribute__((target("avx2,fma")))
#define X25519_INLINE static inline __attribute__((always_inline, target("avx2,fma")))
#define X25519_UNROLL _Pragma("GCC unroll 16")

#define X25519_HIGH 0x1.8p103 /* 3 2^102 */
#define X25519_BOTH (0x1.8p103 + 0x1.8p52)
#define X25519_HIGH_BITS UINT64_C(0x4668000000000000) /* of 3 2^102 */
#define X25519_LOW_BITS UINT64_C(0x4338000000000000)  /* of 3 2^51 */
#define X25519_BIAS (UINT64_C(1) << 59)               /* a multiple of 2^51 above all sums of products */

typedef struct {
    __m256d limb[5];
} x25519_fma;

X25519_INLINE __m256d x25519_fma_all(double x)
{
    return _mm256_set1_pd(x);
}

X25519_INLINE __m256i x25519_fma_words(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

X25519_INLINE __m256d x25519_fma_high(__m256d a, __m256d b)
{
    return _mm256_fmadd_pd(a, b, x25519_fma_all(X25519_HIGH));
}

/* high 2^51, of limbs high[i], to the limbs above it; the last one's to the first, 19 times, as 2^255 = 19. */
X25519_INLINE x25519_fma x25519_fma_raise(x25519_fma low, x25519_fma high)
{
    low.limb[0] = _mm256_fmadd_pd(high.limb[4], x25519_fma_all(19 * 0x1p-51), low.limb[0]);
    X25519_UNROLL for (int i = 1; i < 5; i++) low.limb[i] =
        _mm256_fmadd_pd(high.limb[i - 1], x25519_fma_all(0x1p-51), low.limb[i]);
    return low;
}

/* Limbs at most 2^53 in size to tight ones: what exceeds 51 bits, at most 4, goes to the next limb. */
X25519_INLINE x25519_fma x25519_fma_carry(x25519_fma x)
{
    x25519_fma high;
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        high.limb[i] = _mm256_add_pd(x.limb[i], x25519_fma_all(X25519_HIGH));
        high.limb[i] = _mm256_sub_pd(high.limb[i], x25519_fma_all(X25519_HIGH));
        x.limb[i] = _mm256_sub_pd(x.limb[i], high.limb[i]);
    }
    return x25519_fma_raise(x, high);
}

X25519_INLINE x25519_fma x25519_fma_add_loose(x25519_fma a, x25519_fma b)
{
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] = _mm256_add_pd(a.limb[i], b.limb[i]);
    return a;
}

X25519_INLINE x25519_fma x25519_fma_subtract_loose(x25519_fma a, x25519_fma b)
{
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] = _mm256_sub_pd(a.limb[i], b.limb[i]);
    return a;
}

X25519_INLINE x25519_fma x25519_fma_add(x25519_fma a, x25519_fma b)
{
    return x25519_fma_carry(x25519_fma_add_loose(a, b));
}

X25519_INLINE x25519_fma x25519_fma_subtract(x25519_fma a, x25519_fma b)
{
    return x25519_fma_carry(x25519_fma_subtract_loose(a, b));
}

/* Adds the bits of low and high of a b. */
X25519_INLINE void x25519_fma_product(__m256d a, __m256d b, __m256i *low, __m256i *high)
{
    const __m256d above = x25519_fma_high(a, b);
    const __m256d below = _mm256_fmadd_pd(a, b, _mm256_sub_pd(x25519_fma_all(X25519_BOTH), above));
    *low = _mm256_add_epi64(*low, _mm256_castpd_si256(below));
    *high = _mm256_add_epi64(*high, _mm256_castpd_si256(above));
}

/* Sums of bits by column, column[k] of weight 2^(51 k), to five limbs: n[k] products have their low parts in column k
 * and their high parts in column k + 1. One factor is tight and the other at most loose, so both parts are at most
 * 2^50 + 2^24. Columns k and k + 5 have ten of them at most, and a limb is less than (1 + 19) 10 2^51 < 2^59 in
 * size. */
X25519_INLINE x25519_fma x25519_fma_fold(const __m256i column[10], const uint64_t n[10])
{
    __m256i sum[5], carry[5];
    x25519_fma x;
    X25519_UNROLL for (int k = 0; k < 5; k++)
    {
        const uint64_t bits = n[k] * X25519_LOW_BITS + (k > 0 ? n[k - 1] * X25519_HIGH_BITS : 0);
        const uint64_t bits_above = n[k + 5] * X25519_LOW_BITS + n[k + 4] * X25519_HIGH_BITS;
        /* 2^50, so that what stays of the limb is rounded to the nearest */
        const uint64_t start = X25519_BIAS + (UINT64_C(1) << 50) - bits - 19 * bits_above;
        const __m256i above = column[k + 5];
        sum[k] = _mm256_add_epi64(_mm256_add_epi64(column[k], x25519_fma_words(start)), above);
        sum[k] = _mm256_add_epi64(sum[k], _mm256_slli_epi64(above, 1));
        sum[k] = _mm256_add_epi64(sum[k], _mm256_slli_epi64(above, 4));
        carry[k] = _mm256_srli_epi64(sum[k], 51); /* below 2^9 */
    }
    X25519_UNROLL for (int k = 0; k < 5; k++)
    {
        const __m256i from = k > 0 ? carry[k - 1] : _mm256_mul_epu32(carry[4], x25519_fma_words(19));
        const __m256i limb = _mm256_add_epi64(_mm256_and_si256(sum[k], x25519_fma_words(X25519_LOW)), from);
        /* a float64 of 2^52 + limb, less the 2^50 and the carries of the bias */
        const __m256i bits = _mm256_or_si256(limb, x25519_fma_words(UINT64_C(0x4330000000000000)));
        const double less = 0x1p52 + 0x1p50 + (k > 0 ? 1 : 19) * (double)(X25519_BIAS >> 51);
        x.limb[k] = _mm256_sub_pd(_mm256_castsi256_pd(bits), x25519_fma_all(less));
    }
    return x;
}

X25519_INLINE x25519_fma x25519_fma_multiply(x25519_fma a, x25519_fma b)
{
    const uint64_t n[10] = {1, 2, 3, 4, 5, 4, 3, 2, 1, 0};
    __m256i column[10];
    X25519_UNROLL for (int k = 0; k < 10; k++) column[k] = _mm256_setzero_si256();
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        X25519_UNROLL for (int j = 0; j < 5; j++)
            x25519_fma_product(a.limb[i], b.limb[j], &column[i + j], &column[i + j + 1]);
    }
    return x25519_fma_fold(column, n);
}

/* A product of two different limbs occurs twice: one of them is doubled, which makes it a loose one. */
X25519_INLINE x25519_fma x25519_fma_square(x25519_fma a)
{
    const uint64_t n[10] = {1, 1, 2, 2, 3, 2, 2, 1, 1, 0};
    const x25519_fma twice = x25519_fma_add_loose(a, a);
    __m256i column[10];
    X25519_UNROLL for (int k = 0; k < 10; k++) column[k] = _mm256_setzero_si256();
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        X25519_UNROLL for (int j = i; j < 5; j++) x25519_fma_product(
            i == j ? a.limb[i] : twice.limb[i], a.limb[j], &column[i + j], &column[i + j + 1]);
    }
    return x25519_fma_fold(column, n);
}

/* b + 121666 a, loose: high parts of limbs times 121666 < 2^17 are below 2^17, and 19 of them below 2^22. But low parts
 * and limbs of b are at most 2^50 and 2^50 + 2^13. */
X25519_INLINE x25519_fma x25519_fma_add_121666(x25519_fma b, x25519_fma a)
{
    const __m256d times = x25519_fma_all(121666);
    x25519_fma high;
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        high.limb[i] = _mm256_sub_pd(x25519_fma_high(a.limb[i], times), x25519_fma_all(X25519_HIGH));
        b.limb[i] = _mm256_add_pd(b.limb[i], _mm256_fmsub_pd(a.limb[i], times, high.limb[i]));
    }
    return x25519_fma_raise(b, high);
}

/* Exchanges the lanes of which `bit` is set in `swaps`. */
X25519_INLINE void x25519_fma_swap(const uint64_t swaps[4], int bit, x25519_fma *a, x25519_fma *b)
{
    const __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)swaps);
    const __m256d swap = _mm256_castsi256_pd(_mm256_sll_epi64(words, _mm_cvtsi32_si128(63 - bit)));
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        const __m256d x = a->limb[i], y = b->limb[i];
        a->limb[i] = _mm256_blendv_pd(x, y, swap); /* by the highest bit */
        b->limb[i] = _mm256_blendv_pd(y, x, swap);
    }
}

X25519_INLINE x25519_fma x25519_fma_small(uint64_t n)
{
    const __m256d zero = _mm256_setzero_pd();
    return (x25519_fma){{x25519_fma_all((double)n), zero, zero, zero, zero}};
}

X25519_INLINE x25519_fma x25519_fma_load(uint64_t limbs[5][4])
{
    x25519_fma x;
    for (int i = 0; i < 5; i++)
        x.limb[i] =
            _mm256_set_pd((double)limbs[i][3], (double)limbs[i][2], (double)limbs[i][1], (double)limbs[i][0]);
    return x25519_fma_carry(x);
}

/* Of a tight number, with 2 p added, so that no limb is negative. */
X25519_INLINE void x25519_fma_store(x25519_fma x, uint64_t limbs[5][4])
{
    for (int i = 0; i < 5; i++) {
        double lanes[4];
        _mm256_storeu_pd(lanes, x.limb[i]);
        for (int l = 0; l < 4; l++)
            limbs[i][l] = (uint64_t)((int64_t)lanes[l] + 2 * (int64_t)(X25519_LOW - (i == 0 ? 18 : 0)));
    }
}

#define X(name) x25519_fma_##name
#define X25519_NUMBER x25519_fma
#define X25519_WIDTH 4
#include "x25519_ladder.h"

#endif
