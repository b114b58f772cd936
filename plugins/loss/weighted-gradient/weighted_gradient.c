/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weighted_gradient.c - the gradient of a confidence-weighted squared error over all cells.
 *
 * A row x has one cell for each row y of the other side. A rated cell has target r and weight 1 + kappa,
 * an empty one target 0 and weight 1; with e = <x, y> + offset - target, clipped to [-E, E], the row's
 * gradient is the sum of factor c e y over all cells: Eq. 3, 4, 7 and 16 of DPMF-RP. The predicting y may
 * be another copy of the row than the multiplying one (dpf_groups.residual). The regulariser is public
 * and left to the solver: it adds ridge_constant x.
 *
 * A record of weight w counts as w records and 1 - w empty cells: of weight 0 it is as if it were not there.
 *
 * A single user's message has one cell in each row: the user's record, or, in a group without records,
 * the user's empty cell. Elsewhere a group has cells for all rows of the other side.
 */
#include <math.h>
#include <string.h>

#include "weighted_gradient.h"

enum { P_CONFIDENCE, P_CLIP, P_OBJECTIVE, P_REGULARIZATION, P_COUNT };

static const dpf_enum_value objectives[] = {
    {"full", "squared error: the gradient is 2 c (<x,y> + offset - r) y, and 2 mu x"},
    {"half", "half the squared error: the gradient is c (<x,y> + offset - r) y, and mu x"},
};

static const dpf_param params[P_COUNT] = {
    [P_CONFIDENCE] = DPF_PARAM_REAL_F("confidence", 15, 0, 1e30, DPF_PARAM_PRIVACY, "",
                                      "Kappa: a rated cell weighs 1 + kappa, every other cell 1."),
    [P_CLIP] =
        DPF_PARAM_REAL_F("clip-error", INFINITY, 0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Residuals of all cells are clipped to [-e, e]; inf leaves them as they are."),
    [P_OBJECTIVE] = DPF_PARAM_ENUM_F("objective", 0, objectives, DPF_PARAM_PRIVACY,
                                     "Whether squared error and regulariser are halved."),
    [P_REGULARIZATION] = DPF_PARAM_REAL_F("regularization", 0, 0, 1e30, 0, "",
                                          "Mu, the weight of the squared norm of rows; public, added by the "
                                          "solver after the release."),
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct weighted_gradient *loss = *self;
    loss->host = host;
    loss->confidence = values->values[P_CONFIDENCE].real;
    loss->clip = values->values[P_CLIP].real;
    loss->factor = values->values[P_OBJECTIVE].integer == 0 ? 2.0 : 1.0;
    loss->mu = values->values[P_REGULARIZATION].real;
    loss->empty_cells = empty_cells_find(SIMD_KIND_AUTO);
    return DPF_OK;
}

static void destroy(void *self)
{
    struct weighted_gradient *loss = self;
    const dpf_host *host = loss->host;
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, loss->sides[0].ridge);
    memory->release(host, loss->sides[1].ridge);
}

/* Queries that were given out before point at the ridge, so it is made once. */
static dpf_status set_ridge(struct weighted_gradient *loss, int32_t side, int32_t dimension)
{
    if (loss->sides[side].dimension == dimension)
        return DPF_OK;
    if (loss->sides[side].ridge)
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1, "a side was asked for in two dimensions");
    float *ridge = dpf_memory(loss->host)->allocate(loss->host, (uint64_t)dimension * sizeof(float));
    if (!ridge)
        return loss->host->fail(loss->host, DPF_E_MEMORY, -1, "out of memory");
    for (int32_t i = 0; i < dimension; i++)
        ridge[i] = (float)(loss->factor * loss->mu);
    loss->sides[side].ridge = ridge;
    loss->sides[side].dimension = dimension;
    return DPF_OK;
}

static dpf_status query(void *self, const dpf_side_info *info, dpf_query *out)
{
    struct weighted_gradient *loss = self;
    if (info->side < 0 || info->side > 1 || info->dimension < 1 || info->first < 0 ||
        info->columns < info->first + info->dimension)
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1, "the host described an impossible side");
    const dpf_status status = set_ridge(loss, info->side, info->dimension);
    if (status != DPF_OK)
        return status;
    loss->sides[info->side].columns = info->columns;
    dpf_gradient_query(out, info->dimension, info->first, DPF_SUPPORT_DENSE);
    out->ridge_constant = loss->sides[info->side].ridge;
    return DPF_OK;
}

