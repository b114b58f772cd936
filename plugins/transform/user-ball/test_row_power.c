/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of processor give the same bytes, near the sum in long double. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "row_power.h"

static uint64_t seed = 3;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)seed * 0x1p-63;
}

TEST(kinds_agree)
{
    static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON};
    double x[200];
    for (int64_t n = 0; n <= 200; n++)
        for (int32_t p = 1; p <= 2; p++) {
            long double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                x[i] = ldexp(uniform(), (int)(i % 40) - 20);
                sum += p == 1 ? fabsl((long double)x[i]) : (long double)x[i] * (long double)x[i];
            }
            const double unit = p == 1 ? 0x1p-7 : 1;
            const double power = row_power_find(SIMD_KIND_PORTABLE)(x, n, unit, p);
            assert_true(fabsl((long double)power / unit - sum) <= sum * 0x1p-46L);
            for (int k = 0; k < 3; k++) {
                const row_power other = row_power_find(kinds[k]);
                if (!other) /* not of this processor */
                    continue;
                const double again = other(x, n, unit, p);
                assert_memory_equal(&again, &power, sizeof again);
            }
        }
}
