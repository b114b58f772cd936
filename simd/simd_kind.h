/* SPDX-License-Identifier: Apache-2.0 */
/* simd_kind.h - kinds of processor, and which of them this one is. */
#ifndef SIMD_KIND_H
#define SIMD_KIND_H

#if defined(__x86_64__)
#define SIMD_X86 1
#else
#define SIMD_X86 0
#endif
#if defined(__aarch64__)
#define SIMD_ARM 1 /* every such processor has NEON */
#else
#define SIMD_ARM 0
#endif

/* Kinds, also the values of the "kernel" parameter of components that have one. */
#define SIMD_KIND_AUTO 0
#define SIMD_KIND_AVX512 1
#define SIMD_KIND_AVX2 2
#define SIMD_KIND_NEON 3
#define SIMD_KIND_PORTABLE 4
#define SIMD_KINDS                                                                                           \
    {"auto", "the fastest that this processor has"}, {"avx512", "512-bit registers"},                        \
        {"avx2", "256-bit registers, fused multiply-add"},                                                   \
        {"neon", "128-bit registers of arm64, fused multiply-add"},                                          \
    {                                                                                                        \
        "portable", "any processor"                                                                          \
    }

/* The kind to use, or -1 if the wanted one is not to be had here. */
static inline int simd_choose(int wanted)
{
#if SIMD_X86
    const int has_avx512 = __builtin_cpu_supports("avx512f") != 0;
    const int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    const int has_avx512 = 0, has_avx2 = 0;
#endif
    if (wanted == SIMD_KIND_AVX512)
        return has_avx512 ? SIMD_KIND_AVX512 : -1;
    if (wanted == SIMD_KIND_AVX2)
        return has_avx2 ? SIMD_KIND_AVX2 : -1;
    if (wanted == SIMD_KIND_NEON)
        return SIMD_ARM ? SIMD_KIND_NEON : -1;
    if (wanted == SIMD_KIND_PORTABLE)
        return SIMD_KIND_PORTABLE;
    return has_avx512 ? SIMD_KIND_AVX512
           : has_avx2 ? SIMD_KIND_AVX2
           : SIMD_ARM ? SIMD_KIND_NEON
                      : SIMD_KIND_PORTABLE;
}

#endif
