/* SPDX-License-Identifier: Apache-2.0 */
#include "pbm_kernels.h"

#include <stddef.h>
#include <string.h>

#define SIGN_BIT (UINT64_C(1) << 63)
#define ONE_BITS (UINT64_C(0x3ff) << 52)
#define INFINITE_BITS (UINT64_C(0x7ff) << 52)

#if SIMD_X86
#define SIMD_AVX512
#include "pbm_loops.h"
#undef SIMD_AVX512
#define SIMD_AVX2
#include "pbm_loops.h"
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include "pbm_loops.h"

const struct pbm_kernels *pbm_kernels_find(int wanted)
{
    switch (simd_choose(wanted)) {
#if SIMD_X86
    case SIMD_KIND_AVX512:
        return &pbm_kernels_avx512;
    case SIMD_KIND_AVX2:
        return &pbm_kernels_avx2;
#endif
    case SIMD_KIND_PORTABLE:
        return &pbm_kernels_portable;
    default:
        return NULL;
    }
}
