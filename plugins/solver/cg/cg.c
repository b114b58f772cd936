/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg - a few conjugate-gradient steps on (A + ridge) x = b / 2, from the row as it stands.
 *
 * In operator form A is never formed: a step costs O(records d) and not O(records d^2), which pays from
 * some hundred unknowns on (Takacs, Pilaszy, Tikk, RecSys 2011). Rows step in groups, so that the gram
 * matrix is read once for several of them while their records stay in cache. Each row's numbers are
 * its own: results do not depend on how rows are grouped.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cg_kernels.h"
#include "dpframe/plugin.h"
#include "normal_equations.h"
#include "simd.h"

#define CACHE_BYTES (512 * 1024)

enum { P_STEPS, P_TOLERANCE, P_COUNT };

struct cg {
    const dpf_host *host;
    const struct cg_kernels *kernels;
    int64_t steps;
    double tolerance;
};

/* Rows first .. first + count - 1 of a batch, each vector CG_GROUP x padded. */
struct group {
    const struct normal *normal;
    float *gram;    /* dense: base, or base + A of the only row if A is formed */
    float *columns; /* the transposed factor of a product */
    float *rhs, *x, *residual, *direction, *image;
    int64_t first, count;
    float norm2[CG_GROUP];   /* of the residual; 0 once a row is done */
    float target2[CG_GROUP]; /* where it is done */
};

static void mirror(float *matrix, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            matrix[j * n + i] = matrix[i * n + j];
    }
}

/* image = (A + gram + ridge) vectors. */
static dpf_status multiply(const struct cg *self, const struct group *g, const float *vectors)
{
    const struct normal *n = g->normal;
    const dpf_solve *batch = n->batch;
    const int64_t p = n->padded;
    const float *ridge = batch->query->ridge_per_count;
    if (g->count == 1) {
        self->kernels->multiply_one(g->gram, p, vectors, g->image);
    } else {
        for (int64_t i = 0; i < p; i++) {
            for (int64_t row = 0; row < CG_GROUP; row++)
                g->columns[i * CG_GROUP + row] = vectors[row * p + i];
        }
        self->kernels->multiply(g->gram, p, g->columns, g->image);
    }
    if (!batch->product) /* then count and records are part of the dense matrix */
        return DPF_OK;
    float *part = g->columns; /* has served */
    const dpf_status status = batch->product(batch->product_context, g->first, g->count, vectors, p, part, p);
    for (int64_t row = 0; status == DPF_OK && row < g->count; row++) {
        self->kernels->add(1, part + row * p, p, g->image + row * p);
        if (!ridge || !n->count)
            continue;
        const float count = batch->blocks[(g->first + row) * batch->blocks_stride + n->count->offset];
        for (int64_t i = 0; i < n->d; i++)
            g->image[row * p + i] += ridge[i] * count * vectors[row * p + i];
    }
    return status;
}

static dpf_status start(const struct cg *self, struct group *g)
{
    const struct normal *n = g->normal;
    const dpf_solve *batch = n->batch;
    const int64_t p = n->padded;
    memset(g->x, 0, (size_t)(CG_GROUP * p) * sizeof(float));
    memset(g->direction, 0, (size_t)(CG_GROUP * p) * sizeof(float));
    for (int64_t row = 0; row < g->count; row++) {
        const float *current =
            batch->current + (g->first + row) * batch->current_stride + batch->query->first;
        float *rhs = g->rhs + row * p;
        normal_rhs(n, g->first + row, rhs);
        const float b2 = self->kernels->dot(rhs, rhs, p);
        if (!isfinite(b2)) /* any residual would be small beside it */
            return normal_fail(self->host, batch, g->first + row,
                               "its right side, or the square of it, is not finite");
        /* Below the rounding of its numbers a residual says nothing any more, not even the sign of its curvature. */
        const double least = fmax(self->tolerance, (double)FLT_EPSILON);
        g->target2[row] = (float)(least * least) * b2;
        if (b2 != 0) /* else the answer is 0, wherever the row stands */
            memcpy(g->x + row * p, current, (size_t)n->d * sizeof(float));
    }
    const dpf_status status = multiply(self, g, g->x);
    for (int64_t row = 0; status == DPF_OK && row < g->count; row++) {
        float *r = g->residual + row * p;
        memcpy(r, g->rhs + row * p, (size_t)p * sizeof(float));
        self->kernels->add(-1, g->image + row * p, p, r);
        memcpy(g->direction + row * p, r, (size_t)p * sizeof(float));
        g->norm2[row] = self->kernels->dot(r, r, p);
    }
    return status;
}

static int is_done(const struct group *g, int64_t row)
{
    return g->norm2[row] <= g->target2[row];
}

