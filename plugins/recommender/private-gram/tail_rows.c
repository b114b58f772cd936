/* SPDX-License-Identifier: Apache-2.0 */
#include "tail_rows.h"

#include <math.h>
#include <string.h>

#include "eigenpairs.h"
#define SHRUNK 2.0      /* variance of rows' errors over that of the estimate's rows, which are shrunk */
#define LEAST_SCALE 3.0 /* standard deviations, above which the release's scale is known */

/* ---- before the release ----------------------------------------------------------------------------------
 */

static struct gram_columns columns_of(const struct gram_plan *plan, const struct item_span *span, int64_t m,
                                      const int32_t *column, const double *weight)
{
    return (struct gram_columns){.n_items = span->n_items,
                                 .m = m,
                                 .column = column,
                                 .weight = weight,
                                 .bits = plan->rest.bits,
                                 .values = &plan->values};
}

static int list_columns(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                        struct tail *out)
{
    const uint64_t n_items = (uint64_t)span->n_items, m = (uint64_t)span->m, others = n_items - m;
    int32_t *column = call->scratch(call, (n_items + 1) * sizeof *column), at = 0;
    double *head = call->scratch(call, (m + 1) * sizeof *head);
    double *rest = call->scratch(call, (others + 1) * sizeof *rest);
    out->item = call->scratch(call, (others + 1) * sizeof *out->item);
    if (!column || !head || !rest || !out->item) {
        call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory for items without a column");
        return -1;
    }
    for (int32_t k = 0; k < span->m; k++)
        head[k] = span->weight[span->item[k]];
    for (int64_t i = 0; i < span->n_items; i++) {
        column[i] = span->column[i] < 0 ? at : -1;
        if (column[i] < 0)
            continue;
        out->item[at] = (int32_t)i;
        rest[at++] = span->weight[i];
    }
    out->head = columns_of(plan, span, span->m, span->column, head);
    out->rest = columns_of(plan, span, at, column, rest);
    return 0;
}

/* Columns of the factor are orthogonal and ascend in length. */
static int choose_directions(const dpf_call *call, const struct gram_estimate *estimate, struct tail *out)
{
    const struct matrix *f = &estimate->factor;
    const int32_t d = f->columns < GRAM_DIRECTIONS ? f->columns : GRAM_DIRECTIONS;
    double *rows = call->scratch(call, ((uint64_t)f->rows * (uint64_t)d + 1) * sizeof *rows);
    out->squares = call->scratch(call, (uint64_t)(d + 1) * sizeof(double));
    if (!rows || !out->squares || matrix_new(call, f->rows, d, &out->directions) != 0)
        return -1;
    for (int32_t k = 0; k < d; k++) {
        const double *from = matrix_column(f, f->columns - 1 - k);
        double *to = matrix_column(&out->directions, k);
        const double length = cblas_dnrm2(f->rows, from, 1), scale = length > 0.0 ? 1.0 / length : 0.0;
        out->squares[k] = length * length;
        for (int32_t i = 0; i < f->rows; i++)
            rows[(int64_t)i * d + k] = to[i] = scale * from[i];
    }
    out->along = (struct gram_directions){&out->head, rows, d, GRAM_LEAST_PROJECTED, NULL};
    return 0;
}

int tail_make(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
              const struct gram_estimate *estimate, struct tail *out)
{
    return list_columns(call, plan, span, out) != 0 ? -1 : choose_directions(call, estimate, out);
}

/* ---- after it --------------------------------------------------------------------------------------------
 */

struct correction {
    struct matrix turn;   /* d x d, eigenvectors of the errors' covariance */
    double *variance;     /* d, for an item of count weight = 1 */
    struct matrix expect; /* others x d: rows as counts and features let expect, turned */
    struct matrix seen;   /* likewise, as released, in the same units */
    double noise;         /* variance of a number of `seen` */
};

static double expected_size(const struct item_span *span, int32_t item)
{
    return span->count[item] * span->weight[item];
}

/* How far rows of items with a column are from what would be expected of them: directions squares - basis map.
 */
static int measure_errors(const dpf_call *call, const struct tail *tail, const struct item_span *span,
                          const struct matrix *map, struct correction *c)
{
    const int32_t d = tail->along.d;
    struct matrix off;
    double sizes = 0.0;
    c->variance = call->scratch(call, (uint64_t)(d + 1) * sizeof *c->variance);
    if (!c->variance || matrix_new(call, span->m, d, &off) != 0 || matrix_new(call, d, d, &c->turn) != 0)
        return -1;
    for (int32_t k = 0; k < d; k++)
        cblas_daxpy(span->m, tail->squares[k], matrix_column(&tail->directions, k), 1, matrix_column(&off, k),
                    1);
    matrix_multiply(-1.0, &span->basis, CblasNoTrans, map, CblasNoTrans, 1.0, &off);
    matrix_multiply(1.0, &off, CblasTrans, &off, CblasNoTrans, 0.0, &c->turn);
    for (int32_t k = 0; k < span->m; k++)
        sizes += expected_size(span, span->item[k]) * expected_size(span, span->item[k]);
    if (symmetric_eigen(call, &c->turn, c->variance) != 0)
        return -1;
    for (int32_t k = 0; k < d; k++)
        c->variance[k] = SHRUNK * fmax(c->variance[k], 0.0) / sizes;
    return 0;
}

