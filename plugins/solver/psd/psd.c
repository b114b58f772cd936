/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psd - the minimiser of a quadratic whose matrix has been noised: (P(A) + ridge) x = b / 2, where P(A) is A
 * with eigenvalues below `floor` raised to it.
 *
 * With floor = 0 that is the projection onto the positive semidefinite matrices, the nearest one in Frobenius
 * norm (Higham, Linear Algebra and its Applications 103, 1988, Theorem 2.1). A sum of records' y y' is
 * positive semidefinite, so the projection only removes noise; and as it reads released numbers alone, it
 * costs no privacy (Chien et al., ICML 2021, Algorithm 2). Noise can make a count negative: it is taken as 0
 * then. Float64 inside, rows are rounded to float32.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "eigen.h"
#include "noisy_quadratic.h"
#include "normal_equations.h"

enum { P_FLOOR, P_COUNT };

struct psd {
    const dpf_host *host;
    double floor;
};

struct workspace {
    int64_t d;
    struct normal_blocks blocks;
    double *gram; /* what all rows have in common: matrix, both triangles */
    double *gram_b;
    double gram_count;
    double *matrix, *copy, *vectors, *values, *x, *work;
};

static dpf_status workspace_get(const struct psd *self, const dpf_call *call, const dpf_solve *batch,
                                struct workspace *w)
{
    const dpf_query *query = batch->query;
    const int64_t d = query->dimension;
    *w = (struct workspace){.d = d};
    const dpf_status status = normal_blocks_find(
        self->host, query,
        "this solver needs the coefficients of a quadratic: use a loss such as explicit-als", &w->blocks);
    if (status != DPF_OK)
        return status;
    double *at = call->scratch(call, (uint64_t)(4 * d * d + 3 * d + eigen_size(d)) * sizeof(double));
    if (!at)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of scratch memory for a matrix");
    w->gram = at;
    w->matrix = at + d * d;
    w->copy = at + 2 * d * d;
    w->vectors = at + 3 * d * d;
    w->gram_b = at + 4 * d * d;
    w->values = w->gram_b + d;
    w->x = w->values + d;
    w->work = w->x + d;
    return DPF_OK;
}

/* matrix := P(matrix). 0, or -1 if no eigenvalues were found. */
static int project(const struct psd *self, const struct workspace *w)
{
    const int64_t d = w->d;
    int raised = 0;
    memcpy(w->copy, w->matrix, (size_t)(d * d) * sizeof(double));
    if (eigen_symmetric(w->copy, d, w->values, w->vectors, w->work) != 0)
        return -1;
    for (int64_t k = 0; k < d; k++)
        raised |= w->values[k] < self->floor;
    if (!raised) /* it is its own projection, to the last bit */
        return 0;
    noisy_raise(w->values, w->vectors, d, self->floor, w->matrix);
    return 0;
}

static void add_ridge(const dpf_query *query, double count, int64_t d, double *matrix)
{
    const double n = fmax(count, 0);
    for (int64_t i = 0; i < d; i++) {
        const double constant = query->ridge_constant ? query->ridge_constant[i] : 0;
        const double per_count = query->ridge_per_count ? query->ridge_per_count[i] : 0;
        matrix[i * d + i] += constant + per_count * n;
    }
}

/* As normal_settle_void: an unknown that nothing touches becomes 0. */
static void settle_void(double *matrix, const double *c, int64_t d)
{
    for (int64_t i = 0; i < d; i++) {
        int void_row = c[i] == 0;
        for (int64_t j = 0; j < d && void_row; j++)
            void_row = matrix[i * d + j] == 0;
        if (void_row)
            matrix[i * d + i] = 1;
    }
}

/* The row's coefficients in float64; 0 unless all are finite. */
static int load(const dpf_solve *batch, int64_t index, struct workspace *w, double *count)
{
    const float *row = batch->blocks + index * batch->blocks_stride;
    double sum = 0;
    memcpy(w->matrix, w->gram, (size_t)(w->d * w->d) * sizeof(double));
    normal_add_symmetric(w->blocks.a, row, w->d, w->matrix);
    *count = w->gram_count + (w->blocks.count ? (double)row[w->blocks.count->offset] : 0);
    for (int64_t i = 0; i < w->d; i++) {
        w->x[i] = 0.5 * ((double)row[w->blocks.b->offset + i] + w->gram_b[i]);
        sum += fabs(w->x[i]);
    }
    for (int64_t i = 0; i < w->d * w->d; i++)
        sum += fabs(w->matrix[i]);
    return isfinite(sum) && isfinite(*count);
}

static dpf_status solve_row(const struct psd *self, const dpf_solve *batch, int64_t index,
                            struct workspace *w)
{
    double count;
    if (!load(batch, index, w, &count))
        return normal_fail(self->host, batch, index, "its coefficients are not finite");
    if (project(self, w) != 0)
        return normal_fail(self->host, batch, index, "no eigenvalues of its matrix were found");
    add_ridge(batch->query, count, w->d, w->matrix);
    settle_void(w->matrix, w->x, w->d);
    if (noisy_solve(w->matrix, w->d, w->x) != 0)
        return normal_fail(self->host, batch, index,
                           "noise leaves its matrix singular; add regularisation, or raise floor above 0");
    return noisy_store(self->host, batch, index, w->x, w->d);
}

static dpf_status solve(void *instance, const dpf_call *call, const dpf_solve *batch)
{
    const struct psd *self = instance;
    struct workspace w;
    dpf_status status = workspace_get(self, call, batch, &w);
    if (status != DPF_OK)
        return status;
    normal_gram(batch, w.d, w.gram, w.gram_b, &w.gram_count);
    for (int64_t row = 0; status == DPF_OK && row < batch->n_rows; row++)
        status = solve_row(self, batch, row, &w);
    return status;
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct psd *self = *out;
    self->host = host;
    self->floor = params->values[P_FLOOR].real;
    return DPF_OK;
}

static const dpf_param params[P_COUNT] = {
    [P_FLOOR] = DPF_PARAM_REAL_F(
        "floor", 0, 0, 1e18, 0, "",
        "The least eigenvalue of a matrix before regularisation; smaller ones, which "
        "noise has made, are raised to it. At 0 regularisation has to hold the noise down; a "
        "floor that follows the noise needs little of it and is more accurate "
        "(configs/sweeps/noisy-solvers.ini)."),
};

static const dpf_solver functions = {
    .flags = DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE | DPF_SOLVER_RIDGE,
    .solve = solve,
};

DPF_COMPONENT(
    component, DPF_ROLE_SOLVER, functions, .id = "psd", .version = "1.0.0",
    .summary = "Minimiser of a noisy quadratic, its matrix projected onto the positive semidefinite ones",
    .citation = "Chien, Jain, Krichene, Rendle, Song, Thakurta, Zhang, Private alternating least squares, "
                "ICML 2021, Algorithm 2",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct psd))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.psd", "1.0.0", "Apache-2.0", component)
