/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_lanes.h - X25519 (RFC 7748) of eight secrets and eight public keys, abreast, in 512-bit registers.
 *
 * A number modulo p = 2^255 - 19 is five limbs of 51 bits, each limb a vector of eight lanes. The processor's
 * 52-bit multiply-add takes the low 52 bits of two limbs and adds the low or the high 52 bits of their
 * product. So what is multiplied has limbs below 2^52 ("tight": below 2^51 + 2^15), and a high half, whose
 * weight is 2^52, counts twice in the next limb.
 *
 * The ladder does the same for every bit of the secret: no branch and no address depends on a secret or on a
 * public key. Which of the points is swapped is a mask. The bytes are libsodium's, which a test compares.
 */
#ifndef X25519_LANES_H
#define X25519_LANES_H

#include <stdint.h>
#include <string.h>

#include "simd_kind.h"

#define X25519_LANES 8
#define X25519_LANES_WORTH 3 /* keys from which eight abreast cost less than each alone */

/* Whether this processor has what is needed. */
static inline int x25519_lanes_here(void)
{
#if SIMD_X86
    return simd_choose(SIMD_KIND_AVX512) >= 0 && __builtin_cpu_supports("avx512ifma");
#else
    return 0;
#endif
}

#if SIMD_X86
#include <immintrin.h>

#define X25519_TARGET __attribute__((target("avx512f,avx512ifma")))
#define X25519_INLINE static inline __attribute__((always_inline, target("avx512f,avx512ifma")))
#define X25519_UNROLL _Pragma("GCC unroll 16")

typedef struct {
    __m512i limb[5];
} x25519_number;

X25519_INLINE __m512i x25519_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Limbs below 2^63 to tight ones: what exceeds 51 bits, below 2^12, goes to the next limb; the last one's to
   the first, 19 times, as 2^255 = 19. Then limbs are below 2^51 + 19 * 2^12 < 2^51 + 2^17; where the limbs
   were below 2^61, the carries are below 2^10 and the limbs tight. */
X25519_INLINE x25519_number x25519_carry(x25519_number x)
{
    const __m512i low = x25519_all((UINT64_C(1) << 51) - 1);
    x25519_number y;
    __m512i carry[5];
    X25519_UNROLL for (int i = 0; i < 5; i++) carry[i] = _mm512_srli_epi64(x.limb[i], 51);
    y.limb[0] = _mm512_madd52lo_epu64(_mm512_and_si512(x.limb[0], low), carry[4], x25519_all(19));
    X25519_UNROLL for (int i = 1; i < 5; i++) y.limb[i] =
        _mm512_add_epi64(_mm512_and_si512(x.limb[i], low), carry[i - 1]);
    return y;
}

X25519_INLINE x25519_number x25519_add(x25519_number a, x25519_number b)
{
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return x25519_carry(a);
}

/* a - b + 4 p: the limbs of 4 p are above 2^52, so that none is negative. */
X25519_INLINE x25519_number x25519_subtract(x25519_number a, x25519_number b)
{
    const __m512i first = x25519_all(4 * ((UINT64_C(1) << 51) - 19)),
                  other = x25519_all(4 * ((UINT64_C(1) << 51) - 1));
    X25519_UNROLL for (int i = 0; i < 5; i++) a.limb[i] =
        _mm512_add_epi64(a.limb[i], _mm512_sub_epi64(i == 0 ? first : other, b.limb[i]));
    return x25519_carry(a);
}

/* The low and high halves of a product, by column, to five limbs: low[k] + 2 high[k] has weight 2^(51 k), and
   2^255 = 19. Five products of a kind meet in a column at most, so a limb stays below (1 + 19) 15 2^52 <
   2^61. */
X25519_INLINE x25519_number x25519_fold(const __m512i low[9], const __m512i high[9])
{
    x25519_number x;
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
    return x25519_carry(x);
}

X25519_INLINE x25519_number x25519_multiply(x25519_number a, x25519_number b)
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
    return x25519_fold(low, high);
}

/* A product of two different limbs occurs twice. */
X25519_INLINE x25519_number x25519_square(x25519_number a)
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
    return x25519_fold(low, high);
}

