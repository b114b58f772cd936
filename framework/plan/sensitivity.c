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

void plan_known_rows(dpf_sensitivity *sensitivity)
{
    for (int unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int a = 0; a < DPF_ADJACENCY_ROWS; a++)
            if (unit >= DPF_N_UNITS || a >= DPF_N_ADJACENCIES)
                sensitivity->at[unit][a] = (dpf_norms){NAN, NAN, NAN};
}

/* The same of everything that a component has stated. */
static void known_rows(struct term_sensitivity *stated)
{
    for (int b = 0; b < DPF_MAX_BLOCKS; b++) {
        plan_known_rows(&stated->blocks[b]);
        plan_known_rows(&stated->gram[b]);
    }
    for (int i = 0; i < stated->n_bounds; i++)
        for (int unit = 0; unit < DPF_UNIT_ROWS; unit++)
            for (int a = 0; a < DPF_ADJACENCY_ROWS; a++)
                if (unit >= DPF_N_UNITS || a >= DPF_N_ADJACENCIES)
                    stated->bounds[i].at[unit][a] = NAN;
}

static void unstated(dpf_sensitivity *blocks)
{
    for (int b = 0; b < DPF_MAX_BLOCKS; b++)
        blocks[b] = dpf_unstated();
}

/* Bounds of components that headers newer than ours were asked for: what is not understood is left out. */
static int take_bounds(struct instance *instance, const dpf_joint_norms *joint, struct term_sensitivity *out,
                       struct dpf_error *error)
{
    out->n_bounds = 0;
    if (joint->n < 0 || joint->n > DPF_MAX_JOINT_NORMS)
        return error_set(error, DPF_FAULT_PLUGIN,
                         "%s states %d bounds over several blocks where there is room for %d",
                         instance->entry->component->id, joint->n, DPF_MAX_JOINT_NORMS);
    for (int i = 0; i < joint->n; i++) {
        dpf_joint_norm *bound = &joint->bounds[i];
        uint64_t reserved = (uint32_t)bound->reserved;
        for (size_t k = 0; k < sizeof bound->reserved_words / sizeof *bound->reserved_words; k++)
            reserved |= bound->reserved_words[k];
        if (reserved != 0 || bound->within < 1 || bound->within > 2 || bound->across < 1 || bound->across > 2)
            continue;
        for (int b = 0; b < DPF_BLOCK_BITS; b++)
            if ((bound->blocks >> b & 1) && !(bound->weight[b] > 0 && isfinite(bound->weight[b])))
                return error_set(
                    error, DPF_FAULT_PLUGIN,
                    "%s states a bound over several blocks with the weight %g: weights are positive",
                    instance->entry->component->id, bound->weight[b]);
        out->bounds[out->n_bounds++] = *bound;
    }
    known_rows(out);
    return 0;
}

/* Replaces the statements about blocks and Gram row by those after a transform of messages. */
static int after_transform(struct term_plan *term, struct instance *instance, int64_t rows,
                           struct term_sensitivity *stated, struct dpf_error *error)
{
    const dpf_transform *transform = instance->functions;
    dpf_joint_norm bounds[DPF_MAX_JOINT_NORMS];
    /* The Gram row is the last of each message, so that a transform which mixes or scales all numbers carries
       a change from one to the other. A Gram row of items that users rate does not pass the users'
       transforms: it stays as it is. */
    const int joined = term->sent.has_gram && term->by_user && term->side == DPF_SIDE_ITEMS;
    if (term->sent.has_gram && !term->by_user)
        unstated(stated->gram);
    dpf_joint_norms before = {.size = sizeof before,
                              .n = stated->n_bounds,
                              .capacity = DPF_MAX_JOINT_NORMS,
                              .bounds = stated->bounds};
    dpf_joint_norms after = {.size = sizeof after, .capacity = DPF_MAX_JOINT_NORMS, .bounds = bounds};
    if (instance_result(instance,
                        transform->sensitivity(instance->self, &term->sent, rows, stated->blocks,
                                               joined ? stated->gram : NULL, &before, &after),
                        "sensitivity", error) != 0)
        return -1;
    return take_bounds(instance, &after, stated, error);
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

/* What the loss states, or the row that users send. */
static int stated_by_loss(struct term_plan *term, const dpf_bounds *bounds, struct term_sensitivity *out,
                          struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    dpf_joint_norm joint_bounds[DPF_MAX_JOINT_NORMS];
    dpf_joint_norms joint = {.size = sizeof joint, .capacity = DPF_MAX_JOINT_NORMS, .bounds = joint_bounds};
    unstated(out->blocks);
    unstated(out->gram);
    out->n_bounds = 0;
    if (plan_sends_rows(term)) {
        row_sensitivity(bounds, out->blocks);
        return 0;
    }
    if (instance_result(
            term->loss,
            loss->sensitivity(term->loss->self, &term->query, bounds, out->blocks, out->gram, &joint),
            "sensitivity", error) != 0)
        return -1;
    return take_bounds(term->loss, &joint, out, error);
}

int plan_term_sensitivity(struct term_plan *term, const dpf_bounds *bounds, struct term_sensitivity *out,
                          struct dpf_error *error)
{
    if (stated_by_loss(term, bounds, out, error) != 0)
        return -1;
    int64_t rows = bounds->n_self + term->sent.has_gram;
    for (int i = 0; i < term->n_transforms; i++) {
        struct instance *instance = term->transforms[i];
        const dpf_transform *transform = instance->functions;
        /* A projection moves norms; what it does not state about that is not known. */
        if (transform->kind == DPF_TRANSFORM_STATE && !transform->sensitivity) {
            unstated(out->blocks);
            out->n_bounds = 0;
        }
        if (transform->sensitivity && after_transform(term, instance, rows, out, error) != 0)
            return -1;
        if (transform->rows &&
            instance_result(instance, transform->rows(instance->self, rows, &rows), "rows", error) != 0)
            return -1;
    }
    term->rows = rows;
    return 0;
}

double plan_largest_contribution(const dpf_sensitivity *block, int unit)
{
    const dpf_norms *comes = &block->at[unit][DPF_ADJ_ADD_REMOVE], *goes = &block->at[unit][DPF_ADJ_ZERO_OUT];
    const double norms[] = {comes->linf, comes->l2, comes->l1, goes->linf, goes->l2, goes->l1};
    double least = NAN;
    for (int i = 0; i < 6; i++)
        least = fmin(least, norms[i]); /* the largest number is at most any norm; fmin ignores NaN */
    return least;
}
