/* SPDX-License-Identifier: Apache-2.0 */
/* small_matrix.h - dense symmetric matrices of small order, row by row. The same bits on any processor. */
#ifndef DPF_USER_SUMS_SMALL_MATRIX_H
#define DPF_USER_SUMS_SMALL_MATRIX_H

#include <stdint.h>

/* a (lower triangle read) becomes L with a = L L', zeros above. 0, or -1 if it is not positive definite. */
int small_cholesky(double *a, int64_t d);
/* x := (L L')^-1 x. */
void small_solve(const double *l, int64_t d, double *x);
/* out := (L L')^-1, both triangles; work has d numbers. */
void small_inverse(const double *l, int64_t d, double *out, double *work);
/*
 * Eigenvalues of a (both triangles, overwritten) by falling size, and unit eigenvectors as rows of vectors.
 * work has small_eigen_size(d) numbers. 0, or -1 if it did not converge.
 */
int64_t small_eigen_size(int64_t d);
int small_eigen(double *a, int64_t d, double *values, double *vectors, double *work);

#endif
