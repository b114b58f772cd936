/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_ifma.h - X25519 of eight secrets and eight public keys, abreast, in 512-bit registers.
 *
 * A number modulo p = 2^255 - 19 is five limbs of 51 bits, each limb a vector of eight lanes. The processor's
 * 52-bit multiply-add takes the low 52 bits of two limbs and adds the low or the high 52 bits of their
 * product. So what is multiplied has limbs below 2^52 ("tight": below 2^51 + 2^15), and a high half, whose
 * weight is 2^52, counts twice in the next limb. Loose numbers are tight as well.
 */
#ifndef X25519_IFMA_H
#define X25519_IFMA_H

#include <immintrin.h>

#include "x25519_bytes.h"

#define X25519_TARGET __attribute__((target("avx512f,avx512ifma")))
#define X25519_INLINE static inline __attribute__((always_inline, target("avx512f,avx512ifma")))
#define X25519_UNROLL _Pragma("GCC unroll 16")

typedef struct {
    __m512i limb[5];
} x25519_ifma;

X25519_INLINE __m512i x25519_ifma_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Limbs below 2^63 to tight ones: what exceeds 51 bits, below 2^12, goes to the next limb; the last one's to
   the first, 19 times, as 2^255 = 19. Then limbs are below 2^51 + 19 * 2^12 < 2^51 + 2^17; where the limbs
   were below 2^61, the carries are below 2^10 and the limbs tight. */
X25519_INLINE x25519_ifma x25519_ifma_carry(x25519_ifma x)
{
    const __m512i low = x25519_ifma_all(X25519_LOW);
    x25519_ifma y;
    __m512i carry[5];
    X25519_UNROLL for (int i = 0; i < 5; i++) carry[i] = _mm512_srli_epi64(x.limb[i], 51);
    y.limb[0] = _mm512_madd52lo_epu64(_mm512_and_si512(x.limb[0], low), carry[4], x25519_ifma_all(19));
    X25519_UNROLL for (int i = 1; i < 5; i++) y.limb[i] =
        _mm512_add_epi64(_mm512_and_si512(x.limb[i], low), carry[i - 1]);
    return y;
}

X25519_INLINE x25519_ifma x25519_ifma_add(x25519_ifma a, x25519_ifma b)
{
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return x25519_ifma_carry(a);
}

/* a - b + 4 p: the limbs of 4 p are above 2^52, so that none is negative. */
X25519_INLINE x25519_ifma x25519_ifma_subtract(x25519_ifma a, x25519_ifma b)
{
    const __m512i first = x25519_ifma_all(4 * (X25519_LOW - 18)), other = x25519_ifma_all(4 * X25519_LOW);
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] =
        _mm512_add_epi64(a.limb[i], _mm512_sub_epi64(i == 0 ? first : other, b.limb[i]));
    return x25519_ifma_carry(a);
}

/* The low and high halves of a product, by column, to five limbs: low[k] + 2 high[k] has weight 2^(51 k), and
   2^255 = 19. Five products of a kind meet in a column at most, so a limb stays below (1 + 19) 15 2^52 <
   2^61. */
X25519_INLINE x25519_ifma x25519_ifma_fold(const __m512i low[9], const __m512i high[9])
{
    x25519_ifma x;
    X25519_UNROLL for (int k = 0; k < 5; k++)
    {
        /* high[k] belongs to column k + 1. */
        __m512i above = _mm512_add_epi64(high[k + 4], high[k + 4]);
        if (k < 4)
            above = _mm512_add_epi64(above, low[k + 5]);
        __m512i here = low[k];
        if (k > 0)
            here = _mm512_add_epi64(here, _mm512_add_epi64(high[k - 1], high[k - 1]));
        here = _mm512_add_epi64(here, above);
        here = _mm512_add_epi64(here, _mm512_slli_epi64(above, 1));
        x.limb[k] = _mm512_add_epi64(here, _mm512_slli_epi64(above, 4));
    }
    return x25519_ifma_carry(x);
}

