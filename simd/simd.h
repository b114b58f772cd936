/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h - sixteen floats at a time, for each kind of processor.
 *
 * A kernel is a template: a header that each_kind.h includes once for each kind, after one of SIMD_AVX512,
 * SIMD_AVX2, SIMD_NEON or SIMD_PORTABLE is defined. Functions are named SIMD(name) and marked SIMD_TARGET;
 * helpers are SIMD_INLINE. So no file needs special compiler options and one binary serves all processors of
 * an architecture.
 *
 * All kinds but the portable one give the same bits: they fuse multiply and add, and v_sum4 adds in the same
 * order. SIMD_ROWS rows of SIMD_CHUNKS chunks fit the registers as accumulators.
 */
#undef SIMD
#undef SIMD_TARGET
#undef SIMD_INLINE
#undef SIMD_ROWS
#undef SIMD_CHUNKS
#undef SIMD_DOUBLES

#ifndef SIMD_ONCE
#define SIMD_ONCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "simd_kind.h"
#if SIMD_X86
#include <immintrin.h>
#elif SIMD_ARM
#include <arm_neon.h>
#endif
#define SIMD_UNROLL _Pragma("GCC unroll 16")

#if SIMD_X86
/* Bytes that move the lanes of a mask's bits to the front of four. */
#define SIMD_LANE(l) 4 * (l), 4 * (l) + 1, 4 * (l) + 2, 4 * (l) + 3
#define SIMD_FRONT(a, b, c, d)                                                                               \
    {                                                                                                        \
        SIMD_LANE(a), SIMD_LANE(b), SIMD_LANE(c), SIMD_LANE(d)                                               \
    }
static const _Alignas(16) uint8_t simd_front[16][16] = {
    SIMD_FRONT(0, 1, 2, 3), SIMD_FRONT(0, 1, 2, 3), SIMD_FRONT(1, 0, 2, 3), SIMD_FRONT(0, 1, 2, 3),
    SIMD_FRONT(2, 0, 1, 3), SIMD_FRONT(0, 2, 1, 3), SIMD_FRONT(1, 2, 0, 3), SIMD_FRONT(0, 1, 2, 3),
    SIMD_FRONT(3, 0, 1, 2), SIMD_FRONT(0, 3, 1, 2), SIMD_FRONT(1, 3, 0, 2), SIMD_FRONT(0, 1, 3, 2),
    SIMD_FRONT(2, 3, 0, 1), SIMD_FRONT(0, 2, 3, 1), SIMD_FRONT(1, 2, 3, 0), SIMD_FRONT(0, 1, 2, 3)};
#endif

static inline int64_t simd_padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}
#endif

#if defined(SIMD_AVX512)

#define SIMD(name) name##_avx512
#define SIMD_TARGET __attribute__((target("avx512f")))
#define SIMD_INLINE static inline __attribute__((always_inline, target("avx512f")))
#define SIMD_ROWS 8
#define SIMD_CHUNKS 3
#define SIMD_DOUBLES 8
typedef __m512 SIMD(v16);

