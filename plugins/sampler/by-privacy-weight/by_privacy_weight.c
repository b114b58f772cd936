/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_privacy_weight.c - keeps the records whose privacy weight lies in a range; nothing is left to chance.
 *
 * It divides the records of a side among terms with budgets of their own: PrivSR's sensitive ratings
 * (weights below 1) in one, all others in the other. Two terms whose ranges meet without overlap hold every
 * record once. A record that is not kept adds nothing, but its party still sends its share of noise, so that
 * the message does not tell which records are sensitive.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_FROM, P_BELOW, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_FROM] =
        DPF_PARAM_REAL_F("from", 0.0, 0.0, INFINITY, DPF_PARAM_PRIVACY, "", "The least weight that is kept."),
    [P_BELOW] = DPF_PARAM_REAL_F("below", INFINITY, 0.0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                 "Weights of this size or more are not kept."),
};

struct selection {
    double from, below;
};

static dpf_status selection_create(const dpf_host *host, const dpf_params *given, void **self)
{
    if (given->values[P_FROM].real >= given->values[P_BELOW].real)
        return host->fail(host, DPF_E_CONFIG, P_FROM, "from must be less than below");
    struct selection *selection = *self;
    selection->from = given->values[P_FROM].real;
    selection->below = given->values[P_BELOW].real;
    return DPF_OK;
}

static int32_t selection_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_RUN;
}

/* Which records are kept is fixed, so nothing is amplified: unequal probabilities, of 0 and 1. */
static dpf_status selection_describe(void *self, dpf_sampling *out)
{
    const struct selection *selection = self;
    out->kind = DPF_SAMPLING_WEIGHTED;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = -1;
    out->rate = 1;
    out->weight_max = 1;
    out->weight_from = selection->from;
    out->weight_below = selection->below;
    return DPF_OK;
}

static dpf_status selection_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct selection *selection = self;
    if (draw->level != DPF_LEVEL_RECORD)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1,
                                "by-privacy-weight selects records, not users");
    for (int64_t i = 0; i < draw->n; i++) {
        double weight = draw->privacy_weights ? (double)draw->privacy_weights[i] : 1;
        if (!(weight >= 0))
            return call->host->fail(call->host, DPF_E_RANGE, -1,
                                    "a privacy weight is negative or not a number");
        weights[i] = weight >= selection->from && weight < selection->below ? 1 : 0;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .lifetime = selection_lifetime,
    .describe = selection_describe,
    .draw = selection_draw,
};

DPF_COMPONENT(
    component, DPF_ROLE_SAMPLER, functions, .id = "by-privacy-weight", .version = "1.0.0",
    .summary = "Keeps the records whose privacy weight lies in a range, for terms with budgets of their own",
    .citation = "", DPF_PARAMS(params), .create = selection_create,
    .instance_bytes = sizeof(struct selection))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.by-privacy-weight", "1.0.0", "Apache-2.0", component)
