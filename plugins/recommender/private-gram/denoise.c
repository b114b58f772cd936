/* SPDX-License-Identifier: Apache-2.0 */
#include "denoise.h"

#include <math.h>
#include <string.h>

#include "eigenpairs.h"
#define PAST_EDGE 1.02 /* eigenvalues this far above the edge, singular values 1.01 */
#define PAST_CROSS 1.01
#define NEGLIGIBLE 1e-10 /* part of the largest squared length below which a direction is none */
#define MODEL_ERROR 0.3  /* relative deviation of the diagonal from its model */
#define BELOW_RIDGE 0.02 /* an edge that is this part of what is added to the diagonal hides nothing */
#define ENERGY 7.0       /* all of the diagonal over what the projection of centred rows sees */

/* ---- blocks ---------------------------------------------------------------------------------------------
 */

/* Both triangles, as numbers. */
static int take_gram(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                     const int64_t *sums, int with_diagonal, struct matrix *out)
{
    const int64_t m = span->m;
    if (matrix_raw(call, span->m, span->m, out) != 0)
        return -1;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = i; j < m; j++)
            out->at[i * m + j] = (double)sums[i * m + j] * plan->second.grid;
        out->at[i * m + i] = with_diagonal ? out->at[i * m + i] : 0.0;
    }
    matrix_mirror(out, MATRIX_LOWER);
    return 0;
}

/* a: d x d, symmetrised; eigenvalues that are not above the edge are dropped. */
static int keep_above(const dpf_call *call, double edge, struct matrix *a)
{
    struct matrix vectors, scaled;
    const int32_t d = a->rows;
    double values[GRAM_MOST_SPAN];
    if (matrix_new(call, d, d, &vectors) != 0 || matrix_new(call, d, d, &scaled) != 0)
        return -1;
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++)
            matrix_column(&vectors, j)[i] = (matrix_column(a, j)[i] + matrix_column(a, i)[j]) / 2.0;
    if (symmetric_eigen(call, &vectors, values) != 0)
        return -1;
    for (int32_t k = 0; k < d; k++) {
        memcpy(matrix_column(&scaled, k), matrix_column(&vectors, k), (size_t)d * sizeof(double));
        cblas_dscal(d, values[k] > edge ? values[k] : 0.0, matrix_column(&scaled, k), 1);
    }
    matrix_multiply(1.0, &scaled, CblasNoTrans, &vectors, CblasTrans, 0.0, a);
    return 0;
}

static double shrunk_singular(double s, double tau, double m, double d)
{
    const double unit = tau * sqrt(m), b = d / m;
    if (unit == 0.0)
        return s;
    const double y = s / unit, inside = (y * y - b - 1.0) * (y * y - b - 1.0) - 4.0 * b;
    return y > (1.0 + sqrt(b)) * PAST_CROSS && inside > 0.0 ? sqrt(inside) / y * unit : 0.0;
}

/*
 * The cross block c (m x d), shrunk: left (m x k) times right' (k x d). Singular vectors by the eigenvectors
 * of c'c, which are d only; left is c times those, and the shrunk over the old singular value goes into
 * right.
 */
struct cross {
    struct matrix left, right; /* m x k, d x k */
};

static int shrink_cross(const dpf_call *call, const struct matrix *c, double tau, struct cross *out)
{
    const int32_t d = c->columns;
    struct matrix gram;
    double values[GRAM_MOST_SPAN];
    if (matrix_new(call, d, d, &gram) != 0)
        return -1;
    matrix_multiply(1.0, c, CblasTrans, c, CblasNoTrans, 0.0, &gram);
    if (symmetric_eigen(call, &gram, values) != 0)
        return -1;
    int32_t kept = 0;
    double factors[GRAM_MOST_SPAN];
    for (int32_t k = d - 1; k >= 0; k--) {
        const double s = sqrt(fmax(values[k], 0.0)), after = shrunk_singular(s, tau, c->rows, d);
        if (after <= 0.0 || values[k] <= NEGLIGIBLE * values[d - 1])
            break;
        factors[kept++] = after / s;
    }
    struct matrix turn = {matrix_column(&gram, d - kept), d, kept};
    if (matrix_new(call, c->rows, kept, &out->left) != 0 || matrix_new(call, d, kept, &out->right) != 0)
        return -1;
    matrix_multiply(1.0, c, CblasNoTrans, &turn, CblasNoTrans, 0.0, &out->left);
    for (int32_t k = 0; k < kept; k++) {
        memcpy(matrix_column(&out->right, k), matrix_column(&turn, k), (size_t)d * sizeof(double));
        cblas_dscal(d, factors[kept - 1 - k], matrix_column(&out->right, k), 1);
    }
    return 0;
}