SIMD_INLINE __m512 SIMD(v_zero)(void)
{
    return _mm512_setzero_ps();
}
SIMD_INLINE __m512 SIMD(v_all)(float x)
{
    return _mm512_set1_ps(x);
}
SIMD_INLINE __m512 SIMD(v_load)(const float *p)
{
    return _mm512_loadu_ps(p);
}
/* The first n of 16, the rest zero; nothing beyond them is read. */
SIMD_INLINE __m512 SIMD(v_load_first)(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1), p);
}
SIMD_INLINE void SIMD(v_store)(float *p, __m512 x)
{
    _mm512_storeu_ps(p, x);
}
SIMD_INLINE __m512 SIMD(v_add)(__m512 a, __m512 b)
{
    return _mm512_add_ps(a, b);
}
SIMD_INLINE __m512 SIMD(v_sub)(__m512 a, __m512 b)
{
    return _mm512_sub_ps(a, b);
}
SIMD_INLINE __m512 SIMD(v_mul)(__m512 a, __m512 b)
{
    return _mm512_mul_ps(a, b);
}
/* c + a b */
SIMD_INLINE __m512 SIMD(v_fma)(__m512 a, __m512 b, __m512 c)
{
    return _mm512_fmadd_ps(a, b, c);
}
/* c - a b */
SIMD_INLINE __m512 SIMD(v_fnma)(__m512 a, __m512 b, __m512 c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
SIMD_INLINE __m256 SIMD(v_half)(__m512 x)
{
    const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
    return _mm256_add_ps(_mm512_castps512_ps256(x), high);
}
/* Writes first + i for each bit i of a mask, and up to 16 numbers of no meaning. Returns how many bits. */
SIMD_INLINE int64_t SIMD(v_places)(uint32_t mask, int32_t first, int32_t *out)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i place = _mm512_add_epi32(lane, _mm512_set1_epi32(first));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)mask, place));
    return __builtin_popcount(mask);
}
/* table[x[i]], x cut to an integer; it lies within the table. */
SIMD_INLINE __m512 SIMD(v_look_up)(const float *table, __m512 x)
{
    return _mm512_i32gather_ps(_mm512_cvttps_epi32(x), table, 4);
}
/* The second where the first is not a number. */
SIMD_INLINE __m512 SIMD(v_min)(__m512 a, __m512 b)
{
    return _mm512_min_ps(a, b);
}
SIMD_INLINE __m512 SIMD(v_max)(__m512 a, __m512 b)
{
    return _mm512_max_ps(a, b);
}
/* Bit i is set where a[i] >= b[i]. */
SIMD_INLINE uint32_t SIMD(v_at_least)(__m512 a, __m512 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}
/* The sums of four vectors. */
SIMD_INLINE void SIMD(v_sum4)(__m512 a, __m512 b, __m512 c, __m512 d, float out[4])
{
    const __m256 ab = _mm256_hadd_ps(SIMD(v_half)(a), SIMD(v_half)(b));
    const __m256 cd = _mm256_hadd_ps(SIMD(v_half)(c), SIMD(v_half)(d));
    const __m256 all = _mm256_hadd_ps(ab, cd);
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

#elif defined(SIMD_AVX2)

#define SIMD(name) name##_avx2
#define SIMD_TARGET __attribute__((target("avx2,fma")))
#define SIMD_INLINE static inline __attribute__((always_inline, target("avx2,fma")))
#define SIMD_ROWS 4
#define SIMD_CHUNKS 1
#define SIMD_DOUBLES 4
typedef struct {
    __m256 p[2];
} SIMD(v16);

SIMD_INLINE SIMD(v16) SIMD(v_all)(float x)
{
    return (SIMD(v16)){{_mm256_set1_ps(x), _mm256_set1_ps(x)}};
}
SIMD_INLINE SIMD(v16) SIMD(v_zero)(void)
{
    return (SIMD(v16)){{_mm256_setzero_ps(), _mm256_setzero_ps()}};
}
SIMD_INLINE SIMD(v16) SIMD(v_load)(const float *p)
{
    return (SIMD(v16)){{_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}};
}
SIMD_INLINE SIMD(v16) SIMD(v_load_first)(const float *p, int64_t n)
{
    if (n >= 16)
        return SIMD(v_load)(p);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i low = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
    const __m256i high = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - 8), lane);
    return (SIMD(v16)){{_mm256_maskload_ps(p, low), _mm256_maskload_ps(p + 8, high)}};
}
SIMD_INLINE void SIMD(v_store)(float *p, SIMD(v16) x)
{
    _mm256_storeu_ps(p, x.p[0]);
    _mm256_storeu_ps(p + 8, x.p[1]);
}
SIMD_INLINE SIMD(v16) SIMD(v_add)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{_mm256_add_ps(a.p[0], b.p[0]), _mm256_add_ps(a.p[1], b.p[1])}};
}
SIMD_INLINE SIMD(v16) SIMD(v_sub)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{_mm256_sub_ps(a.p[0], b.p[0]), _mm256_sub_ps(a.p[1], b.p[1])}};
}
SIMD_INLINE SIMD(v16) SIMD(v_mul)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{_mm256_mul_ps(a.p[0], b.p[0]), _mm256_mul_ps(a.p[1], b.p[1])}};
}
SIMD_INLINE SIMD(v16) SIMD(v_fma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    return (SIMD(v16)){{_mm256_fmadd_ps(a.p[0], b.p[0], c.p[0]), _mm256_fmadd_ps(a.p[1], b.p[1], c.p[1])}};
}
SIMD_INLINE SIMD(v16) SIMD(v_fnma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    return (SIMD(v16)){{_mm256_fnmadd_ps(a.p[0], b.p[0], c.p[0]), _mm256_fnmadd_ps(a.p[1], b.p[1], c.p[1])}};
}
/* Four lanes at a time, those of the mask's bits moved to the front: no branch that depends on the bits. */
SIMD_INLINE int64_t SIMD(v_places)(uint32_t mask, int32_t first, int32_t *out)
{
    int64_t n = 0;
    SIMD_UNROLL for (int q = 0; q < 16; q += 4)
    {
        const uint32_t bits = mask >> q & 15;
        const __m128i place = _mm_add_epi32(_mm_setr_epi32(q, q + 1, q + 2, q + 3), _mm_set1_epi32(first));
        const __m128i front = _mm_load_si128((const __m128i *)(const void *)simd_front[bits]);
        _mm_storeu_si128((__m128i *)(void *)(out + n), _mm_shuffle_epi8(place, front));
        n += __builtin_popcount(bits);
    }
    return n;
}
SIMD_INLINE SIMD(v16) SIMD(v_look_up)(const float *table, SIMD(v16) x)
{
    return (SIMD(v16)){{_mm256_i32gather_ps(table, _mm256_cvttps_epi32(x.p[0]), 4),
                        _mm256_i32gather_ps(table, _mm256_cvttps_epi32(x.p[1]), 4)}};
}
SIMD_INLINE SIMD(v16) SIMD(v_min)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{_mm256_min_ps(a.p[0], b.p[0]), _mm256_min_ps(a.p[1], b.p[1])}};
}
SIMD_INLINE SIMD(v16) SIMD(v_max)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{_mm256_max_ps(a.p[0], b.p[0]), _mm256_max_ps(a.p[1], b.p[1])}};
}
SIMD_INLINE uint32_t SIMD(v_at_least)(SIMD(v16) a, SIMD(v16) b)
{
    const uint32_t low = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.p[0], b.p[0], _CMP_GE_OQ));
    const uint32_t high = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.p[1], b.p[1], _CMP_GE_OQ));
    return low | high << 8;
}
SIMD_INLINE void SIMD(v_sum4)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c, SIMD(v16) d, float out[4])
{
    const __m256 ab = _mm256_hadd_ps(_mm256_add_ps(a.p[0], a.p[1]), _mm256_add_ps(b.p[0], b.p[1]));
    const __m256 cd = _mm256_hadd_ps(_mm256_add_ps(c.p[0], c.p[1]), _mm256_add_ps(d.p[0], d.p[1]));
    const __m256 all = _mm256_hadd_ps(ab, cd);
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

#elif defined(SIMD_NEON)

#define SIMD(name) name##_neon
#define SIMD_TARGET
#define SIMD_INLINE static inline __attribute__((always_inline))
#define SIMD_ROWS 4
#define SIMD_CHUNKS 1
#define SIMD_DOUBLES 2
typedef struct {
    float32x4_t p[4];
} SIMD(v16);

SIMD_INLINE SIMD(v16) SIMD(v_all)(float x)
{
    const float32x4_t v = vdupq_n_f32(x);
    return (SIMD(v16)){{v, v, v, v}};
}
SIMD_INLINE SIMD(v16) SIMD(v_zero)(void)
{
    return SIMD(v_all)(0);
}
SIMD_INLINE SIMD(v16) SIMD(v_load)(const float *p)
{
    return (SIMD(v16)){{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
}
SIMD_INLINE SIMD(v16) SIMD(v_load_first)(const float *p, int64_t n)
{
    float first[16] = {0};
    memcpy(first, p, (size_t)(n >= 16 ? 16 : n) * sizeof(float));
    return SIMD(v_load)(first);
}
SIMD_INLINE void SIMD(v_store)(float *p, SIMD(v16) x)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) vst1q_f32(p + 4 * i, x.p[i]);
}
SIMD_INLINE SIMD(v16) SIMD(v_add)(SIMD(v16) a, SIMD(v16) b)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) a.p[i] = vaddq_f32(a.p[i], b.p[i]);
    return a;
}
SIMD_INLINE SIMD(v16) SIMD(v_sub)(SIMD(v16) a, SIMD(v16) b)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) a.p[i] = vsubq_f32(a.p[i], b.p[i]);
    return a;
}
SIMD_INLINE SIMD(v16) SIMD(v_mul)(SIMD(v16) a, SIMD(v16) b)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) a.p[i] = vmulq_f32(a.p[i], b.p[i]);
    return a;
}
SIMD_INLINE SIMD(v16) SIMD(v_fma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) c.p[i] = vfmaq_f32(c.p[i], a.p[i], b.p[i]);
    return c;
}
SIMD_INLINE SIMD(v16) SIMD(v_fnma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) c.p[i] = vfmsq_f32(c.p[i], a.p[i], b.p[i]);
    return c;
}
SIMD_INLINE int64_t SIMD(v_places)(uint32_t mask, int32_t first, int32_t *out)
{
    int64_t n = 0;
    for (; mask; mask &= mask - 1)
        out[n++] = first + __builtin_ctz(mask);
    return n;
}
SIMD_INLINE SIMD(v16) SIMD(v_look_up)(const float *table, SIMD(v16) x)
{
    float found[16];
    int32_t at[16];
    SIMD_UNROLL for (int i = 0; i < 4; i++) vst1q_s32(at + 4 * i, vcvtq_s32_f32(x.p[i]));
    SIMD_UNROLL for (int l = 0; l < 16; l++) found[l] = table[at[l]];
    return SIMD(v_load)(found);
}
/* Not vminq and vmaxq, which answer differently where one is not a number. */
SIMD_INLINE SIMD(v16) SIMD(v_min)(SIMD(v16) a, SIMD(v16) b)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) a.p[i] = vbslq_f32(vcltq_f32(a.p[i], b.p[i]), a.p[i], b.p[i]);
    return a;
}
SIMD_INLINE SIMD(v16) SIMD(v_max)(SIMD(v16) a, SIMD(v16) b)
{
    SIMD_UNROLL for (int i = 0; i < 4; i++) a.p[i] = vbslq_f32(vcgtq_f32(a.p[i], b.p[i]), a.p[i], b.p[i]);
    return a;
}
SIMD_INLINE uint32_t SIMD(v_at_least)(SIMD(v16) a, SIMD(v16) b)
{
    static const uint32_t bits[4] = {1, 2, 4, 8};
    const uint32x4_t bit = vld1q_u32(bits);
    uint32_t mask = 0;
    SIMD_UNROLL for (int i = 0; i < 4; i++) mask |= vaddvq_u32(vandq_u32(vcgeq_f32(a.p[i], b.p[i]), bit))
                                                    << 4 * i;
    return mask;
}
/* Adds in the order of the two kinds above. */
SIMD_INLINE void SIMD(v_sum4)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c, SIMD(v16) d, float out[4])
{
    float32x4_t half[2];
    SIMD_UNROLL for (int i = 0; i < 2; i++)
    {
        const float32x4_t ab = vpaddq_f32(vaddq_f32(a.p[i], a.p[i + 2]), vaddq_f32(b.p[i], b.p[i + 2]));
        const float32x4_t cd = vpaddq_f32(vaddq_f32(c.p[i], c.p[i + 2]), vaddq_f32(d.p[i], d.p[i + 2]));
        half[i] = vpaddq_f32(ab, cd);
    }
    vst1q_f32(out, vaddq_f32(half[0], half[1]));
}

