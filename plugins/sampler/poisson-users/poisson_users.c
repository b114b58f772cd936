/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poisson_users.c - each user takes part in a round independently with the same probability.
 *
 * What it is good for, privately. A user who takes part with probability q unknown to the observer is
 * protected by more than the noise alone: under add-remove or zero-out of a user, the release of a
 * neighbour is the mixture (1 - q) Q + q P (Abadi et al., CCS 2016; Mironov, Talwar, Zhang,
 * arXiv 1908.10530). That needs the draw to be Poisson, exact, fresh in each round, and secret. The
 * first three hold here. Secrecy is the deployment's to state: a server that picks the cohort or sees who
 * sends messages knows the draw, and then nothing is amplified against it (condition C6). Weights of
 * 1/q make sums unbiased and enter the sensitivity through weight_max.
 */
#include "dpframe/plugin.h"
#include "dpframe/role/sampler.h"

enum { P_RATE, P_WEIGHT, P_COUNT };

enum { WEIGHT_UNIT, WEIGHT_INVERSE };
static const dpf_enum_value weights_given[] = {
    {"unit", "Those who take part have weight 1."},
    {"inverse", "Those who take part have weight 1/rate, so that sums are unbiased."},
};

static const dpf_param params[P_COUNT] = {
    [P_RATE] = DPF_PARAM_REAL_F("rate", 0.1, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                "Probability that a user takes part in a round."),
    [P_WEIGHT] = DPF_PARAM_ENUM_F("weight", WEIGHT_UNIT, weights_given, DPF_PARAM_PRIVACY,
                                  "Weight of those who take part."),
};

struct poisson {
    const dpf_random_service *random;
    dpf_stream *stream;
    double rate;
    float weight;
};

static dpf_status poisson_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = random->open(host, "draw", &stream);
    if (status != DPF_OK)
        return status;
    struct poisson *poisson = *self;
    poisson->random = random;
    poisson->stream = stream;
    poisson->rate = values[P_RATE].real;
    poisson->weight = values[P_WEIGHT].integer == WEIGHT_INVERSE ? (float)(1 / poisson->rate) : 1;
    return DPF_OK;
}

static dpf_status poisson_describe(void *self, dpf_sampling *out)
{
    const struct poisson *poisson = self;
    out->kind = DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = DPF_OBSERVER_SERVER;
    out->rate = poisson->rate;
    out->weight_max = poisson->weight; /* as it is given, after rounding to float32 */
    return DPF_OK;
}

static dpf_status poisson_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct poisson *poisson = self;
    if (draw->level != DPF_LEVEL_PARTY)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1, "poisson-users draws users, not records");
    for (int64_t i = 0; i < draw->n; i++) {
        dpf_cursor cursor;
        uint8_t taken;
        poisson->random->seek(poisson->stream, call->draw, (uint32_t)(draw->first + i), 0, &cursor);
        poisson->random->bernoulli(&cursor, poisson->rate, &taken, 1);
        weights[i] = taken ? poisson->weight : 0;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY,
    .describe = poisson_describe,
    .draw = poisson_draw,
};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "poisson-users", .version = "1.0.0",
              .summary = "Each user takes part in a round independently with a fixed probability",
              .citation = "Abadi et al., CCS 2016; Mironov, Talwar, Zhang, arXiv 1908.10530",
              DPF_PARAMS(params), .create = poisson_create, .instance_bytes = sizeof(struct poisson))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.poisson-users", "1.0.0", "Apache-2.0", component)