/* ---- the positive part of the sum ------------------------------------------------------------------------
 */

/* Copies the columns of a part to their place in the whole. */
static void put_columns(const struct matrix *part, struct matrix *whole, int32_t first)
{
    if (part->columns)
        memcpy(matrix_column(whole, first), part->at,
               (size_t)part->rows * (size_t)part->columns * sizeof(double));
}

/* Orthonormal columns e spanning those of b: b turn; the square roots of the lengths in `roots`. */
static int whiten(const dpf_call *call, const struct matrix *b, struct matrix *turn, double **roots)
{
    struct matrix gram;
    const int32_t n = b->columns;
    double *values = call->scratch(call, (uint64_t)(n + 1) * sizeof *values);
    if (!values || matrix_new(call, n, n, &gram) != 0)
        return -1;
    matrix_multiply(1.0, b, CblasTrans, b, CblasNoTrans, 0.0, &gram);
    if (symmetric_eigen(call, &gram, values) != 0)
        return -1;
    int32_t first = 0;
    while (first < n && values[first] <= NEGLIGIBLE * values[n - 1])
        first++;
    *turn = (struct matrix){matrix_column(&gram, first), n, n - first};
    for (int32_t k = first; k < n; k++)
        values[k] = sqrt(values[k]);
    *roots = values + first;
    return 0;
}

static void scale_columns(struct matrix *a, const double *by, int inverted)
{
    for (int32_t k = 0; k < a->columns; k++)
        cblas_dscal(a->rows, inverted ? 1.0 / by[k] : by[k], matrix_column(a, k), 1);
}

/*
 * b (m x n) and a symmetric middle (n x n): out out' is the positive part of b middle b'. With b = E R, E
 * orthonormal, that is E (R middle R')+ E'.
 */
static int positive_part(const dpf_call *call, const struct matrix *b, const struct matrix *middle,
                         struct matrix *out)
{
    struct matrix turn, half, inner, chosen;
    double *roots;
    if (whiten(call, b, &turn, &roots) != 0)
        return -1;
    const int32_t r = turn.columns;
    double *values = call->scratch(call, (uint64_t)(r + 1) * sizeof *values);
    if (!values || matrix_new(call, b->columns, r, &half) != 0 || matrix_new(call, r, r, &inner) != 0)
        return -1;
    /* R' = turn roots; R middle R' = roots turn' middle turn roots. */
    matrix_multiply(1.0, middle, CblasNoTrans, &turn, CblasNoTrans, 0.0, &half);
    scale_columns(&half, roots, 0);
    matrix_multiply(1.0, &turn, CblasTrans, &half, CblasNoTrans, 0.0, &inner);
    for (int32_t j = 0; j < r; j++)
        for (int32_t i = 0; i < r; i++)
            matrix_column(&inner, j)[i] *= roots[i];
    if (symmetric_eigen(call, &inner, values) != 0)
        return -1;
    int32_t first = 0;
    while (first < r && values[first] <= NEGLIGIBLE * values[r - 1])
        first++;
    chosen = (struct matrix){matrix_column(&inner, first), r, r - first};
    for (int32_t k = 0; k < chosen.columns; k++)
        cblas_dscal(r, sqrt(values[first + k]), matrix_column(&chosen, k), 1);
    /* E = b turn / roots. */
    scale_columns(&turn, roots, 1);
    if (matrix_new(call, b->columns, chosen.columns, &half) != 0 ||
        matrix_new(call, b->rows, chosen.columns, out) != 0)
        return -1;
    matrix_multiply(1.0, &turn, CblasNoTrans, &chosen, CblasNoTrans, 0.0, &half);
    matrix_multiply(1.0, b, CblasNoTrans, &half, CblasNoTrans, 0.0, out);
    return 0;
}

