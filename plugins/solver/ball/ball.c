/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ball - the exact minimiser of a quadratic over a ball, whether or not noise has made it indefinite.
 *
 *   minimise q'A q - b'q over |q|_2 <= radius,
 *
 * with radius sqrt(1/lambda) where the regulariser lambda bounds the answer anyhow (DPIMF, Lemma 1). A is
 * reduced to tridiagonal form, where More and Sorensen's method costs O(d) a step. Rows whose own A and count
 * are zero share one matrix, which is reduced once for the batch. Float64 inside; rows are rounded to float32
 * and still lie in the ball, so that the radius is a bound that later releases may count on.
 */
#include <math.h>
#include <string.h>

#include "ball.h"
#include "dpframe/plugin.h"
#include "normal_equations.h"
#include "trust_region.h"

enum { P_LAMBDA, P_RADIUS, P_COUNT };

struct workspace {
    int64_t d;
    struct normal_blocks blocks;
    double *base;   /* what all rows share: matrix, both triangles */
    double *base_b; /* and its part of b */
    double *matrix, *c, *x, *work;
    struct tridiagonal common, own;
    int common_ready;
};

static dpf_status workspace_get(const struct ball *self, const dpf_call *call, const dpf_solve *batch,
                                struct workspace *w)
{
    const dpf_query *query = batch->query;
    const int64_t d = query->dimension;
    *w = (struct workspace){.d = d};
    const dpf_status status = normal_blocks_find(
        self->host, query,
        "this solver needs the coefficients of a quadratic: use a loss such as complementary", &w->blocks);
    if (status != DPF_OK)
        return status;
    const int64_t numbers = 2 * d * d + 2 * tridiagonal_size(d) + trust_region_size(d) + 3 * d;
    double *at = call->scratch(call, (uint64_t)numbers * sizeof(double));
    if (!at)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of scratch memory for a matrix");
    w->base = at;
    w->matrix = at + d * d;
    tridiagonal_place(&w->common, d, at + 2 * d * d);
    tridiagonal_place(&w->own, d, at + 2 * d * d + tridiagonal_size(d));
    w->work = at + 2 * d * d + 2 * tridiagonal_size(d);
    w->base_b = w->work + trust_region_size(d);
    w->c = w->base_b + d;
    w->x = w->c + d;
    return DPF_OK;
}

static void add_ridge(const dpf_query *query, double count, int64_t d, double *matrix)
{
    for (int64_t i = 0; query->ridge_per_count && i < d; i++)
        matrix[i * d + i] += query->ridge_per_count[i] * count;
}

static void prepare_base(const dpf_solve *batch, struct workspace *w)
{
    const dpf_query *query = batch->query;
    double count;
    normal_gram(batch, w->d, w->base, w->base_b, &count);
    for (int64_t i = 0; query->ridge_constant && i < w->d; i++)
        w->base[i * w->d + i] += query->ridge_constant[i];
    add_ridge(query, count, w->d, w->base);
}

static int is_common(const struct workspace *w, const float *row)
{
    const float *a = row + w->blocks.a->offset;
    if (w->blocks.count && row[w->blocks.count->offset] != 0)
        return 0;
    for (int64_t i = 0; i < w->d; i++) { /* what the layout defines: the lower triangle, or all */
        const float *line =
            a + (w->blocks.a->layout == DPF_LAYOUT_PACKED ? i * (i + 1) / 2 : i * w->blocks.a->ld);
        const int64_t n = w->blocks.a->layout == DPF_LAYOUT_FULL ? w->d : i + 1;
        for (int64_t j = 0; j < n; j++)
            if (line[j] != 0)
                return 0;
    }
    return 1;
}

