/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eigen.h - all eigenvalues and eigenvectors of a symmetric matrix of small order.
 *
 * Householder's reduction to tridiagonal form (tridiagonal.h), then implicit QL steps with Wilkinson's shift
 * (Golub and Van Loan, Matrix Computations, section 8.3.5). The same bits on any processor.
 */
#ifndef DPF_EIGEN_H
#define DPF_EIGEN_H

#include <stdint.h>

/* Doubles of work for order d. */
int64_t eigen_size(int64_t d);
/*
 * a (d x d, both triangles, finite) is overwritten. values: d numbers in no order; row k of vectors (d x d)
 * is the unit eigenvector of values[k]. Returns 0, or -1 if the steps did not converge.
 */
int eigen_symmetric(double *a, int64_t d, double *values, double *vectors, double *work);

#endif