/* Q a Q' + cross Q' + Q cross' + vectors diag(values) vectors', its positive part. */
static int assemble(const dpf_call *call, const struct item_span *span, const struct matrix *a,
                    const struct cross *cross, const struct matrix *vectors, const double *values,
                    struct matrix *factor)
{
    const int32_t d = a->rows, k = vectors->columns, c = cross->left.columns, n = d + k + c;
    struct matrix b, middle;
    if (matrix_new(call, span->m, n, &b) != 0 || matrix_new(call, n, n, &middle) != 0)
        return -1;
    put_columns(&span->basis, &b, 0);
    put_columns(vectors, &b, d);
    put_columns(&cross->left, &b, d + k);
    for (int32_t j = 0; j < d; j++)
        for (int32_t i = 0; i < d; i++)
            matrix_column(&middle, j)[i] = matrix_column(a, j)[i];
    for (int32_t i = 0; i < k; i++)
        matrix_column(&middle, d + i)[d + i] = values[i];
    for (int32_t j = 0; j < c; j++)
        for (int32_t i = 0; i < d; i++)
            matrix_column(&middle, d + k + j)[i] = matrix_column(&middle, i)[d + k + j] =
                matrix_column(&cross->right, j)[i];
    return positive_part(call, &b, &middle, factor);
}

/* crossing = Q a + cross. */
static int make_crossing(const dpf_call *call, const struct item_span *span, const struct matrix *a,
                         const struct cross *cross, struct matrix *out)
{
    if (matrix_new(call, span->m, a->rows, out) != 0)
        return -1;
    matrix_multiply(1.0, &span->basis, CblasNoTrans, a, CblasNoTrans, 0.0, out);
    matrix_multiply(1.0, &cross->left, CblasNoTrans, &cross->right, CblasTrans, 1.0, out);
    return 0;
}

/* ---- diagonals -------------------------------------------------------------------------------------------
 */

static double expected_diagonal(const struct item_span *span, int32_t column)
{
    const int32_t item = span->item[column];
    return span->count[item] * span->weight[item] * span->weight[item];
}

/* What was measured and the model's multiple, weighed by how well each is known. */
static int estimate_diagonal(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                             const int64_t *sums, struct gram_estimate *out)
{
    const double noise = (double)plan->second.steps_diag * plan->second.grid, variance = noise * noise;
    double both = 0.0, square = 0.0;
    out->diagonal = call->scratch(call, (uint64_t)(span->m + 1) * sizeof(double));
    if (!out->diagonal)
        return -1;
    for (int32_t k = 0; k < span->m; k++) {
        const double x = expected_diagonal(span, k);
        both += x * (double)sums[(int64_t)k * span->m + k] * plan->second.grid;
        square += x * x;
    }
    const double multiple = both > 0.0 ? both / square : 1e-3;
    for (int32_t k = 0; k < span->m; k++) {
        const double x = multiple * expected_diagonal(span, k), error = MODEL_ERROR * MODEL_ERROR * x * x;
        const double seen = fmax((double)sums[(int64_t)k * span->m + k] * plan->second.grid, 0.0);
        out->diagonal[k] = (x * variance + seen * error) / (variance + error);
    }
    return 0;
}

/* ---- centred rows -----------------------------------------------------------------------------------------
 *
 * Rows were y = W z, W = 1 - (1 - s) q q', but for their lengths. The noise is white on sums of y y', so they are
 * denoised, and then W^-1 = 1 + (1/s - 1) q q' takes the centring back.
 */

/* What W leaves of the diagonal D beside the diagonal is taken off: D and W D W differ there by u q' + q u', u = D q,
   times 1 - s, less q u q q' (1 - s)^2. */
