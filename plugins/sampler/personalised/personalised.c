/* SPDX-License-Identifier: Apache-2.0 */
/*
 * personalised.c - records with small budgets take part less often.
 *
 * Record i has the budget e_i = epsilon * W_i, W_i its privacy weight. It is kept with probability
 * (exp(e_i) - 1) / (exp(t) - 1) if e_i < t, else always; then a mechanism that is t-DP for each record gives
 * each record min(e_i, t)-DP, under add-remove of a record (Jorgensen, Yu, Cormode, ICDE 2015, Theorem 1:
 * ln(1 + p (e^t
 * - 1)) = e_i). The mechanism's budget must therefore be t at most, which is checked.
 *
 * All of it is for one run of the mechanism on one sample. If a sample serves many releases (lifetime run),
 * the releases compose before the sampling amplifies them: with T of them, t has to bound their sum. The draw
 * must be secret; a server that sees which records take part knows it.
 *
 * The draw is a property of the data, not of a side: all samplers of a run with the same parameters keep the
 * same records, since a record that is left out must not come back by the other side.
 */
#include <math.h>

#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"

enum { P_EPSILON, P_THRESHOLD, P_THRESHOLD_VALUE, P_LIFETIME, P_COUNT };

enum { THRESHOLD_MAX, THRESHOLD_MEAN, THRESHOLD_MIN, THRESHOLD_VALUE };
static const dpf_enum_value thresholds[] = {
    {"max", "t is the largest budget: only records that have it are always kept"},
    {"mean", "t is the mean budget, as far as it is public: by the groups that weights are drawn from"},
    {"min", "t is the smallest budget: all records are kept, and protected alike"},
    {"value", "t is threshold-value"},
};
static const dpf_enum_value lifetimes[] = {
    {"run", "One sample for the whole run."},
    {"round", "A fresh sample in every round."},
};

static const dpf_param params[P_COUNT] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 700.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Budget of a record of privacy weight 1."),
    [P_THRESHOLD] = DPF_PARAM_ENUM_F("threshold", THRESHOLD_MAX, thresholds, DPF_PARAM_PRIVACY,
                                     "The budget t from which records are always kept."),
    [P_THRESHOLD_VALUE] =
        DPF_PARAM_REAL_F("threshold-value", 1.0, 0.0, 700.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "t for threshold = value."),
    [P_LIFETIME] =
        DPF_PARAM_ENUM_F("lifetime", 0, lifetimes, DPF_PARAM_PRIVACY, "How long a sample stays in use."),
};

struct personalised {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *stream;
    double epsilon;
    double threshold; /* known after prepare */
    double largest;   /* budget of any record */
};

static dpf_status personalised_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = random->open(host, "@personalised sampling", &stream);
    if (status != DPF_OK)
        return status;
    struct personalised *sampler = *self;
    sampler->host = host;
    sampler->values = given->values;
    sampler->random = random;
    sampler->stream = stream;
    sampler->epsilon = given->values[P_EPSILON].real;
    sampler->threshold = sampler->epsilon;
    sampler->largest = sampler->epsilon;
    return DPF_OK;
}

static int32_t personalised_lifetime(void *self)
{
    return (int32_t)((const struct personalised *)self)->values[P_LIFETIME].integer + DPF_LIFETIME_RUN;
}

static double choose_threshold(const struct personalised *sampler, const dpf_sampler_setup *setup)
{
    switch (sampler->values[P_THRESHOLD].integer) {
    case THRESHOLD_MEAN:
        return sampler->epsilon * setup->privacy_weight_mean;
    case THRESHOLD_MIN:
        return sampler->epsilon * setup->privacy_weight_lo;
    case THRESHOLD_VALUE:
        return sampler->values[P_THRESHOLD_VALUE].real;
    default:
        return sampler->epsilon * setup->privacy_weight_hi;
    }
}

