/* SPDX-License-Identifier: Apache-2.0 */
/*
 * social.c - users are drawn to their friends: alpha sum S_if |u_i - u_f|^2 over links, by its gradient.
 *
 * It is a term over a relation ([users] terms = ..., source = relation): the other rows are rows of the same
 * side, and a link's value is the similarity S_if in [0, 1], 1 without one. A row's gradient is 2 alpha sum_f
 * S_if (u_i - u_f), so it joins the gradient of squared-error in one solver.
 *
 * Sensitivity. Record: a link comes, goes or changes its weight, or the friend's row at its end changes
 * within the ball of radius R. The row of the one who links moves by 2 alpha S |u_f - u_f'| or 2 alpha |S -
 * S'| |u_i - u_f|, at most 2 alpha (2 R); the publication counts |u_f| <= R once (distance = published). That
 * is what one receiver sees of one friend, whose ratings reach him by this row alone. User: all of his links,
 * as many as are declared; nothing bounds how many others link to him.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_ALPHA, P_DISTANCE, P_COUNT };

enum { DISTANCE_DIAMETER, DISTANCE_PUBLISHED };
static const dpf_enum_value distances[] = {
    {"diameter", "twice the radius of the rows: how far apart two rows can be"},
    {"published", "the radius, as the published proof counts it"},
};

static const dpf_param params[P_COUNT] = {
    [P_ALPHA] = DPF_PARAM_REAL_F(
        "alpha", 0.1, 0.0, 1e6, DPF_PARAM_PRIVACY, "",
        "Weight of the social term alpha sum S |u_i - u_f|^2; half of it goes with half the squared error."),
    [P_DISTANCE] = DPF_PARAM_ENUM_F("distance", DISTANCE_DIAMETER, distances, DPF_PARAM_PRIVACY,
                                    "How far a friend's row can move."),
};

struct social {
    const dpf_host *host;
    double factor; /* of S (u_i - u_f) */
    int64_t distance;
};

static dpf_status social_create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct social *social = *self;
    social->host = host;
    social->factor = 2 * values->values[P_ALPHA].real;
    social->distance = values->values[P_DISTANCE].integer;
    return DPF_OK;
}

static dpf_status social_query(void *self, const dpf_side_info *info, dpf_query *out)
{
    const struct social *social = self;
    if (info->dimension < 1 || info->first < 0)
        return social->host->fail(social->host, DPF_E_INTERNAL, -1, "the host described an impossible side");
    dpf_gradient_query(out, info->dimension, info->first, DPF_SUPPORT_OBSERVED);
    return DPF_OK;
}

static dpf_status social_sensitivity(void *self, const dpf_query *query, const dpf_bounds *bounds,
                                     dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct social *social = self;
    double radius = fmax(bounds->other_l2, bounds->self_l2);
    double distance = social->distance == DISTANCE_DIAMETER ? 2 * radius : radius;
    /* Three roundings of 2^-53, far within the slack. */
    double l2 = social->factor > 0 ? social->factor * bounds->weight_max * distance * (1 + 0x1p-40) : 0;
    const dpf_norms link = {l2 > 0 ? sqrt((double)query->dimension) * l2 : 0, l2, l2};
    const double cap = bounds->records_per_user == INT64_MAX ? INFINITY : (double)bounds->records_per_user;
    /* In one row or in several, and in the norms of both: the sum of the links' norms. */
    const dpf_norms user = {l2 > 0 ? cap * link.l1 : 0, l2 > 0 ? cap * link.l2 : 0,
                            l2 > 0 ? cap * link.linf : 0};
    (void)gram;
    for (int32_t adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
        const double twice = adjacency == DPF_ADJ_REPLACE ? 2 : 1;
        blocks[0].at[DPF_UNIT_RECORD][adjacency] = link;
        blocks[0].at[DPF_UNIT_USER][adjacency] =
            (dpf_norms){twice * user.l1, twice * user.l2, twice * user.linf};
    }
    return DPF_OK;
}

static dpf_status failed(const dpf_call *call, dpf_status code, const char *text)
{
    return call->host->fail(call->host, code, -1, text);
}

/* One row. 0, DPF_E_RANGE for a similarity outside of [0, 1], DPF_E_NUMERIC. */
static dpf_status social_row(const struct social *social, const dpf_query *query, const dpf_groups *groups,
                             int64_t group, double grid, double *out)
{
    const int32_t d = query->dimension;
    const float *own = dpf_row(groups->self, groups->rows[group]) + query->first;
    int finite = 1;
    for (int32_t i = 0; i < d; i++)
        out[i] = 0;
    for (int64_t k = groups->offsets[group]; k < groups->offsets[group + 1]; k++) {
        const float *near = dpf_row(groups->other, groups->others[k]) + query->first;
        const double similarity = groups->values ? (double)groups->values[k] : 1;
        const double weight = groups->weights ? (double)groups->weights[k] : 1;
        if (!(similarity >= 0 && similarity <= 1))
            return DPF_E_RANGE;
        for (int32_t i = 0; i < d; i++)
            out[i] +=
                dpf_on_grid(social->factor * weight * similarity * ((double)own[i] - (double)near[i]), grid);
    }
    for (int32_t i = 0; i < d; i++)
        finite &= isfinite(out[i]) && (!(grid > 0) || fabs(out[i]) < 0x1p51 * grid);
    return finite ? DPF_OK : DPF_E_NUMERIC;
}

static dpf_status report(const dpf_call *call, dpf_status status)
{
    return status == DPF_E_RANGE
               ? failed(call, status,
                        "a link's weight is not a similarity from 0 to 1: for links see [data] "
                        "relation.column.weight and relation.similarity; ratings are not links, so set "
                        "source = relation")
               : failed(call, status,
                        "a gradient is not finite or leaves its grid; lower the rate of the solvers");
}

static dpf_status social_accumulate(void *self, const dpf_call *call, const dpf_query *query,
                                    const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    for (int64_t g = 0; g < groups->n_groups; g++) {
        if (g % 512 == 0 && call->cancelled(call))
            return DPF_E_CANCELLED;
        dpf_status status = social_row(self, query, groups, g, grid ? grid[0] : 0, out + g * stride);
        if (status != DPF_OK)
            return report(call, status);
    }
    return DPF_OK;
}

static const dpf_loss functions = {
    .flags = DPF_LOSS_SEPARABLE | DPF_LOSS_LINKS,
    .query = social_query,
    .sensitivity = social_sensitivity,
    .accumulate = social_accumulate,
};

DPF_COMPONENT(
    component, DPF_ROLE_LOSS, functions, .id = "social", .version = "1.0.0",
    .summary =
        "Draws users to their friends by similarity: gradient of a social regulariser, for relation terms",
    .citation = "Ma et al., WSDM 2011, Eq. 12; Meng et al., AAAI 2018 (PrivSR)", DPF_PARAMS(params),
    .create = social_create, .instance_bytes = sizeof(struct social))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.loss.social", "1.0.0", "Apache-2.0", component)
