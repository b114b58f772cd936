/* SPDX-License-Identifier: Apache-2.0 */
#include "eigenpairs.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "top_pairs.h"

#define LEAST_OF_FEW 1000 /* columns, from which on few pairs are computed without the others */

/* LAPACK, as in dense_algebra.c. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a, const int *lda,
             const double *vl, const double *vu, const int *il, const int *iu, const double *abstol, int *m,
             double *w, double *z, const int *ldz, int *isuppz, double *work, const int *lwork, int *iwork,
             const int *liwork, int *info, size_t, size_t, size_t);

int symmetric_eigen(const dpf_call *call, struct matrix *a, double *values)
{
    const int n = a->rows, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    int info = 0;
    if (n == 0)
        return 0;
    double *work = call->scratch(call, (uint64_t)lwork * sizeof *work);
    int *iwork = call->scratch(call, (uint64_t)liwork * sizeof *iwork);
    if (!work || !iwork)
        return matrix_fail(call, DPF_E_MEMORY, "out of memory for a matrix");
    dsyevd_("V", "U", &n, a->at, &n, values, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info == 0 ? 0
                     : matrix_fail(call, DPF_E_INTERNAL, "eigenvalues of a symmetric matrix do not converge");
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
        return matrix_fail(call, DPF_E_MEMORY, "out of memory for a matrix");
    dsyevr_("V", "V", "U", &n, a->at, &n, &edge, &most, &none, &none, &tolerance, &found, values, vectors->at,
            &n, support, work, &lwork, iwork, &liwork, &info, 1, 1, 1);
    vectors->columns = found;
    return info == 0 ? 0 : matrix_fail(call, DPF_E_INTERNAL, "eigenvalues of the Gram do not converge");
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