static void take_off_diagonal(const struct item_span *span, const double *diagonal, struct matrix *g)
{
    const double part = 1.0 - span->kept, *q = span->shared;
    double qu = 0.0;
    for (int32_t k = 0; k < span->m; k++)
        qu += q[k] * q[k] * diagonal[k];
    for (int32_t j = 0; j < span->m && part > 0.0; j++)
        for (int32_t i = 0; i < span->m; i++)
            if (i != j)
                matrix_column(g, j)[i] += part * q[i] * q[j] * (diagonal[i] + diagonal[j] - part * qu);
}

/* M^-1 a, and of a on both sides if it is square, M = Q'WQ = 1 - (1 - s) c c', c = Q'q: q is in the span of Q, so that
   W is 1 beside it. */
static int uncentre(const dpf_call *call, const struct item_span *span, int both, struct matrix *a)
{
    const int32_t d = span->basis.columns;
    const struct matrix q = {span->shared, span->m, 1};
    struct matrix c, along;
    if (matrix_new(call, d, 1, &c) != 0 || matrix_new(call, a->columns, 1, &along) != 0)
        return -1;
    const double by = 1.0 / span->kept - 1.0;
    matrix_multiply(1.0, &span->basis, CblasTrans, &q, CblasNoTrans, 0.0, &c);
    for (int side = 0; side < 1 + both && by > 0.0; side++) {
        matrix_multiply(1.0, a, side ? CblasNoTrans : CblasTrans, &c, CblasNoTrans, 0.0, &along);
        for (int32_t j = 0; j < a->columns; j++)
            for (int32_t i = 0; i < a->rows; i++)
                matrix_column(a, j)[i] += by * (side ? along.at[i] * c.at[j] : c.at[i] * along.at[j]);
    }
    return 0;
}

/* ---- the three forms --------------------------------------------------------------------------------------
 */

int denoise_nothing(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                    const int64_t *sums, struct gram_estimate *out)
{
    const int32_t m = span->m;
    if (take_gram(call, plan, span, sums, 1, &out->whole) != 0 ||
        matrix_new(call, m, span->basis.columns, &out->crossing) != 0 ||
        estimate_diagonal(call, plan, span, sums, out) != 0)
        return -1;
    matrix_multiply(1.0, &out->whole, CblasNoTrans, &span->basis, CblasNoTrans, 0.0, &out->crossing);
    if (!plan->tail)
        return matrix_new(call, m, 0, &out->factor);
    struct matrix g;
    double *values = call->scratch(call, (uint64_t)(m + 1) * sizeof *values);
    if (!values || matrix_new(call, m, m, &g) != 0)
        return -1;
    memcpy(g.at, out->whole.at, (size_t)m * (size_t)m * sizeof(double));
    if (symmetric_eigen_largest(call, &g, GRAM_DIRECTIONS, values, &out->factor) != 0)
        return -1;
    for (int32_t k = 0; k < out->factor.columns; k++)
        cblas_dscal(m, sqrt(fmax(values[k], 0.0)), matrix_column(&out->factor, k), 1);
    return 0;
}

/* Whether the noise is so far below the ridge that the Gram is as good as known. */
static int is_negligible(const struct gram_plan *plan, const struct item_span *span,
                         const struct gram_estimate *estimate)
{
    const double edge = 2.0 * (double)plan->second.steps * plan->second.grid * sqrt((double)span->m);
    double mean = 0.0;
    for (int32_t k = 0; k < span->m; k++)
        mean += estimate->diagonal[k] / span->m;
    return span->kept >= 1.0 && edge < BELOW_RIDGE * plan->ridge * mean;
}