/* ---- sums over cells -------------------------------------------------------------------------- */

struct cells {
    const struct weighted_gradient *loss;
    const dpf_query *query;
    const dpf_groups *groups;
    double grid;
    int diverged; /* a residual left the range, or is not a number */
};

static double clipped(const struct weighted_gradient *loss, double e)
{
    return e > loss->clip ? loss->clip : e < -loss->clip ? -loss->clip : e;
}

/* c e of a cell: of a record with weight w it is w times the record's and 1 - w times an empty cell's. */
static double weighted_residual(struct cells *cells, double prediction, int64_t record)
{
    const struct weighted_gradient *loss = cells->loss;
    const dpf_groups *groups = cells->groups;
    const double empty = clipped(loss, prediction);
    cells->diverged |= !(fabs(prediction) <= RESIDUAL_MOST);
    if (record < 0)
        return empty;
    const double value = groups->values ? (double)groups->values[record] : 1.0;
    const double rated = (1.0 + loss->confidence) * clipped(loss, prediction - value);
    const double w = groups->weights ? (double)groups->weights[record] : 1.0;
    cells->diverged |= !(fabs(rated) < INFINITY);
    return w == 1.0 ? rated : w * rated + (1.0 - w) * empty;
}

/* Adds one cell; record -1: empty. write_empty_cells does the same for many. */
static void add_cell(struct cells *cells, const float *x, int64_t other, int64_t record, double *out)
{
    const dpf_groups *groups = cells->groups;
    const float *seen = dpf_row(groups->residual, other);
    const float *y = dpf_row(groups->other, other) + cells->query->first;
    const double prediction = groups->offset + empty_cells_product(x, seen, groups->self->cols);
    const double t = cells->loss->factor * weighted_residual(cells, prediction, record);
    for (int32_t i = 0; i < cells->query->dimension; i++)
        out[i] += dpf_on_grid(t * (double)y[i], cells->grid);
}

/* The cells of a single user in one row, which it alone makes. */
static void write_own_cell(struct cells *cells, const float *x, int64_t g, double *out)
{
    const dpf_groups *groups = cells->groups;
    const int64_t begin = groups->offsets[g], end = groups->offsets[g + 1];
    memset(out, 0, (size_t)cells->query->width * sizeof(*out));
    if (begin == end)
        add_cell(cells, x, groups->party_row, -1, out);
    for (int64_t r = begin; r < end; r++)
        add_cell(cells, x, groups->others[r], r, out);
}

/* All cells of a row. at[o] is 1 + the record of the other row o, 0 where there is none, and left as 0. */
static void add_all_cells(struct cells *cells, const float *x, int64_t g, int64_t *at, double *out)
{
    const dpf_groups *groups = cells->groups;
    const int64_t begin = groups->offsets[g], end = groups->offsets[g + 1];
    for (int64_t r = begin; r < end; r++)
        at[groups->others[r]] = r + 1;
    for (int64_t other = 0; other < groups->other->rows; other++)
        add_cell(cells, x, other, at[other] - 1, out);
    for (int64_t r = begin; r < end; r++)
        at[groups->others[r]] = 0;
}

static dpf_status failed(const dpf_call *call, dpf_status code, const char *text)
{
    return call->host->fail(call->host, code, -1, text);
}

/* Sums must stay below this, where dpf_on_grid is exact. */
static double limit_of(double grid)
{
    return grid > 0.0 ? 0x1p51 * grid : INFINITY;
}

/* NaN fails the comparison, too. */
static dpf_status check_row(const dpf_call *call, const struct cells *cells, const double *row)
{
    const double limit = limit_of(cells->grid);
    int bad = 0;
    for (int32_t i = 0; i < cells->query->width; i++)
        bad |= !(fabs(row[i]) < limit);
    if (cells->diverged)
        return failed(
            call, DPF_E_NUMERIC,
            "a prediction exceeds 2^24 or is not a number: the training has diverged; lower the rate of "
            "the solvers");
    if (!bad)
        return DPF_OK;
    return failed(
        call, DPF_E_RANGE,
        "a gradient is not finite or leaves the range of its grid; lower the rate of the solvers, or "
        "set clip-error");
}

