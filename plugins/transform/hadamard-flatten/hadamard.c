/* SPDX-License-Identifier: Apache-2.0 */
#include "hadamard.h"

#include <math.h>
#include <string.h>

typedef double hadamard_reals __attribute__((vector_size(64)));
typedef uint64_t hadamard_bits __attribute__((vector_size(64)));

#if SIMD_X86
#define SIMD_AVX512
#include "hadamard_loops.h"
#undef SIMD_AVX512
#define SIMD_AVX2
#include "hadamard_loops.h"
#undef SIMD_AVX2
#endif
#define SIMD_PORTABLE
#include "hadamard_loops.h"

const struct hadamard_kernels *hadamard_find(int wanted)
{
    switch (simd_choose(wanted)) {
#if SIMD_X86
    case SIMD_KIND_AVX512:
        return &hadamard_kernels_avx512;
    case SIMD_KIND_AVX2:
        return &hadamard_kernels_avx2;
#endif
    case SIMD_KIND_PORTABLE:
        return &hadamard_kernels_portable;
    default:
        return NULL;
    }
}

/* The steps from half on. */
static void steps_from(const struct hadamard_kernels *kernels, double *values, int64_t n, int64_t half)
{
    for (; 4 * half <= n; half *= 4)
        kernels->two(values, n, half);
    if (half < n)
        kernels->one(values, n, half);
}

/* The divisors are those of the steps up to 16 and of the others, one after the other. */
void hadamard_vector(const struct hadamard_kernels *kernels, double *values, int64_t n, double *to)
{
    kernels->eights(values, n);
    steps_from(kernels, values, n, 8);
    kernels->scale(values, n, 1 / sqrt((double)(n / 16)), 1 / sqrt(16.0), to);
}

void hadamard_rows(const struct hadamard_kernels *kernels, double *values, int64_t n, int64_t width)
{
    steps_from(kernels, values, n * width, width);
    kernels->scale(values, n * width, 1 / sqrt((double)n), 1, values);
}
