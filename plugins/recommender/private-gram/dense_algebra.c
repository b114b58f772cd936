/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_algebra.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "top_pairs.h"

#define LEAST_OF_FEW 1000 /* columns, from which on few pairs are computed without the others */

/* LAPACK as OpenBLAS exports it: Fortran's calling convention, lengths of texts at the end. OpenBLAS comes
   without lapacke.h. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a, const int *lda,
             const double *vl, const double *vu, const int *il, const int *iu, const double *abstol, int *m,
             double *w, double *z, const int *ldz, int *isuppz, double *work, const int *lwork, int *iwork,
             const int *liwork, int *info, size_t, size_t, size_t);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

static int out_of_memory(const dpf_call *call)
{
    call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory for a matrix");
    return -1;
}

static int no_result(const dpf_call *call, const char *what)
{
    call->host->fail(call->host, DPF_E_INTERNAL, -1, what);
    return -1;
}

int matrix_raw(const dpf_call *call, int32_t rows, int32_t columns, struct matrix *out)
{
    *out = (struct matrix){call->scratch(call, (uint64_t)rows * (uint64_t)columns * sizeof(double)), rows,
                           columns};
    return out->at ? 0 : out_of_memory(call);
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

int symmetric_eigen(const dpf_call *call, struct matrix *a, double *values)
{
    const int n = a->rows, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    int info = 0;
    if (n == 0)
        return 0;
    double *work = call->scratch(call, (uint64_t)lwork * sizeof *work);
    int *iwork = call->scratch(call, (uint64_t)liwork * sizeof *iwork);
    if (!work || !iwork)
        return out_of_memory(call);
    dsyevd_("V", "U", &n, a->at, &n, values, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info == 0 ? 0 : no_result(call, "eigenvalues of a symmetric matrix do not converge");
}

/* All pairs above the edge, by way of a tridiagonal matrix. */
static int whole_spectrum(const dpf_call *call, struct matrix *a, double edge, double *values,
                          struct matrix *vectors)
{
    const int n = a->rows, lwork = 34 * n, liwork = 10 * n, none = 0;
    const double most = DBL_MAX, tolerance = 0.0;
    int found = 0, info = 0;
    if (matrix_new(call, n, n, vectors) != 0)
        return -1;
    vectors->columns = 0;
    if (n == 0)
        return 0;
    double *work = call->scratch(call, (uint64_t)lwork * sizeof *work);
    int *iwork = call->scratch(call, (uint64_t)liwork * sizeof *iwork);
    int *support = call->scratch(call, 2 * (uint64_t)n * sizeof *support);
    if (!work || !iwork || !support)
        return out_of_memory(call);
    dsyevr_("V", "V", "U", &n, a->at, &n, &edge, &most, &none, &none, &tolerance, &found, values, vectors->at,
            &n, support, work, &lwork, iwork, &liwork, &info, 1, 1, 1);
    vectors->columns = found;
    return info == 0 ? 0 : no_result(call, "eigenvalues of the Gram do not converge");
}

int symmetric_eigen_above(const dpf_call *call, struct matrix *a, double edge, double *values,
                          struct matrix *vectors)
{
    const int found =
        a->rows >= LEAST_OF_FEW && edge > 0.0 ? top_pairs_above(call, a, edge, values, vectors) : 0;
    if (found != 0)
        return found > 0 ? 0 : -1;
    if (call->cancelled(call))
        return -1;
    return whole_spectrum(call, a, edge, values, vectors);
}

int symmetric_eigen_largest(const dpf_call *call, struct matrix *a, int32_t k, double *values,
                            struct matrix *vectors)
{
    const int found = a->rows >= LEAST_OF_FEW ? top_pairs_largest(call, a, k, values, vectors) : 0;
    if (found != 0)
        return found > 0 ? 0 : -1;
    if (call->cancelled(call) || whole_spectrum(call, a, -DBL_MAX, values, vectors) != 0)
        return -1;
    const int32_t others = vectors->columns > k ? vectors->columns - k : 0;
    memmove(values, values + others, (size_t)(vectors->columns - others) * sizeof *values);
    *vectors = (struct matrix){matrix_column(vectors, others), vectors->rows, vectors->columns - others};
    return 0;
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
    return info == 0 ? 0 : no_result(call, "a matrix that must be inverted is not positive definite");
}
