/* SPDX-License-Identifier: Apache-2.0 */
/*
 * each_kind.h - includes the template SIMD_TEMPLATE once for each kind of processor. No include guard.
 *
 *     #define SIMD_TEMPLATE "row_power_loops.h"
 *     #include "each_kind.h"
 *
 * defines the template's functions for every kind that the compiler knows, and SIMD_PICK names one of them. A
 * template includes simd.h (intrinsics) or simd_loops.h (loops) and no include guard keeps it from being
 * included again. The compiler looks for it on the include path, not beside the file that names it.
 */
#include "simd_kind.h"

#if SIMD_X86
#define SIMD_AVX512
#include SIMD_TEMPLATE
#undef SIMD_AVX512
#define SIMD_AVX2
#include SIMD_TEMPLATE
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include SIMD_TEMPLATE
#undef SIMD_PORTABLE
#undef SIMD_TEMPLATE

/* `name`, a function or &object of a template, for a kind that simd_choose has found; NULL for -1. */
#undef SIMD_PICK
#if SIMD_X86
#define SIMD_PICK(kind, name)                                                                                \
    ((kind) == SIMD_KIND_AVX512     ? name##_avx512                                                          \
     : (kind) == SIMD_KIND_AVX2     ? name##_avx2                                                            \
     : (kind) == SIMD_KIND_PORTABLE ? name##_portable                                                        \
                                    : NULL)
#else
#define SIMD_PICK(kind, name) ((kind) == SIMD_KIND_PORTABLE ? name##_portable : NULL)
#endif
