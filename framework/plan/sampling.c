/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sampling.h"

#include <math.h>

#include "data/load.h"
#include "plan/release.h"
#include "plan/sensitivity.h"
#include "data/weights.h"
#include "plugin/role_tables.h"

/* The mechanism's privacy loss of a record by its weight, for samplers. */
struct profile {
    struct plan *plan;
    struct term_plan *term;
    struct dpf_error *error;
    int ready;
    dpf_noise_plan noise;
};

static int plan_for_profile(struct profile *profile)
{
    struct term_plan *term = profile->term;
    struct instance *instance = term->mechanism;
    struct term_sensitivity sensitivity;
    struct release_request request;
    if (plan_term_bounds(profile->plan, term, profile->error) != 0 ||
        plan_term_sensitivity(term, &term->bounds, &sensitivity, profile->error) != 0)
        return -1;
    plan_release(profile->plan, term, &sensitivity, term->bounds_from_data, &request);
    profile->noise = (dpf_noise_plan){.size = sizeof profile->noise};
    return instance_result(
        instance,
        ((const dpf_mechanism *)instance->functions)->plan(instance->self, &request.release, &profile->noise),
        "plan", profile->error);
}

static dpf_status record_epsilon(void *context, double weight, double *epsilon)
{
    struct profile *profile = context;
    struct instance *instance = profile->term->mechanism;
    if (!profile->ready && plan_for_profile(profile) != 0)
        return DPF_E_CONFIG;
    profile->ready = 1;
    return ((const dpf_mechanism *)instance->functions)
        ->epsilon_at_weight(instance->self, &profile->noise, weight, epsilon);
}

/* Whether another term that releases reads its draw where this one does: then the same records are in both.
 */
static int draws_with_others(const struct plan *plan, const struct term_plan *term)
{
    if (!instance_shares_stream(term->sampler))
        return 0;
    for (int which = 0; which < 2; which++)
        for (int i = 0; plan->sides[which].updated && i < plan->sides[which].n_terms; i++) {
            const struct term_plan *other = &plan->sides[which].terms[i];
            if (other != term && other->mechanism && other->sampler && instance_shares_stream(other->sampler))
                return 1;
        }
    return 0;
}

int sampling_complete(struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    term->sampling = (dpf_sampling){
        .kind = DPF_SAMPLING_NONE, .unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1.0, .weight_max = 1.0};
    if (!term->sampler)
        return 0;
    struct instance *instance = term->sampler;
    const dpf_sampler *sampler = instance->functions;
    double budget = NAN;
    if (term->mechanism)
        budget = mechanism_budget(term->mechanism->functions, term->mechanism->self);
    struct data_weight_range weights;
    data_weight_range(&plan->data, &weights);
    dpf_sampler_setup setup = {.size = sizeof setup,
                               .side = term->side,
                               .n_parties = plan_rows(plan, DPF_SIDE_USERS),
                               .budget = budget,
                               .privacy_weight_lo = weights.lo,
                               .privacy_weight_hi = weights.hi,
                               .privacy_weight_mean = weights.mean};
    struct profile profile = {.plan = plan, .term = term, .error = error};
    if (term->mechanism && ((const dpf_mechanism *)term->mechanism->functions)->epsilon_at_weight) {
        setup.epsilon_at_weight = record_epsilon;
        setup.context = &profile;
    }
    if (sampler->prepare &&
        instance_result(instance, sampler->prepare(instance->self, &setup), "prepare", error) != 0)
        return -1;
    if (instance_result(instance, sampler->describe(instance->self, &term->sampling), "describe", error) != 0)
        return -1;
    const int hidden = term->sampling.hidden_from;
    if (hidden >= 0 && term->secrecy > hidden)
        return config_error(plan->config, term->name, "sample-secrecy", error,
                            "sampler %s hides its draw from no more than the %s",
                            instance->entry->component->id,
                            hidden == DPF_OBSERVER_SERVER ? "server" : "outsider");
    term->sampling.hidden_from = hidden < term->secrecy ? hidden : term->secrecy;
    if (sampler->level == DPF_LEVEL_PARTY && term->sampling.unit != DPF_UNIT_USER)
        return config_error(plan->config, term->name, "sampler", error,
                            "sampler %s draws parties, but does not say that the parties it draws are users",
                            instance->entry->component->id);
    if (term->sampling.separation > 1 && sampler->level != DPF_LEVEL_PARTY)
        return config_error(plan->config, term->name, "sampler", error,
                            "sampler %s states that participations are kept apart, but it draws records",
                            instance->entry->component->id);
    /* Amplification composes only over releases that have a draw each. */
    int32_t lifetime = sampler_lifetime(sampler, instance->self);
    if ((release_passes(plan, term->side) > 1 && lifetime != DPF_LIFETIME_SOLVE) ||
        (lifetime == DPF_LIFETIME_RUN && plan->run.params.values[RUN_ROUNDS].integer > 1) ||
        draws_with_others(plan, term))
        term->sampling.hidden_from = -1;
    return 0;
}
