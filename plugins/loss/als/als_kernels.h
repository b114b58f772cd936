/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_kernels.h - the inner loops of losses that are quadratic in a row.
 *
 * A block is a contiguous copy of n factor rows, restricted to the d unknown columns and padded with
 * zeros to simd_padded(d). Sums run in the order of the records, so they depend on nothing else.
 */
#ifndef DPF_ALS_KERNELS_H
#define DPF_ALS_KERNELS_H

#include "dpframe/query.h"

/* Rows of the other side that some records point to. */
struct als_rows {
    const dpf_factors *factors;
    int32_t first; /* column */
    int32_t dimension;
    const int32_t *index;
    int64_t n;
    int64_t known; /* entries of index that may be read, at least n: what comes next is prefetched */
};

struct als_kernels {
    void (*gather)(const struct als_rows *rows, float *block);
    /* scaled = diag(weights) block; n rows of `padded` columns. */
    void (*scale)(const float *block, const float *weights, int64_t padded, int64_t n, float *scaled);
    /*
     * Lower triangle of left' right, copies of these rows, into `dimension` rows of stride out_ld (a multiple
     * of 16); upper parts of its 16 x 16 diagonal blocks are overwritten too.
     */
    void (*gram)(const struct als_rows *rows, const float *left, const float *right, float *out,
                 int64_t out_ld, int add);
    /* block' t into `padded` numbers. */
    void (*linear)(const float *block, const float *t, int64_t padded, int64_t n, float *out, int add);
    /* out += sum of t y over the rows y, without a gathered copy; out has padded length. */
    void (*combine)(const struct als_rows *rows, const float *t, float *out);
    /* out += sum of w y (y.x); weights NULL: all 1. */
    void (*multiply)(const struct als_rows *rows, const float *weights, const float *x, float *out);
    /*
     * Float64: out(i,j) += round(w y_i y_j) for j <= i, where out(i,j) lies at i * ld + j, or in packed
     * order if ld is 0. round is dpf_on_grid.
     */
    void (*exact)(const double *block, const double *weights, int64_t d, int64_t padded, int64_t n,
                  double grid, double *out, int64_t ld);
    /* Of one record, without a grid: the lower triangle of w y y' is written, and what lies beyond it in its
       rows is overwritten. y is padded. */
    void (*exact_one)(const double *y, double weight, int64_t d, double *out, int64_t ld);
    /*
     * Integers: out(i,j) += round(f w y_i y_j / grid), ties to even, for j <= i and |f w y_i y_j| < 2^51
     * grid; and out(i) += round(f t y_i / grid). Factors are those of the records.
     */
    void (*exact_scaled)(const double *block, const double *weights, const double *factors, int64_t d,
                         int64_t padded, int64_t n, double grid, int64_t *out, int64_t ld);
    void (*linear_scaled)(const double *block, const double *t, const double *factors, int64_t d,
                          int64_t padded, int64_t n, double grid, int64_t *out);
};

/* For a kind of simd.h; NULL if the processor lacks it. */
const struct als_kernels *als_kernels_find(int wanted);

#endif
