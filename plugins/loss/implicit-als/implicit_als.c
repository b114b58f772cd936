/* SPDX-License-Identifier: Apache-2.0 */
/*
 * implicit-als - weighted least squares over all cells, for implicit feedback.
 *
 *   L = sum_{records} w c (p.q - 1)^2 + alpha0 sum_{all cells} (p.q)^2
 *       + lambda sum_rows (n + alpha0 N)^nu |q|^2
 *
 * with c = 1 + confidence * value, record weights w, n the row's (weighted) records and N the rows of
 * the other side: Eq. 1, 2, 6 and 7 of DPIMF, and the frequency exponent of Rendle et al. (2021). A
 * row's part is sum w c y y', 2 sum w c y and n; all cells together are the Gram row alpha0 Y'Y. With
 * nu = 0 the ridge is the public constant lambda, and no count is asked for.
 */
#include <math.h>

#include "als_loss.h"
#include "als_norms.h"

enum { P_UNOBSERVED, P_LAMBDA, P_NU, P_CONFIDENCE, P_CELLS, P_COUNT };
enum { CELLS_ALL, CELLS_OWN };

struct implicit {
    struct als_loss als;
    double unobserved;
    double lambda;
    double nu;
    double confidence;
    int64_t cells; /* CELLS_* */
    double n_other[2];
};

static int coefficients(const void *loss, const dpf_query *query, const dpf_groups *groups, int64_t begin,
                        int64_t n, double *aw, double *t)
{
    const struct implicit *self = loss;
    const double constant = groups->values ? 1 : 1 + self->confidence;
    const int plain = !groups->weights && (self->confidence == 0);
    (void)query;
    for (int64_t r = 0; r < n; r++) {
        double c = constant;
        if (groups->values)
            c += self->confidence * groups->values[begin + r];
        if (groups->weights)
            c *= groups->weights[begin + r];
        aw[r] = c;
        if (t)
            t[r] = 2 * c;
    }
    return plain;
}

static double diagonal(const void *loss, int32_t side, double count)
{
    const struct implicit *self = loss;
    return self->lambda * pow(count + self->unobserved * self->n_other[side], self->nu);
}

static dpf_status query(void *instance, const dpf_side_info *info, dpf_query *out)
{
    struct implicit *self = instance;
    const dpf_host *host = self->als.model.host;
    if (info->bias >= 0 || info->columns != info->dimension)
        return host->fail(host, DPF_E_CONFIG, -1,
                          "implicit-als has no biases: set [model] user-bias and item-bias to no");
    const int frequency = self->nu != 0 && self->nu != 1;
    if (frequency && self->cells == CELLS_OWN)
        return host->fail(host, DPF_E_CONFIG, P_CELLS,
                          "cells = own needs a regulariser that is linear in the count: set nu = 1");
    if (frequency && info->is_released)
        return host->fail(host, DPF_E_CONFIG, P_NU,
                          "on a released side the regulariser must be linear in the count (nu = 1) or a "
                          "public constant (nu = 0)");
    struct als_ridge *ridge = &self->als.ridge[info->side];
    const dpf_status status = als_loss_query(&self->als, info, self->nu == 1, out);
    if (status != DPF_OK)
        return status;
    self->n_other[info->side] = (double)info->n_other;
    out->support = DPF_SUPPORT_DENSE;
    out->has_gram = self->unobserved > 0;
    if (self->nu == 1) { /* between 0 and 1 the regulariser is part of A: see diagonal */
        for (int32_t i = 0; i < info->dimension; i++) {
            ridge->per_count[i] = (float)self->lambda;
            ridge->constant[i] = (float)(self->lambda * self->unobserved * (double)info->n_other);
        }
        out->ridge_per_count = ridge->per_count;
        out->ridge_constant = self->cells == CELLS_ALL ? ridge->constant : NULL;
    } else if (self->nu == 0) {
        for (int32_t i = 0; i < info->dimension; i++)
            ridge->constant[i] = (float)self->lambda;
        out->ridge_constant = ridge->constant;
    }
    return DPF_OK;
}

/* Whether alpha0 N is the count of the Gram row, or a constant of the ridge. */
static int counts_rows(const dpf_query *q)
{
    return q->ridge_per_count && !q->ridge_constant;
}

