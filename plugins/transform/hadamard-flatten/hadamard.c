/* SPDX-License-Identifier: Apache-2.0 */
#include "hadamard.h"

#include <math.h>
#include <string.h>

typedef double hadamard_reals __attribute__((vector_size(64)));
typedef uint64_t hadamard_bits __attribute__((vector_size(64)));

#define SIMD_TEMPLATE "hadamard_loops.h"
#include "each_kind.h"

const struct hadamard_kernels *hadamard_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, &hadamard_kernels);
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
