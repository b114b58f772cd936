/* SPDX-License-Identifier: Apache-2.0 */
#include "top_pairs.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tiled_cholesky.h"

void dstevd_(const char *jobz, const int *n, double *d, double *e, double *z, const int *ldz, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t);

#define TOLERANCE 1e-9 /* residuals, in units of the edge */
#define FIRST_CHECK 40
#define CHECK_EVERY 20
#define MOST_PROOFS 3

struct lanczos {
    const dpf_call *call;
    const struct matrix *a;
    int32_t most, steps;       /* of steps */
    double *basis;             /* rows x (most + 1): orthonormal columns */
    double *diagonal, *beside; /* of the tridiagonal matrix; beside[k] couples k and k + 1 */
    double *along;             /* most + 1: products with the basis */
    /* of the last check: */
    double *values, *turn; /* steps, ascending; steps x steps */
    double *copy, *work;
    int *iwork;
};

static double *numbers(const dpf_call *call, int64_t n)
{
    return call->scratch(call, (uint64_t)(n + 1) * sizeof(double));
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

static double *basis_column(const struct lanczos *l, int32_t k)
{
    return l->basis + (int64_t)k * l->a->rows;
}

/* Numbers about 0 without a pattern, the same in each run: no eigenvector is orthogonal to them but by accident. */
static void fill_start(const struct lanczos *l)
{
    const int32_t m = l->a->rows;
    double *q = basis_column(l, 0);
    uint64_t z = 0;
    for (int32_t i = 0; i < m; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        q[i] = (double)(int64_t)(z >> 11) * 0x1p-52 - 1.0;
    }
    cblas_dscal(m, 1.0 / cblas_dnrm2(m, q, 1), q, 1);
}

/* The next column; 0 if the space is invariant. */
static int take_step(struct lanczos *l)
{
    const int32_t m = l->a->rows, k = l->steps;
    const double *q = basis_column(l, k);
    double *next = basis_column(l, k + 1);
    cblas_dsymv(CblasColMajor, CblasUpper, m, 1.0, l->a->at, m, q, 1, 0.0, next, 1);
    l->diagonal[k] = cblas_ddot(m, q, 1, next, 1);
    const double before = cblas_dnrm2(m, next, 1);
    for (int twice = 0; twice < 2; twice++) {
        cblas_dgemv(CblasColMajor, CblasTrans, m, k + 1, 1.0, l->basis, m, next, 1, 0.0, l->along, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, m, k + 1, -1.0, l->basis, m, l->along, 1, 1.0, next, 1);
    }
    const double length = cblas_dnrm2(m, next, 1);
    l->steps = k + 1;
    l->beside[k] = length;
    if (!(length > 1e-12 * before))
        return 0;
    cblas_dscal(m, 1.0 / length, next, 1);
    return 1;
}

/* ---- checks --------------------------------------------------------------------------------------------- */

static int find_ritz(struct lanczos *l)
{
    const int n = l->steps, lwork = 1 + 4 * n + n * n, liwork = 3 + 5 * n;
    int info = 0;
    memcpy(l->values, l->diagonal, (size_t)n * sizeof(double));
    memcpy(l->copy, l->beside, (size_t)n * sizeof(double));
    dstevd_("V", &n, l->values, l->copy, l->turn, &n, l->work, &lwork, l->iwork, &liwork, &info, 1);
    return info == 0;
}

static double residual(const struct lanczos *l, int32_t k)
{
    return fabs(l->beside[l->steps - 1] * l->turn[(int64_t)k * l->steps + l->steps - 1]);
}

static int32_t count_above(const struct lanczos *l, double edge)
{
    int32_t above = 0;
    while (above < l->steps && l->values[l->steps - 1 - above] > edge)
        above++;
    return above;
}

/* Those above the edge are accurate, and the next one is not on its way there. */
static int has_converged(const struct lanczos *l, double edge, int32_t above)
{
    for (int32_t k = l->steps - above; k < l->steps; k++)
        if (!(residual(l, k) <= TOLERANCE * edge))
            return 0;
    const int32_t next = l->steps - above - 1;
    return next < 0 || l->values[next] + residual(l, next) <= edge;
}

static int make_vectors(const struct lanczos *l, int32_t above, double *values, struct matrix *vectors)
{
    const struct matrix basis = {l->basis, l->a->rows, l->steps},
                        turn = {l->turn + (int64_t)(l->steps - above) * l->steps, l->steps, above};
    if (matrix_new(l->call, l->a->rows, above, vectors) != 0)
        return -1;
    memcpy(values, l->values + l->steps - above, (size_t)above * sizeof *values);
    matrix_multiply(1.0, &basis, CblasNoTrans, &turn, CblasNoTrans, 0.0, vectors);
    return 0;
}

/* ---- the proof ------------------------------------------------------------------------------------------ */

enum { TILE = 64 };

/* The lower triangle: edge - A, by tiles, so that both are read and written along columns. */
static void fill_below(struct matrix *a, double edge, double *diagonal)
{
    const int64_t m = a->rows;
    for (int64_t i = 0; i < m; i++)
        diagonal[i] = a->at[i * m + i];
    for (int64_t left = 0; left < m; left += TILE)
        for (int64_t top = left; top < m; top += TILE)
            for (int64_t j = left; j < m && j < left + TILE; j++)
                for (int64_t i = top > j ? top : j; i < m && i < top + TILE; i++)
                    a->at[j * m + i] = -a->at[i * m + j];
    for (int64_t i = 0; i < m; i++)
        a->at[i * m + i] = edge - diagonal[i];
}

/* Whether A - vectors diag(values) vectors' has no eigenvalue above the edge; 1 or 0, -1 without memory. */
static int nothing_is_left(const dpf_call *call, struct matrix *a, double edge, const double *values,
                           const struct matrix *vectors)
{
    const int32_t m = a->rows;
    double *diagonal = numbers(call, m);
    struct matrix scaled;
    if (!diagonal || matrix_new(call, m, vectors->columns, &scaled) != 0)
        return -1;
    for (int32_t k = 0; k < vectors->columns; k++)
        cblas_daxpy(m, sqrt(values[k]), matrix_column(vectors, k), 1, matrix_column(&scaled, k), 1);
    fill_below(a, edge, diagonal);
    if (vectors->columns > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, m, vectors->columns, 1.0, scaled.at, m, 1.0,
                    a->at, m);
    const int positive = tiled_cholesky(call, a);
    for (int64_t i = 0; i < m; i++)
        a->at[i * m + i] = diagonal[i];
    return positive;
}

/* ---- all together --------------------------------------------------------------------------------------- */

static int open_lanczos(const dpf_call *call, const struct matrix *a, int32_t most, struct lanczos *out)
{
    const int64_t n = most;
    *out = (struct lanczos){.call = call,
                            .a = a,
                            .most = most,
                            .basis = numbers(call, (n + 1) * a->rows),
                            .diagonal = numbers(call, n),
                            .beside = numbers(call, n),
                            .along = numbers(call, n),
                            .values = numbers(call, n),
                            .turn = numbers(call, n * n),
                            .copy = numbers(call, n),
                            .work = numbers(call, 1 + 4 * n + n * n),
                            .iwork = call->scratch(call, (uint64_t)(3 + 5 * n) * sizeof(int))};
    if (out->basis && out->diagonal && out->beside && out->along && out->values && out->turn && out->copy &&
        out->work && out->iwork)
        return 0;
    return matrix_fail(call, DPF_E_MEMORY, "out of memory for eigenvectors");
}

int top_pairs_above(const dpf_call *call, struct matrix *a, double edge, double *values,
                    struct matrix *vectors)
{
    struct lanczos l;
    if (open_lanczos(call, a, a->rows / 8, &l) != 0)
        return -1;
    fill_start(&l);
    for (int proofs = 0, more = 1;
         more && proofs < MOST_PROOFS && l.steps < l.most && !call->cancelled(call);) {
        more = take_step(&l);
        if (more && l.steps < l.most && (l.steps < FIRST_CHECK || (l.steps - FIRST_CHECK) % CHECK_EVERY))
            continue;
        if (!find_ritz(&l))
            return 0;
        const int32_t above = count_above(&l, edge);
        if (!has_converged(&l, edge, above))
            continue;
        if (make_vectors(&l, above, values, vectors) != 0)
            return -1;
        const int proved = nothing_is_left(call, a, edge, values, vectors);
        if (proved)
            return proved;
        proofs++;
    }
    return 0;
}

int top_pairs_largest(const dpf_call *call, struct matrix *a, int32_t k, double *values,
                      struct matrix *vectors)
{
    struct lanczos l;
    if (open_lanczos(call, a, a->rows / 8, &l) != 0)
        return -1;
    fill_start(&l);
    for (int more = 1; more && l.steps < l.most && !call->cancelled(call);) {
        more = take_step(&l);
        if (l.steps < k || (more && l.steps < l.most && l.steps % CHECK_EVERY))
            continue;
        if (!find_ritz(&l))
            return 0;
        int accurate = l.values[l.steps - 1] > 0.0;
        for (int32_t i = l.steps - k; i < l.steps && accurate; i++)
            accurate = residual(&l, i) <= TOLERANCE * l.values[l.steps - 1];
        if (accurate)
            return make_vectors(&l, k, values, vectors) == 0 ? 1 : -1;
    }
    return 0;
}
