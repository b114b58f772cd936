/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squared_error.c - the gradient of a regularised squared error, one row at a time.
 *
 * For a row x with records (y, r, w) the objective is sum w (<x, y> + offset - r)^2 + lambda |x|^2, or
 * half of that. The query is its derivative by x. A regulariser per row is public: it is left to the
 * solver, which adds query.ridge_constant * x to the gradient, and never meets noise or clipping.
 */
#include <math.h>

#include "simd_kind.h"
#include "squared_error.h"

enum { P_OBJECTIVE, P_REGULARIZATION, P_PER, P_CLIP, P_COUNT };

static const dpf_enum_value objectives[] = {
    {"full", "squared error: the gradient is 2 (<x,y> + offset - r) y"},
    {"half", "half the squared error: the gradient is (<x,y> + offset - r) y"},
};

static const dpf_enum_value scopes[] = {
    {"row", "lambda |x|^2 once for each row; public, added by the solver after the release"},
    {"record", "lambda |x|^2 for each record, times its weight; private, part of the sensitivity"},
};

static const dpf_param params[P_COUNT] = {
    [P_OBJECTIVE] = DPF_PARAM_ENUM_F("objective", 0, objectives, DPF_PARAM_PRIVACY,
                                     "Whether the squared error and its regulariser are halved; halving "
                                     "also halves gradients and sensitivities."),
    [P_REGULARIZATION] = DPF_PARAM_REAL_F("regularization", 0.0, 0.0, 1e30, DPF_PARAM_PRIVACY, "",
                                          "Lambda, the weight of the squared norm of rows."),
    [P_PER] = DPF_PARAM_ENUM_F("regularization-per", 0, scopes, DPF_PARAM_PRIVACY,
                               "Whether the regulariser counts once for each row or for each record."),
    [P_CLIP] = DPF_PARAM_REAL_F("clip-error", INFINITY, 0.0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO,
                                "", "Residuals are clipped to [-e, e]; inf leaves them as they are."),
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct squared_error *loss = *self;
    loss->host = host;
    loss->factor = values->values[P_OBJECTIVE].integer == 0 ? 2.0 : 1.0;
    loss->lambda = values->values[P_REGULARIZATION].real;
    loss->per_record = values->values[P_PER].integer == 1 && loss->lambda > 0.0;
    loss->clip = values->values[P_CLIP].real;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct squared_error *loss = self;
    const dpf_memory_service *memory = dpf_memory(loss->host);

    memory->release(loss->host, loss->sides[0].ridge);
    memory->release(loss->host, loss->sides[1].ridge);
}

/* The derivative of lambda |x|^2 is 2 lambda x: the same factor as that of the error. Queries that were
   given out before point at the ridge, so it is made once. */
static dpf_status set_ridge(struct squared_error *loss, struct squared_error_side *side, int32_t dimension)
{
    if (loss->lambda == 0.0 || loss->per_record || (side->ridge && side->dimension == dimension)) {
        return DPF_OK;
    }
    if (side->ridge) {
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1, "a side was asked for in two dimensions");
    }
    side->ridge = dpf_memory(loss->host)->allocate(loss->host, (uint64_t)dimension * sizeof(float));
    if (!side->ridge) {
        return loss->host->fail(loss->host, DPF_E_MEMORY, -1, "out of memory");
    }
    for (int32_t i = 0; i < dimension; i++) {
        side->ridge[i] = (float)(loss->factor * loss->lambda);
    }
    side->dimension = dimension;
    return DPF_OK;
}

static dpf_status query(void *self, const dpf_side_info *info, dpf_query *out)
{
    struct squared_error *loss = self;

    if (info->side < 0 || info->side > 1 || info->dimension < 1 || info->first < 0 ||
        info->columns < info->first + info->dimension) {
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1, "the host described an impossible side");
    }
    struct squared_error_side *side = &loss->sides[info->side];
    const dpf_status status = set_ridge(loss, side, info->dimension);
    if (status != DPF_OK) {
        return status;
    }
    side->columns = info->columns;

    dpf_gradient_query(out, info->dimension, info->first, DPF_SUPPORT_OBSERVED);
    out->ridge_constant = side->ridge;
    return DPF_OK;
}

/* Groups between two looks at whether the run is to stop. */
#define GROUPS_PER_CHECK 512

