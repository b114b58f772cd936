/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow of data decides: a release reads records, its own side's rows and the other side's rows.
 * Its own rows come from earlier releases. The other side's rows are a constant if they are never
 * updated, come from releases if they pass a mechanism themselves, and are raw data if they are
 * local, except for a user's own row in a release that protects users and clips each user's whole
 * contribution: whatever the row is, the contribution stays within the clip.
 */
#include "plan/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dpframe/additive.h"

#include "base/memory.h"
#include "base/text.h"
#include "plan/metric_release.h"
#include "plan/recommender_plan.h"
#include "plan/release.h"
#include "plan/sensitivity.h"
#include "plan/sum_range.h"
#include "reading/data_params.h"

static int by_similarity(const struct plan *plan)
{
    return plan->data.params.values[D_RELATION_SIMILARITY].integer != 0;
}

/* With links a user's row depends on records of others, unless all that comes from friends is what they sent
   through a mechanism. */
int facts_reads_friends(const struct plan *plan, const struct side_plan *side)
{
    for (int i = 0; i < side->n_terms; i++)
        if (side->terms[i].source == SOURCE_RELATION && (!side->terms[i].mechanism || by_similarity(plan)))
            return 1;
    return 0;
}

static void judge_reads(const struct plan *plan, const struct term_plan *term, struct term_facts *facts)
{
    int other = term->source == SOURCE_RELATION ? term->side : 1 - term->side;
    const struct side_plan *side = &plan->sides[other];
    const char *name = plan_side_name(other);
    if (plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN) {
        facts->reads = FROM_RAW_DATA;
        snprintf(facts->reads_why, sizeof facts->reads_why,
                 "the offset is the mean of the training ratings and gets no noise; use offset = midpoint");
        return;
    }
    if (term->source == SOURCE_RELATION && by_similarity(plan)) {
        facts->reads = FROM_RAW_DATA;
        snprintf(facts->reads_why, sizeof facts->reads_why,
                 "weights of links are similarities of the raw ratings and get no noise; use "
                 "[data] relation.similarity = none");
        return;
    }
    if (!side->updated) {
        facts->reads = FROM_CONSTANT;
        snprintf(facts->reads_why, sizeof facts->reads_why, "%s factors stay at their initial values", name);
    } else if (side->public_rows) {
        facts->reads = FROM_RELEASES;
        snprintf(facts->reads_why, sizeof facts->reads_why, "%s factors come from earlier releases", name);
    } else if (plan->guarantee.unit == DPF_UNIT_USER && other == DPF_SIDE_USERS && term->by_user &&
               !facts_reads_friends(plan, side) && facts->unit_stated) {
        facts->reads = FROM_OWN_RECORD;
        snprintf(facts->reads_why, sizeof facts->reads_why,
                 "each user's message reads that user's own row, and the whole message is %s",
                 plan_sends_rows(term) ? "within a bound" : "clipped");
    } else {
        facts->reads = FROM_RAW_DATA;
        snprintf(facts->reads_why, sizeof facts->reads_why,
                 "the %s factors that it reads are computed from the raw ratings in every round and get no "
                 "noise of their own",
                 name);
    }
}

static int finite_somewhere(const dpf_norms *norms)
{
    return isfinite(norms->l1) || isfinite(norms->l2);
}

static void judge_sensitivity(const struct plan *plan, const struct term_plan *term, struct term_facts *facts)
{
    int unit = plan->guarantee.unit, adjacency = plan->guarantee.adjacency;
    facts->bounded = 1;
    facts->unit_stated = 1;
    if (term->bounds_from_data) {
        facts->bounded = 0;
        snprintf(facts->unbounded_why, sizeof facts->unbounded_why,
                 "the norms of rows are maxima over private factors; clip the rows to a public bound");
    }
    for (int b = 0; b < term->sent.n_blocks * (1 + term->sent.has_gram); b++) {
        const dpf_sensitivity *block = b < term->sent.n_blocks
                                           ? &term->sensitivity.blocks[b]
                                           : &term->sensitivity.gram[b - term->sent.n_blocks];
        const dpf_norms *norms = &block->at[unit][adjacency];
        if (finite_somewhere(norms))
            continue;
        int stated = !isnan(norms->l1) || !isnan(norms->l2);
        facts->unit_stated = 0;
        snprintf(facts->unit_why, sizeof facts->unit_why,
                 stated ? "block %d has no finite sensitivity for this unit; clip-user bounds a user's whole "
                          "contribution"
                        : "loss %2$s states no sensitivity of block %1$d for this unit and adjacency",
                 b % term->sent.n_blocks, term->loss->entry->component->id);
        if (stated && facts->bounded) {
            facts->bounded = 0;
            snprintf(facts->unbounded_why, sizeof facts->unbounded_why,
                     "a norm or value range that block %d depends on has no public bound", b);
        }
    }
}

