/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd_loops.h - plain loops that the compiler turns into vectors, for each kind of processor.
 *
 * A kernel is a header of loops without dependences between their steps, included by each_kind.h once for each
 * kind; functions are named SIMD_LOOP(name) and marked SIMD_LOOP_TARGET. Nothing is fused but by SIMD_LOOP_FUSED (the
 * tree is compiled with -ffp-contract=off) and nothing is reordered, so all kinds, and a loop of one step, give the same
 * bytes. Kernels in intrinsics are simd.h's.
 */
#include "simd_kind.h"

#undef SIMD_LOOP
#undef SIMD_LOOP_TARGET
#undef SIMD_LOOP_FUSED

#if defined(SIMD_AVX512)
#define SIMD_LOOP(name) name##_avx512
#if defined(__clang__)
#define SIMD_LOOP_TARGET __attribute__((noinline, target("avx512f"), min_vector_width(512)))
#else
#define SIMD_LOOP_TARGET __attribute__((noinline, target("avx512f,prefer-vector-width=512")))
#endif
#elif defined(SIMD_AVX2)
#define SIMD_LOOP(name) name##_avx2
#define SIMD_LOOP_TARGET __attribute__((noinline, target("avx2,fma")))
#elif defined(SIMD_NEON) /* which all arm64 processors have: there, what is portable is vectors, too */
#define SIMD_LOOP(name) name##_neon
#define SIMD_LOOP_TARGET __attribute__((noinline))
#else /* SIMD_PORTABLE */
#define SIMD_LOOP(name) name##_portable
#define SIMD_LOOP_TARGET __attribute__((noinline))
#endif

/* Whether the kind has an instruction that multiplies, adds and rounds once: for bounds and decisions that allow for
 * roundings, never for bytes. */
#if defined(SIMD_PORTABLE)
#define SIMD_LOOP_FUSED 0
#else
#define SIMD_LOOP_FUSED 1
#endif
