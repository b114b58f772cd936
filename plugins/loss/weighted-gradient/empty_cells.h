/* SPDX-License-Identifier: Apache-2.0 */
/* empty_cells.h - the gradients of one user's empty cells, many rows in one call, in vectors. */
#ifndef DPF_EMPTY_CELLS_H
#define DPF_EMPTY_CELLS_H

#include <stdint.h>

#include "simd_kind.h"

#define EMPTY_CELLS_MOST 64 /* rows of a call */

/* What is the same in all cells of a user. */
struct empty_cells {
    double offset; /* of predictions */
    double clip;   /* of residuals */
    double factor; /* of gradients */
    double most;   /* predictions beyond this, or that are not a number, are at fault */
    double grid;   /* as in dpf_on_grid; 0: none */
    double limit;  /* gradients that reach it, or that are not a number, are at fault */
    const float *own;
    int32_t dimension;
};

/*
 * products: of the user's row and each row's, n at most EMPTY_CELLS_MOST; used up. Row k of out becomes
 * factor (products[k] + offset, clipped) own. Not 0 if a number is at fault.
 */
typedef int (*empty_cells)(const struct empty_cells *cells, double *products, int64_t n, double *out,
                           int64_t stride);

/* For a kind of simd_kind.h; NULL if the processor lacks it. All kinds give the same bytes. */
empty_cells empty_cells_find(int wanted);

#endif