/* The number that the mechanism's epsilon has to be, rounded down to what can be typed. */
static dpf_status mechanism_spends_more(const struct personalised *sampler)
{
    char text[240] = "the mechanism spends more on each record than the threshold: set its epsilon to ";
    const int64_t millionths = (int64_t)floor(sampler->threshold * 1e6);
    dpf_text_add_count(text, sizeof(text), millionths / 1000000);
    dpf_text_add(text, sizeof(text), ".");
    for (int64_t unit = 100000; unit >= 1; unit /= 10)
        dpf_text_add_count(text, sizeof(text), millionths / unit % 10);
    dpf_text_add(text, sizeof(text), " or less");
    return sampler->host->fail(sampler->host, DPF_E_PRIVACY, P_THRESHOLD, text);
}

static dpf_status personalised_prepare(void *self, const dpf_sampler_setup *setup)
{
    struct personalised *sampler = self;
    const dpf_host *host = sampler->host;
    sampler->threshold = choose_threshold(sampler, setup);
    sampler->largest = sampler->epsilon * setup->privacy_weight_hi;
    if (!(sampler->threshold > 0 && isfinite(sampler->threshold)))
        return host->fail(
            host, DPF_E_CONFIG, P_THRESHOLD,
            "this threshold is not public: privacy weights come from files or records, and only the "
            "data knows their range; use threshold = value");
    if (sampler->threshold > 700)
        return host->fail(host, DPF_E_RANGE, P_EPSILON, "budgets above 700 cannot be represented");
    return setup->budget > sampler->threshold * (1 + 1e-9) ? mechanism_spends_more(sampler) : DPF_OK;
}

/* Rounded towards 0, so that no record is kept too often. */
static double keep_probability(const struct personalised *sampler, double budget)
{
    if (budget >= sampler->threshold)
        return 1;
    return expm1(budget) / expm1(sampler->threshold) * (1 - 0x1p-49);
}

static dpf_status personalised_describe(void *self, dpf_sampling *out)
{
    const struct personalised *sampler = self;
    out->kind = DPF_SAMPLING_WEIGHTED;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = DPF_OBSERVER_SERVER;
    out->rate = keep_probability(sampler, sampler->largest);
    out->weight_max = 1;
    out->budget = sampler->epsilon;
    out->threshold = sampler->threshold;
    return DPF_OK;
}

static dpf_status personalised_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct personalised *sampler = self;
    if (draw->level != DPF_LEVEL_RECORD)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1, "personalised draws records, not users");
    for (int64_t i = 0; i < draw->n; i++) {
        double weight = draw->privacy_weights ? (double)draw->privacy_weights[i] : 1;
        double budget = sampler->epsilon * weight;
        dpf_cursor cursor;
        uint8_t kept;
        if (!(weight > 0 && budget <= sampler->largest * (1 + 1e-6)))
            return call->host->fail(
                call->host, DPF_E_PRIVACY, -1,
                "a privacy weight is not above 0, or above the largest that was declared");
        sampler->random->seek(sampler->stream, call->draw, (uint32_t)draw->users[i], (uint32_t)draw->items[i],
                              &cursor);
        sampler->random->bernoulli(&cursor, keep_probability(sampler, budget), &kept, 1);
        weights[i] = kept ? 1 : 0;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .lifetime = personalised_lifetime,
    .prepare = personalised_prepare,
    .describe = personalised_describe,
    .draw = personalised_draw,
};

DPF_COMPONENT(
    component, DPF_ROLE_SAMPLER, functions, .id = "personalised", .version = "1.0.0",
    .summary = "Keeps each record with a probability by its privacy budget: personalised privacy",
    .citation =
        "Jorgensen, Yu, Cormode, Conservative or liberal? Personalized differential privacy, ICDE 2015",
    DPF_PARAMS(params), .create = personalised_create, .instance_bytes = sizeof(struct personalised))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.personalised", "1.0.0", "Apache-2.0", component)
