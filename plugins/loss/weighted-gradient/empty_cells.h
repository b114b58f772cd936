/* SPDX-License-Identifier: Apache-2.0 */
/* empty_cells.h - the gradients of one user's empty cells, many rows in one call, in vectors. */
#ifndef DPF_EMPTY_CELLS_H
#define DPF_EMPTY_CELLS_H

#include <stdint.h>
#include <string.h>

#include "simd_kind.h"

#define EMPTY_CELLS_MOST 64 /* rows of a call */

typedef double empty_cells_sums __attribute__((vector_size(32)));
typedef float empty_cells_floats __attribute__((vector_size(16)));

/* Products of two floats are exact. Four sums, so that they need not wait for each other. */
static inline __attribute__((always_inline)) double empty_cells_product(const float *x, const float *y,
                                                                        int32_t n)
{
    empty_cells_sums sums = {0, 0, 0, 0};
    int32_t c = 0;
    for (; c + 4 <= n; c += 4) {
        empty_cells_floats a, b;
        memcpy(&a, x + c, sizeof(a));
        memcpy(&b, y + c, sizeof(b));
        sums += __builtin_convertvector(a, empty_cells_sums) * __builtin_convertvector(b, empty_cells_sums);
    }
    for (; c < n; c++)
        sums[0] += (double)x[c] * (double)y[c];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* What is the same in all cells of a user. */
struct empty_cells {
    const float *seen; /* the user's row, of so many */
    int32_t columns;   /* numbers, that predicts */
    double offset;     /* of predictions */
    double clip;       /* of residuals */
    double factor;     /* of gradients */
    double most;       /* predictions beyond this, or that are not a number, are at fault */
    double grid;       /* as in dpf_on_grid; 0: none */
    double limit;      /* gradients that reach it, or that are not a number, are at fault */
    const float *own;
    int32_t dimension;
};

/*
 * n at most EMPTY_CELLS_MOST. Row k of out becomes factor (<rows[k], seen> + offset, clipped) own. Not 0 if a number is at
 * fault.
 */
typedef int (*empty_cells)(const struct empty_cells *cells, const float *const *rows, int64_t n, double *out,
                           int64_t stride);

/* For a kind of simd_kind.h; NULL if the processor lacks it. All kinds give the same bytes. */
empty_cells empty_cells_find(int wanted);

#endif
