/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keystream_lanes.h - ChaCha20 (Bernstein 2008), sixteen or eight blocks abreast, each with its own counter.
 *
 * Additions, exclusive ors and rotations by constants: no branch and no address depends on the key. The bytes
 * are libsodium's, which a test compares. lanes_of says how many blocks the kernel of a kind makes, lanes_make
 * makes them.
 */
#ifndef KEYSTREAM_LANES_H
#define KEYSTREAM_LANES_H

#include <stdint.h>
#include <string.h>

#include "simd_kind.h"

#define LANES_MOST 16
#define LANES_BLOCK_WORDS 8 /* of 64 bits */

#if SIMD_X86
#include <immintrin.h>

#define LANES_INLINE_512 static inline __attribute__((always_inline, target("avx512f")))
#define LANES_INLINE_256 static inline __attribute__((always_inline, target("avx2")))

LANES_INLINE_512 void lanes_quarter_512(__m512i *a, __m512i *b, __m512i *c, __m512i *d)
{
    *a = _mm512_add_epi32(*a, *b);
    *d = _mm512_rol_epi32(_mm512_xor_si512(*d, *a), 16);
    *c = _mm512_add_epi32(*c, *d);
    *b = _mm512_rol_epi32(_mm512_xor_si512(*b, *c), 12);
    *a = _mm512_add_epi32(*a, *b);
    *d = _mm512_rol_epi32(_mm512_xor_si512(*d, *a), 8);
    *c = _mm512_add_epi32(*c, *d);
    *b = _mm512_rol_epi32(_mm512_xor_si512(*b, *c), 7);
}

/* Word i of lane j to word j of lane i, and out. */
LANES_INLINE_512 void lanes_store_512(const __m512i x[16], uint8_t *out)
{
    __m512i t[16];
    for (int i = 0; i < 16; i += 4) {
        const __m512i a = _mm512_unpacklo_epi32(x[i], x[i + 1]), b = _mm512_unpackhi_epi32(x[i], x[i + 1]);
        const __m512i c = _mm512_unpacklo_epi32(x[i + 2], x[i + 3]),
                      d = _mm512_unpackhi_epi32(x[i + 2], x[i + 3]);
        t[i] = _mm512_unpacklo_epi64(a, c);
        t[i + 1] = _mm512_unpackhi_epi64(a, c);
        t[i + 2] = _mm512_unpacklo_epi64(b, d);
        t[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    for (int i = 0; i < 4; i++) {
        const __m512i a = _mm512_shuffle_i32x4(t[i], t[4 + i], 0x88),
                      b = _mm512_shuffle_i32x4(t[i], t[4 + i], 0xdd);
        const __m512i c = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0x88);
        const __m512i d = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0xdd);
        _mm512_storeu_si512(out + 64 * i, _mm512_shuffle_i32x4(a, c, 0x88));
        _mm512_storeu_si512(out + 64 * (4 + i), _mm512_shuffle_i32x4(b, d, 0x88));
        _mm512_storeu_si512(out + 64 * (8 + i), _mm512_shuffle_i32x4(a, c, 0xdd));
        _mm512_storeu_si512(out + 64 * (12 + i), _mm512_shuffle_i32x4(b, d, 0xdd));
    }
}

