/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_algebra.h"

#include <stddef.h>
#include <string.h>

/* LAPACK as OpenBLAS exports it: Fortran's calling convention, lengths of texts at the end. OpenBLAS comes
   without lapacke.h. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

int matrix_fail(const dpf_call *call, dpf_status status, const char *what)
{
    call->host->fail(call->host, status, -1, what);
    return -1;
}

int matrix_raw(const dpf_call *call, int32_t rows, int32_t columns, struct matrix *out)
{
    *out = (struct matrix){call->scratch(call, (uint64_t)rows * (uint64_t)columns * sizeof(double)), rows,
                           columns};
    return out->at ? 0 : matrix_fail(call, DPF_E_MEMORY, "out of memory for a matrix");
}

int matrix_new(const dpf_call *call, int32_t rows, int32_t columns, struct matrix *out)
{
    if (matrix_raw(call, rows, columns, out) != 0)
        return -1;
    memset(out->at, 0, (size_t)rows * (size_t)columns * sizeof(double));
    return 0;
}

/* By tiles, so that both triangles are read and written along columns. */
void matrix_mirror(struct matrix *a, enum matrix_triangle from)
{
    enum { TILE = 64 };
    const int64_t m = a->rows;
    for (int64_t left = 0; left < m; left += TILE)
        for (int64_t top = left; top < m; top += TILE)
            for (int64_t j = left; j < m && j < left + TILE; j++)
                for (int64_t i = top > j ? top : j + 1; i < m && i < top + TILE; i++) {
                    double *upper = a->at + i * m + j, *lower = a->at + j * m + i;
                    if (from == MATRIX_UPPER)
                        *lower = *upper;
                    else
                        *upper = *lower;
                }
}

void matrix_multiply(double alpha, const struct matrix *a, CBLAS_TRANSPOSE ta, const struct matrix *b,
                     CBLAS_TRANSPOSE tb, double beta, struct matrix *c)
{
    const int inner = ta == CblasNoTrans ? a->columns : a->rows;
    if (c->rows == 0 || c->columns == 0 || inner == 0)
        return; /* beta is 1 or c is zero wherever that is possible */
    cblas_dgemm(CblasColMajor, ta, tb, c->rows, c->columns, inner, alpha, a->at, a->rows, b->at, b->rows,
                beta, c->at, c->rows);
}

int positive_inverse(const dpf_call *call, struct matrix *a)
{
    const int n = a->rows;
    int info = 0;
    if (n == 0)
        return 0;
    dpotrf_("U", &n, a->at, &n, &info, 1);
    if (info == 0)
        dpotri_("U", &n, a->at, &n, &info, 1);
    matrix_mirror(a, MATRIX_UPPER);
    return info == 0
               ? 0
               : matrix_fail(call, DPF_E_INTERNAL, "a matrix that must be inverted is not positive definite");
}
