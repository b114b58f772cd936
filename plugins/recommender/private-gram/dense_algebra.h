/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_algebra.h - matrices in columns, and the routines of BLAS and LAPACK that are used on them.
 *
 * Results are the same bytes for any number of workers. Scratch is the call's: it lives until fit returns. Functions return
 * 0, or -1 after reporting a fault or when call->cancelled.
 */
#ifndef PRIVATE_GRAM_DENSE_ALGEBRA_H
#define PRIVATE_GRAM_DENSE_ALGEBRA_H

#include <cblas.h>

#include "dpframe/host.h"

/* rows x columns numbers, column after column. */
struct matrix {
    double *at;
    int32_t rows, columns;
};

/* Reports a fault; -1. */
int matrix_fail(const dpf_call *call, dpf_status status, const char *what);

/* Zeros. */
int matrix_new(const dpf_call *call, int32_t rows, int32_t columns, struct matrix *out);
/* Any numbers: for a matrix that is about to be filled. */
int matrix_raw(const dpf_call *call, int32_t rows, int32_t columns, struct matrix *out);
static inline double *matrix_column(const struct matrix *a, int32_t column)
{
    return a->at + (int64_t)column * a->rows;
}

/* One triangle of a square matrix becomes the mirror of the other. */
enum matrix_triangle { MATRIX_UPPER, MATRIX_LOWER };
void matrix_mirror(struct matrix *a, enum matrix_triangle from);

/* c = alpha op(a) op(b) + beta c; transposes are CblasTrans or CblasNoTrans. */
void matrix_multiply(double alpha, const struct matrix *a, CBLAS_TRANSPOSE ta, const struct matrix *b,
                     CBLAS_TRANSPOSE tb, double beta, struct matrix *c);

/* The inverse of a positive definite matrix in its place, both triangles. */
int positive_inverse(const dpf_call *call, struct matrix *a);

#endif
