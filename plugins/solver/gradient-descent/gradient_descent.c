/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_descent.c - x <- P(x - rate * derivative).
 *
 * Three components, which differ in what they read, because the host judges a run by that: the damped
 * one divides each row's rate by the row's number of records, which is private unless it is declared
 * public which pairs exist; sgd steps after each record, so that a row shows their number as well.
 */
#include <math.h>

#include "gradient_descent.h"

enum {
    P_RATE,
    P_DROP_AT,
    P_DROP_FACTOR,
    P_RADIUS,
    P_COUNT,
    P_CURVATURE = P_COUNT, /* the damped component only */
    P_DAMPED_COUNT
};

#define COMMON_PARAMS                                                                                        \
    [P_RATE] =                                                                                               \
        DPF_PARAM_REAL_F("rate", 0.01, 0.0, 1e6, DPF_PARAM_OPEN_LO, "", "Step size of the first round."),    \
    [P_DROP_AT] = DPF_PARAM_LIST_F("drop-at", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, 0, "of the rounds",          \
                                   "When the rate drops, as fractions of all rounds. Empty: never."),        \
    [P_DROP_FACTOR] = DPF_PARAM_REAL_F("drop-factor", 0.2, 0.0, 1.0, DPF_PARAM_OPEN_LO, "",                  \
                                       "What the rate is multiplied by at each drop."),                      \
    [P_RADIUS] =                                                                                             \
        DPF_PARAM_REAL_F("radius", INFINITY, 1e-20, INFINITY, DPF_PARAM_PRIVACY, "",                         \
                         "Rows are scaled back to this Euclidean norm after each step; inf: never.")

static const dpf_param params[P_COUNT] = {COMMON_PARAMS};

static const dpf_param damped_params[P_DAMPED_COUNT] = {
    COMMON_PARAMS,
    [P_CURVATURE] =
        DPF_PARAM_REAL_F("curvature", 2.0, 0.0, 1e6, DPF_PARAM_OPEN_LO, "per record",
                         "The step of a row with n records is divided by "
                         "1 + curvature * rate * n / d. For the full squared error and rows of norm at "
                         "most 1 on the other side, 2 d never diverges; smaller values step further."),
};

static dpf_status create_with(const dpf_host *host, const dpf_params *values, double curvature, void **self)
{
    const dpf_value *v = values->values;
    struct gradient_descent *descent = *self;

    for (int64_t i = 1; i < v[P_DROP_AT].count; i++) {
        if (v[P_DROP_AT].reals[i] < v[P_DROP_AT].reals[i - 1]) {
            return host->fail(host, DPF_E_CONFIG, P_DROP_AT, "drop-at must be in ascending order");
        }
    }
    descent->host = host;
    descent->rate = v[P_RATE].real;
    descent->drop_at = v[P_DROP_AT].reals;
    descent->n_drops = v[P_DROP_AT].count;
    descent->drop_factor = v[P_DROP_FACTOR].real;
    descent->radius = v[P_RADIUS].real;
    descent->curvature = curvature;
    return DPF_OK;
}

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    return create_with(host, values, 0.0, self);
}

static dpf_status create_damped(const dpf_host *host, const dpf_params *values, void **self)
{
    return create_with(host, values, values->values[P_CURVATURE].real, self);
}

static double radius(void *self)
{
    const struct gradient_descent *descent = self;

    return descent->radius;
}

double gradient_descent_rate(const struct gradient_descent *descent, int32_t round, int32_t n_rounds)
{
    double rate = descent->rate;

    for (int64_t i = 0; i < descent->n_drops; i++) {
        /* The tolerance keeps 0.07 of 100 rounds at 7, though the product is above. */
        if ((double)round >= descent->drop_at[i] * n_rounds - 1e-6) {
            rate *= descent->drop_factor;
        }
    }
    return rate;
}

/*
 * Stores x, scaled to the radius if it is longer. Rounding to float raises a coordinate by 2^-24 at
 * most, hence the shrink; without it the stored row could be outside by that much.
 */
static int store_row(const struct gradient_descent *descent, const double *x, int32_t d, float *next)
{
    double square = 0.0;
    double scale = 1.0;
    int finite = 1;

    for (int32_t i = 0; i < d; i++) {
        square += x[i] * x[i];
    }
    const double norm = sqrt(square);
    if (!isfinite(norm)) {
        return 0;
    }
    if (norm > descent->radius * (1.0 - 0x1p-23)) {
        scale = fmin(1.0, descent->radius / norm) * (1.0 - 0x1p-22);
    }
    for (int32_t i = 0; i < d; i++) {
        next[i] = (float)(scale * x[i]);
        finite &= isfinite(next[i]) != 0;
    }
    return finite;
}

