/* SPDX-License-Identifier: Apache-2.0 */
#include "row_power.h"

#include <stddef.h>

#if SIMD_X86
#define SIMD_AVX512
#include "row_power_loops.h"
#undef SIMD_AVX512
#define SIMD_AVX2
#include "row_power_loops.h"
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include "row_power_loops.h"

row_power row_power_find(int wanted)
{
    switch (simd_choose(wanted)) {
#if SIMD_X86
    case SIMD_KIND_AVX512:
        return row_power_avx512;
    case SIMD_KIND_AVX2:
        return row_power_avx2;
#endif
    case SIMD_KIND_PORTABLE:
        return row_power_portable;
    default:
        return NULL;
    }
}
