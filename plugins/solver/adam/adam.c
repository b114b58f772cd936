/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adam.c - steps scaled by running moments of the gradient (Kingma and Ba, Algorithm 1).
 *
 * The public regulariser's derivative, ridge_constant * x, is part of the gradient. The moments are
 * computed from released gradients alone, so they are as public as those. Step t counts from 1 and is
 * the round plus 1: a row is stepped in every round, even where the gradient is 0.
 */
#include <math.h>

#include "dpframe/dpframe.h"

#define EPSILON 1e-8 /* added to the root of the second moment */

enum { P_RATE, P_BETA1, P_BETA2, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_RATE] = DPF_PARAM_REAL_F("rate", 0.001, 0.0, 1e6, DPF_PARAM_OPEN_LO, "", "Step size."),
    [P_BETA1] = DPF_PARAM_REAL_F("beta1", 0.9, 0.0, 1.0, DPF_PARAM_OPEN_HI, "",
                                 "Share of the first moment that is kept."),
    [P_BETA2] = DPF_PARAM_REAL_F("beta2", 0.999, 0.0, 1.0, DPF_PARAM_OPEN_HI, "",
                                 "Share of the second moment that is kept."),
};

struct adam {
    double rate;
    double beta1;
    double beta2;
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_value *v = values->values;
    struct adam *adam = *self;

    (void)host;
    adam->rate = v[P_RATE].real;
    adam->beta1 = v[P_BETA1].real;
    adam->beta2 = v[P_BETA2].real;
    return DPF_OK;
}

/* The first moments, then the second ones. */
static int32_t state_width(void *self, int32_t dimension)
{
    (void)self;
    return 2 * dimension;
}

struct step {
    double correction1; /* 1 - beta^t: what the moments, zero at first, lack */
    double correction2;
};

/* One row; 0 if it diverged. Coordinates do not meet, so next may be current. */
static int step_row(const struct adam *adam, const dpf_solve *batch, const struct step *step, int64_t r)
{
    const dpf_query *query = batch->query;
    const int32_t d = query->dimension;
    const float *gradient = batch->blocks + r * batch->blocks_stride + query->blocks[0].offset;
    const float *gram = batch->gram ? batch->gram + query->blocks[0].offset : NULL;
    const float *current = batch->current + r * batch->current_stride + query->first;
    float *next = batch->next + r * batch->next_stride + query->first;
    float *first = batch->state + r * batch->state_width;
    float *second = first + d;
    int finite = 1;

    for (int32_t i = 0; i < d; i++) {
        const double x = (double)current[i];
        const double ridge = query->ridge_constant ? (double)query->ridge_constant[i] : 0.0;
        const double g = (double)gradient[i] + (gram ? (double)gram[i] : 0.0) + ridge * x;
        const double m = adam->beta1 * (double)first[i] + (1.0 - adam->beta1) * g;
        const double v = adam->beta2 * (double)second[i] + (1.0 - adam->beta2) * g * g;
        first[i] = (float)m;
        second[i] = (float)v;
        next[i] = (float)(x - adam->rate * (m / step->correction1) / (sqrt(v / step->correction2) + EPSILON));
        /* An infinite second moment would stop the row for ever without a sign. */
        finite &= isfinite(next[i]) && isfinite(second[i]);
    }
    return finite;
}

static dpf_status failed(const dpf_call *call, dpf_status code, int32_t param, const char *text)
{
    return call->host->fail(call->host, code, param, text);
}

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const struct adam *adam = self;
    const double t = (double)call->round + 1.0;
    const struct step step = {1.0 - pow(adam->beta1, t), 1.0 - pow(adam->beta2, t)};

    if (batch->query->form != DPF_FORM_GRADIENT) {
        return failed(call, DPF_E_UNSUPPORTED, -1,
                      "Adam takes gradients; use solver = cholesky for quadratics");
    }
    if (!batch->state || batch->state_width < 2 * batch->query->dimension) {
        return failed(call, DPF_E_INTERNAL, -1, "the host keeps no state for the moments");
    }
    for (int64_t r = 0; r < batch->n_rows; r++) {
        if (!step_row(adam, batch, &step, r)) {
            return failed(
                call, DPF_E_NUMERIC, P_RATE,
                "a row or its moments are no longer finite: Adam diverged; lower the rate, or clip the "
                "gradients");
        }
    }
    return DPF_OK;
}

static const dpf_solver functions = {
    .flags = DPF_SOLVER_GRADIENT,
    .state_width = state_width,
    .solve = solve,
};

DPF_COMPONENT(
    component, DPF_ROLE_SOLVER, functions, .id = "adam", .version = "1.0.0",
    .summary = "Adam, one step of adaptive moment estimation",
    .citation = "Kingma and Ba, Adam: a method for stochastic optimization (ICLR 2015), Algorithm 1",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct adam))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.adam", "1.0.0", "Apache-2.0", component)
