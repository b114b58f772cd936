/* SPDX-License-Identifier: Apache-2.0 */
#include "empty_cells.h"

#include <stddef.h>

#include "dpframe/query.h"

#if SIMD_X86
#define SIMD_AVX512
#include "empty_cells_loops.h"
#undef SIMD_AVX512
#define SIMD_AVX2
#include "empty_cells_loops.h"
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include "empty_cells_loops.h"

empty_cells empty_cells_find(int wanted)
{
    switch (simd_choose(wanted)) {
#if SIMD_X86
    case SIMD_KIND_AVX512:
        return empty_cells_avx512;
    case SIMD_KIND_AVX2:
        return empty_cells_avx2;
#endif
    case SIMD_KIND_PORTABLE:
        return empty_cells_portable;
    default:
        return NULL;
    }
}