static __attribute__((noinline, target("avx512f"))) void lanes_avx512(const uint8_t *key, uint64_t nonce,
                                                                      const uint64_t *counters, uint64_t *out)
{
    uint32_t words[8], low[16], high[16];
    memcpy(words, key, sizeof(words)); /* little-endian, as abi.h demands */
    for (int i = 0; i < 16; i++) {
        low[i] = (uint32_t)counters[i];
        high[i] = (uint32_t)(counters[i] >> 32);
    }
    __m512i start[16], x[16];
    start[0] = _mm512_set1_epi32(0x61707865);
    start[1] = _mm512_set1_epi32(0x3320646e);
    start[2] = _mm512_set1_epi32(0x79622d32);
    start[3] = _mm512_set1_epi32(0x6b206574);
    for (int i = 0; i < 8; i++)
        start[4 + i] = _mm512_set1_epi32((int)words[i]);
    start[12] = _mm512_loadu_si512(low);
    start[13] = _mm512_loadu_si512(high);
    start[14] = _mm512_set1_epi32((int)(uint32_t)nonce);
    start[15] = _mm512_set1_epi32((int)(uint32_t)(nonce >> 32));
    for (int i = 0; i < 16; i++)
        x[i] = start[i];
    for (int round = 0; round < 20; round += 2) {
        for (int i = 0; i < 4; i++)
            lanes_quarter_512(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            lanes_quarter_512(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; i++)
        x[i] = _mm512_add_epi32(x[i], start[i]);
    lanes_store_512(x, (uint8_t *)out);
}

LANES_INLINE_256 __m256i lanes_rotated(__m256i x, int by)
{
    return _mm256_or_si256(_mm256_slli_epi32(x, by), _mm256_srli_epi32(x, 32 - by));
}

/* Rotations by whole bytes are one shuffle. */
LANES_INLINE_256 void lanes_quarter_256(__m256i *a, __m256i *b, __m256i *c, __m256i *d)
{
    const __m256i by16 = _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6,
                                          7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const __m256i by8 = _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7,
                                         4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
    *a = _mm256_add_epi32(*a, *b);
    *d = _mm256_shuffle_epi8(_mm256_xor_si256(*d, *a), by16);
    *c = _mm256_add_epi32(*c, *d);
    *b = lanes_rotated(_mm256_xor_si256(*b, *c), 12);
    *a = _mm256_add_epi32(*a, *b);
    *d = _mm256_shuffle_epi8(_mm256_xor_si256(*d, *a), by8);
    *c = _mm256_add_epi32(*c, *d);
    *b = lanes_rotated(_mm256_xor_si256(*b, *c), 7);
}

/* Eight words of eight lanes: half of each lane's block. */
LANES_INLINE_256 void lanes_store_256(const __m256i x[8], uint8_t *out)
{
    __m256i t[8];
    for (int i = 0; i < 8; i += 4) {
        const __m256i a = _mm256_unpacklo_epi32(x[i], x[i + 1]), b = _mm256_unpackhi_epi32(x[i], x[i + 1]);
        const __m256i c = _mm256_unpacklo_epi32(x[i + 2], x[i + 3]),
                      d = _mm256_unpackhi_epi32(x[i + 2], x[i + 3]);
        t[i] = _mm256_unpacklo_epi64(a, c);
        t[i + 1] = _mm256_unpackhi_epi64(a, c);
        t[i + 2] = _mm256_unpacklo_epi64(b, d);
        t[i + 3] = _mm256_unpackhi_epi64(b, d);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(void *)(out + 64 * i),
                            _mm256_permute2x128_si256(t[i], t[4 + i], 0x20));
        _mm256_storeu_si256((__m256i *)(void *)(out + 64 * (4 + i)),
                            _mm256_permute2x128_si256(t[i], t[4 + i], 0x31));
    }
}

static __attribute__((noinline, target("avx2"))) void lanes_avx2(const uint8_t *key, uint64_t nonce,
                                                                 const uint64_t *counters, uint64_t *out)
{
    uint32_t words[8], low[8], high[8];
    memcpy(words, key, sizeof(words));
    for (int i = 0; i < 8; i++) {
        low[i] = (uint32_t)counters[i];
        high[i] = (uint32_t)(counters[i] >> 32);
    }
    __m256i start[16], x[16];
    start[0] = _mm256_set1_epi32(0x61707865);
    start[1] = _mm256_set1_epi32(0x3320646e);
    start[2] = _mm256_set1_epi32(0x79622d32);
    start[3] = _mm256_set1_epi32(0x6b206574);
    for (int i = 0; i < 8; i++)
        start[4 + i] = _mm256_set1_epi32((int)words[i]);
    memcpy(&start[12], low, sizeof(low));
    memcpy(&start[13], high, sizeof(high));
    start[14] = _mm256_set1_epi32((int)(uint32_t)nonce);
    start[15] = _mm256_set1_epi32((int)(uint32_t)(nonce >> 32));
    for (int i = 0; i < 16; i++)
        x[i] = start[i];
    for (int round = 0; round < 20; round += 2) {
        for (int i = 0; i < 4; i++)
            lanes_quarter_256(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            lanes_quarter_256(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; i++)
        x[i] = _mm256_add_epi32(x[i], start[i]);
    lanes_store_256(x, (uint8_t *)out);
    lanes_store_256(x + 8, (uint8_t *)out + 32);
}
#endif

/* How many blocks the kernel of a kind that simd_choose has found makes at once, 0 if there is none. */
static inline uint64_t lanes_of(int kind)
{
    return !SIMD_X86 ? 0 : kind == SIMD_KIND_AVX512 ? 16 : kind == SIMD_KIND_AVX2 ? 8 : 0;
}

/* lanes_of(kind) blocks. */
static inline void lanes_make(int kind, const uint8_t key[32], uint64_t nonce, const uint64_t *counters,
                              uint64_t *out)
{
#if SIMD_X86
    if (kind == SIMD_KIND_AVX512)
        lanes_avx512(key, nonce, counters, out);
    else if (kind == SIMD_KIND_AVX2)
        lanes_avx2(key, nonce, counters, out);
#else
    (void)kind, (void)key, (void)nonce, (void)counters, (void)out;
#endif
}

#endif
