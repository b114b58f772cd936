/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_loss.c - the gradient of Huber's loss: that of half the squared error, with residuals cut at a bound.
 *
 * For a row x and a record (y, value) the residual is e = value - offset - <x, y>, and the record adds
 * -w clip(e) y to the gradient of row x, where clip cuts to [-c, c] and w is the record's weight.
 *
 * Sensitivity. A record adds at most w c |y| in any norm. If its value changes by v, clip(e) changes by at
 * most min(v, 2 c). A user with n records adds at most n times as much as one record; replacing them all is a
 * removal and an addition. Bounds that are infinite give infinite sensitivities, which is right: no noise
 * hides them.
 */
#include <math.h>

#include "dpframe/dpframe.h"

static const dpf_param params[] = {
    DPF_PARAM_REAL_F("clip", 1.0, 0.0, 1e18, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                     "Residuals are cut to [-clip, clip]."),
};

struct huber {
    double clip;
};

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    (void)host;
    struct huber *huber = *self;
    huber->clip = given->values[0].real;
    return DPF_OK;
}

/* One block: a gradient of as many numbers as a row has unknowns. */
static dpf_status query(void *self, const dpf_side_info *info, dpf_query *out)
{
    (void)self;
    dpf_gradient_query(out, info->dimension, info->first, DPF_SUPPORT_OBSERVED);
    return DPF_OK;
}

static dpf_norms times(double factor, const dpf_bounds *bounds)
{
    factor *= bounds->weight_max * (1 + 1e-12); /* rounding */
    return (dpf_norms){factor * bounds->other_l1, factor * bounds->other_l2, factor * bounds->other_linf};
}

/* Entries that are not written stay NaN: nothing is stated about that unit and adjacency. */
static dpf_status sensitivity(void *self, const dpf_query *of, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    const double c = ((const struct huber *)self)->clip;
    const double range = bounds->value_hi - bounds->value_lo;
    const double change = bounds->value_change > 0 ? fmin(bounds->value_change, range) : range;
    const double n =
        bounds->records_per_user == INT64_MAX ? (double)INFINITY : (double)bounds->records_per_user;
    dpf_norms *record = blocks[0].at[DPF_UNIT_RECORD], *user = blocks[0].at[DPF_UNIT_USER];
    (void)of, (void)gram, (void)joint;
    record[DPF_ADJ_REPLACE_VALUE] = times(fmin(change, 2 * c), bounds);
    record[DPF_ADJ_ADD_REMOVE] = record[DPF_ADJ_ZERO_OUT] = times(c, bounds);
    user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = times(n * c, bounds);
    user[DPF_ADJ_REPLACE] = times(2 * n * c, bounds);
    return DPF_OK;
}

/* Each number that a record adds is rounded to the grid, so that sums do not depend on their order. */
static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *of, const dpf_groups *groups,
                             const double *grid, double *out, int64_t stride)
{
    const double c = ((const struct huber *)self)->clip;
    for (int64_t g = 0; g < groups->n_groups; g++) {
        const float *x = dpf_row(groups->self, groups->rows[g]) + of->first;
        double *gradient = out + g * stride;
        memset(gradient, 0, (size_t)of->width * sizeof *gradient);
        for (int64_t i = groups->offsets[g]; i < groups->offsets[g + 1]; i++) {
            const float *y = dpf_row(groups->other, groups->others[i]) + of->first;
            const float *from = dpf_row(groups->residual, groups->others[i]) + of->first;
            double e = (groups->values ? (double)groups->values[i] : 1) - groups->offset;
            for (int32_t k = 0; k < of->dimension; k++)
                e -= (double)x[k] * (double)from[k];
            if (!isfinite(e))
                return call->host->fail(call->host, DPF_E_NUMERIC, -1, "a residual is not finite");
            e = fmin(fmax(e, -c), c) * (groups->weights ? (double)groups->weights[i] : 1);
            for (int32_t k = 0; k < of->dimension; k++)
                gradient[k] += dpf_on_grid(-e * (double)y[k], grid ? grid[0] : 0);
        }
    }
    return DPF_OK;
}

static const dpf_loss functions = {.query = query, .sensitivity = sensitivity, .accumulate = accumulate};

DPF_COMPONENT(component, DPF_ROLE_LOSS, functions, .id = "acme-loss", .version = "1.0.0",
              .summary = "Gradient of Huber's loss", .citation = "Huber, Ann. Math. Statist. 35(1), 1964",
              DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct huber))

DPF_SINGLE_COMPONENT_PLUGIN("com.acme.loss", "1.0.0", "Apache-2.0", component)