X25519_INLINE x25519_ifma x25519_ifma_multiply(x25519_ifma a, x25519_ifma b)
{
    __m512i low[9], high[9];
    X25519_UNROLL for (int k = 0; k < 9; k++) low[k] = high[k] = _mm512_setzero_si512();
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        X25519_UNROLL for (int j = 0; j < 5; j++)
        {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.limb[i], b.limb[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.limb[i], b.limb[j]);
        }
    }
    return x25519_ifma_fold(low, high);
}

/* A product of two different limbs occurs twice. */
X25519_INLINE x25519_ifma x25519_ifma_square(x25519_ifma a)
{
    __m512i low[9], high[9];
    X25519_UNROLL for (int k = 0; k < 9; k++) low[k] = high[k] = _mm512_setzero_si512();
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        X25519_UNROLL for (int j = i + 1; j < 5; j++)
        {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.limb[i], a.limb[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.limb[i], a.limb[j]);
        }
    }
    X25519_UNROLL for (int k = 0; k < 9; k++)
    {
        low[k] = _mm512_add_epi64(low[k], low[k]);
        high[k] = _mm512_add_epi64(high[k], high[k]);
        if (k % 2 == 0) {
            low[k] = _mm512_madd52lo_epu64(low[k], a.limb[k / 2], a.limb[k / 2]);
            high[k] = _mm512_madd52hi_epu64(high[k], a.limb[k / 2], a.limb[k / 2]);
        }
    }
    return x25519_ifma_fold(low, high);
}

/* b + 121666 a; the constant is below 2^17, so low and high halves are below 2^52 and 2^17. */
X25519_INLINE x25519_ifma x25519_ifma_add_121666(x25519_ifma b, x25519_ifma a)
{
    const __m512i times = x25519_ifma_all(121666), zero = _mm512_setzero_si512();
    __m512i high[5];
    X25519_UNROLL for (int i = 0; i < 5; i++) high[i] = _mm512_madd52hi_epu64(zero, a.limb[i], times);
    const __m512i last = _mm512_add_epi64(high[4], high[4]);
    b.limb[0] =
        _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(b.limb[0], a.limb[0], times), last, x25519_ifma_all(19));
    X25519_UNROLL for (int i = 1; i < 5; i++)
    {
        b.limb[i] = _mm512_add_epi64(b.limb[i], _mm512_add_epi64(high[i - 1], high[i - 1]));
        b.limb[i] = _mm512_madd52lo_epu64(b.limb[i], a.limb[i], times);
    }
    return x25519_ifma_carry(b);
}

/* Exchanges the lanes of which `bit` is set in `swaps`. */
X25519_INLINE void x25519_ifma_swap(const uint64_t swaps[8], int bit, x25519_ifma *a, x25519_ifma *b)
{
    const __mmask8 swap =
        _mm512_test_epi64_mask(_mm512_loadu_si512(swaps), x25519_ifma_all(UINT64_C(1) << bit));
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        const __m512i x = a->limb[i], y = b->limb[i];
        a->limb[i] = _mm512_mask_mov_epi64(x, swap, y);
        b->limb[i] = _mm512_mask_mov_epi64(y, swap, x);
    }
}

X25519_INLINE x25519_ifma x25519_ifma_small(uint64_t n)
{
    const __m512i zero = _mm512_setzero_si512();
    return (x25519_ifma){{x25519_ifma_all(n), zero, zero, zero, zero}};
}

X25519_INLINE x25519_ifma x25519_ifma_load(uint64_t limbs[5][8])
{
    x25519_ifma x;
    X25519_UNROLL for (int i = 0; i < 5; i++) x.limb[i] = _mm512_loadu_si512(limbs[i]);
    return x;
}

X25519_INLINE void x25519_ifma_store(x25519_ifma x, uint64_t limbs[5][8])
{
    X25519_UNROLL for (int i = 0; i < 5; i++) _mm512_storeu_si512(limbs[i], x.limb[i]);
}

#define x25519_ifma_add_loose x25519_ifma_add
#define x25519_ifma_subtract_loose x25519_ifma_subtract
#define X(name) x25519_ifma_##name
#define X25519_NUMBER x25519_ifma
#define X25519_WIDTH 8
#include "x25519_ladder.h"

#endif
