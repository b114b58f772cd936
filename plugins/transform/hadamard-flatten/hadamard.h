/* SPDX-License-Identifier: Apache-2.0 */
/* hadamard.h - the Walsh-Hadamard transform of a vector, in vectors. */
#ifndef DPF_HADAMARD_H
#define DPF_HADAMARD_H

#include <stdint.h>

#include "simd_kind.h"

/* The steps that it is made of; see hadamard_loops.h. */
struct hadamard_kernels {
    void (*two)(double *values, int64_t n, int64_t half);
    void (*one)(double *values, int64_t n, int64_t half);
    void (*eights)(double *values, int64_t n);
    void (*scale)(const double *from, int64_t n, double scale, double again, double *to);
    void (*signs)(const double *from, int64_t n, uint64_t signs, double *to);
};

/* For a kind of simd_kind.h; NULL if the processor lacks it. */
const struct hadamard_kernels *hadamard_find(int wanted);

/* n numbers, a power of two and at least 16, transformed and divided by sqrt(n) into to, which may be values.
 */
void hadamard_vector(const struct hadamard_kernels *kernels, double *values, int64_t n, double *to);
/* n rows of width numbers behind one another, every column by itself, divided by sqrt(n); n is a power of
 * two. */
void hadamard_rows(const struct hadamard_kernels *kernels, double *values, int64_t n, int64_t width);

#endif
