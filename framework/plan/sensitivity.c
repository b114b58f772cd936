/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sensitivity.h"

#include <math.h>
#include <string.h>

/* A number of rows that stands for "not known yet": large, so that bounds which grow with it stay valid. */
#define UNKNOWN_ROWS INT64_C(0x7fffffff)

int64_t plan_rows(const struct plan *plan, int side)
{
    int64_t rows = side == DPF_SIDE_USERS ? plan->n_users : plan->n_items;
    return rows > 0 ? rows : UNKNOWN_ROWS;
}

/* Bound on the Euclidean norm of a side's unknown columns as they stand between steps. */
static double rows_radius(const struct plan *plan, int side)
{
    if (plan->sides[side].updated)
        return plan->sides[side].radius;
    double norm = plan->model.params.values[MODEL_INIT_NORM].real;
    return norm > 0 ? norm * (1 + 0x1p-22) : INFINITY; /* initial rows are rounded to float32 */
}

static void set_bounds(const struct plan *plan, struct term_plan *term)
{
    dpf_bounds *b = &term->bounds;
    int side = term->side;
    int other = term->source == SOURCE_RELATION ? side : 1 - side;
    int d = plan->dimension[side];
    double self = rows_radius(plan, side);
    double radius = term->bounds_from_data ? 1.0 : rows_radius(plan, other);
    *b = (dpf_bounds){
        .size = sizeof *b,
        .side = side,
        .dimension = d,
        .from_data = term->bounds_from_data,
        .value_lo = plan->value_lo,
        .value_hi = plan->value_hi,
        .offset = plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN
                      ? fmax(fabs(plan->value_lo), fabs(plan->value_hi))
                      : plan->offset,
        .weight_max = term->sampling.kind == DPF_SAMPLING_NONE ? 1.0 : term->sampling.weight_max,
        .other_l2 = radius,
        .other_l1 = sqrt((double)d) * radius,
        .other_linf = radius,
        .self_l2 = self,
        .self_l1 = sqrt((double)d) * self,
        .self_linf = self,
        .records_per_user = INT64_MAX,
        .n_self = plan_rows(plan, side),
        .n_other = plan_rows(plan, other),
    };
    b->residual_l2 = b->other_l2;
}

/*
 * The features of a row are the other side's columns that pair with its unknowns; the one of its bias
 * is the constant 1, which no transform touches. So it joins the norms after the transforms.
 */
static void add_constant_feature(dpf_bounds *bounds)
{
    bounds->other_l2 = sqrt(bounds->other_l2 * bounds->other_l2 + 1);
    bounds->other_l1 += 1;
    bounds->other_linf = fmax(bounds->other_linf, 1);
    bounds->residual_l2 = sqrt(bounds->residual_l2 * bounds->residual_l2 + 1);
}

/*
 * Over a relation the other rows are of the same side: their unknowns are read, a bias of their own among
 * them, which no transform touches either. It is within the whole row's norm, raw.
 */
static void add_own_bias(dpf_bounds *bounds, double raw)
{
    bounds->other_l1 = fmin(bounds->other_l1 + raw, sqrt((double)bounds->dimension) * raw);
    bounds->other_l2 = raw;
    bounds->other_linf = raw;
}

/* Predictions also have the other side's bias, which no transform touches either; raw bounds it. A row that
   is solved has the constant 1 in that column. */
static void add_other_bias(dpf_bounds *bounds, int raw_residual, double raw)
{
    if (!raw_residual)
        bounds->residual_l2 = hypot(bounds->residual_l2, raw);
    bounds->self_l2 = sqrt(bounds->self_l2 * bounds->self_l2 + 1);
    bounds->self_l1 += 1;
    bounds->self_linf = fmax(bounds->self_linf, 1);
}

static int tighten_bounds(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    double raw = term->bounds.residual_l2;
    for (int i = 0; i < term->n_transforms; i++) {
        struct instance *instance = term->transforms[i];
        const dpf_transform *transform = instance->functions;
        if (transform->bounds &&
            instance_result(instance, transform->bounds(instance->self, &term->bounds), "bounds", error) != 0)
            return -1;
    }
    term->bounds.residual_l2 = term->raw_residual ? raw : term->bounds.other_l2;
    if (plan->bias[1 - term->side] >= 0)
        add_other_bias(&term->bounds, term->raw_residual, raw);
    if (plan->bias[term->side] >= 0 && term->source == SOURCE_RELATION)
        add_own_bias(&term->bounds, raw);
    else if (plan->bias[term->side] >= 0)
        add_constant_feature(&term->bounds);
    return 0;
}

