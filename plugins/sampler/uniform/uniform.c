/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uniform.c - each record takes part independently with the same probability.
 *
 * The plain counterpart of importance sampling at the same expected size (DPIMF, Fig. 6). Kept records have
 * weight 1, which makes sums smaller, or 1/rate, which makes them unbiased and the sensitivity larger. A
 * mechanism's budget is that of weight 1: with inverse weights a record's loss before sampling is 1/rate of
 * it.
 */
#include "record_draws.h"

enum { P_RATE, P_WEIGHT, P_COUNT };
enum { WEIGHT_UNIT, WEIGHT_INVERSE };

static const dpf_enum_value weights_given[] = {
    {"unit", "Records that take part have weight 1."},
    {"inverse", "Records that take part have weight 1/rate, so that sums are unbiased."},
};

static const dpf_param params[P_COUNT] = {
    [P_RATE] = DPF_PARAM_REAL_F("rate", 0.5, 1e-6, 1.0, DPF_PARAM_PRIVACY, "",
                                "Probability that a record takes part."),
    [P_WEIGHT] = DPF_PARAM_ENUM_F("weight", WEIGHT_INVERSE, weights_given, DPF_PARAM_PRIVACY,
                                  "Weight of those that take part."),
};

struct uniform {
    struct record_draws draws;
    double rate;
    float weight;
};

static dpf_status uniform_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    struct uniform *uniform = *self;
    const dpf_status status = record_draws_open(&uniform->draws, host);
    if (status != DPF_OK)
        return status;
    uniform->rate = values[P_RATE].real;
    uniform->weight = values[P_WEIGHT].integer == WEIGHT_INVERSE ? (float)(1 / uniform->rate) : 1;
    return DPF_OK;
}

static dpf_status uniform_prepare(void *self, const dpf_sampler_setup *setup)
{
    ((struct uniform *)self)->draws.side = setup->side;
    return DPF_OK;
}

static dpf_status uniform_describe(void *self, dpf_sampling *out)
{
    const struct uniform *uniform = self;
    out->kind = DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = DPF_OBSERVER_PARTIES;
    out->rate = uniform->rate;
    out->weight_max = uniform->weight;
    return DPF_OK;
}

static dpf_status uniform_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct uniform *uniform = self;
    const dpf_status status = record_draws_check(call, draw);
    struct record_sample sample = {0};
    for (int64_t i = 0; status == DPF_OK && i < draw->n; i++)
        weights[i] = record_draw(&uniform->draws, call, draw, i, uniform->rate, uniform->weight, &sample);
    if (status == DPF_OK)
        record_draws_report(&uniform->draws, &sample);
    return status;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .lifetime = record_lifetime,
    .prepare = uniform_prepare,
    .describe = uniform_describe,
    .draw = uniform_draw,
};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "uniform", .version = "1.0.0",
              .summary = "Each record takes part independently with the same probability",
              .citation = "DPIMF (Ran, Ye, Huang, Hu), section VI-B2 and Fig. 6", DPF_PARAMS(params),
              .create = uniform_create, .instance_bytes = sizeof(struct uniform))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.uniform", "1.0.0", "Apache-2.0", component)
