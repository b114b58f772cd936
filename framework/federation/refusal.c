/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/refusal.h"

#include "reading/data_options.h"
#include "reading/data_params.h"

static const char *term_refusal(const struct term_plan *term)
{
    if (term->source != SOURCE_RECORDS)
        return "links between users (source = relation) are sent from user to user, which a server does not "
               "carry";
    if (!term->by_user)
        return "the messages of this term are not made user by user";
    if (term->bounds_from_data)
        return "bounds = data reads everybody's rows";
    if (term->sampler && (term->sampling.separation > 1 ||
                          ((const dpf_sampler *)term->sampler->functions)->level != DPF_LEVEL_PARTY))
        return "the sampler draws records, or keeps a user's rounds apart, which a party cannot check";
    if (term->sampler && term->sampling.weight_max != 1)
        return "the sampler gives those who take part a weight, which a party is not told";
    if (term->query.has_gram)
        return "the query has a Gram row";
    const dpf_aggregator *aggregator = term->aggregator->functions;
    if (!aggregator->exchange_bytes)
        return "its aggregator adds in one process: secagg has messages";
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (mechanism->row_state || term->draw_lifetime == DPF_LIFETIME_RUN)
        return "its noise lives for the whole run, which a party that is started again would not know";
    return NULL;
}

static const char *side_refusal(const struct side_plan *side)
{
    if (side->solve_at == SOLVE_AT_PARTY)
        return "parties that solve released rows (site = party) are not served over links yet";
    if (side->n_terms != 1)
        return "a released side has one term";
    return term_refusal(&side->terms[0]);
}

/* What follows from all records, or is counted in them, is nothing that any end knows. */
static const char *data_refusal(const struct plan *plan)
{
    const dpf_value *data = plan->data.params.values;
    if (!*data[D_ITEMS_FILE].text || !*data[D_USERS_FILE].text)
        return "all ends have the same lists of users and items: name catalogues, [data] users-file and "
               "items-file";
    if (plan->run_facts.follows || plan->run_facts.counts_ratings)
        return "something follows from everybody's records: see condition C11 of its statement";
    if (plan->split.params.values[S_KIND].integer == SPLIT_FILES)
        return "[split] kind = files names one file of everybody's test records";
    if (plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN)
        return "[model] offset = mean is a mean of everybody's records";
    if (data[D_WEIGHTS_KIND].integer != WEIGHTS_NONE)
        return "privacy weights are read for all users in one place";
    return NULL;
}

const char *federation_refusal(const struct plan *plan)
{
    if (!plan_is_factorization(plan))
        return "only factorizations are: a recommender or a baseline trains on all records in one place";
    if (plan->parties.params.values[PARTIES_KIND].integer != PARTIES_USERS)
        return "each party is one user: [parties] kind = users";
    if (!plan->sides[DPF_SIDE_ITEMS].updated || !plan->sides[DPF_SIDE_ITEMS].released ||
        plan->sides[DPF_SIDE_USERS].released)
        return "the items are released and the users stay where they are; nothing else is served over links "
               "yet";
    if (plan->n_order != 2 || plan->order[0] != DPF_SIDE_USERS)
        return "a round solves the users first: [run] order = users, items";
    if (plan->run.params.values[RUN_UNTIL].integer != UNTIL_ROUNDS)
        return "the server has no errors to stop by: [run] until = rounds";
    if (plan->metrics.numbers > 0)
        return "metrics are released with noise, and the server has no test records: [evaluate] release = "
               "private";
    if (plan->run.params.values[RUN_FINAL_STEP].integer == FINAL_STEP_ITEMS)
        return "[run] final-step = items is a step over all records";
    for (int t = 0; t < plan->sides[DPF_SIDE_USERS].n_terms; t++)
        if (plan->sides[DPF_SIDE_USERS].terms[t].returns_transformed)
            return "[users] returned = transformed changes released rows after the last round";
    const char *why = side_refusal(&plan->sides[DPF_SIDE_ITEMS]);
    return why ? why : data_refusal(plan);
}
