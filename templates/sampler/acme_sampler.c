/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_sampler.c - each user takes part in a round with one probability, independently of all others.
 *
 * What it is good for. To somebody who does not know who took part, the release is a mixture, and accountants
 * charge less (Abadi et al., CCS 2016). That holds for independent draws, fresh in every round, exact and
 * secret: `describe` says from whom they can be hidden, and [items] sample-secrecy from whom they are.
 */
#include "dpframe/dpframe.h"

static const dpf_param params[] = {
    DPF_PARAM_REAL_F("rate", 0.5, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                     "Probability that a user takes part in a round."),
};

struct coins {
    const dpf_random_service *random;
    dpf_stream *stream;
    double rate;
};

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    const dpf_status status = random->open(host, "draw", &stream);
    if (status != DPF_OK)
        return status;
    struct coins *coins = *self;
    coins->random = random;
    coins->stream = stream;
    coins->rate = given->values[0].real;
    return DPF_OK;
}

static dpf_status describe(void *self, dpf_sampling *out)
{
    out->kind = DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = DPF_OBSERVER_OUTSIDER;
    out->rate = ((const struct coins *)self)->rate;
    out->weight_max = 1;
    return DPF_OK;
}

/* Party p reads its coin at (call->draw, p, 0): what comes out depends on nothing else. */
static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *parties, float *weights)
{
    const struct coins *coins = self;
    for (int64_t i = 0; i < parties->n; i++) {
        dpf_cursor cursor;
        uint8_t heads;
        coins->random->seek(coins->stream, call->draw, (uint32_t)(parties->first + i), 0, &cursor);
        coins->random->bernoulli(&cursor, coins->rate, &heads, 1);
        weights[i] = heads;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {.level = DPF_LEVEL_PARTY, .describe = describe, .draw = draw};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "acme-sampler", .version = "1.0.0",
              .summary = "Each user takes part with one probability", .citation = "Abadi et al., CCS 2016",
              DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct coins))

DPF_SINGLE_COMPONENT_PLUGIN("com.acme.sampler", "1.0.0", "Apache-2.0", component)
