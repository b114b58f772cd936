/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complementary - implicit feedback with a weight on the unobserved cells alone (DPIMF, Eq. 11-14).
 *
 *   L(q) = sum_{records} w (p.q - 1)^2 + alpha0 sum_{other cells} (p.q)^2 + lambda (n + alpha0 (N - n)) |q|^2
 *
 * with weighted records n of N other rows. With G the Gram matrix of all other rows the quadratic is
 *
 *   A = (1 - alpha0) sum w p p' + alpha0 G,  b = 2 sum w p,  count = (1 - alpha0) n + alpha0 N,
 *
 * so the terms with alpha0 and without a record are the Gram row, which no record moves. A record that
 * appears moves A and the count by 1 - alpha0 of what it would move without the complement (Eq. 15-18), and
 * at alpha0 = 1 not at all. With cells = own, N counts the rows that the Gram row is summed over. With nu = 0
 * the ridge is lambda |q|^2, a public constant, and no count is asked for.
 *
 * A user is another matter: on the item side the user's row is part of G, whatever the records are.
 */
#include <math.h>
#include <string.h>

#include "als_loss.h"
#include "als_norms.h"

enum { P_UNOBSERVED, P_LAMBDA, P_NU, P_CELLS, P_COUNT };
enum { CELLS_ALL, CELLS_OWN };

struct complementary {
    struct als_loss als;
    double unobserved;
    double rest; /* 1 - unobserved */
    double lambda;
    int counts;    /* the ridge is linear in the count; otherwise a constant */
    int64_t cells; /* CELLS_* */
};

static double weight_of(const dpf_groups *groups, int64_t record)
{
    return groups->weights ? (double)groups->weights[record] : 1;
}

static int coefficients(const void *loss, const dpf_query *query, const dpf_groups *groups, int64_t begin,
                        int64_t n, double *aw, double *t)
{
    const struct complementary *self = loss;
    (void)query;
    for (int64_t r = 0; r < n; r++) {
        const double w = weight_of(groups, begin + r);
        aw[r] = self->rest * w;
        if (t)
            t[r] = 2 * w;
    }
    return self->rest == 1 && !groups->weights;
}

static dpf_status query(void *instance, const dpf_side_info *info, dpf_query *out)
{
    struct complementary *self = instance;
    const dpf_host *host = self->als.model.host;
    if (info->bias >= 0 || info->columns != info->dimension)
        return host->fail(host, DPF_E_CONFIG, -1,
                          "complementary has no biases: set [model] user-bias and item-bias to no");
    struct als_ridge *ridge = &self->als.ridge[info->side];
    const dpf_status status = als_loss_query(&self->als, info, self->counts, out);
    if (status != DPF_OK)
        return status;
    out->support = DPF_SUPPORT_DENSE;
    out->has_gram = self->unobserved > 0;
    for (int32_t i = 0; i < info->dimension; i++) {
        const double all = self->unobserved * (double)info->n_other;
        ridge->per_count[i] = (float)self->lambda;
        ridge->constant[i] = (float)(self->counts ? self->lambda * all : self->lambda);
    }
    out->ridge_per_count = self->counts ? ridge->per_count : NULL;
    out->ridge_constant = self->counts && self->cells == CELLS_OWN ? NULL : ridge->constant;
    return DPF_OK;
}

/* ---- sensitivities -------------------------------------------------------------------------- */

/* The user who comes or goes is one of the N of the item side's count. */
static void count_user(const struct complementary *self, const dpf_query *q, const dpf_bounds *bounds,
                       dpf_sensitivity *gram)
{
    const dpf_block *count = als_block(q, DPF_BLOCK_COUNT);
    if (count && bounds->side == DPF_SIDE_ITEMS && self->cells == CELLS_OWN) {
        dpf_norms *user = gram[count - q->blocks].at[DPF_UNIT_USER];
        user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] =
            (dpf_norms){self->unobserved, self->unobserved, self->unobserved};
    }
}