static dpf_status step_row(const struct cg *self, struct group *g, int64_t row)
{
    const int64_t p = g->normal->padded;
    float *direction = g->direction + row * p, *residual = g->residual + row * p;
    const float *image = g->image + row * p;
    const float curvature = self->kernels->dot(direction, image, p);
    if (!(curvature > 0))
        return normal_fail(self->host, g->normal->batch, g->first + row,
                           "its matrix is not positive definite; add regularisation or use solver ball");
    const float length = g->norm2[row] / curvature, before = g->norm2[row];
    self->kernels->add(length, direction, p, g->x + row * p);
    self->kernels->add(-length, image, p, residual);
    g->norm2[row] = self->kernels->dot(residual, residual, p);
    self->kernels->renew(g->norm2[row] / before, residual, p, direction);
    if (is_done(g, row))
        memset(direction, 0, (size_t)p * sizeof(float));
    return DPF_OK;
}

static dpf_status step(const struct cg *self, struct group *g)
{
    dpf_status status = multiply(self, g, g->direction);
    for (int64_t row = 0; status == DPF_OK && row < g->count; row++) {
        if (!is_done(g, row))
            status = step_row(self, g, row);
    }
    return status;
}

static int all_done(const struct group *g)
{
    for (int64_t row = 0; row < g->count; row++) {
        if (!is_done(g, row))
            return 0;
    }
    return 1;
}

static dpf_status solve_group(const struct cg *self, struct group *g)
{
    const struct normal *n = g->normal;
    const dpf_solve *batch = n->batch;
    dpf_status status = start(self, g);
    for (int64_t i = 0; status == DPF_OK && i < self->steps && !all_done(g); i++)
        status = step(self, g);
    for (int64_t row = 0; status == DPF_OK && row < g->count; row++) {
        float *next = batch->next + (g->first + row) * batch->next_stride + batch->query->first;
        for (int64_t i = 0; i < n->d; i++) {
            next[i] = g->x[row * n->padded + i];
            if (!isfinite(next[i]))
                return normal_fail(self->host, batch, g->first + row,
                                   "its solution is not finite; add regularisation or use solver ball");
        }
    }
    return status;
}

/*
 * How many rows step together from here: as many as leave their records in the second-level cache between
 * products. The count is only a hint.
 */
static int64_t group_size(const struct normal *n, int64_t first)
{
    const dpf_solve *batch = n->batch;
    int64_t rows = 0;
    double bytes = 0;
    for (; rows < CG_GROUP && first + rows < batch->n_rows; rows++) {
        if (n->count)
            bytes += batch->blocks[(first + rows) * batch->blocks_stride + n->count->offset] * 4.0 *
                     (double)n->padded;
        if (rows > 0 && bytes > CACHE_BYTES)
            break;
    }
    return rows;
}

static dpf_status solve(void *instance, const dpf_call *call, const dpf_solve *batch)
{
    const struct cg *self = instance;
    const int64_t p = simd_padded(batch->query->dimension), vectors = CG_GROUP * p;
    float *at = call->scratch(call, (uint64_t)(2 * p * p + p + 6 * vectors) * sizeof(float));
    if (!at)
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of scratch memory for a matrix");
    struct normal normal;
    float *base = at + 6 * vectors, *matrix = base + p * p;
    dpf_status status = normal_prepare(self->host, batch, base, matrix + p * p, &normal);
    struct group g = {.normal = &normal, .gram = base};
    g.columns = at;
    g.rhs = at + vectors;
    g.x = at + 2 * vectors;
    g.residual = at + 3 * vectors;
    g.direction = at + 4 * vectors;
    g.image = at + 5 * vectors;
    if (status == DPF_OK && batch->product)
        mirror(base, p);
    for (; status == DPF_OK && g.first < batch->n_rows; g.first += g.count) {
        g.count = 1;
        if (batch->product) {
            g.count = group_size(&normal, g.first);
        } else {
            normal_matrix_general(&normal, g.first, matrix);
            normal_add_count(&normal, g.first, matrix);
            mirror(matrix, p);
            g.gram = matrix;
        }
        status = solve_group(self, &g);
    }
    return status;
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    const struct cg_kernels *kernels = cg_kernels_find(SIMD_KIND_AUTO);
    struct cg *self = *out;
    *self = (struct cg){host, kernels, params->values[P_STEPS].integer, params->values[P_TOLERANCE].real};
    return DPF_OK;
}

static const dpf_param params[P_COUNT] = {
    [P_STEPS] = DPF_PARAM_INT_F("steps", 3, 1, 10000, 0, "steps",
                                "Most steps of a solve; each solve starts from the last solution."),
    [P_TOLERANCE] = DPF_PARAM_REAL_F("tolerance", 1e-6, 0, 1, 0, "",
                                     "A row is done when its residual is this small, relative to b / 2."),
};

static const dpf_solver functions = {
    .flags = DPF_SOLVER_QUADRATIC | DPF_SOLVER_OPERATOR,
    .solve = solve,
};

DPF_COMPONENT(component, DPF_ROLE_SOLVER, functions, .id = "cg", .version = "1.0.0",
              .summary = "A few warm-started conjugate-gradient steps; fast for many unknowns",
              .citation = "Takacs, Pilaszy, Tikk (RecSys 2011)", DPF_PARAMS(params), .create = create,
              .instance_bytes = sizeof(struct cg))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.cg", "1.0.0", "Apache-2.0", component)
