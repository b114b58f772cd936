/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/refusal.h"

#include "engine/remote.h"
#include "plan/facts.h"
#include "reading/data_options.h"
#include "reading/data_params.h"

/* Something that a component does for simulations alone: the parties' noise drawn by whoever decodes, for instance. */
static int simulates(const struct instance *instance)
{
    const struct config_values *values = &instance->values;
    for (int64_t i = 0; i < values->params.n_values; i++)
        if ((values->table[i].flags & DPF_PARAM_SIMULATES) &&
            values->params.values[i].integer != values->table[i].default_integer)
            return 1;
    return 0;
}

static const char *aggregator_refusal(struct instance *aggregator)
{
    return ((const dpf_aggregator *)aggregator->functions)->exchange_bytes
               ? NULL
               : "its aggregator adds in one process: secagg, sum and mean have messages";
}

/* Noise that a party that is started again, or has its own records only, could not make. */
static const char *noise_refusal(const struct term_plan *term)
{
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (mechanism->row_state || term->draw_lifetime == DPF_LIFETIME_RUN)
        return "its noise lives for the whole run, which a party that is started again would not know";
    if (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS)
        return "its noise depends on how many parties send a row, which no party knows";
    if (simulates(term->mechanism))
        return "[items.mechanism] simulate: only a simulation can draw the parties' noise in one place";
    return NULL;
}

static const char *sampler_refusal(const struct term_plan *term)
{
    if (!term->sampler)
        return NULL;
    if (!term->by_user || term->sampling.separation > 1 ||
        ((const dpf_sampler *)term->sampler->functions)->level != DPF_LEVEL_PARTY)
        return "the sampler draws records, or keeps a user's rounds apart, which a party cannot check";
    return term->sampling.weight_max != 1
               ? "the sampler gives those who take part a weight, which a party is not told"
               : NULL;
}

static const char *term_refusal(const struct plan *plan, const struct term_plan *term)
{
    const int sites = plan->parties.params.values[PARTIES_KIND].integer == PARTIES_SILOS_BY_USERS;
    const char *why = NULL;
    if (term->source != SOURCE_RECORDS)
        return "links between users (source = relation) are sent from user to user, which a server does not "
               "carry";
    if (!remote_solves(plan)) /* a site that solves reads its own rows only */
        why = !term->by_user && !(sites && term->whole_message)
                  ? "the messages of this term are not made user by user"
              : term->bounds_from_data ? "bounds = data reads everybody's rows"
              : term->query.has_gram   ? "the query has a Gram row"
                                       : NULL;
    if (!why)
        why = sampler_refusal(term);
    if (!why)
        why = aggregator_refusal(term->aggregator);
    return why ? why : noise_refusal(term);
}

static const char *side_refusal(const struct plan *plan)
{
    const struct side_plan *side = &plan->sides[DPF_SIDE_ITEMS];
    const int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    if (remote_solves(plan) && kind != PARTIES_SILOS_BY_USERS)
        return "parties that solve (solve-at = party) are sites with users of their own: [parties] kind = "
               "silos-by-users";
    if (!remote_solves(plan) && kind != PARTIES_USERS && kind != PARTIES_SILOS_BY_USERS)
        return "each party is one user, or a site with users of its own: [parties] kind = users, or "
               "silos-by-users";
    if (side->solver_functions->flags & DPF_SOLVER_BY_RECORD)
        return "the solver of the items steps after each record, and a party sends one message a round";
    return side->n_terms != 1 ? "a released side has one term" : term_refusal(plan, &side->terms[0]);
}

/* What follows from all records, or is counted in them, is nothing that any end knows. */
static const char *data_refusal(const struct plan *plan)
{
    const dpf_value *data = plan->data.params.values;
    if (!*data[D_ITEMS_FILE].text || !*data[D_USERS_FILE].text)
        return "all ends have the same lists of users and items: name catalogues, [data] users-file and "
               "items-file";
    if (plan->split.params.values[S_KIND].integer == SPLIT_FILES)
        return "[split] kind = files names one file of everybody's test records";
    if (plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN)
        return "[model] offset = mean is a mean of everybody's records";
    struct fact_question question;
    facts_question(plan, &question);
    if (input_needs_everybody(&question))
        return "something follows from everybody's records: see conditions C2 and C11 of its statement";
    if (data[D_WEIGHTS_KIND].integer != WEIGHTS_NONE && data[D_WEIGHTS_KIND].integer != WEIGHTS_GROUPS)
        return "privacy weights are read for all users in one place: only those of kind = groups follow from "
               "ids";
    return NULL;
}

static const char *rounds_refusal(const struct plan *plan)
{
    if (!plan->sides[DPF_SIDE_ITEMS].updated || !plan->sides[DPF_SIDE_ITEMS].released ||
        plan->sides[DPF_SIDE_USERS].released)
        return "the items are released and the users stay where they are; nothing else is served over links "
               "yet";
    if (plan->n_order != 2)
        return "a round solves both sides: [run] order = users, items, or the other way round";
    if (plan->run.params.values[RUN_UNTIL].integer != UNTIL_ROUNDS)
        return "the server has no errors to stop by: [run] until = rounds";
    if (plan->run.params.values[RUN_FINAL_STEP].integer == FINAL_STEP_ITEMS)
        return "[run] final-step = items is a step over all records";
    if (plan->run.params.values[RUN_NOISE].integer)
        return "[run] noise = yes compares each sum with what all parties have added, which no end knows";
    for (int t = 0; t < plan->sides[DPF_SIDE_USERS].n_terms; t++)
        if (plan->sides[DPF_SIDE_USERS].terms[t].returns_transformed)
            return "[users] returned = transformed changes released rows after the last round";
    return side_refusal(plan);
}

/* With an aggregator the plan has made sure of users who send messages with their shares of the noise. */
static const char *sums_refusal(const struct plan *plan)
{
    struct instance *aggregator = plan->recommender.aggregator;
    if (!aggregator)
        return "without [model] aggregator a recommender trains on all records in one place: "
               "set it to secagg";
    if (((const dpf_aggregator *)aggregator->functions)->sees != DPF_SEES_SUM)
        return "the server sees messages, and each has a share of the noise alone: "
               "set [model] aggregator = secagg";
    return aggregator_refusal(aggregator);
}

const char *federation_refusal(const struct plan *plan)
{
    const char *why = plan->model_facts.cannot[USE_LINKS];
    if (!why)
        why = plan_has(plan, MODEL_HAS_ROUNDS) ? rounds_refusal(plan) : sums_refusal(plan);
    if (why)
        return why;
    if (plan->metrics.numbers > 0)
        return "metrics are released with noise, and the server has no test records: [evaluate] release = "
               "private";
    return data_refusal(plan);
}
