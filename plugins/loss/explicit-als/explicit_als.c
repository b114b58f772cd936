/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explicit-als - regularised least squares over the rated cells.
 *
 *   L = sum_{records} w (r - offset - x.y)^2 + lambda sum_rows n |x|^2    (regularization = frequency)
 *                                            + lambda sum_rows |x|^2      (regularization = constant)
 *
 * as in Zhou et al. (AAIM 2008). With biases a row's own bias is one more unknown, paired with a
 * constant 1 and regularised by bias-lambda alone; the other side's bias is subtracted from r.
 */
#include <math.h>

#include "als_loss.h"
#include "als_norms.h"

enum { P_LAMBDA, P_REGULARIZATION, P_BIAS_LAMBDA, P_COUNT };
enum { FREQUENCY, CONSTANT };

struct explicit_als {
    struct als_loss als;
    double lambda;
    double bias_lambda;
    int regularization;
    int has_bias[2];
    int n_fixed[2]; /* columns of a row that are constant 1 */
};

/* What the columns that are constant on the solved side contribute to a prediction. */
static double fixed_part(const dpf_query *query, const dpf_factors *other, int32_t row)
{
    const float *y = dpf_row(other, row);
    double sum = 0;
    for (int32_t c = 0; c < query->first; c++)
        sum += y[c];
    for (int32_t c = query->first + query->dimension; c < other->cols; c++)
        sum += y[c];
    return sum;
}

static int coefficients(const void *loss, const dpf_query *query, const dpf_groups *groups, int64_t begin,
                        int64_t n, double *aw, double *t)
{
    (void)loss;
    for (int64_t r = 0; r < n; r++) {
        const double w = groups->weights ? groups->weights[begin + r] : 1;
        aw[r] = w;
        if (t) {
            const double value = groups->values ? groups->values[begin + r] : 1;
            t[r] = 2 * w *
                   (value - groups->offset - fixed_part(query, groups->other, groups->others[begin + r]));
        }
    }
    return groups->weights == NULL;
}

static dpf_status query(void *instance, const dpf_side_info *info, dpf_query *out)
{
    struct explicit_als *self = instance;
    const int frequency = self->regularization == FREQUENCY;
    struct als_ridge *ridge = &self->als.ridge[info->side];
    const dpf_status status = als_loss_query(&self->als, info, frequency, out);
    if (status != DPF_OK)
        return status;
    self->has_bias[info->side] = info->bias >= 0;
    self->n_fixed[info->side] = info->columns - info->dimension;
    for (int32_t i = 0; i < info->dimension; i++) {
        const int bias = info->bias >= 0 && i == info->bias - info->first;
        ridge->per_count[i] = frequency && !bias ? (float)self->lambda : 0;
        ridge->constant[i] = bias ? (float)self->bias_lambda : frequency ? 0 : (float)self->lambda;
    }
    out->support = DPF_SUPPORT_OBSERVED;
    out->ridge_per_count = ridge->per_count;
    out->ridge_constant = ridge->constant;
    return DPF_OK;
}

/*
 * With biases a row y holds a constant 1 which may or may not be part of the stated norms; it is added,
 * which is right in the one case and safe in the other. The other side's bias, which is subtracted from
 * the value, is no part of the rows that a transform may have shortened: residual_l2 has it.
 */
static dpf_norms row_norms(const struct explicit_als *self, const dpf_bounds *bounds)
{
    dpf_norms y = als_vector_norms(bounds);
    if (self->has_bias[bounds->side]) {
        y.l1 += 1;
        y.l2 = sqrt(y.l2 * y.l2 + 1);
        y.linf = fmax(y.linf, 1);
    }
    return y;
}

static dpf_status sensitivity(void *instance, const dpf_query *q, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct explicit_als *self = instance;
    const int n_fixed = self->n_fixed[bounds->side];
    const double bias = fmax(als_vector_norms(bounds).linf, bounds->residual_l2);
    const double fixed = n_fixed ? n_fixed * bias : 0;
    const double w = bounds->weight_max;
    const double low = bounds->value_lo - bounds->offset - fixed;
    const double high = bounds->value_hi - bounds->offset + fixed;
    const double residual = fmax(fabs(low), fabs(high));
    const dpf_norms y = row_norms(self, bounds), one = {1, 1, 1}, zero = {0, 0, 0};
    const dpf_norms outer = als_outer_norms(&y, als_block(q, DPF_BLOCK_QUADRATIC)->layout, bounds);
    const struct als_contribution c = {
        .present = {als_scaled(outer, w), als_scaled(y, 2 * w * residual), als_scaled(one, w)},
        .revalued = {zero, als_scaled(y, 2 * w * als_value_change(bounds)), zero},
        .psd = 1,
    };
    (void)gram;
    als_unit_sensitivity(q, bounds, &c, 0, blocks);
    return DPF_OK;
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct explicit_als *self = *out;
    als_loss_start(&self->als, host);
    self->als.model.coefficients = coefficients;
    self->lambda = params->values[P_LAMBDA].real;
    self->bias_lambda = params->values[P_BIAS_LAMBDA].real;
    self->regularization = (int)params->values[P_REGULARIZATION].integer;
    return DPF_OK;
}

static const dpf_enum_value regularizations[] = {
    [FREQUENCY] = {"frequency", "lambda times the number of the row's records"},
    [CONSTANT] = {"constant", "lambda for every row"},
};
static const dpf_param params[P_COUNT] = {
    [P_LAMBDA] =
        DPF_PARAM_REAL_F("lambda", 0.1, 0, INFINITY, DPF_PARAM_OPEN_HI, "", "Regularisation of the factors."),
    [P_REGULARIZATION] = DPF_PARAM_ENUM_F("regularization", FREQUENCY, regularizations, DPF_PARAM_PRIVACY,
                                          "The factor of lambda; a frequency is one more number to release."),
    [P_BIAS_LAMBDA] = DPF_PARAM_REAL_F("bias-lambda", 5, 0, INFINITY, DPF_PARAM_OPEN_HI, "",
                                       "Regularisation of a row's bias, without any factor."),
};

static const dpf_loss functions = {
    .layouts = ALS_LAYOUTS,
    .query = query,
    .sensitivity = sensitivity,
    .accumulate = als_loss_accumulate,
    .accumulate_local = als_loss_accumulate_local,
    .apply = als_loss_apply,
    .accumulate_scaled = als_loss_accumulate_scaled,
};

DPF_COMPONENT(component, DPF_ROLE_LOSS, functions, .id = "explicit-als", .version = "1.0.0",
              .summary = "Regularised least squares over the rated cells",
              .citation = "Zhou, Wilkinson, Schreiber, Pan (AAIM 2008)", DPF_PARAMS(params), .create = create,
              .destroy = als_loss_destroy, .instance_bytes = sizeof(struct explicit_als))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.explicit-als", "1.0.0", "Apache-2.0", component)