/* An event of noise that says nothing about the unit and adjacency that are asked for. */
static int is_unstated(const struct plan *plan, const dpf_event *event)
{
    const dpf_norms *norms = &event->sensitivity.at[plan->guarantee.unit][plan->guarantee.adjacency];
    return event->kind != DPF_EVENT_NO_OP && event->kind < DPF_EVENT_SELECTION &&
           !(event->flags & DPF_EVENT_DATA_BLIND) && isnan(norms->l1) && isnan(norms->l2);
}

static void judge_noise(const struct plan *plan, const struct term_plan *term, struct term_facts *facts)
{
    facts->exact_grid = 1;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        const struct term_plan *owner = &plan->sides[event->side].terms[event->term];
        if (owner != term)
            continue;
        facts->noise_known |= (event->flags & DPF_EVENT_NOISE_KNOWN) != 0;
        if (event->flags & DPF_EVENT_FLOATING_POINT)
            facts->exact_grid = 0;
        if (facts->unit_stated && is_unstated(plan, event)) {
            facts->unit_stated = 0;
            snprintf(facts->unit_why, sizeof facts->unit_why,
                     "mechanism %s states no sensitivity for this unit and adjacency",
                     term->mechanism->entry->component->id);
        }
    }
}

/* Whether the rows of a message are the same whatever the records are. */
static int sends_all_rows(const struct term_plan *term)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    int dense = !term->by_user || term->pooled || term->query.support == DPF_SUPPORT_DENSE ||
                (aggregator->flags & DPF_AGGREGATOR_DENSE) != 0 ||
                (mechanism->flags & DPF_MECHANISM_DENSE) != 0 ||
                /* the user's own row, always */
                (term->side == DPF_SIDE_USERS && (term->source == SOURCE_RECORDS || plan_sends_rows(term)));
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        dense |=
            transform->kind == DPF_TRANSFORM_STATE || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE) != 0;
    }
    return dense;
}

/* Whether a term without a mechanism brings records, or rows made from them, of several parties together. */
static int crosses_parties(const struct plan *plan, const struct term_plan *term)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    if (kind == PARTIES_CURATOR)
        return 0;
    if (term->source == SOURCE_RELATION)
        return 1;
    return term->side == DPF_SIDE_USERS ? kind == PARTIES_SILOS_BY_ITEMS : kind != PARTIES_SILOS_BY_ITEMS;
}

/* Ways by which numbers get out that no mechanism has seen. */
static void judge_bare_terms(const struct plan *plan, const struct side_plan *side, struct run_facts *run)
{
    int to_server = 0;
    for (int i = 0; i < side->n_terms; i++)
        to_server |= side->terms[i].mechanism && side->terms[i].destination == DESTINATION_SERVER;
    for (int i = 0; side->updated && i < side->n_terms && !run->released_raw; i++) {
        const struct term_plan *term = &side->terms[i];
        if (term->mechanism)
            continue;
        if (to_server) {
            run->released_raw = 1;
            snprintf(run->released_raw_why, sizeof run->released_raw_why,
                     "%.60s has no mechanism, so its exact numbers enter rows that are released", term->name);
        } else if (plan->guarantee.observer != DPF_OBSERVER_OUTSIDER && crosses_parties(plan, term)) {
            run->released_raw = 1;
            snprintf(run->released_raw_why, sizeof run->released_raw_why,
                     "%.60s has no mechanism, but its rows need records of several parties", term->name);
        }
    }
}

