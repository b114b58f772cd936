/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utility_optimal.c - records are kept in proportion to the length of what they contribute.
 *
 * Of all independent draws with a given expected number of records, the one whose weighted sum 2 sum w p has
 * least variance keeps a record with probability proportional to |p|_2 (Neyman allocation: minimise sum w
 * |p|^2 for a given sum of 1/w). It is what DPIMF compares its importance sampling with (section VI-B2, Fig.
 * 6).
 *
 * A record is kept with probability rate * |p|_2 / norm, but at most 1 and at least 1 / max-weight, and then
 * has the inverse as its weight. norm is public, so the expected number of records follows the data.
 */
#include "record_draws.h"

enum { P_RATE, P_NORM, P_MAX_WEIGHT, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_RATE] = DPF_PARAM_REAL_F("rate", 0.5, 1e-6, 1.0, DPF_PARAM_PRIVACY, "",
                                "Probability of a record whose row of the other side has length norm."),
    [P_NORM] = DPF_PARAM_REAL_F("norm", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                "A public length of rows, for example a typical one."),
    [P_MAX_WEIGHT] = DPF_PARAM_REAL_F("max-weight", 10.0, 1.0, 1e6, DPF_PARAM_PRIVACY, "",
                                      "Largest weight of a record; it bounds what a record moves."),
};

struct optimal {
    struct record_draws draws;
    double rate_by_norm;
    float max_weight;
};

static dpf_status optimal_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    struct optimal *optimal = *self;
    const dpf_status status = record_draws_open(&optimal->draws, host);
    if (status != DPF_OK)
        return status;
    optimal->rate_by_norm = values[P_RATE].real / values[P_NORM].real;
    optimal->max_weight = (float)values[P_MAX_WEIGHT].real;
    return DPF_OK;
}

static dpf_status optimal_prepare(void *self, const dpf_sampler_setup *setup)
{
    ((struct optimal *)self)->draws.side = setup->side;
    return DPF_OK;
}

static dpf_status optimal_describe(void *self, dpf_sampling *out)
{
    const struct optimal *optimal = self;
    out->kind = DPF_SAMPLING_WEIGHTED;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = DPF_OBSERVER_PARTIES;
    out->rate = 1;
    out->weight_max = optimal->max_weight;
    return DPF_OK;
}

static dpf_status optimal_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct optimal *optimal = self;
    const dpf_status status = record_draws_check(call, draw);
    struct record_sample sample = {0};
    for (int64_t i = 0; status == DPF_OK && i < draw->n; i++) {
        int32_t columns;
        double square = 0;
        const float *row = record_other_row(&optimal->draws, draw, i, &columns);
        for (int32_t c = 0; c < columns; c++)
            square += (double)row[c] * row[c];
        const double wished = 1 / (optimal->rate_by_norm * sqrt(square));
        const float weight = (float)fmin(fmax(wished, 1), optimal->max_weight);
        weights[i] = record_draw(&optimal->draws, call, draw, i, 1 / (double)weight, weight, &sample);
    }
    if (status == DPF_OK)
        record_draws_report(&optimal->draws, &sample);
    return status;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .lifetime = record_lifetime,
    .prepare = optimal_prepare,
    .describe = optimal_describe,
    .draw = optimal_draw,
};

DPF_COMPONENT(
    component, DPF_ROLE_SAMPLER, functions, .id = "utility-optimal", .version = "1.0.0",
    .summary = "Records are kept in proportion to the length of their rows: least variance",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), section VI-B2 and Fig. 6; Neyman (J. R. Stat. Soc. 97, 1934)",
    DPF_PARAMS(params), .create = optimal_create, .instance_bytes = sizeof(struct optimal))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.utility-optimal", "1.0.0", "Apache-2.0", component)
