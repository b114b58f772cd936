/* SPDX-License-Identifier: Apache-2.0 */
/* The models without a component: a factorization, two sides that are solved in turns, and baselines. */
#include "plan/components.h"
#include "plan/facts.h"
#include "plan/model_type.h"
#include "plan/queries.h"
#include "plan/recommender_sums.h"

static void check_shape(const struct plan *plan)
{
    if (plan->columns < 1)
        config_error(plan->config, "model", "rank", plan->error,
                     "with rank = 0 and no bias there is nothing to fit");
    for (int i = 0; i < plan->n_order; i++)
        if (plan->dimension[plan->order[i]] < 1)
            config_error(plan->config, "run", "order", plan->error,
                         "with rank = 0 and no bias on that side, [%s] has nothing to solve",
                         plan_side_name(plan->order[i]));
}

/* Why scores depend on records of others that got no noise, or NULL. */
static const char *raw_scores(const struct plan *plan)
{
    const struct side_plan *users = &plan->sides[DPF_SIDE_USERS], *items = &plan->sides[DPF_SIDE_ITEMS];
    if (plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN)
        return "predictions start from the mean of the training ratings, which gets no noise; use offset = "
               "midpoint";
    if (items->updated && !items->public_rows)
        return "scores are made from items' factors that are computed from everybody's records without noise";
    if (users->updated && !users->public_rows && facts_reads_friends(plan, users))
        return "users' factors are computed from those of their friends, without noise";
    return NULL;
}

static const char *held_out_users(const struct side_plan *users)
{
    return users->released
               ? "rows of held-out users are solved from their own records without noise, but the "
                 "rows of [users] are released with noise"
           : !users->updated
               ? "rows of held-out users are solved from their own records without noise, but the "
                 "rows of [users] are never solved"
               : NULL;
}

static void say_facts(struct plan *plan)
{
    const struct side_plan *users = &plan->sides[DPF_SIDE_USERS], *items = &plan->sides[DPF_SIDE_ITEMS];
    const int has_noise = users->released || items->released;
    plan->model_facts = (struct model_facts){
        .has = MODEL_TRAINS | MODEL_HAS_ROUNDS | MODEL_DIVIDES | MODEL_READS_VOIDS |
               (users->updated && !users->public_rows && items->public_rows ? MODEL_AT_HOME : 0),
        .id = "factorization",
        .rounds = plan->run.params.values[RUN_ROUNDS].integer,
        .released = {users->updated && users->public_rows, items->updated && items->public_rows},
        .cannot = {[USE_HELD_OUT_USERS] = held_out_users(users),
                   [USE_NOISY_METRICS] = raw_scores(plan),
                   [USE_AUDIT] =
                       has_noise ? NULL : "no side has a mechanism, so there is no noise to audit"}};
}

static void make(struct plan *plan)
{
    check_shape(plan);
    recommender_sums_refuse(plan);
    components_make_sides(plan);
    if (!plan->sides[0].updated && !plan->sides[1].updated && plan->run.params.values[RUN_ROUNDS].integer > 0)
        config_error(plan->config, plan_side_name(plan->order[0]), "update", plan->error,
                     "neither side is solved, so the rounds would change nothing: set update = yes, or "
                     "[run] rounds = 0 for the initial rows");
    if (!plan_failed(plan))
        say_facts(plan);
}

const struct model_type factorization_type = {TYPE_FACTORIZATION, make, queries_complete, queries_replan};

/* ---- baselines ----------------------------------------------------------------------------------------- */

static void make_baseline(struct plan *plan)
{
    recommender_sums_refuse(plan);
    components_check_idle_sides(plan);
    plan->model_facts = (struct model_facts){
        .has = MODEL_DIVIDES | MODEL_READS_VOIDS,
        .id = "factorization",
        .rounds = plan->run.params.values[RUN_ROUNDS].integer,
        .cannot = {
            [USE_NOISY_METRICS] = "a baseline's scores are averages of everybody's records, without noise",
            [USE_AUDIT] = "baselines cannot be audited: they have no noise and no statement",
            [USE_ATTACK] = "baselines are not attacked: use a factorization or a recommender",
            [USE_LINKS] = "only factorizations and recommenders can: a baseline trains on all records in one "
                          "place"}};
    if (plan->model.params.values[MODEL_KIND].integer == MODEL_BIASES)
        plan->model_facts.cannot[USE_HELD_OUT_USERS] = "[model] kind = biases has a bias for each user that "
                                                       "it was trained on, and none for held-out users";
}

static int nothing_released(struct plan *plan, struct dpf_error *error)
{
    (void)error;
    plan->ledger.n = 0;
    return 0;
}

const struct model_type baseline_type = {TYPE_BASELINE, make_baseline, nothing_released, nothing_released};

const struct model_type *model_type_of(const struct config_values *model)
{
    const dpf_value *v = model->params.values;
    return *v[MODEL_RECOMMENDER].text                     ? &component_type
           : v[MODEL_KIND].integer == MODEL_FACTORIZATION ? &factorization_type
                                                          : &baseline_type;
}
