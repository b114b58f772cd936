/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/queries.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/combinations.h"
#include "plan/first_round.h"
#include "plan/noise_fit.h"
#include "plan/release.h"
#include "plan/sampling.h"
#include "plan/sensitivity.h"

static uint32_t quadratic_layout(const struct side_plan *side, const struct term_plan *term,
                                 const dpf_loss *loss)
{
    if (side->released)
        return term->layout;
    if ((side->solver_functions->flags & DPF_SOLVER_OPERATOR) && (loss->layouts & DPF_LAYOUT_OPERATOR) &&
        side->n_terms == 1)
        return DPF_LAYOUT_OPERATOR;
    return loss->layouts & DPF_LAYOUT_LOWER ? DPF_LAYOUT_LOWER : term->layout;
}

static int ask_query(struct plan *plan, struct term_plan *term, uint32_t layout, int released, dpf_query *out,
                     struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    int side = term->side;
    int other = term->source == SOURCE_RELATION ? side : 1 - side;
    dpf_side_info info = {
        .size = sizeof info,
        .side = side,
        .n_self = plan_rows(plan, side),
        .n_other = plan_rows(plan, other),
        .columns = plan->columns,
        .first = plan->first[side],
        .dimension = plan->dimension[side],
        .bias = plan->bias[side],
        .layout = layout,
        .is_released = released,
    };
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    return instance_result(term->loss, loss->query(term->loss->self, &info, out), "query", error);
}

static int check_query(const struct term_plan *term, const dpf_query *query, struct dpf_error *error)
{
    int next = 0;
    if (query->n_blocks < 1 || query->n_blocks > DPF_MAX_BLOCKS || query->dimension < 1)
        return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: its query has %d blocks of dimension %d",
                         term->name, term->loss->entry->component->id, query->n_blocks, query->dimension);
    for (int i = 0; i < query->n_blocks; i++) {
        if (query->blocks[i].offset < next || query->blocks[i].length < 0)
            return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: block %d of its query overlaps another",
                             term->name, term->loss->entry->component->id, i);
        next = query->blocks[i].offset + query->blocks[i].length;
    }
    if (next > query->width)
        return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: the blocks of its query exceed its width",
                         term->name, term->loss->entry->component->id);
    return 0;
}

/* The unknown columns of a row, as one block. */
static dpf_query row_query(const dpf_query *query)
{
    return (dpf_query){
        .size = sizeof(dpf_query),
        .form = DPF_FORM_GRADIENT,
        .dimension = query->dimension,
        .first = query->first,
        .width = query->dimension,
        .support = DPF_SUPPORT_OBSERVED,
        .n_blocks = 1,
        .blocks = {{.kind = DPF_BLOCK_GRADIENT, .length = query->dimension}},
    };
}

static int takes(const dpf_component *component, uint32_t flags)
{
    return (((const dpf_solver *)component->functions)->flags & flags) != 0;
}

/* Names the solvers that take such queries. */
static int refuse_solver(struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                         uint32_t needed, struct dpf_error *error)
{
    struct text fit = {0};
    registry_add_fitting(plan->registry, DPF_ROLE_SOLVER, takes, needed, &fit);
    const int status = config_error(plan->config, plan_side_name(side->side), "solver", error,
                                    "solver %s does not take the %s queries of loss %s; those that do: %s. "
                                    "Set one of them, or another loss",
                                    side->solver->entry->component->id,
                                    needed == DPF_SOLVER_GRADIENT ? "gradient" : "quadratic",
                                    term->loss->entry->component->id, fit.data);
    text_free(&fit);
    return status;
}

static int complete_query(struct plan *plan, struct side_plan *side, struct term_plan *term,
                          struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    uint32_t layout = loss->layouts ? quadratic_layout(side, term, loss) : 0;
    if (layout && !(loss->layouts & layout))
        return config_error(plan->config, term->name, "block-layout", error,
                            "loss %s cannot write this block layout", term->loss->entry->component->id);
    if (ask_query(plan, term, layout, side->released, &term->query, error) != 0 ||
        check_query(term, &term->query, error) != 0)
        return -1;
    term->gram_query = term->query;
    term->sent = plan_sends_rows(term) ? row_query(&term->query) : term->query;
    if (layout == DPF_LAYOUT_OPERATOR && term->query.has_gram)
        if (ask_query(plan, term, DPF_LAYOUT_FULL, side->released, &term->gram_query, error) != 0 ||
            check_query(term, &term->gram_query, error) != 0)
            return -1;
    uint32_t needed = term->query.form == DPF_FORM_GRADIENT ? DPF_SOLVER_GRADIENT : DPF_SOLVER_QUADRATIC;
    return side->solver_functions->flags & needed ? 0 : refuse_solver(plan, side, term, needed, error);
}

static void add_ridge(float *sum, const float *ridge, int d)
{
    for (int i = 0; ridge && i < d; i++)
        sum[i] += ridge[i];
}

