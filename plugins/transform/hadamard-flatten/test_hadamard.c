/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of processor give the bytes of single sums and differences, step by step. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "hadamard.h"

#define MOST (1 << 14)
static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON, SIMD_KIND_PORTABLE};
static double given[MOST], expected[MOST], got[MOST], to[MOST];
static uint64_t seed = 3;

static void fill(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        given[i] = i % 5 ? ldexp((double)(int64_t)seed, -60 - (int)(i % 30)) : 0;
    }
}

static void reference(double *values, int64_t n, int64_t width)
{
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t r = 0; r < n; r++)
            for (int64_t i = 0; i < width && !(r & half); i++) {
                double *a = &values[r * width + i], *b = &values[(r + half) * width + i];
                const double sum = *a + *b, difference = *a - *b;
                *a = sum;
                *b = difference;
            }
}

TEST(vectors)
{
    for (int k = 0; k < 4; k++)
        for (int64_t n = 16; hadamard_find(kinds[k]) && n <= MOST; n *= 2) {
            fill(n);
            memcpy(expected, given, sizeof(given));
            memcpy(got, given, sizeof(given));
            reference(expected, n, 1);
            for (int64_t i = 0; i < n; i++)
                expected[i] = (expected[i] * (1 / sqrt((double)(n / 16)))) * (1 / sqrt(16.0));
            hadamard_vector(hadamard_find(kinds[k]), got, n, to);
            assert_memory_equal(to, expected, (size_t)n * sizeof(double));
        }
}

TEST(rows)
{
    for (int k = 0; k < 4; k++)
        for (int64_t n = 1; hadamard_find(kinds[k]) && n <= 256; n *= 2)
            for (int64_t width = 1; width < 20; width++) {
                fill(n * width);
                memcpy(expected, given, sizeof(given));
                memcpy(got, given, sizeof(given));
                reference(expected, n, width);
                for (int64_t i = 0; i < n * width; i++)
                    expected[i] *= 1 / sqrt((double)n);
                hadamard_rows(hadamard_find(kinds[k]), got, n, width);
                assert_memory_equal(got, expected, (size_t)(n * width) * sizeof(double));
            }
}

TEST(signs)
{
    for (int k = 0; k < 4; k++)
        for (int64_t n = 0; hadamard_find(kinds[k]) && n <= 64; n++) {
            fill(64);
            hadamard_find(kinds[k])->signs(given, n, seed, got);
            for (int64_t i = 0; i < n; i++)
                expected[i] = (seed >> i & 1 ? -1.0 : 1.0) * given[i];
            assert_memory_equal(got, expected, (size_t)n * sizeof(double));
        }
}