int plan_term_bounds(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    set_bounds(plan, term);
    return tighten_bounds(plan, term, error);
}

/*
 * What a mechanism's budget is stated for. Where records are drawn and weighted it is a record of weight 1,
 * the one that privacy losses by weight start from; the ledger's sensitivities have the weights in them.
 */
void plan_budgeted_bounds(const struct term_plan *term, dpf_bounds *bounds)
{
    if (term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_RECORD)
        bounds->weight_max = 1.0;
}

static void unstated(dpf_sensitivity *blocks, int n)
{
    for (int b = 0; b < n; b++)
        for (int unit = 0; unit < DPF_N_UNITS; unit++)
            for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                blocks[b].at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
}

/* Replaces the statements about blocks and Gram row by those after a transform of messages. */
static int after_transform(struct term_plan *term, struct instance *instance, int64_t rows,
                           dpf_sensitivity *blocks, dpf_sensitivity *gram, struct dpf_error *error)
{
    const dpf_transform *transform = instance->functions;
    int n = term->sent.n_blocks, joined = term->sent.has_gram && term->by_user;
    /* A Gram row of items that users rate does not pass the users' transforms: it stays as it is. */
    if (joined && term->side == DPF_SIDE_USERS)
        joined = 0;
    else if (term->sent.has_gram && !term->by_user)
        unstated(gram, DPF_MAX_BLOCKS);
    if (joined && 2 * n > DPF_MAX_BLOCKS) {
        unstated(blocks, DPF_MAX_BLOCKS);
        unstated(gram, DPF_MAX_BLOCKS);
        return 0;
    }
    /* The Gram row is the last of each message, so that a transform which mixes or scales all numbers
       carries a change from one to the other: it is told of both at once. */
    dpf_sensitivity all[DPF_MAX_BLOCKS];
    dpf_query query = term->sent;
    memcpy(all, blocks, (size_t)n * sizeof *all);
    for (int i = 0; joined && i < n; i++) {
        query.blocks[n + i] = query.blocks[i];
        all[n + i] = gram[i];
    }
    query.n_blocks = joined ? 2 * n : n;
    if (instance_result(instance, transform->sensitivity(instance->self, &query, rows, all), "sensitivity",
                        error) != 0)
        return -1;
    memcpy(blocks, all, (size_t)n * sizeof *all);
    if (joined)
        memcpy(gram, all + n, (size_t)n * sizeof *all);
    return 0;
}

/*
 * Of users who send their own rows. Whatever changes in a user's records, the row, a function of them and of
 * what was released before, moves from one point of its ball to another, and nobody else's row moves with it.
 */
static void row_sensitivity(const dpf_bounds *bounds, dpf_sensitivity *blocks)
{
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            blocks[0].at[unit][adjacency] =
                (dpf_norms){2 * bounds->other_l1, 2 * bounds->other_l2, 2 * bounds->other_linf};
}

int plan_term_sensitivity(struct term_plan *term, const dpf_bounds *bounds, dpf_sensitivity *blocks,
                          dpf_sensitivity *gram, struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    unstated(blocks, DPF_MAX_BLOCKS);
    unstated(gram, DPF_MAX_BLOCKS);
    if (plan_sends_rows(term))
        row_sensitivity(bounds, blocks);
    else if (instance_result(term->loss,
                             loss->sensitivity(term->loss->self, &term->query, bounds, blocks, gram),
                             "sensitivity", error) != 0)
        return -1;
    int64_t rows = bounds->n_self + term->sent.has_gram;
    for (int i = 0; i < term->n_transforms; i++) {
        struct instance *instance = term->transforms[i];
        const dpf_transform *transform = instance->functions;
        /* A projection moves norms; what it does not state about that is not known. */
        if (transform->kind == DPF_TRANSFORM_STATE && !transform->sensitivity)
            unstated(blocks, DPF_MAX_BLOCKS);
        if (transform->sensitivity && after_transform(term, instance, rows, blocks, gram, error) != 0)
            return -1;
        if (transform->rows &&
            instance_result(instance, transform->rows(instance->self, rows, &rows), "rows", error) != 0)
            return -1;
    }
    term->rows = rows;
    return 0;
}
