/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of processor give the bytes of the definition, number by number. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "pbm_kernels.h"

#define MOST 150
static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON, SIMD_KIND_PORTABLE};
static uint64_t seed = 11;

static uint64_t word(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 11;
}

static double uniform(void)
{
    return (double)word() * 0x1p-52 - 1;
}

/* Numbers inside, at and beyond the bound, of all sizes and both signs. */
static double number(double bound)
{
    static const double odd[] = {0, -0.0, 1, -1, 0x1p-1060, -0x1p-1060, 1e300, -1e300};
    const uint64_t which = word() % 24;
    return which < 8 ? odd[which] * (which < 4 ? bound : 1) : 2 * bound * uniform();
}

TEST(shares)
{
    for (int64_t n = 0; n <= MOST; n++) {
        const double bound = ldexp(1 + fabs(uniform()), (int)(n % 40) - 20), theta = 0.25 * fabs(uniform());
        double values[MOST], expected[MOST], got[MOST];
        int64_t outside = 0;
        for (int64_t i = 0; i < n; i++) {
            values[i] = number(bound);
            const double share = values[i] / bound;
            expected[i] = copysign(fmin(fabs(share), 1), share) * theta;
            outside += fabs(share) > 1;
        }
        for (int k = 0; k < 4; k++) {
            const struct pbm_kernels *kernels = pbm_kernels_find(kinds[k]);
            int64_t clipped = 1000;
            if (!kernels) /* not of this processor */
                continue;
            assert_true(kernels->shares(theta, bound, values, n, got, &clipped));
            assert_memory_equal(got, expected, (size_t)n * sizeof(double));
            assert_int_equal(clipped, 1000 + outside);
            for (int64_t i = 0; i < n; i += 7) {
                const double kept = values[i];
                values[i] = i % 2 ? NAN : -INFINITY;
                assert_false(kernels->shares(theta, bound, values, n, got, &clipped));
                values[i] = kept;
            }
        }
    }
}

TEST(lanes)
{
    for (int64_t n = 0; n <= MOST; n++) {
        double probabilities[MOST];
        uint16_t drawn[MOST];
        int64_t expected[MOST], got[MOST], tie = 0;
        for (int64_t i = 0; i < n; i++) {
            probabilities[i] = 0.25 * uniform();
            const int64_t limit = (int64_t)floor((0.5 + probabilities[i]) * 65536);
            drawn[i] = (uint16_t)(word() % 4 ? word() : (uint64_t)limit + word() % 3 - 1);
            if (n % 2 && drawn[i] == limit)
                drawn[i]++;
            expected[i] = drawn[i] < limit;
            tie |= drawn[i] == limit;
        }
        for (int k = 0; k < 4; k++) {
            const struct pbm_kernels *kernels = pbm_kernels_find(kinds[k]);
            if (!kernels)
                continue;
            assert_int_equal(kernels->compare(probabilities, drawn, n, got) != 0, tie);
            assert_memory_equal(got, expected, (size_t)n * sizeof(int64_t));
        }
    }
}