struct step {
    double rate;
    double *x;          /* scratch, d numbers */
    double *derivative; /* scratch, d numbers */
};

/* One row; 0 if it diverged. */
static int step_row(const struct gradient_descent *descent, const dpf_solve *batch, const struct step *step,
                    int64_t r)
{
    const dpf_query *query = batch->query;
    const int32_t d = query->dimension;
    const float *current = batch->current + r * batch->current_stride + query->first;
    double rate = step->rate;

    for (int32_t i = 0; i < d; i++) {
        step->x[i] = (double)current[i];
    }
    gradient_descent_derivative(query, batch->blocks + r * batch->blocks_stride, batch->gram, step->x,
                                step->derivative);
    if (descent->curvature > 0.0) {
        rate /= 1.0 + descent->curvature * rate * batch->degrees[r] / d;
    }
    for (int32_t i = 0; i < d; i++) {
        step->x[i] -= rate * step->derivative[i];
    }
    return store_row(descent, step->x, d, batch->next + r * batch->next_stride + query->first);
}

static dpf_status check_batch(const struct gradient_descent *descent, const dpf_call *call,
                              const dpf_solve *batch)
{
    if (descent->curvature > 0.0 && !batch->degrees) {
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, P_CURVATURE,
                                "the numbers of records of the rows are not known here; use "
                                "solver = gradient-descent");
    }
    for (int32_t b = 0; b < batch->query->n_blocks; b++) {
        if (batch->query->blocks[b].layout & ~(DPF_LAYOUT_PACKED | DPF_LAYOUT_FULL | DPF_LAYOUT_LOWER)) {
            return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1,
                                    "gradient descent does not take quadratic blocks in this layout");
        }
    }
    return DPF_OK;
}

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const struct gradient_descent *descent = self;
    const uint64_t bytes = (uint64_t)batch->query->dimension * sizeof(double);
    const dpf_status status = check_batch(descent, call, batch);

    if (status != DPF_OK) {
        return status;
    }
    const struct step step = {gradient_descent_rate(descent, call->round, batch->n_rounds),
                              call->scratch(call, bytes), call->scratch(call, bytes)};
    if (!step.x || !step.derivative) {
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    }
    for (int64_t r = 0; r < batch->n_rows; r++) {
        if (!step_row(descent, batch, &step, r)) {
            return call->host->fail(
                call->host, DPF_E_NUMERIC, P_RATE,
                "a row is no longer finite: gradient descent diverged; lower the rate, or "
                "set a radius");
        }
    }
    return DPF_OK;
}

static const dpf_solver functions = {
    .flags = DPF_SOLVER_GRADIENT | DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE,
    .radius = radius,
    .solve = solve,
};

static const dpf_solver damped_functions = {
    .flags = DPF_SOLVER_GRADIENT | DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE | DPF_SOLVER_DEGREES,
    .radius = radius,
    .solve = solve,
};

static const dpf_solver record_functions = {
    .flags = DPF_SOLVER_GRADIENT | DPF_SOLVER_DEGREES | DPF_SOLVER_BY_RECORD,
    .radius = radius,
    .solve = solve,
};

DPF_COMPONENT(component, DPF_ROLE_SOLVER, functions, .id = "gradient-descent", .version = "1.0.0",
              .summary = "One step of gradient descent, with drops of the rate and projection to a ball",
              .citation = "", DPF_PARAMS(params), .create = create,
              .instance_bytes = sizeof(struct gradient_descent))

DPF_COMPONENT(
    damped_component, DPF_ROLE_SOLVER, damped_functions, .id = "damped-gradient-descent", .version = "1.0.0",
    .summary = "Gradient descent with steps damped by the number of records of the row, for summed gradients",
    .citation = "", DPF_PARAMS(damped_params), .create = create_damped,
    .instance_bytes = sizeof(struct gradient_descent))

DPF_COMPONENT(
    record_component, DPF_ROLE_SOLVER, record_functions, .id = "sgd", .version = "1.0.0",
    .summary = "Stochastic gradient descent: a step after each record, in an order that the seed draws anew "
               "each round",
    .citation = "Koren, Bell, Volinsky, Matrix factorization techniques for recommender systems (2009)",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct gradient_descent))

static const dpf_component *const components[] = {&component, &damped_component, &record_component};

static const dpf_plugin plugin = {
    .magic = DPF_PLUGIN_MAGIC,
    .size = sizeof(dpf_plugin),
    .n_components = sizeof(components) / sizeof(components[0]),
    .id = "org.dpframe.gradient-descent",
    .version = "1.0.0",
    .licence = "Apache-2.0",
    .components = components,
};

DPF_PLUGIN_ENTRY(plugin)
