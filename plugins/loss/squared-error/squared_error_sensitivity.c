/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squared_error_sensitivity.c - how far one unit can move the gradient.
 *
 * Write a record's contribution as c = w f (e y + lambda x): y the other side's row, x the row that is
 * solved, e the residual, f = 1 or 2; lambda counts only if the regulariser is per record. Rows are
 * fixed: a release is judged given what was released before. For any norm:
 *
 * record, replace-value: only r changes, so only e does: by |r' - r| at most, or by 2 clip. The
 *     regulariser cancels. |c' - c| <= w f min(change, 2 clip) |y|, where the change is the range of values,
 *     or less where values are stretched by weights.
 * record, flip / add-remove / zero-out: the contribution itself, |c| <= w f (R |y| + lambda |x|), where
 *     R bounds |e|: the clip, or |x|_2 |y|_2 + |offset| + max |r| (Cauchy-Schwarz).
 * user: at most `cap` records. If users are solved, all fall in one row: every norm grows by cap. If
 *     items are solved, each falls in a row of its own (pairs are distinct): L1 grows by cap, L2 by its
 *     root, Linf not at all. Replacing a user moves a sum by two contributions.
 *
 * Floating point: contributions are computed in double from the same prediction in both data sets.
 * Four operations round (e, f w, f w e, f w e y), each by at most 2^-53 of its result, so two computed
 * contributions differ by at most 2^-50 w f |e|max |y| more than exact ones; that is added to
 * replace-value, where the difference can be far smaller than e. It is within `slack` elsewhere, as
 * are the few roundings made here. Rounding to the grid is charged by the mechanism.
 */
#include <math.h>

#include "squared_error.h"

static const double slack = 1.0 + 0x1p-40;

/* Bounds multiply; 0 times infinity is 0, since a contribution with a factor 0 is 0. */
static double times(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}

/* Unlike fmin, keeps NaN: a bound about which nothing is known stays so. */
static double smaller(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return a > b ? a : b;
}

static dpf_norms scaled(double factor, const dpf_norms *norms)
{
    const dpf_norms out = {times(factor, norms->l1), times(factor, norms->l2), times(factor, norms->linf)};
    return out;
}

/* A bound on |residual|. With biases a prediction has terms that the bounds do not cover. */
static double residual_bound(const struct squared_error *loss, const dpf_query *query,
                             const dpf_bounds *bounds)
{
    const int has_fixed_columns = loss->sides[bounds->side].columns != query->dimension;
    const double prediction = has_fixed_columns ? INFINITY : times(bounds->self_l2, bounds->residual_l2);
    const double value = larger(fabs(bounds->value_lo), fabs(bounds->value_hi));

    return smaller(loss->clip, prediction + fabs(bounds->offset) + value);
}

/* A bound on the change of a residual when its value changes. */
static double residual_change(const struct squared_error *loss, const dpf_bounds *bounds, double residual)
{
    const double range = bounds->value_change > 0.0
                             ? smaller(bounds->value_change, bounds->value_hi - bounds->value_lo)
                             : bounds->value_hi - bounds->value_lo;

    if (range == 0.0) {
        return 0.0; /* nothing can change */
    }
    return range > 0.0 ? smaller(range, 2.0 * loss->clip) + 0x1p-50 * smaller(residual, RESIDUAL_LIMIT) : NAN;
}

static void fill_record(const struct squared_error *loss, const dpf_query *query, const dpf_bounds *bounds,
                        dpf_norms *at)
{
    const double residual = residual_bound(loss, query, bounds);
    const double unit = times(slack * loss->factor, bounds->weight_max);
    const double ridge = loss->per_record ? times(unit, loss->lambda) : 0.0;
    const dpf_norms other = {bounds->other_l1, bounds->other_l2, bounds->other_linf};
    const dpf_norms self = {bounds->self_l1, bounds->self_l2, bounds->self_linf};
    const dpf_norms data = scaled(times(unit, residual), &other);
    const dpf_norms regulariser = scaled(ridge, &self);
    const dpf_norms all = {data.l1 + regulariser.l1, data.l2 + regulariser.l2, data.linf + regulariser.linf};

    at[DPF_ADJ_REPLACE_VALUE] = scaled(times(unit, residual_change(loss, bounds, residual)), &other);
    at[DPF_ADJ_FLIP] = all;
    at[DPF_ADJ_ADD_REMOVE] = all;
    at[DPF_ADJ_ZERO_OUT] = all;
}

static void fill_user(const dpf_bounds *bounds, const dpf_norms *record, dpf_norms *at)
{
    const int one_row = bounds->side == DPF_SIDE_USERS;
    const double cap =
        bounds->records_per_user == INT64_MAX ? INFINITY : slack * (double)bounds->records_per_user;
    const dpf_norms user = {times(cap, record->l1), times(one_row ? cap : sqrt(cap), record->l2),
                            one_row ? times(cap, record->linf) : record->linf};

    at[DPF_ADJ_ADD_REMOVE] = user;
    at[DPF_ADJ_ZERO_OUT] = user;
    at[DPF_ADJ_REPLACE] = scaled(2.0, &user);
}

dpf_status squared_error_sensitivity(void *self, const dpf_query *query, const dpf_bounds *bounds,
                                     dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct squared_error *loss = self;

    (void)gram;
    if (bounds->side < 0 || bounds->side > 1 || loss->sides[bounds->side].columns == 0) {
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1,
                                "sensitivities were asked for a side that has no query yet");
    }
    fill_record(loss, query, bounds, blocks[0].at[DPF_UNIT_RECORD]);
    fill_user(bounds, &blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE], blocks[0].at[DPF_UNIT_USER]);
    return DPF_OK;
}
