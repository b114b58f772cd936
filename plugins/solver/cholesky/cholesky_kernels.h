/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky_kernels.h - a blocked float32 Cholesky factorization of small matrices.
 *
 * The order of elimination is from the last unknown to the first: A = L'L with L lower triangular, so
 * that all loops run along rows of the lower triangle as it is stored.
 */
#ifndef DPF_CHOLESKY_KERNELS_H
#define DPF_CHOLESKY_KERNELS_H

#include <stdint.h>

#include "normal_equations.h"

struct cholesky_kernels {
    /* matrix = base + a row's A, for layout LOWER with a stride of `padded`. */
    void (*add_lower)(const float *base, const float *a, int64_t d, int64_t padded, float *matrix);
    /*
     * Factors matrix (lower, order padded, a multiple of 16) in place and solves in the same sweep:
     * rhs becomes z of L'z = rhs. inverse gets 1 / L_ii. Returns -1, or the row whose pivot is not
     * positive.
     */
    int64_t (*factor)(float *matrix, int64_t padded, float *inverse, float *rhs);
    /* rhs becomes z of L'z = rhs, for a matrix that is already factored. */
    void (*first_half)(const float *factor, int64_t padded, const float *inverse, float *rhs);
    /* z becomes x of L x = z. */
    void (*second_half)(const float *factor, int64_t padded, const float *inverse, float *z);
};

/* For a kind of simd.h; NULL if the processor lacks it. */
const struct cholesky_kernels *cholesky_kernels_find(int wanted);

#endif
