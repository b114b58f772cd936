/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weighted_als.c - least squares over all cells, ratings with a confidence, empty cells as zeros.
 *
 *   L = sum_{records} (1 + kappa) (r - x.y)^2 + sum_{other cells} (x.y)^2 + lambda sum_rows |x|^2
 *
 * Eq. 3 and 4 of DPMF-RP; its minimiser in x is Eq. 5. All cells together are the Gram row Y'Y, so a
 * record contributes what it differs by from an empty cell: kappa y y' to A and 2 (1 + kappa) r y to b.
 * A record weight multiplies that difference. Unlike in implicit-als the target is the rating itself.
 */
#include <math.h>

#include "als_loss.h"
#include "als_norms.h"

enum { P_CONFIDENCE, P_LAMBDA, P_COUNT };

struct weighted {
    struct als_loss als;
    double confidence;
    double lambda;
};

static int coefficients(const void *loss, const dpf_query *query, const dpf_groups *groups, int64_t begin,
                        int64_t n, double *aw, double *t)
{
    const struct weighted *self = loss;
    (void)query;
    for (int64_t r = 0; r < n; r++) {
        const double w = groups->weights ? groups->weights[begin + r] : 1;
        aw[r] = w * self->confidence;
        if (t) {
            const double value = groups->values ? groups->values[begin + r] : 1;
            t[r] = 2 * w * (1 + self->confidence) * value;
        }
    }
    return 0;
}

static dpf_status query(void *instance, const dpf_side_info *info, dpf_query *out)
{
    struct weighted *self = instance;
    const dpf_host *host = self->als.model.host;
    if (info->bias >= 0 || info->columns != info->dimension)
        return host->fail(host, DPF_E_CONFIG, -1,
                          "weighted-als has no biases: set [model] user-bias and item-bias to no");
    struct als_ridge *ridge = &self->als.ridge[info->side];
    const dpf_status status = als_loss_query(&self->als, info, 0, out);
    if (status != DPF_OK)
        return status;
    for (int32_t i = 0; i < info->dimension; i++)
        ridge->constant[i] = (float)self->lambda;
    out->support = DPF_SUPPORT_DENSE;
    out->has_gram = 1;
    out->ridge_constant = ridge->constant;
    return DPF_OK;
}

static dpf_status sensitivity(void *instance, const dpf_query *q, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct weighted *self = instance;
    const double w = bounds->weight_max, kappa = self->confidence;
    const double most = fmax(fabs(bounds->value_lo), fabs(bounds->value_hi));
    const dpf_norms y = als_vector_norms(bounds), zero = {0, 0, 0};
    const dpf_norms outer = als_outer_norms(&y, als_block(q, DPF_BLOCK_QUADRATIC)->layout, bounds);
    const struct als_contribution c = {
        .present = {als_scaled(outer, w * kappa), als_scaled(y, 2 * w * (1 + kappa) * most), zero},
        .revalued = {zero, als_scaled(y, 2 * w * (1 + kappa) * (bounds->value_hi - bounds->value_lo)), zero},
        .psd = 1,
    };
    als_unit_sensitivity(q, bounds, &c, 1, blocks);
    als_gram_sensitivity(q, bounds, 1, 1, gram);
    return DPF_OK;
}

static dpf_status gram_part(void *instance, const dpf_call *call, const dpf_query *q,
                            const dpf_factors *other, int64_t first, int64_t count, double *out)
{
    const struct weighted *self = instance;
    return als_gram(&self->als.model, call, q, other, first, count, 1, out);
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct weighted *self = *out;
    als_loss_start(&self->als, host);
    self->als.model.coefficients = coefficients;
    self->als.needs_no_offset = "weighted-als predicts without an offset, since empty cells have the "
                                "target 0: set [model] offset = none";
    self->confidence = params->values[P_CONFIDENCE].real;
    self->lambda = params->values[P_LAMBDA].real;
    return DPF_OK;
}

static const dpf_param params[P_COUNT] = {
    [P_CONFIDENCE] = DPF_PARAM_REAL_F("confidence", 15, 0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI,
                                      "", "Kappa: a rated cell weighs 1 + kappa, every other cell 1."),
    [P_LAMBDA] = DPF_PARAM_REAL_F("lambda", 0.25, 0, INFINITY, DPF_PARAM_OPEN_HI, "",
                                  "Weight of a row's squared norm, once for each row."),
};

static const dpf_loss functions = {
    .layouts = ALS_LAYOUTS,
    .flags = DPF_LOSS_NO_OFFSET,
    .query = query,
    .sensitivity = sensitivity,
    .gram = gram_part,
    .accumulate = als_loss_accumulate,
    .accumulate_local = als_loss_accumulate_local,
    .apply = als_loss_apply,
};

DPF_COMPONENT(component, DPF_ROLE_LOSS, functions, .id = "weighted-als", .version = "1.0.0",
              .summary = "Least squares over all cells: ratings with a confidence, empty cells as zeros",
              .citation =
                  "Differentially private matrix factorization with secure aggregation and random projection "
                  "(DPMF-RP), Eq. 3-5; Hu, Koren, Volinsky (ICDM 2008)",
              DPF_PARAMS(params), .create = create, .destroy = als_loss_destroy,
              .instance_bytes = sizeof(struct weighted))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.weighted-als", "1.0.0", "Apache-2.0", component)
