/* SPDX-License-Identifier: Apache-2.0 */
#include "cg_kernels.h"

#if defined(__x86_64__)
#define SIMD_AVX512
#include "simd.h"
#include "gram_tiles.h"
#include "cg_templates.h"
#undef SIMD_AVX512
#define SIMD_AVX2
#include "simd.h"
#include "gram_tiles.h"
#include "cg_templates.h"
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include "simd.h"
#include "gram_tiles.h"
#include "cg_templates.h"

const struct cg_kernels *cg_kernels_find(int wanted)
{
    switch (simd_choose(wanted)) {
#if SIMD_X86
    case SIMD_KIND_AVX512:
        return &cg_kernels_avx512;
    case SIMD_KIND_AVX2:
        return &cg_kernels_avx2;
#endif
    case SIMD_KIND_PORTABLE:
        return &cg_kernels_portable;
    default:
        return NULL;
    }
}