/* 121666 a; the constant is below 2^17, so low and high halves are below 2^52 and 2^17. */
X25519_INLINE x25519_number x25519_times_121666(x25519_number a)
{
    const __m512i times = x25519_all(121666), zero = _mm512_setzero_si512();
    x25519_number x;
    __m512i high[5];
    X25519_UNROLL for (int i = 0; i < 5; i++) high[i] = _mm512_madd52hi_epu64(zero, a.limb[i], times);
    const __m512i last = _mm512_add_epi64(high[4], high[4]);
    x.limb[0] = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, a.limb[0], times), last, x25519_all(19));
    X25519_UNROLL for (int i = 1; i < 5; i++) x.limb[i] =
        _mm512_madd52lo_epu64(_mm512_add_epi64(high[i - 1], high[i - 1]), a.limb[i], times);
    return x25519_carry(x);
}

X25519_INLINE void x25519_swap(__mmask8 swap, x25519_number *a, x25519_number *b)
{
    X25519_UNROLL for (int i = 0; i < 5; i++)
    {
        const __m512i x = a->limb[i], y = b->limb[i];
        a->limb[i] = _mm512_mask_mov_epi64(x, swap, y);
        b->limb[i] = _mm512_mask_mov_epi64(y, swap, x);
    }
}

static X25519_TARGET __attribute__((noinline)) void x25519_square_times(x25519_number *x, int n)
{
    x25519_number y = *x;
    for (int i = 0; i < n; i++)
        y = x25519_square(y);
    *x = y;
}

/* x^(p - 2), which is 1 / x, and 0 for 0. */
static X25519_TARGET __attribute__((noinline)) x25519_number x25519_invert(x25519_number x)
{
    x25519_number t0 = x, t1, t2, t3;
    x25519_square_times(&t0, 1); /* x^2 */
    t1 = t0;
    x25519_square_times(&t1, 2);  /* x^8 */
    t1 = x25519_multiply(x, t1);  /* x^9 */
    t0 = x25519_multiply(t0, t1); /* x^11 */
    t2 = t0;
    x25519_square_times(&t2, 1);
    t1 = x25519_multiply(t1, t2); /* x^(2^5 - 1) */
    t2 = t1;
    x25519_square_times(&t2, 5);
    t1 = x25519_multiply(t2, t1); /* x^(2^10 - 1) */
    t2 = t1;
    x25519_square_times(&t2, 10);
    t2 = x25519_multiply(t2, t1); /* x^(2^20 - 1) */
    t3 = t2;
    x25519_square_times(&t3, 20);
    t2 = x25519_multiply(t3, t2); /* x^(2^40 - 1) */
    x25519_square_times(&t2, 10);
    t1 = x25519_multiply(t2, t1); /* x^(2^50 - 1) */
    t2 = t1;
    x25519_square_times(&t2, 50);
    t2 = x25519_multiply(t2, t1); /* x^(2^100 - 1) */
    t3 = t2;
    x25519_square_times(&t3, 100);
    t2 = x25519_multiply(t3, t2); /* x^(2^200 - 1) */
    x25519_square_times(&t2, 50);
    t1 = x25519_multiply(t2, t1); /* x^(2^250 - 1) */
    x25519_square_times(&t1, 5);
    return x25519_multiply(t1, t0); /* x^(2^255 - 21) */
}

/* One bit of the ladder, RFC 7748 section 5: (x2 : z2) is doubled, (x3 : z3) becomes the sum of both. */
X25519_INLINE void x25519_step(x25519_number x1, x25519_number *x2, x25519_number *z2, x25519_number *x3,
                               x25519_number *z3)
{
    const x25519_number a = x25519_add(*x2, *z2), b = x25519_subtract(*x2, *z2);
    const x25519_number c = x25519_add(*x3, *z3), d = x25519_subtract(*x3, *z3);
    const x25519_number da = x25519_multiply(d, a), cb = x25519_multiply(c, b);
    const x25519_number aa = x25519_square(a), bb = x25519_square(b);
    const x25519_number e = x25519_subtract(aa, bb);
    *x3 = x25519_square(x25519_add(da, cb));
    *z3 = x25519_multiply(x1, x25519_square(x25519_subtract(da, cb)));
    *x2 = x25519_multiply(aa, bb);
    *z2 = x25519_multiply(e, x25519_add(bb, x25519_times_121666(e)));
}

static inline uint64_t x25519_get64(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x)); /* little-endian, as dpframe/abi.h demands */
    return x;
}