/* The query of the summed terms: they must agree in all but regularisation. */
static int join_queries(struct plan *plan, struct side_plan *side, struct dpf_error *error)
{
    side->query = side->terms[0].query;
    size_t d = (size_t)side->query.dimension;
    side->ridge_per_count = memory_need(d, sizeof(float));
    side->ridge_constant = memory_need(d, sizeof(float));
    for (int i = 0; i < side->n_terms; i++) {
        const dpf_query *query = &side->terms[i].query;
        if (query->form != side->query.form || query->width != side->query.width ||
            query->n_blocks != side->query.n_blocks || query->has_gram != side->query.has_gram ||
            memcmp(query->blocks, side->query.blocks, sizeof query->blocks) != 0)
            return config_error(plan->config, side->terms[i].name, "loss", error,
                                "the terms of a side are summed, so their queries must have the same blocks; "
                                "loss %s differs from loss %s",
                                side->terms[i].loss->entry->component->id,
                                side->terms[0].loss->entry->component->id);
        add_ridge(side->ridge_per_count, query->ridge_per_count, (int)d);
        add_ridge(side->ridge_constant, query->ridge_constant, (int)d);
    }
    side->query.ridge_per_count = side->ridge_per_count;
    side->query.ridge_constant = side->ridge_constant;
    return 0;
}

static int complete_side(struct plan *plan, struct side_plan *side, struct dpf_error *error)
{
    for (int i = 0; i < side->n_terms; i++)
        if (complete_query(plan, side, &side->terms[i], error) != 0 ||
            sampling_complete(plan, &side->terms[i], error) != 0 ||
            combinations_check_term(plan, side, &side->terms[i], error) != 0 ||
            (side->terms[i].mechanism && release_check_shares(plan, &side->terms[i], error) != 0))
            return -1;
    if (join_queries(plan, side, error) != 0)
        return -1;
    const dpf_solver *solver = side->solver_functions;
    side->state_width =
        solver->state_width ? solver->state_width(side->solver->self, side->query.dimension) : 0;
    return 0;
}

static int complete_term(struct plan *plan, struct side_plan *side, struct term_plan *term,
                         struct dpf_error *error)
{
    if (plan_term_bounds(plan, term, error) != 0 ||
        plan_term_sensitivity(term, &term->bounds, &term->sensitivity, error) != 0)
        return -1;
    int64_t rows = plan_rows(plan, side->side);
    side->state_rows = rows;
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        if (transform->kind != DPF_TRANSFORM_STATE)
            continue;
        if (side->state_transform)
            return config_error(plan->config, term->name, "transforms", error, "at most one state transform");
        side->state_transform = term->transforms[i];
        if (transform->rows &&
            instance_result(term->transforms[i],
                            transform->rows(term->transforms[i]->self, rows, &side->state_rows), "rows",
                            error) != 0)
            return -1;
    }
    int64_t count = release_count(plan, term);
    if (count && (noise_fit(plan, term, error) != 0 || release_complete(plan, term, count, error) != 0 ||
                  release_check_noise(plan, side, term, error) != 0))
        return -1;
    return first_round_check(plan, side, term, error);
}

int queries_replan(struct plan *plan, struct dpf_error *error)
{
    plan->ledger.n = 0;
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        for (int i = 0; side->updated && i < side->n_terms; i++) {
            struct term_plan *term = &side->terms[i];
            int64_t count = release_count(plan, term);
            if (count &&
                (noise_fit(plan, term, error) != 0 || release_complete(plan, term, count, error) != 0))
                return -1;
        }
    }
    return 0;
}

/* How much longer than each of them the joined rows of parties can be; rounded, and rounded again. */
static double joined_scale(const struct plan *plan, const struct side_plan *side)
{
    const struct term_plan *term = side->n_terms ? &side->terms[0] : NULL;
    if (!side->updated || side->solve_at != SOLVE_AT_PARTY || !term->aggregator)
        return 1;
    const dpf_aggregator *aggregator = term->aggregator->functions;
    int64_t n = plan->parties.params.values[PARTIES_COUNT].integer;
    double most = 0;
    for (int64_t survivors = 1; survivors <= n; survivors++)
        most = fmax(most, (double)survivors * aggregator->scale(term->aggregator->self, survivors));
    return most * (1 + 0x1p-20);
}

int queries_complete(struct plan *plan, struct dpf_error *error)
{
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        const dpf_solver *solver = side->solver_functions;
        side->radius = side->updated && solver->radius ? solver->radius(side->solver->self) : INFINITY;
        side->radius *= joined_scale(plan, side);
        /* The radius bounds the projected rows; those that others read are sums of them. */
        for (int i = 0; side->n_terms == 1 && i < side->terms[0].n_transforms; i++)
            if (((const dpf_transform *)side->terms[0].transforms[i]->functions)->kind == DPF_TRANSFORM_STATE)
                side->radius = INFINITY;
    }
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        if (!side->updated)
            continue;
        if (complete_side(plan, side, error) != 0)
            return -1;
        for (int i = 0; i < side->n_terms; i++)
            if (complete_term(plan, side, &side->terms[i], error) != 0)
                return -1;
    }
    return combinations_check_sites(plan, error) != 0 ? -1 : combinations_check_finish(plan, error);
}
