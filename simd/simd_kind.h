/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd_kind.h - kinds of processor, and which of them this one is.
 *
 * The environment variable DPFRAME_SIMD names the best kind that may run: with DPFRAME_SIMD=avx2 a processor with
 * 512-bit registers runs, tests and measures what others would. Unknown names change nothing here; the command
 * dpframe refuses them.
 */
#ifndef SIMD_KIND_H
#define SIMD_KIND_H

#include <stdlib.h>
#include <string.h>

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

/* The kind of this name, or -1. */
static inline int simd_named(const char *name)
{
    static const struct {
        const char *name, *help;
    } kinds[] = {SIMD_KINDS};
    for (int kind = SIMD_KIND_AUTO; kind <= SIMD_KIND_PORTABLE; kind++)
        if (strcmp(name, kinds[kind].name) == 0)
            return kind;
    return -1;
}

/* The best kind that DPFRAME_SIMD allows: kinds are in order. Looked up once. */
static inline int simd_allowed(void)
{
    static int found = -1;
    int best = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (best < 0) {
        const char *name = getenv("DPFRAME_SIMD");
        best = name ? simd_named(name) : SIMD_KIND_AUTO;
        best = best < 0 ? SIMD_KIND_AUTO : best;
        __atomic_store_n(&found, best, __ATOMIC_RELAXED);
    }
    return best;
}

static inline int simd_has(int kind)
{
    if (kind < simd_allowed())
        return 0;
#if SIMD_X86
    if (kind == SIMD_KIND_AVX512)
        return __builtin_cpu_supports("avx512f") != 0;
    if (kind == SIMD_KIND_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return kind == SIMD_KIND_PORTABLE || (kind == SIMD_KIND_NEON && SIMD_ARM);
}

/* The kind to use, or -1 if the wanted one is not to be had here. */
static inline int simd_choose(int wanted)
{
    if (wanted != SIMD_KIND_AUTO)
        return simd_has(wanted) ? wanted : -1;
    for (int kind = SIMD_KIND_AVX512; kind < SIMD_KIND_PORTABLE; kind++)
        if (simd_has(kind))
            return kind;
    return SIMD_KIND_PORTABLE;
}

#endif
