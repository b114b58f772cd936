/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_loss.h - the gradient of the squared error; a bad plugin overrides parts. */
#ifndef DPF_TESTS_SPECIMEN_LOSS_H
#define DPF_TESTS_SPECIMEN_LOSS_H

#include "specimen_role.h"

#ifndef STATED
#define STATED(L2) (L2)
#endif
#ifndef RECORDS_OF
#define RECORDS_OF(N) ((double)(N))
#endif
#ifndef ON_GRID
#define ON_GRID(X, GRID) dpf_on_grid(X, GRID)
#endif
#ifndef FIRST_OF /* what a row begins with, before its n records are added */
#define FIRST_OF(N) ((void)(N), 0.0)
#endif
#ifndef LOSS_FLAGS
#define LOSS_FLAGS 0
#endif

static dpf_status query(void *self, const dpf_side_info *info, dpf_query *out)
{
    (void)self;
    *out = (dpf_query){.size = sizeof *out,
                       .form = DPF_FORM_GRADIENT,
                       .dimension = info->dimension,
                       .first = info->first,
                       .width = info->dimension,
                       .support = DPF_SUPPORT_OBSERVED,
                       .n_blocks = 1};
    out->blocks[0] = (dpf_block){.kind = DPF_BLOCK_GRADIENT, .length = info->dimension};
    return DPF_OK;
}

static dpf_status sensitivity(void *self, const dpf_query *q, const dpf_bounds *b, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    (void)self, (void)q, (void)gram;
    /* -2 w (v - offset - <x, y>) y: two values differ by 2 w (hi - lo) |y|. */
    double l2 = STATED(2 * b->weight_max * (b->value_hi - b->value_lo) * b->other_l2);
    double root = sqrt((double)b->dimension);
    blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE] = (dpf_norms){l2 * root, l2, l2};
    /* A user adds at most n terms 2 w |v - offset - <x, y>| |y|, in one row or in several. */
    double residual =
        fmax(fabs(b->value_lo - b->offset), fabs(b->value_hi - b->offset)) + b->self_l2 * b->other_l2;
    double user = RECORDS_OF(b->records_per_user) * 2 * b->weight_max * residual * b->other_l2;
    blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = (dpf_norms){user * root, user, user};
    return DPF_OK;
}

static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *q, const dpf_groups *groups,
                             const double *grid, double *out, int64_t stride)
{
    (void)self, (void)call;
    for (int64_t g = 0; g < groups->n_groups; g++) {
        const float *x = dpf_row(groups->self, groups->rows[g]) + q->first;
        memset(out + g * stride, 0, (size_t)q->width * sizeof *out);
        out[g * stride] = FIRST_OF(groups->offsets[g + 1] - groups->offsets[g]);
        for (int64_t i = groups->offsets[g]; i < groups->offsets[g + 1]; i++) {
            const float *y = dpf_row(groups->other, groups->others[i]) + q->first;
            double residual = (groups->values ? (double)groups->values[i] : 1) - groups->offset;
            for (int32_t c = 0; c < q->dimension; c++)
                residual -= (double)x[c] * (double)y[c];
            residual *= groups->weights ? (double)groups->weights[i] : 1;
            if (!isfinite(residual))
                return DPF_E_NUMERIC;
            for (int32_t c = 0; c < q->dimension; c++)
                out[g * stride + c] += ON_GRID(-2 * residual * (double)y[c], grid ? grid[0] : 0);
        }
    }
    return DPF_OK;
}

static const dpf_loss functions = {
    .flags = LOSS_FLAGS, .query = query, .sensitivity = sensitivity, .accumulate = accumulate};
SPECIMEN_OF(DPF_ROLE_LOSS, functions)

#endif
