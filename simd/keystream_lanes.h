/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keystream_lanes.h - ChaCha20 (Bernstein 2008), sixteen blocks abreast, each with its own counter.
 *
 * Additions, exclusive ors and rotations by constants: no branch and no address depends on the key. The bytes
 * are libsodium's, which a test compares.
 */
#ifndef KEYSTREAM_LANES_H
#define KEYSTREAM_LANES_H

#include <stdint.h>
#include <string.h>

#include "simd_kind.h"

#define LANES 16
#define LANES_WORTH 3 /* blocks from which this costs less than a call for each row */

#if SIMD_X86
#include <immintrin.h>

#define LANES_INLINE static inline __attribute__((always_inline, target("avx512f")))

LANES_INLINE void lanes_quarter(__m512i *a, __m512i *b, __m512i *c, __m512i *d)
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
LANES_INLINE void lanes_store(const __m512i x[16], uint8_t *out)
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
    uint32_t words[8], low[LANES], high[LANES];
    memcpy(words, key, sizeof(words)); /* little-endian, as abi.h demands */
    for (int i = 0; i < LANES; i++) {
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
            lanes_quarter(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            lanes_quarter(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; i++)
        x[i] = _mm512_add_epi32(x[i], start[i]);
    lanes_store(x, (uint8_t *)out);
}
#endif

#endif