int denoise_gram(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                 const int64_t *sums, struct gram_estimate *out)
{
    const double tau = (double)plan->second.steps * plan->second.grid;
    const int32_t m = span->m, d = span->basis.columns;
    struct matrix g, gq, a, half, vectors;
    struct cross cross;
    if (estimate_diagonal(call, plan, span, sums, out) != 0)
        return -1;
    if (is_negligible(plan, span, out))
        return denoise_nothing(call, plan, span, sums, out);
    if (take_gram(call, plan, span, sums, 0, &g) != 0 || matrix_new(call, m, d, &gq) != 0 ||
        matrix_new(call, d, d, &a) != 0 || matrix_new(call, m, d, &half) != 0)
        return -1;
    take_off_diagonal(span, out->diagonal, &g);
    matrix_multiply(1.0, &g, CblasNoTrans, &span->basis, CblasNoTrans, 0.0, &gq);
    matrix_multiply(1.0, &span->basis, CblasTrans, &gq, CblasNoTrans, 0.0, &a);
    /* What is orthogonal to the basis: g - q h' - h q', h = gq - q a / 2. */
    put_columns(&gq, &half, 0);
    matrix_multiply(-0.5, &span->basis, CblasNoTrans, &a, CblasNoTrans, 1.0, &half);
    if (m > 0)
        cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, m, d, -1.0, span->basis.at, m, half.at, m, 1.0,
                     g.at, m);
    matrix_multiply(-1.0, &span->basis, CblasNoTrans, &a, CblasNoTrans, 1.0, &gq);
    double *values = call->scratch(call, (uint64_t)(m + 1) * sizeof *values);
    const double edge = 2.0 * tau * sqrt((double)(m > d ? m - d : 0));
    if (!values || symmetric_eigen_above(call, &g, edge * PAST_EDGE, values, &vectors) != 0)
        return -1;
    out->directions = vectors.columns;
    for (int32_t k = 0; k < vectors.columns; k++)
        values[k] = sqrt(values[k] * values[k] - edge * edge);
    if (keep_above(call, 2.0 * tau * sqrt((double)d), &a) != 0 || shrink_cross(call, &gq, tau, &cross) != 0 ||
        uncentre(call, span, 1, &a) != 0 || uncentre(call, span, 0, &cross.right) != 0 ||
        make_crossing(call, span, &a, &cross, &out->crossing) != 0)
        return -1;
    return assemble(call, span, &a, &cross, &vectors, values, &out->factor);
}

int denoise_projected(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                      const int64_t *sums, struct gram_estimate *out)
{
    const double sigma = (double)plan->second.steps * plan->second.grid;
    const int32_t m = span->m, d = span->basis.columns;
    const struct matrix none = {NULL, m, 0};
    struct matrix h, a;
    struct cross cross;
    double energy = 0.0, expected = 0.0;
    if (matrix_new(call, m, d, &h) != 0 || matrix_new(call, d, d, &a) != 0)
        return -1;
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < d; k++)
            matrix_column(&h, k)[i] = (double)sums[(int64_t)i * d + k] * plan->second.grid;
    matrix_multiply(1.0, &span->basis, CblasTrans, &h, CblasNoTrans, 0.0, &a);
    matrix_multiply(-1.0, &span->basis, CblasNoTrans, &a, CblasNoTrans, 1.0, &h);
    out->diagonal = call->scratch(call, (uint64_t)(m + 1) * sizeof(double));
    /* Symmetrised, the noise of a has the deviation sigma / sqrt(2) off its diagonal. */
    if (!out->diagonal || keep_above(call, 2.0 * sigma * sqrt(d / 2.0), &a) != 0 ||
        shrink_cross(call, &h, sigma, &cross) != 0)
        return -1;
    for (int32_t k = 0; k < d; k++)
        energy += matrix_column(&a, k)[k];
    if (uncentre(call, span, 1, &a) != 0 || uncentre(call, span, 0, &cross.right) != 0 ||
        make_crossing(call, span, &a, &cross, &out->crossing) != 0)
        return -1;
    for (int32_t k = 0; k < m; k++)
        expected += expected_diagonal(span, k);
    for (int32_t k = 0; k < m; k++)
        out->diagonal[k] = expected_diagonal(span, k) / expected * fmax(ENERGY * energy, 1e-3);
    return assemble(call, span, &a, &cross, &none, NULL, &out->factor);
}