static dpf_status sensitivity(void *instance, const dpf_query *q, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct implicit *self = instance;
    const double w = bounds->weight_max, conf = self->confidence;
    const double low = conf == 0 ? 1 : 1 + conf * bounds->value_lo;
    const double high = conf == 0 ? 1 : 1 + conf * bounds->value_hi;
    const double most = w * fmax(fabs(low), fabs(high));
    const double change = conf == 0 ? 0 : w * conf * als_value_change(bounds);
    const dpf_norms y = als_vector_norms(bounds), one = {1, 1, 1}, zero = {0, 0, 0};
    const dpf_norms outer = als_outer_norms(&y, als_block(q, DPF_BLOCK_QUADRATIC)->layout, bounds);
    const struct als_contribution c = {
        .present = {als_scaled(outer, most), als_scaled(y, 2 * most), als_scaled(one, w)},
        .revalued = {als_scaled(outer, change), als_scaled(y, 2 * change), zero},
        .psd = low >= 0,
    };
    als_unit_sensitivity(q, bounds, &c, 1, blocks);
    if (q->has_gram)
        als_gram_sensitivity(q, bounds, self->unobserved, 1, gram);
    if (q->has_gram && counts_rows(q) && bounds->side == DPF_SIDE_ITEMS) {
        dpf_norms *user = gram[als_block(q, DPF_BLOCK_COUNT) - q->blocks].at[DPF_UNIT_USER];
        user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = als_scaled(one, self->unobserved);
    }
    return DPF_OK;
}

static dpf_status gram_part(void *instance, const dpf_call *call, const dpf_query *q,
                            const dpf_factors *other, int64_t first, int64_t count, double *out)
{
    const struct implicit *self = instance;
    if (counts_rows(q))
        out[als_block(q, DPF_BLOCK_COUNT)->offset] += self->unobserved * (double)count;
    return als_gram(&self->als.model, call, q, other, first, count, self->unobserved, out);
}

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct implicit *self = *out;
    als_loss_start(&self->als, host);
    self->unobserved = params->values[P_UNOBSERVED].real;
    self->lambda = params->values[P_LAMBDA].real;
    self->nu = params->values[P_NU].real;
    self->confidence = params->values[P_CONFIDENCE].real;
    self->cells = params->values[P_CELLS].integer;
    self->als.model.coefficients = coefficients;
    self->als.needs_no_offset = "implicit-als predicts without an offset: set [model] offset = none";
    self->als.model.diagonal = self->nu == 0 || self->nu == 1 ? NULL : diagonal;
    return DPF_OK;
}

static const dpf_enum_value cell_kinds[] = {
    {"all", "Those of all rows of the other side: a public constant."},
    {"own", "Those of the rows that the Gram row is summed over: where parties solve, a party's own."},
};

static const dpf_param params[P_COUNT] = {
    [P_UNOBSERVED] =
        DPF_PARAM_REAL_F("unobserved-weight", 0.1, 0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "Weight alpha0 of the squared prediction in every cell."),
    [P_LAMBDA] = DPF_PARAM_REAL_F("lambda", 0.01, 0, INFINITY, DPF_PARAM_OPEN_HI, "",
                                  "Regularisation, multiplied by (records + alpha0 * other rows)^nu."),
    [P_NU] = DPF_PARAM_REAL_F(
        "nu", 1, 0, 2, DPF_PARAM_PRIVACY, "",
        "Exponent of the frequency in the regulariser; 1, or 0 for a constant, on a released side."),
    [P_CONFIDENCE] =
        DPF_PARAM_REAL_F("confidence", 0, 0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "A record of value v weighs 1 + confidence * v; 0: every record weighs 1."),
    [P_CELLS] = DPF_PARAM_ENUM_F("cells", CELLS_ALL, cell_kinds, DPF_PARAM_PRIVACY,
                                 "The cells that the regulariser counts with weight alpha0."),
};

static const dpf_loss functions = {
    .layouts = ALS_LAYOUTS,
    .flags = DPF_LOSS_NO_OFFSET | DPF_LOSS_ZERO_WITHOUT_RECORDS,
    .query = query,
    .sensitivity = sensitivity,
    .gram = gram_part,
    .accumulate = als_loss_accumulate,
    .accumulate_local = als_loss_accumulate_local,
    .apply = als_loss_apply,
};

DPF_COMPONENT(component, DPF_ROLE_LOSS, functions, .id = "implicit-als", .version = "1.0.0",
              .summary = "Weighted least squares over all cells, for implicit feedback",
              .citation = "DPIMF (Ran, Ye, Huang, Hu), Eq. 1-2 and 6-7; Hu, Koren, Volinsky (ICDM 2008)",
              DPF_PARAMS(params), .create = create, .destroy = als_loss_destroy,
              .instance_bytes = sizeof(struct implicit))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.implicit-als", "1.0.0", "Apache-2.0", component)
