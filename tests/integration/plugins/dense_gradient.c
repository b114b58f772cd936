/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loss over every cell: the gradient of (1/2) (<x, y> - t)^2, where t is the rating of an observed cell
 * and 0 elsewhere. Slow and simple.
 */
#include "stateless.h"

static dpf_status query(void *self, const dpf_side_info *info, dpf_query *out)
{
    (void)self;
    dpf_gradient_query(out, info->dimension, info->first, DPF_SUPPORT_DENSE);
    return DPF_OK;
}

static dpf_status sensitivity(void *self, const dpf_query *q, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    (void)self;
    (void)q;
    (void)bounds;
    (void)blocks;
    (void)gram;
    return DPF_OK; /* nothing is proved */
}

static void add_cell(const dpf_groups *g, const dpf_query *q, int64_t group, int64_t other, double target,
                     double grid, double *out)
{
    const float *x = dpf_row(g->self, g->rows[group]), *y = dpf_row(g->other, other);
    double error = g->offset - target;
    for (int32_t c = 0; c < g->self->cols; c++)
        error += (double)x[c] * y[c];
    for (int32_t c = 0; c < q->dimension; c++)
        out[c] += dpf_on_grid(error * y[q->first + c], grid);
}

static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *q, const dpf_groups *g,
                             const double *grid, double *out, int64_t stride)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < g->n_groups; i++) {
        int64_t first = g->party_row >= 0 ? g->party_row : 0;
        int64_t end = g->party_row >= 0 ? first + 1 : g->other->rows;
        int64_t at = g->offsets[i];
        memset(out + i * stride, 0, (size_t)q->width * sizeof(double));
        for (int64_t other = first; other < end; other++) {
            int observed = at < g->offsets[i + 1] && g->others[at] == other;
            double target = !observed ? 0 : g->values ? (double)g->values[at] : 1;
            at += observed;
            add_cell(g, q, i, other, target, grid ? grid[0] : 0, out + i * stride);
        }
    }
    return DPF_OK;
}

static const dpf_loss functions = {.query = query, .sensitivity = sensitivity, .accumulate = accumulate};

STATELESS_PLUGIN(DPF_ROLE_LOSS, "test-dense", NULL, 0, functions)