/* ---- what could stop a run (C12) ----------------------------------------------------------------------- */

static void say_overflow(int unbounded, int block, struct term_facts *facts)
{
    facts->sum_may_overflow = 1;
    if (unbounded)
        snprintf(
            facts->overflow_why, sizeof facts->overflow_why,
            "no public constant bounds a contribution to block %d, so that a sum may leave 64 bits; bound "
            "it, for example by clip-error, clip-user or a radius",
            block);
    else
        snprintf(facts->overflow_why, sizeof facts->overflow_why,
                 "sums of block %d may leave 64 bits; lower the bounds of contributions, or declare [model] "
                 "users and items",
                 block);
}

static void judge_range(const struct plan *plan, const struct term_plan *term, struct term_facts *facts)
{
    const struct sum_fit fit = plan_sums_fit(plan, term, facts_most_users(plan));
    if (fit.block >= 0)
        say_overflow(fit.unbounded, fit.block, facts);
}

static void judge_completion(const struct plan *plan, const struct term_plan *term, struct term_facts *facts)
{
    const dpf_aggregator_limits limits = plan_aggregator_limits(plan, term);
    facts->stops_below =
        limits.parties > term->noise.least_survivors ? limits.parties : term->noise.least_survivors;
    judge_range(plan, term, facts);
}

static void judge_term(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                       struct term_facts *facts)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    snprintf(facts->name, sizeof facts->name, "%.63s", term->name);
    facts->has_mechanism = 1;
    facts->noise_where = term->noise.where;
    facts->single_curator = plan->parties.params.values[PARTIES_KIND].integer == PARTIES_CURATOR;
    facts->sees = facts->single_curator ? DPF_SEES_SUM : aggregator->sees;
    facts->to_peers = term->destination == DESTINATION_PEER;
    facts->sampling = term->sampling;
    facts->spare_shares = term->noise.spare_shares;
    facts->support_observed = term->sent.support == DPF_SUPPORT_OBSERVED && !plan_sends_rows(term);
    /* Parties that hold many rows, and aggregators that ask for it, send every row with its noise. */
    facts->dense = !facts->support_observed || !term->by_user || term->pooled ||
                   (aggregator->flags & DPF_AGGREGATOR_DENSE) != 0;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    /* Users who send their own rows count their own records only, and send a row each. */
    const int own_row = plan_sends_rows(term) && !side->public_rows;
    facts->reads_degrees = !own_row && ((side->solver_functions->flags & DPF_SOLVER_DEGREES) != 0 ||
                                        (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS) != 0);
    facts->dense = sends_all_rows(term);
    facts->row_each = term->side == DPF_SIDE_USERS;
    facts->sent_by_users = term->by_user && !term->pooled && !facts->single_curator;
    facts->sends_several = term->by_user && !term->pooled &&
                           plan->parties.params.values[PARTIES_KIND].integer == PARTIES_SILOS_BY_USERS;
    facts->counts_users = plan_counts_users(term);
    facts->noise_by_users = plan_noise_by_users(term);
    judge_sensitivity(plan, term, facts);
    judge_reads(plan, term, facts);
    judge_noise(plan, term, facts);
    judge_completion(plan, term, facts);
}

double facts_most_users(const struct plan *plan)
{
    struct fact_question question;
    facts_question(plan, &question);
    return input_hides_users(&question) ? INT32_MAX : (double)plan_rows(plan, DPF_SIDE_USERS);
}

