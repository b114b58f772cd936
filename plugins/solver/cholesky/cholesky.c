/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cholesky - the exact minimiser of a positive definite quadratic: (A + ridge) x = b / 2.
 Float32 throughout.
 */
#include <math.h>
#include <string.h>

#include "cholesky_kernels.h"
#include "dpframe/plugin.h"
#include "simd.h"

struct cholesky {
    const dpf_host *host;
    const struct cholesky_kernels *kernels;
};

struct workspace {
    float *matrix, *rhs, *x, *inverse;
};

static dpf_status workspace_get(const struct cholesky *self, const dpf_call *call, const dpf_solve *batch,
                                struct workspace *w, struct normal *normal)
{
    const int64_t p = simd_padded(batch->query->dimension);
    const int64_t floats = 2 * p * p + 4 * p;
    float *at = call->scratch(call, (uint64_t)floats * sizeof(float));
    if (!at)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of scratch memory for a matrix");
    w->rhs = at;
    w->x = at + p;
    w->inverse = at + 2 * p;
    float *base_b = at + 3 * p, *base = at + 4 * p;
    w->matrix = base + p * p;
    return normal_prepare(self->host, batch, base, base_b, normal);
}

static void load(const struct cholesky *self, const struct normal *n, int64_t row, float *matrix)
{
    const dpf_block *a = n->a;
    const float *blocks = n->batch->blocks + row * n->batch->blocks_stride;
    if (a->layout == DPF_LAYOUT_LOWER && a->ld == n->padded && a->length == a->ld * n->d)
        self->kernels->add_lower(n->base, blocks + a->offset, n->d, n->padded, matrix);
    else
        normal_matrix_general(n, row, matrix);
    normal_add_count(n, row, matrix);
}

static dpf_status solve_row(const struct cholesky *self, const struct normal *n, int64_t row,
                            const struct workspace *w)
{
    const dpf_solve *batch = n->batch;
    load(self, n, row, w->matrix);
    normal_rhs(n, row, w->rhs);
    float *next = batch->next + row * batch->next_stride + batch->query->first;
    normal_settle_void(n, w->matrix, w->rhs);
    memcpy(w->x, w->rhs, (size_t)n->padded * sizeof(float));
    if (self->kernels->factor(w->matrix, n->padded, w->inverse, w->x) >= 0)
        return normal_fail(self->host, batch, row,
                           "its matrix is not positive definite; add regularisation or use solver ball");
    self->kernels->second_half(w->matrix, n->padded, w->inverse, w->x);
    for (int64_t i = 0; i < n->d; i++) {
        if (!isfinite(w->x[i]))
            return normal_fail(self->host, batch, row,
                               "its solution is not finite; add regularisation or use solver ball");
        next[i] = w->x[i];
    }
    return DPF_OK;
}

static dpf_status solve(void *instance, const dpf_call *call, const dpf_solve *batch)
{
    const struct cholesky *self = instance;
    struct workspace w = {0};
    struct normal normal;
    dpf_status status = workspace_get(self, call, batch, &w, &normal);
    for (int64_t row = 0; status == DPF_OK && row < batch->n_rows; row++)
        status = solve_row(self, &normal, row, &w);
    return status;
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    const struct cholesky_kernels *kernels = cholesky_kernels_find(SIMD_KIND_AUTO);
    struct cholesky *self = *out;
    (void)params;
    *self = (struct cholesky){host, kernels};
    return DPF_OK;
}

static const dpf_solver functions = {
    .flags = DPF_SOLVER_QUADRATIC,
    .solve = solve,
};

DPF_COMPONENT(component, DPF_ROLE_SOLVER, functions, .id = "cholesky", .version = "1.0.0",
              .summary = "Exact minimiser of a positive definite quadratic", .citation = "", .create = create,
              .instance_bytes = sizeof(struct cholesky))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.cholesky", "1.0.0", "Apache-2.0", component)
