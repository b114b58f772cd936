/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_marks.h - where the fields and lines of a text end, and where it is not plain, as bits: 64 bytes at a
 * time (Langdale and Lemire, Parsing gigabytes of JSON per second, VLDB Journal 28, 2019, section 3.1).
 *
 * ends: the delimiter and '\n'. odd: what is not plain and no end: control characters and blanks, '"' and
 * bytes that are not ASCII, but for a '\r' before a '\n'. Bit i of word w is byte 64 w + i. The byte behind
 * the last word is read, too.
 */
#ifndef TEXT_MARKS_H
#define TEXT_MARKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd_kind.h"

typedef void (*text_marks)(const char *text, size_t n_words, char delimiter, uint64_t *ends, uint64_t *odd);

/* Bit i: byte i of the word is c. */
static inline uint64_t text_marks_equal(uint64_t word, char c)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f),
                   x = word ^ UINT64_C(0x0101010101010101) * (unsigned char)c;
    const uint64_t zero = ~(((x & low) + low) | x | low); /* the highest bit of bytes that are zero */
    return (zero >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Bit i: byte i is below 0x21 or above 0x7f. */
static inline uint64_t text_marks_strange(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    const uint64_t plain = (word & low) + UINT64_C(0x5f5f5f5f5f5f5f5f); /* the highest bit: 0x21 or more */
    return ((~plain | word) >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

static void text_marks_portable(const char *text, size_t n_words, char delimiter, uint64_t *ends,
                                uint64_t *odd)
{
    for (size_t w = 0; w < n_words; w++, text += 64) {
        uint64_t end = 0, strange = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t word, next;
            memcpy(&word, text + 8 * i, 8); /* little-endian, as dpframe/abi.h demands */
            memcpy(&next, text + 8 * i + 1, 8);
            const uint64_t e = text_marks_equal(word, delimiter) | text_marks_equal(word, '\n');
            const uint64_t cr = text_marks_equal(word, '\r') & text_marks_equal(next, '\n');
            end |= e << (8 * i);
            strange |= ((text_marks_strange(word) | text_marks_equal(word, '"')) & ~e & ~cr) << (8 * i);
        }
        ends[w] = end;
        odd[w] = strange;
    }
}

#if SIMD_X86
#include <immintrin.h>

static __attribute__((target("avx2"))) void text_marks_avx2(const char *text, size_t n_words, char delimiter,
                                                            uint64_t *ends, uint64_t *odd)
{
    const __m256i separator = _mm256_set1_epi8(delimiter), newline = _mm256_set1_epi8('\n');
    const __m256i quote = _mm256_set1_epi8('"'), cr = _mm256_set1_epi8('\r'), plain = _mm256_set1_epi8(0x20);
    for (size_t w = 0; w < n_words; w++, text += 64) {
        uint64_t end = 0, strange = 0;
        for (int i = 0; i < 2; i++) {
            const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32 * i));
            const __m256i next = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32 * i + 1));
            const __m256i e = _mm256_or_si256(_mm256_cmpeq_epi8(x, separator), _mm256_cmpeq_epi8(x, newline));
            const __m256i line_end =
                _mm256_and_si256(_mm256_cmpeq_epi8(x, cr), _mm256_cmpeq_epi8(next, newline));
            /* Signed: bytes above 0x7f are negative. */
            const __m256i s =
                _mm256_or_si256(_mm256_xor_si256(_mm256_cmpgt_epi8(x, plain), _mm256_set1_epi8(-1)),
                                _mm256_cmpeq_epi8(x, quote));
            const __m256i o = _mm256_andnot_si256(_mm256_or_si256(e, line_end), s);
            end |= (uint64_t)(uint32_t)_mm256_movemask_epi8(e) << (32 * i);
            strange |= (uint64_t)(uint32_t)_mm256_movemask_epi8(o) << (32 * i);
        }
        ends[w] = end;
        odd[w] = strange;
    }
}

