/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_pairs.h - the eigenpairs of a large symmetric matrix above an edge, where these are few.
 *
 * Lanczos with full reorthogonalisation (Golub, Van Loan, Matrix Computations, 4th ed., 10.1 and 10.3) from a fixed start, until
 * each Ritz value above the edge has a residual below 1e-9 edge. Then k Ritz values above the edge prove k eigenvalues above it
 * (Cauchy), and a Cholesky factorisation of edge - A + V diag(values) V' proves that there are no others: a matrix of
 * rank k that is positive semidefinite moves at most k eigenvalues over the edge (Weyl). Where either fails, the caller
 * computes all eigenpairs. The result depends on the matrix alone.
 */
#ifndef PRIVATE_GRAM_TOP_PAIRS_H
#define PRIVATE_GRAM_TOP_PAIRS_H

#include "dense_algebra.h"

/* a: its upper triangle is read and kept, the lower one is destroyed; edge > 0. Values ascend. Returns 1; 0 if this is no
   method for the matrix, or if call->cancelled; -1 after reporting a fault. */
int top_pairs_above(const dpf_call *call, struct matrix *a, double edge, double *values,
                    struct matrix *vectors);
#endif