/* Limbs of the lanes' keys; the highest bit is left out, as RFC 7748 asks. */
static inline X25519_TARGET x25519_number x25519_load(const uint8_t *const keys[X25519_LANES])
{
    const uint64_t low = (UINT64_C(1) << 51) - 1;
    uint64_t limbs[5][X25519_LANES];
    x25519_number x;
    for (int l = 0; l < X25519_LANES; l++) {
        limbs[0][l] = x25519_get64(keys[l]) & low;
        limbs[1][l] = x25519_get64(keys[l] + 6) >> 3 & low;
        limbs[2][l] = x25519_get64(keys[l] + 12) >> 6 & low;
        limbs[3][l] = x25519_get64(keys[l] + 19) >> 1 & low;
        limbs[4][l] = x25519_get64(keys[l] + 24) >> 12 & low;
    }
    for (int i = 0; i < 5; i++)
        x.limb[i] = _mm512_loadu_si512(limbs[i]);
    return x;
}

/* A lane's number below p as 32 bytes; limbs are tight. */
static inline void x25519_bytes(uint64_t limb[5], uint8_t out[32])
{
    const uint64_t low = (UINT64_C(1) << 51) - 1;
    for (int pass = 0; pass < 2; pass++) { /* below 2^255 + 19, then below 2^255 */
        for (int i = 0; i < 4; i++) {
            limb[i + 1] += limb[i] >> 51;
            limb[i] &= low;
        }
        limb[0] += 19 * (limb[4] >> 51);
        limb[4] &= low;
    }
    /* x + 19 has bit 255 if, and only if, x is p or more. */
    uint64_t over = (limb[0] + 19) >> 51;
    for (int i = 1; i < 5; i++)
        over = (limb[i] + over) >> 51;
    limb[0] += 19 * over;
    for (int i = 0; i < 4; i++) {
        limb[i + 1] += limb[i] >> 51;
        limb[i] &= low;
    }
    limb[4] &= low;
    const uint64_t words[4] = {limb[0] | limb[1] << 51, limb[1] >> 13 | limb[2] << 38,
                               limb[2] >> 26 | limb[3] << 25, limb[3] >> 39 | limb[4] << 12};
    memcpy(out, words, sizeof(words));
}

/* A bit of each lane's secret; bit 254 counts as set, bits 0 to 2 as clear. */
X25519_INLINE unsigned x25519_bits(const uint8_t *const secrets[X25519_LANES], int bit)
{
    unsigned bits = 0;
    for (unsigned l = 0; l < X25519_LANES; l++)
        bits |= (unsigned)(secrets[l][bit / 8] >> (bit % 8) & 1) << l;
    return bit == 254 ? 0xff : bit < 3 ? 0 : bits;
}

/* out[l]: the shared secret of secrets[l] and keys[l]; all zero if keys[l] is a point of small order. */
static X25519_TARGET __attribute__((noinline)) void x25519_lanes(const uint8_t *const secrets[X25519_LANES],
                                                                 const uint8_t *const keys[X25519_LANES],
                                                                 uint8_t out[X25519_LANES][32])
{
    const __m512i zero = _mm512_setzero_si512(), one = x25519_all(1);
    const x25519_number x1 = x25519_load(keys);
    x25519_number x2 = {{one, zero, zero, zero, zero}}, z2 = {{zero, zero, zero, zero, zero}};
    x25519_number x3 = x1, z3 = x2;
    unsigned swapped = 0;
    for (int bit = 254; bit >= 0; bit--) { /* the last bits are clear, so nothing stays swapped */
        const unsigned set = x25519_bits(secrets, bit);
        const __mmask8 swap = (__mmask8)(set ^ swapped);
        swapped = set;
        x25519_swap(swap, &x2, &x3);
        x25519_swap(swap, &z2, &z3);
        x25519_step(x1, &x2, &z2, &x3, &z3);
    }
    x2 = x25519_multiply(x2, x25519_invert(z2));
    uint64_t limbs[5][X25519_LANES];
    for (int i = 0; i < 5; i++)
        _mm512_storeu_si512(limbs[i], x2.limb[i]);
    for (int l = 0; l < X25519_LANES; l++) {
        uint64_t limb[5] = {limbs[0][l], limbs[1][l], limbs[2][l], limbs[3][l], limbs[4][l]};
        x25519_bytes(limb, out[l]);
    }
}
#endif

#endif