static dpf_status failed(const dpf_call *call, dpf_status code, const char *text)
{
    return call->host->fail(call->host, code, -1, text);
}

static dpf_status diverged(const dpf_call *call)
{
    return failed(call, DPF_E_NUMERIC,
                  "a residual exceeds 2^24: the training has diverged; lower the rate of the solvers, or set "
                  "clip-error");
}

/* Sums must stay where dpf_on_grid is exact; NaN fails the comparison, too. */
static dpf_status check_exact(const dpf_call *call, const dpf_query *query, const double *out, int64_t count,
                              int64_t stride, double grid)
{
    const double limit = grid > 0.0 ? 0x1p51 * grid : INFINITY;
    int bad = 0;

    for (int64_t g = 0; g < count; g++) {
        for (int32_t i = 0; i < query->width; i++) {
            bad |= !(fabs(out[g * stride + i]) < limit);
        }
    }
    if (!bad) {
        return DPF_OK;
    }
    return grid > 0.0
               ? failed(call, DPF_E_RANGE,
                        "a gradient is not finite or leaves the range of its grid; lower the rate of the "
                        "solvers, or set clip-error")
               : failed(call, DPF_E_NUMERIC, "a gradient is not finite; lower the rate of the solvers");
}

static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *query_,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    const struct squared_error *loss = self;
    const struct squared_error_task task = {loss, query_, groups, grid ? grid[0] : 0.0, stride};
    squared_error_exact_kernel *kernel = squared_error_find_exact(SIMD_KIND_AUTO);
    double *reg = NULL;

    if (loss->per_record) {
        reg = call->scratch(call, (uint64_t)query_->dimension * sizeof(double));
        if (!reg) {
            return failed(call, DPF_E_MEMORY, "out of memory");
        }
    }
    for (int64_t first = 0; first < groups->n_groups; first += GROUPS_PER_CHECK) {
        const int64_t left = groups->n_groups - first;
        if (call->cancelled(call)) {
            return DPF_E_CANCELLED;
        }
        if (kernel(&task, first, left < GROUPS_PER_CHECK ? left : GROUPS_PER_CHECK, reg, out)) {
            return diverged(call);
        }
    }
    return check_exact(call, query_, out, groups->n_groups, stride, task.grid);
}

static dpf_status accumulate_local(void *self, const dpf_call *call, const dpf_query *query_,
                                   const dpf_groups *groups, float *out, int64_t stride)
{
    const struct squared_error *loss = self;
    const struct squared_error_task task = {loss, query_, groups, 0.0, stride};
    squared_error_local_kernel *kernel = squared_error_find_local(SIMD_KIND_AUTO);
    float *reg = NULL;
    int bad = 0;

    if (loss->per_record) {
        reg = call->scratch(call, (uint64_t)query_->dimension * sizeof(float));
        if (!reg) {
            return failed(call, DPF_E_MEMORY, "out of memory");
        }
    }
    for (int64_t first = 0; first < groups->n_groups; first += GROUPS_PER_CHECK) {
        const int64_t left = groups->n_groups - first;
        const int64_t count = left < GROUPS_PER_CHECK ? left : GROUPS_PER_CHECK;
        if (call->cancelled(call)) {
            return DPF_E_CANCELLED;
        }
        kernel(&task, first, count, reg, out);
        for (int64_t g = first; g < first + count; g++) {
            for (int32_t i = 0; i < query_->width; i++) {
                bad |= !isfinite(out[g * stride + i]);
            }
        }
    }
    return bad ? failed(call, DPF_E_NUMERIC, "a gradient is not finite; lower the rate of the solvers")
               : DPF_OK;
}

static const dpf_loss functions = {
    .query = query,
    .sensitivity = squared_error_sensitivity,
    .accumulate = accumulate,
    .accumulate_local = accumulate_local,
};

DPF_COMPONENT(
    component, DPF_ROLE_LOSS, functions, .id = "squared-error", .version = "1.0.0",
    .summary = "Gradient of the (half) squared error over observed ratings, residuals clipped if asked",
    .citation = "Mnih and Salakhutdinov, Probabilistic matrix factorization (NIPS 2007)", DPF_PARAMS(params),
    .create = create, .destroy = destroy, .instance_bytes = sizeof(struct squared_error))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.squared-error", "1.0.0", "Apache-2.0", component)