void facts_question(const struct plan *plan, struct fact_question *out)
{
    const dpf_value *privacy = plan->privacy.params.values, *model = plan->model.params.values;
    *out = (struct fact_question){
        .data = &plan->data,
        .split = &plan->split,
        .promise = {.unit = plan->guarantee.unit,
                    .adjacency = plan->guarantee.adjacency,
                    .observer = plan->guarantee.observer,
                    .pattern_public = privacy[PRIVACY_INTERACTION_PATTERN].integer == 1,
                    .ids_public = privacy[PRIVACY_ID_LISTS].integer == 1},
        .declared = {model[MODEL_USERS].integer, model[MODEL_ITEMS].integer},
        .stops_by_error = plan->run.params.values[RUN_UNTIL].integer == UNTIL_TRAINING_ERROR,
        .offset_is_mean = plan_has(plan, MODEL_HAS_ROUNDS) && model[MODEL_OFFSET].integer == OFFSET_MEAN,
        .value_lo = plan->value_lo,
        .value_hi = plan->value_hi,
        .public_files = plan->public_files,
        .releases_metrics = plan->metrics.numbers > 0,
        .has_parties = plan->parties.params.values[PARTIES_KIND].integer != PARTIES_CURATOR,
    };
}

/* What the terms show of users, and how many messages their sums need. */
static void ask_terms(const struct run_facts *run, struct fact_question *question)
{
    for (int i = 0; i < run->n_terms; i++) {
        const struct term_facts *term = &run->terms[i];
        if (!question->shows_users)
            question->shows_users = term_shows_users(term, question->promise.observer);
        if (term->stops_below > question->least_users)
            question->least_users = term->stops_below;
    }
}

void facts_asked(const struct plan *plan, struct fact_question *out)
{
    facts_question(plan, out);
    ask_terms(&plan->run_facts, out);
}

/* All facts of the condition that are not allowed, so that all keys can be set at once. */
static void tell_lost(const struct fact_question *question, int condition, char *out, size_t size)
{
    size_t used = 0;
    int fact = input_not_allowed(condition, 0, question);
    for (; fact < N_INPUT_FACTS && used < size; fact = input_not_allowed(condition, fact + 1, question))
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "",
                                 input_fact_at((enum input_fact)fact)->lost(question));
}

/* What the whole input decides, by condition, and what is public then. */
static void judge_input(const struct plan *plan, struct run_facts *run)
{
    struct fact_question question;
    struct text public_lines = {0};
    facts_asked(plan, &question);
    for (int c = 0; c < N_CONDITIONS && run->n_terms > 0; c++)
        tell_lost(&question, c + 1, run->not_allowed[c], sizeof run->not_allowed[c]);
    run->cells_public = input_allows(input_decider(INPUT_CELLS, &question), &question.promise);
    if (run->n_terms > 0)
        input_say_public(&question, &public_lines);
    snprintf(run->taken_as_public, sizeof run->taken_as_public, "%s",
             public_lines.data ? public_lines.data : "");
    text_free(&public_lines);
}

void facts_complete(struct plan *plan)
{
    int n = plan->recommender.n_releases;
    for (int which = 0; which < 2; which++)
        n += plan->sides[which].n_terms;
    plan->facts = memory_need((size_t)n + 2, sizeof *plan->facts);
    struct run_facts *run = &plan->run_facts;
    for (int which = 0; which < 2; which++) {
        const struct side_plan *side = &plan->sides[which];
        for (int i = 0; i < side->n_terms; i++)
            if (side->terms[i].mechanism)
                judge_term(plan, side, &side->terms[i], &plan->facts[run->n_terms++]);
    }
    for (int32_t i = 0; i < plan->recommender.n_releases; i++)
        recommender_plan_judge(plan, i, &plan->facts[run->n_terms++]);
    if (plan->metrics.numbers > 0)
        metric_release_judge(plan, &plan->facts[run->n_terms++]);
    run->terms = plan->facts;
    run->rounds = plan->model_facts.rounds;
    for (int which = 0; which < 2 && run->n_terms > 0; which++)
        judge_bare_terms(plan, &plan->sides[which], run);
    run->local_users = plan_has(plan, MODEL_AT_HOME);
    /* Scores whose metrics are released may have home terms, which read features that no release of the model does. */
    run->public_features = plan_releases_read_items(plan) ||
                           (plan->metrics.numbers > 0 && *plan->data.params.values[D_ITEM_FEATURES].text);
    run->secure = plan->privacy.params.values[PRIVACY_RANDOMNESS].integer == 0;
    judge_input(plan, run);
}
