/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No sum wraps. A sum of n messages is the sum of their numbers, of size n L at most, where L is the largest
 * that a message has without its noise, and the sum of n shares of discrete Gaussian noise of scale s. The
 * latter is subgaussian with variance proxy n s^2 (Canonne, Kamath, Steinke, arXiv 2004.00010), so it is beyond 64 s sqrt(n) with a probability of 2 exp(-2048) at most. The modulus is the least power of two
 * above 2 (n L + 64 s sqrt(n)): numbers below half of it are positive, the others negative. Privacy does not
 * rest on that: a sum modulo M is computed from the sum.
 */
#include "plan/recommender_sums.h"

#include <math.h>
#include <stdio.h>

#include "plan/components.h"
#include "plan/sensitivity.h"
#include "plan/noise_shares.h"

#define NOISE_DEVIATIONS 64.0
#define MOST_BITS 62

void recommender_sums_refuse(const struct plan *plan)
{
    if (!plan->stand_in && *plan->model.params.values[MODEL_AGGREGATOR].text)
        config_error(plan->config, "model", "aggregator", plan->error,
                     "this key is for recommenders, and [model] names none: set aggregators of a "
                     "factorization in [users] or [items]");
}

void recommender_sums_make(struct plan *plan)
{
    const char *id = plan->model.params.values[MODEL_AGGREGATOR].text;
    if (plan->without_mechanisms)
        return;
    if (*id && plan->parties.params.values[PARTIES_KIND].integer != PARTIES_USERS)
        config_error(plan->config, "model", "aggregator", plan->error,
                     "aggregator = %s sums messages of the users: set [parties] kind = users", id);
    struct instance *instance = plan->recommender.aggregator =
        components_make_named(plan, DPF_ROLE_AGGREGATOR, "model", "aggregator", id);
    const dpf_aggregator *aggregator = instance ? instance->functions : NULL;
    if (aggregator && aggregator->scale(instance->self, 2) != 1)
        config_error(plan->config, "model", "aggregator", plan->error,
                     "recommenders take sums, but aggregator %s divides them by the number of "
                     "messages: use one that does not, or its scale = sum",
                     id);
}

int64_t recommender_sums_shares(const struct plan *plan)
{
    return plan->recommender.aggregator ? noise_shares_of(plan, plan_rows(plan, DPF_SIDE_USERS)).honest : 0;
}

static dpf_aggregator_limits limits_of(const struct plan *plan)
{
    const struct instance *instance = plan->recommender.aggregator;
    const dpf_aggregator *aggregator = instance->functions;
    dpf_aggregator_limits limits = {.size = sizeof limits, .parties = 1};
    if (aggregator->limits)
        aggregator->limits(instance->self, plan_rows(plan, DPF_SIDE_USERS), &limits);
    return limits;
}

int recommender_sums_check(struct plan *plan, struct dpf_error *error)
{
    struct recommender_plan *component = &plan->recommender;
    if (!component->aggregator)
        return 0;
    const int64_t users = plan->n_present;
    const struct noise_shares shares = noise_shares_of(plan, plan_rows(plan, DPF_SIDE_USERS));
    const char *id = component->aggregator->entry->component->id;
    component->max_curious = shares.curious;
    component->least_survivors = shares.honest + shares.curious;
    if (noise_shares_check(plan, "model", &shares, users, error) != 0)
        return -1;
    const dpf_aggregator_limits limits = limits_of(plan);
    if (limits.survivors > 0 && limits.survivors < component->least_survivors)
        return config_error(plan->config, "model", "aggregator", error,
                            "%s opens sums of %lld messages, but the noise in shares needs %lld ([privacy] "
                            "min-honest + max-curious); raise survivors, or remove it",
                            id, (long long)limits.survivors, (long long)component->least_survivors);
    if (limits.survivors > users || limits.parties > users)
        return config_error(
            plan->config, "model", "aggregator", error,
            "%s opens no sum of fewer than %lld messages, and there are %lld users: lower survivors or "
            "threshold",
            id, (long long)(limits.survivors > limits.parties ? limits.survivors : limits.parties),
            (long long)users);
    if (plan->guarantee.observer == DPF_OBSERVER_PARTIES && limits.corrupt > component->max_curious)
        return config_error(plan->config, "model", "aggregator", error,
                            "%s assumes that up to %lld users collude with the server (corrupt, times their "
                            "number), but the noise holds against %lld; lower corrupt, or raise [privacy] "
                            "max-curious",
                            id, (long long)limits.corrupt, (long long)component->max_curious);
    return 0;
}

/* 0 if no modulus of 64 bits is large enough. */
static uint64_t modulus_of(double n, const dpf_recommender_release *release)
{
    const double most =
        n * (double)release->largest + NOISE_DEVIATIONS * (double)release->share_steps * sqrt(n);
    int bits = 1;
    while (bits <= MOST_BITS && !(ldexp(1.0, bits) > 2 * most * (1 + 1e-15)))
        bits++;
    return bits <= MOST_BITS ? UINT64_C(1) << bits : 0;
}

int recommender_sums_complete(struct plan *plan, int32_t index, struct dpf_error *error)
{
    struct recommender_plan *component = &plan->recommender;
    const dpf_recommender_release *release = &component->releases[index];
    component->modulus[index] = 0;
    if (!component->aggregator || release->event.count == 0)
        return 0;
    if (release->noise_where != DPF_NOISE_IN_SHARES || release->largest < 1 || release->share_steps < 1 ||
        !(release->flags & DPF_RELEASE_NOISE_BY_USERS))
        return config_error(plan->config, "model", "aggregator", error,
                            "recommender %s does not send its %.48s with noise in shares, as an "
                            "aggregator needs it: remove the key",
                            component->instance->entry->component->id, release->name);
    component->modulus[index] = modulus_of((double)plan_rows(plan, DPF_SIDE_USERS), release);
    return 0;
}

void recommender_sums_judge(const struct plan *plan, int32_t index, struct term_facts *facts)
{
    const struct recommender_plan *component = &plan->recommender;
    if (!component->aggregator)
        return;
    const dpf_aggregator_limits limits = limits_of(plan);
    facts->sees = ((const dpf_aggregator *)component->aggregator->functions)->sees;
    facts->spare_shares = component->max_curious;
    facts->stops_below =
        limits.parties > component->least_survivors ? limits.parties : component->least_survivors;
    facts->sum_may_overflow = component->releases[index].event.count > 0 && !component->modulus[index];
    if (facts->sum_may_overflow)
        snprintf(facts->overflow_why, sizeof facts->overflow_why,
                 "sums of the messages of all users may leave 62 bits; declare fewer [model] users");
}