/* Rows first .. first + n - 1 of a single user's message, as if all cells were empty. 1 if no number is at
   fault. */
static int write_empty_cells(const struct cells *cells, int64_t first, int64_t n, double *out, int64_t stride)
{
    const dpf_groups *groups = cells->groups;
    const struct empty_cells empty = {.seen = dpf_row(groups->residual, groups->party_row),
                                      .columns = groups->self->cols,
                                      .offset = groups->offset,
                                      .clip = cells->loss->clip,
                                      .factor = cells->loss->factor,
                                      .most = RESIDUAL_MOST,
                                      .grid = cells->grid,
                                      .limit = limit_of(cells->grid),
                                      .own = dpf_row(groups->other, groups->party_row) + cells->query->first,
                                      .dimension = cells->query->dimension};
    const float *rows[EMPTY_CELLS_MOST];
    for (int64_t k = 0; k < n; k++)
        rows[k] = dpf_row(groups->self, groups->rows[first + k]);
    return cells->loss->empty_cells(&empty, rows, n, out, stride) == 0;
}

/* A single user's message: most cells are empty. Where a number is at fault each row is made by itself, and
   the first of them tells what is wrong. */
static dpf_status accumulate_own(const dpf_call *call, struct cells *cells, double *out, int64_t stride)
{
    const dpf_groups *groups = cells->groups;
    for (int64_t first = 0; first < groups->n_groups; first += EMPTY_CELLS_MOST) {
        const int64_t left = groups->n_groups - first, n = left < EMPTY_CELLS_MOST ? left : EMPTY_CELLS_MOST;
        if (call->cancelled(call))
            return DPF_E_CANCELLED;
        const int good = write_empty_cells(cells, first, n, out + first * stride, stride);
        for (int64_t g = first; g < first + n; g++) {
            if (good && groups->offsets[g] == groups->offsets[g + 1])
                continue;
            write_own_cell(cells, dpf_row(groups->self, groups->rows[g]), g, out + g * stride);
            const dpf_status status = check_row(call, cells, out + g * stride);
            if (status != DPF_OK)
                return status;
        }
    }
    return DPF_OK;
}

/* Sums over the cells of several users. */
static dpf_status accumulate_all(const dpf_call *call, struct cells *cells, double *out, int64_t stride)
{
    const dpf_groups *groups = cells->groups;
    const size_t bytes = (size_t)groups->other->rows * sizeof(int64_t);
    int64_t *at = call->scratch(call, bytes);
    if (!at)
        return failed(call, DPF_E_MEMORY, "out of memory");
    memset(at, 0, bytes);
    for (int64_t g = 0; g < groups->n_groups; g++) {
        double *row = out + g * stride;
        if (g % 64 == 0 && call->cancelled(call))
            return DPF_E_CANCELLED;
        memset(row, 0, (size_t)cells->query->width * sizeof(*row));
        add_all_cells(cells, dpf_row(groups->self, groups->rows[g]), g, at, row);
        const dpf_status status = check_row(call, cells, row);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *query_,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    struct cells cells = {.loss = self, .query = query_, .groups = groups, .grid = grid ? grid[0] : 0.0};
    return groups->party_row < 0 ? accumulate_all(call, &cells, out, stride)
                                 : accumulate_own(call, &cells, out, stride);
}

static const dpf_loss functions = {
    .query = query,
    .sensitivity = weighted_gradient_sensitivity,
    .accumulate = accumulate,
    .utility = weighted_gradient_utility,
};

DPF_COMPONENT(
    component, DPF_ROLE_LOSS, functions, .id = "weighted-gradient", .version = "1.0.0",
    .summary = "Gradient of a confidence-weighted squared error over all cells, residuals clipped if asked",
    .citation = "Differentially private matrix factorization with secure aggregation and random projection "
                "(DPMF-RP), Eq. 3-7 and 16",
    DPF_PARAMS(params), .create = create, .destroy = destroy,
    .instance_bytes = sizeof(struct weighted_gradient))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.weighted-gradient", "1.0.0", "Apache-2.0", component)