static __attribute__((target("avx512f,avx512bw"))) void
text_marks_avx512(const char *text, size_t n_words, char delimiter, uint64_t *ends, uint64_t *odd)
{
    const __m512i separator = _mm512_set1_epi8(delimiter), newline = _mm512_set1_epi8('\n');
    const __m512i quote = _mm512_set1_epi8('"'), cr = _mm512_set1_epi8('\r'), plain = _mm512_set1_epi8(0x20);
    for (size_t w = 0; w < n_words; w++, text += 64) {
        const __m512i x = _mm512_loadu_si512(text), next = _mm512_loadu_si512(text + 1);
        const uint64_t end = _mm512_cmpeq_epi8_mask(x, separator) | _mm512_cmpeq_epi8_mask(x, newline);
        const uint64_t line_end = _mm512_cmpeq_epi8_mask(x, cr) & _mm512_cmpeq_epi8_mask(next, newline);
        const uint64_t strange = ~_mm512_cmpgt_epi8_mask(x, plain) | _mm512_cmpeq_epi8_mask(x, quote);
        ends[w] = end;
        odd[w] = strange & ~end & ~line_end;
    }
}
#elif SIMD_ARM
#include <arm_neon.h>

/* Bit i: byte i of 64 that are all ones or zeros. */
static inline uint64_t text_marks_bits(const uint8x16_t x[4])
{
    static const uint8_t of_lane[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bit = vld1q_u8(of_lane);
    const uint8x16_t low = vpaddq_u8(vandq_u8(x[0], bit), vandq_u8(x[1], bit));
    const uint8x16_t high = vpaddq_u8(vandq_u8(x[2], bit), vandq_u8(x[3], bit));
    const uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static void text_marks_neon(const char *text, size_t n_words, char delimiter, uint64_t *ends, uint64_t *odd)
{
    const uint8x16_t separator = vdupq_n_u8((uint8_t)delimiter), newline = vdupq_n_u8('\n');
    const uint8x16_t quote = vdupq_n_u8('"'), cr = vdupq_n_u8('\r');
    const int8x16_t plain = vdupq_n_s8(0x21);
    for (size_t w = 0; w < n_words; w++, text += 64) {
        uint8x16_t end[4], strange[4];
        for (int i = 0; i < 4; i++) {
            const uint8x16_t x = vld1q_u8((const uint8_t *)text + 16 * i);
            const uint8x16_t next = vld1q_u8((const uint8_t *)text + 16 * i + 1);
            const uint8x16_t line_end = vandq_u8(vceqq_u8(x, cr), vceqq_u8(next, newline));
            /* Signed: bytes above 0x7f are negative. */
            const uint8x16_t s = vorrq_u8(vcltq_s8(vreinterpretq_s8_u8(x), plain), vceqq_u8(x, quote));
            end[i] = vorrq_u8(vceqq_u8(x, separator), vceqq_u8(x, newline));
            strange[i] = vbicq_u8(s, vorrq_u8(end[i], line_end));
        }
        ends[w] = text_marks_bits(end);
        odd[w] = text_marks_bits(strange);
    }
}
#endif

/* How many line ends there are. */
static inline __attribute__((unused)) int64_t text_count_lines(const char *text, size_t length)
{
    int64_t n = 0;
    for (size_t at = 0; at < length;) { /* sums of at most 255 ones fit in the bytes of a vector */
        const size_t left = length - at, some = left < 255 * 64 ? left : 255 * 64;
        uint8_t sums[64] = {0};
        size_t i = 0;
        for (; i + 64 <= some; i += 64)
            for (int k = 0; k < 64; k++)
                sums[k] = (uint8_t)(sums[k] + (text[at + i + (size_t)k] == '\n'));
        for (; i < some; i++)
            n += text[at + i] == '\n';
        for (int k = 0; k < 64; k++)
            n += sums[k];
        at += some;
    }
    return n;
}

/* The kernel for a kind (SIMD_KIND_...), or NULL if it is not to be had here. */
static inline text_marks text_marks_choose(int kind)
{
#if SIMD_X86
    const int has_bytes = __builtin_cpu_supports("avx512bw") != 0;
    if (kind == SIMD_KIND_AUTO && simd_choose(SIMD_KIND_AVX512) >= 0 && !has_bytes)
        kind = SIMD_KIND_AVX2;
    kind = simd_choose(kind);
    if (kind == SIMD_KIND_AVX512)
        return has_bytes ? text_marks_avx512 : NULL;
    if (kind == SIMD_KIND_AVX2)
        return text_marks_avx2;
    return kind == SIMD_KIND_PORTABLE ? text_marks_portable : NULL;
#else
    kind = simd_choose(kind);
#if SIMD_ARM
    if (kind == SIMD_KIND_NEON)
        return text_marks_neon;
#endif
    return kind == SIMD_KIND_PORTABLE ? text_marks_portable : NULL;
#endif
}

#endif