/* Of the others, both turned; a user's part has norm 1 here and not there, so the scale is fitted. Returns 0
   if the release says nothing of it, -1 after a fault. */
static int measure_rows(const dpf_call *call, const struct gram_plan *plan, const struct tail *tail,
                        const int64_t *sums, const struct item_span *span, const struct matrix *map,
                        struct correction *c)
{
    const int32_t n = (int32_t)tail->rest.m, d = tail->along.d, width = span->all.columns;
    const double sigma = (double)plan->rest.steps * plan->rest.grid;
    struct matrix functions, plain;
    if (matrix_new(call, n, width, &functions) != 0 || matrix_new(call, n, d, &plain) != 0 ||
        matrix_new(call, n, d, &c->expect) != 0 || matrix_new(call, n, d, &c->seen) != 0)
        return -1;
    for (int32_t k = 0; k < width; k++)
        for (int32_t i = 0; i < n; i++)
            matrix_column(&functions, k)[i] = matrix_column(&span->all, k)[tail->item[i]];
    matrix_multiply(1.0, &functions, CblasNoTrans, map, CblasNoTrans, 0.0, &plain);
    matrix_multiply(1.0, &plain, CblasNoTrans, &c->turn, CblasNoTrans, 0.0, &c->expect);
    for (int32_t k = 0; k < d; k++)
        for (int32_t i = 0; i < n; i++)
            matrix_column(&plain, k)[i] = (double)sums[(int64_t)i * d + k] * plan->rest.grid;
    const int64_t cells = (int64_t)n * d;
    double both = 0.0, squares = 0.0;
    matrix_multiply(1.0, &plain, CblasNoTrans, &c->turn, CblasNoTrans, 0.0, &c->seen);
    for (int64_t i = 0; i < cells; i++) {
        both += c->seen.at[i] * c->expect.at[i];
        squares += c->expect.at[i] * c->expect.at[i];
    }
    if (!(both > LEAST_SCALE * sigma * sqrt(squares)) || !(both > 0.0))
        return 0;
    for (int64_t i = 0; i < cells; i++)
        c->seen.at[i] *= squares / both;
    c->noise = sigma * sigma * (squares / both) * (squares / both);
    return 1;
}

/* The change of each row, turned: left in `seen`. */
static void weigh_rows(const struct tail *tail, const struct item_span *span, struct correction *c)
{
    for (int32_t k = 0; k < c->seen.columns; k++)
        for (int32_t i = 0; i < c->seen.rows; i++) {
            const double size = expected_size(span, tail->item[i]), error = size * size * c->variance[k];
            double *seen = matrix_column(&c->seen, k) + i;
            const double part = error > 0.0 ? error / (error + c->noise) : 0.0;
            *seen = part * (*seen - matrix_column(&c->expect, k)[i]);
        }
}

/* old and added side by side. */
static int append_columns(const dpf_call *call, const struct matrix *added, struct matrix *old)
{
    struct matrix both;
    if (matrix_new(call, old->rows, old->columns + added->columns, &both) != 0)
        return -1;
    for (int32_t k = 0; k < both.columns && both.rows > 0; k++)
        memcpy(matrix_column(&both, k),
               k < old->columns ? matrix_column(old, k) : matrix_column(added, k - old->columns),
               (size_t)both.rows * sizeof(double));
    *old = both;
    return 0;
}

static int add_rows(const dpf_call *call, const struct tail *tail, const struct correction *c,
                    struct item_span *span, struct gram_estimate *estimate)
{
    struct matrix added, turned;
    if (matrix_new(call, (int32_t)span->n_items, c->seen.columns, &added) != 0 ||
        matrix_new(call, span->m, c->seen.columns, &turned) != 0)
        return -1;
    for (int32_t k = 0; k < added.columns; k++)
        for (int32_t i = 0; i < c->seen.rows; i++)
            matrix_column(&added, k)[tail->item[i]] = matrix_column(&c->seen, k)[i];
    matrix_multiply(1.0, &tail->directions, CblasNoTrans, &c->turn, CblasNoTrans, 0.0, &turned);
    return append_columns(call, &added, &span->all) != 0 ? -1
                                                         : append_columns(call, &turned, &estimate->crossing);
}

int tail_correct(const dpf_call *call, const struct gram_plan *plan, const struct tail *tail,
                 const int64_t *sums, struct item_span *span, struct gram_estimate *estimate)
{
    struct matrix map; /* from a row of span->all to an item's row of the Gram along the directions */
    struct correction c;
    if (matrix_new(call, estimate->crossing.columns, tail->along.d, &map) != 0)
        return -1;
    matrix_multiply(1.0, &estimate->crossing, CblasTrans, &tail->directions, CblasNoTrans, 0.0, &map);
    if (measure_errors(call, tail, span, &map, &c) != 0)
        return -1;
    const int known = measure_rows(call, plan, tail, sums, span, &map, &c);
    if (known <= 0)
        return known;
    weigh_rows(tail, span, &c);
    return add_rows(call, tail, &c, span, estimate);
}