#else /* SIMD_PORTABLE */

#define SIMD(name) name##_portable
#define SIMD_TARGET
#define SIMD_INLINE static inline __attribute__((always_inline))
#define SIMD_ROWS 2
#define SIMD_CHUNKS 1
#define SIMD_DOUBLES 2
typedef float simd_v4 __attribute__((vector_size(16)));
typedef struct {
    simd_v4 p[4];
} SIMD(v16);

SIMD_INLINE SIMD(v16) SIMD(v_all)(float x)
{
    const simd_v4 v = {x, x, x, x};
    return (SIMD(v16)){{v, v, v, v}};
}
SIMD_INLINE SIMD(v16) SIMD(v_zero)(void)
{
    return SIMD(v_all)(0);
}
SIMD_INLINE SIMD(v16) SIMD(v_load)(const float *p)
{
    SIMD(v16) x;
    memcpy(&x, p, sizeof(x));
    return x;
}
SIMD_INLINE SIMD(v16) SIMD(v_load_first)(const float *p, int64_t n)
{
    SIMD(v16) x = SIMD(v_zero)();
    memcpy(&x, p, (size_t)(n >= 16 ? 16 : n) * sizeof(float));
    return x;
}
SIMD_INLINE void SIMD(v_store)(float *p, SIMD(v16) x)
{
    memcpy(p, &x, sizeof(x));
}
SIMD_INLINE SIMD(v16) SIMD(v_add)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{a.p[0] + b.p[0], a.p[1] + b.p[1], a.p[2] + b.p[2], a.p[3] + b.p[3]}};
}
SIMD_INLINE SIMD(v16) SIMD(v_sub)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{a.p[0] - b.p[0], a.p[1] - b.p[1], a.p[2] - b.p[2], a.p[3] - b.p[3]}};
}
SIMD_INLINE SIMD(v16) SIMD(v_mul)(SIMD(v16) a, SIMD(v16) b)
{
    return (SIMD(v16)){{a.p[0] * b.p[0], a.p[1] * b.p[1], a.p[2] * b.p[2], a.p[3] * b.p[3]}};
}
SIMD_INLINE SIMD(v16) SIMD(v_fma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    return SIMD(v_add)(c, SIMD(v_mul)(a, b));
}
SIMD_INLINE SIMD(v16) SIMD(v_fnma)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c)
{
    return SIMD(v_sub)(c, SIMD(v_mul)(a, b));
}
SIMD_INLINE int64_t SIMD(v_places)(uint32_t mask, int32_t first, int32_t *out)
{
    int64_t n = 0;
    for (; mask; mask &= mask - 1)
        out[n++] = first + __builtin_ctz(mask);
    return n;
}
SIMD_INLINE SIMD(v16) SIMD(v_look_up)(const float *table, SIMD(v16) x)
{
    SIMD(v16) found;
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 4; l++)
            found.p[i][l] = table[(int32_t)x.p[i][l]];
    return found;
}
SIMD_INLINE SIMD(v16) SIMD(v_min)(SIMD(v16) a, SIMD(v16) b)
{
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 4; l++)
            a.p[i][l] = a.p[i][l] < b.p[i][l] ? a.p[i][l] : b.p[i][l];
    return a;
}
SIMD_INLINE SIMD(v16) SIMD(v_max)(SIMD(v16) a, SIMD(v16) b)
{
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 4; l++)
            a.p[i][l] = a.p[i][l] > b.p[i][l] ? a.p[i][l] : b.p[i][l];
    return a;
}
SIMD_INLINE uint32_t SIMD(v_at_least)(SIMD(v16) a, SIMD(v16) b)
{
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 4; l++)
            mask |= (uint32_t)(a.p[i][l] >= b.p[i][l]) << (4 * i + l);
    return mask;
}
SIMD_INLINE void SIMD(v_sum4)(SIMD(v16) a, SIMD(v16) b, SIMD(v16) c, SIMD(v16) d, float out[4])
{
    const SIMD(v16) x[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        const simd_v4 s = (x[i].p[0] + x[i].p[2]) + (x[i].p[1] + x[i].p[3]);
        out[i] = (s[0] + s[2]) + (s[1] + s[3]);
    }
}

#endif
