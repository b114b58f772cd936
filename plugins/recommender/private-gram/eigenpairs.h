/* SPDX-License-Identifier: Apache-2.0 */
/* eigenpairs.h - eigenvalues and vectors of a symmetric matrix: all, or those that are large. As dense_algebra.h, of workers and faults. */
#ifndef PRIVATE_GRAM_EIGENPAIRS_H
#define PRIVATE_GRAM_EIGENPAIRS_H

#include "dense_algebra.h"

/* Eigenvalues ascending, and vectors in place of a, of which the upper triangle is read. */
int symmetric_eigen(const dpf_call *call, struct matrix *a, double *values);
/* Those above an edge alone: the first *n of values, and the columns of vectors (rows x rows at most, made
   here). Destroys a. */
int symmetric_eigen_above(const dpf_call *call, struct matrix *a, double edge, double *values,
                          struct matrix *vectors);
/* The k largest, or all; likewise. */
int symmetric_eigen_largest(const dpf_call *call, struct matrix *a, int32_t k, double *values,
                            struct matrix *vectors);

#endif