static dpf_status sensitivity(void *instance, const dpf_query *q, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct complementary *self = instance;
    const double w = bounds->weight_max;
    const dpf_norms y = als_vector_norms(bounds), one = {1, 1, 1}, zero = {0, 0, 0};
    const dpf_norms outer = als_outer_norms(&y, als_block(q, DPF_BLOCK_QUADRATIC)->layout, bounds);
    const struct als_contribution c = {
        .present = {als_scaled(outer, self->rest * w), als_scaled(y, 2 * w), als_scaled(one, self->rest * w)},
        .revalued = {zero, zero, zero}, /* values are not read */
        .psd = 1,
    };
    als_unit_sensitivity(q, bounds, &c, 1, blocks);
    if (q->has_gram) {
        als_gram_sensitivity(q, bounds, self->unobserved, 1, gram);
        count_user(self, q, bounds, gram);
    }
    return DPF_OK;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static dpf_status gram_part(void *instance, const dpf_call *call, const dpf_query *q,
                            const dpf_factors *other, int64_t first, int64_t count, double *out)
{
    const struct complementary *self = instance;
    if (self->counts && self->cells == CELLS_OWN)
        out[als_block(q, DPF_BLOCK_COUNT)->offset] += self->unobserved * (double)count;
    return als_gram(&self->als.model, call, q, other, first, count, self->unobserved, out);
}

static double group_count(const struct complementary *self, const dpf_groups *groups, int64_t g, double grid)
{
    double sum = 0;
    for (int64_t r = groups->offsets[g]; r < groups->offsets[g + 1]; r++)
        sum += dpf_on_grid(self->rest * weight_of(groups, r), grid);
    return sum;
}

/* With alpha0 = 1 all but b vanishes: O(records d). */
static void linear_only(const dpf_query *q, const dpf_groups *groups, int64_t g, double grid, double *out)
{
    const int64_t d = q->dimension;
    double *b = out + als_block(q, DPF_BLOCK_LINEAR)->offset;
    memset(out, 0, (size_t)q->width * sizeof(double));
    for (int64_t r = groups->offsets[g]; r < groups->offsets[g + 1]; r++) {
        const float *y = dpf_row(groups->other, groups->others[r]) + q->first;
        const double t = 2 * weight_of(groups, r);
        for (int64_t i = 0; i < d; i++)
            b[i] += dpf_on_grid(t * y[i], grid);
    }
}

static dpf_status accumulate(void *instance, const dpf_call *call, const dpf_query *q,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    const struct complementary *self = instance;
    const int64_t linear = als_block(q, DPF_BLOCK_LINEAR) - q->blocks;
    const dpf_block *count = als_block(q, DPF_BLOCK_COUNT);
    const double count_grid = grid && count ? grid[count - q->blocks] : 0;
    dpf_status status = als_loss_check(&self->als, groups);
    const int alone = self->rest == 0 && als_block(q, DPF_BLOCK_QUADRATIC)->layout != DPF_LAYOUT_OPERATOR;
    if (status == DPF_OK && !alone)
        status = als_accumulate(&self->als.model, call, q, groups, grid, out, stride);
    for (int64_t g = 0; status == DPF_OK && g < groups->n_groups; g++) {
        if (alone)
            linear_only(q, groups, g, grid ? grid[linear] : 0, out + g * stride);
        if (count)
            out[g * stride + count->offset] = group_count(self, groups, g, count_grid);
    }
    return status;
}

static dpf_status accumulate_local(void *instance, const dpf_call *call, const dpf_query *q,
                                   const dpf_groups *groups, float *out, int64_t stride)
{
    const struct complementary *self = instance;
    const dpf_block *count = als_block(q, DPF_BLOCK_COUNT);
    dpf_status status = als_loss_check(&self->als, groups);
    if (status == DPF_OK)
        status = als_accumulate_local(&self->als.model, call, q, groups, out, stride);
    for (int64_t g = 0; count && status == DPF_OK && g < groups->n_groups; g++)
        out[g * stride + count->offset] = (float)group_count(self, groups, g, 0);
    return status;
}

/* ---- the component -------------------------------------------------------------------------- */

static dpf_status create(const dpf_host *host, const dpf_params *params, void **out)
{
    struct complementary *self = *out;
    als_loss_start(&self->als, host);
    self->als.model.coefficients = coefficients;
    self->als.needs_no_offset = "complementary predicts without an offset: set [model] offset = none";
    self->unobserved = params->values[P_UNOBSERVED].real;
    self->rest = 1 - self->unobserved;
    self->lambda = params->values[P_LAMBDA].real;
    self->counts = params->values[P_NU].integer == 1;
    self->cells = params->values[P_CELLS].integer;
    return DPF_OK;
}

static const dpf_enum_value cell_kinds[] = {
    {"all", "Those of all rows of the other side: a public constant."},
    {"own", "Those of the rows that the Gram row is summed over: where parties solve, a party's own."},
};

static const dpf_param params[P_COUNT] = {
    [P_UNOBSERVED] =
        DPF_PARAM_REAL_F("unobserved-weight", 1, 0, 1, DPF_PARAM_PRIVACY, "",
                         "Weight alpha0 of the squared prediction in the cells without a record; "
                         "at 1 a record moves only the first-order coefficients."),
    [P_LAMBDA] =
        DPF_PARAM_REAL_F("lambda", 0.01, 0, INFINITY, DPF_PARAM_OPEN_HI, "",
                         "Regularisation, multiplied by records + alpha0 * unobserved cells of a row."),
    [P_NU] =
        DPF_PARAM_INT_F("nu", 1, 0, 1, DPF_PARAM_PRIVACY, "",
                        "1: the regulariser grows with those cells; 0: it is lambda, a public constant."),
    [P_CELLS] = DPF_PARAM_ENUM_F("cells", CELLS_ALL, cell_kinds, DPF_PARAM_PRIVACY,
                                 "The cells that the regulariser counts with weight alpha0."),
};

static const dpf_loss functions = {
    .layouts = ALS_LAYOUTS,
    .flags = DPF_LOSS_NO_OFFSET,
    .query = query,
    .sensitivity = sensitivity,
    .gram = gram_part,
    .accumulate = accumulate,
    .accumulate_local = accumulate_local,
    .apply = als_loss_apply,
};

DPF_COMPONENT(
    component, DPF_ROLE_LOSS, functions, .id = "complementary", .version = "1.0.0",
    .summary = "Implicit feedback with a weight on unobserved cells that offsets what a record moves",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), Eq. 11-18", DPF_PARAMS(params), .create = create,
    .destroy = als_loss_destroy, .instance_bytes = sizeof(struct complementary))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.complementary", "1.0.0", "Apache-2.0", component)