/* The reduced matrix of a row. */
static const struct tridiagonal *reduced(const dpf_solve *batch, struct workspace *w, const float *row)
{
    const int common = is_common(w, row);
    if (common && w->common_ready)
        return &w->common;
    memcpy(w->matrix, w->base, (size_t)(w->d * w->d) * sizeof(double));
    if (!common) {
        normal_add_symmetric(w->blocks.a, row, w->d, w->matrix);
        if (w->blocks.count)
            add_ridge(batch->query, row[w->blocks.count->offset], w->d, w->matrix);
    }
    struct tridiagonal *t = common ? &w->common : &w->own;
    tridiagonal_reduce(t, w->matrix, w->work);
    w->common_ready |= common;
    return t;
}

/* To float32. Rounding may push a row on the sphere out of the ball by an ulp or two. */
static void store(const double *x, int64_t d, double radius, float *next)
{
    double factor = 1;
    for (;;) {
        double sum = 0;
        for (int64_t i = 0; i < d; i++) {
            next[i] = (float)(factor * x[i]);
            sum += (double)next[i] * next[i];
        }
        if (!(sqrt(sum) > radius))
            return;
        factor *= (1 - 0x1p-24) * (radius / sqrt(sum));
    }
}

static dpf_status solve_row(const struct ball *self, const dpf_solve *batch, int64_t index,
                            struct workspace *w)
{
    const float *row = batch->blocks + index * batch->blocks_stride;
    double sum = 0;
    for (int64_t i = 0; i < w->d; i++)
        w->c[i] = 0.5 * ((double)row[w->blocks.b->offset + i] + w->base_b[i]);
    const struct tridiagonal *t = reduced(batch, w, row);
    for (int64_t i = 0; i < w->d; i++)
        sum += fabs(w->c[i]) + fabs(t->diagonal[i]) + fabs(t->off[i]);
    if (!isfinite(sum))
        return normal_fail(self->host, batch, index, "its coefficients are not finite");
    tridiagonal_into(t, w->c);
    if (isnan(trust_region(t, w->c, self->radius, w->x, w->work)))
        return normal_fail(self->host, batch, index,
                           "its coefficients are too large for a minimiser to be found");
    tridiagonal_back(t, w->x);
    store(w->x, w->d, self->radius, batch->next + index * batch->next_stride + batch->query->first);
    return DPF_OK;
}

static dpf_status solve(void *instance, const dpf_call *call, const dpf_solve *batch)
{
    const struct ball *self = instance;
    struct workspace w;
    dpf_status status = workspace_get(self, call, batch, &w);
    if (status != DPF_OK)
        return status;
    prepare_base(batch, &w);
    for (int64_t row = 0; status == DPF_OK && row < batch->n_rows; row++)
        status = solve_row(self, batch, row, &w);
    return status;
}

static double radius(void *instance)
{
    return ((const struct ball *)instance)->radius;
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    const dpf_value *values = params->values;
    if (values[P_LAMBDA].is_set && values[P_RADIUS].is_set)
        return host->fail(host, DPF_E_CONFIG, P_RADIUS,
                          "radius and lambda both set the ball: give one of them");
    struct ball *self = *out;
    self->host = host;
    self->radius = values[P_RADIUS].is_set ? values[P_RADIUS].real : 1 / sqrt(values[P_LAMBDA].real);
    return DPF_OK;
}

static const dpf_param params[P_COUNT] = {
    [P_LAMBDA] = DPF_PARAM_REAL_F("lambda", 0.01, 1e-12, 1e12, DPF_PARAM_PRIVACY, "",
                                  "The loss's regularisation; the ball has radius sqrt(1/lambda)."),
    [P_RADIUS] = DPF_PARAM_REAL_F("radius", 10, 0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                  "The ball's radius, in place of lambda."),
};

static const dpf_solver functions = {
    .flags = DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE,
    .radius = radius,
    .solve = solve,
    .utility = ball_utility,
};

DPF_COMPONENT(
    component, DPF_ROLE_SOLVER, functions, .id = "ball", .version = "1.0.0",
    .summary = "Exact minimiser of a quadratic, definite or not, over a ball",
    .citation =
        "DPIMF (Ran, Ye, Huang, Hu), Algorithm 1; More, Sorensen (SIAM J. Sci. Stat. Comput. 4, 1983)",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct ball))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.ball", "1.0.0", "Apache-2.0", component)
