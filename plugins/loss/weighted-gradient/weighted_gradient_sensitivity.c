/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weighted_gradient_sensitivity.c - what one unit can change in the sum over all cells.
 *
 * With f the factor, E a bound on a residual, Y the norms of a row of the other side:
 *   a rated cell contributes at most f (1 + kappa) E Y, an empty one f E Y;
 *   replace-value: the residual moves by min(range, 2E), so f (1 + kappa) min(range, 2E) Y;
 *   a record that appears or disappears turns an empty cell into a rated one: at most f (2 + kappa) E Y,
 *   and w times that with weight w (a rated cell then is at most f (1 + kappa) E Y for w <= 1, and
 *   f (w (1 + kappa) + w - 1) E Y above);
 *   a user against none: all of the user's cells, at most R of the M rated, where M is
 *   the number of rows and R the cap of records of a user or M. On the item side they lie in different
 *   rows: L1 f E Y1 (M + kappa R), L2 f E Y2 sqrt(M + kappa (2 + kappa) R), max f E (1 + kappa) Yinf. On
 *   the user side they meet in one row and all norms grow with M + kappa R;
 *   zero-out and add-remove of a user: against none, or, where the user's empty cells stay in the sum, R
 * records that disappear; the larger of the two. Where messages are users' the engine sends none; a user
 * against another: twice the former.
 *
 * Rounding. A residual is off by at most 2^-50 |e|max (sums of exact products, subtraction), a
 * contribution by 2^-51 of itself; two computed contributions thus differ by at most 2^-48 f (1 + kappa)
 * |e|max Y more than exact ones. That is charged where the difference can be far below its terms, and
 * covered by `slack` elsewhere. Rounding to the grid is charged by the mechanism.
 */
#include <math.h>

#include "weighted_gradient.h"

static const double slack = 1.0 + 0x1p-40;

/* 0 times infinity is 0: a contribution with a factor 0 is 0. */
static double times(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}

/* NaN, what is not stated, stays. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static dpf_norms scaled(double factor, const dpf_norms *norms)
{
    return (dpf_norms){times(factor, norms->l1), times(factor, norms->l2), times(factor, norms->linf)};
}

/* A bound on |residual| of any cell. With biases a prediction has parts that no norm covers. */
static double residual_bound(const struct weighted_gradient *loss, const dpf_query *query,
                             const dpf_bounds *bounds)
{
    const int has_constants = loss->sides[bounds->side].columns != query->dimension;
    const double prediction = has_constants ? INFINITY : times(bounds->self_l2, bounds->residual_l2);
    const double value = fmax(fabs(bounds->value_lo), fabs(bounds->value_hi));
    const double plain = prediction + fabs(bounds->offset) + value;
    return isnan(plain) ? loss->clip : fmin(loss->clip, plain);
}

static double residual_change(const struct weighted_gradient *loss, const dpf_bounds *bounds, double residual)
{
    const double range = bounds->value_hi - bounds->value_lo;
    if (range == 0.0)
        return 0.0;
    return range > 0.0 ? fmin(range, 2.0 * loss->clip) + 0x1p-48 * fmin(residual, RESIDUAL_MOST) : NAN;
}

static void fill_record(const struct weighted_gradient *loss, const dpf_bounds *bounds, double residual,
                        const dpf_norms *other, dpf_norms *at)
{
    const double unit = slack * loss->factor;
    const double rated = unit * (1.0 + loss->confidence);
    const double w = bounds->weight_max;
    const dpf_norms appears = scaled(times(w * unit * (2.0 + loss->confidence), residual), other);
    at[DPF_ADJ_REPLACE_VALUE] = scaled(times(w * rated, residual_change(loss, bounds, residual)), other);
    at[DPF_ADJ_FLIP] = at[DPF_ADJ_ADD_REMOVE] = at[DPF_ADJ_ZERO_OUT] = appears;
}

static void fill_user(const struct weighted_gradient *loss, const dpf_bounds *bounds, double residual,
                      const dpf_norms *other, dpf_norms *at)
{
    const int one_row = bounds->side == DPF_SIDE_USERS;
    /* kappa of the heaviest record: its cell weighs 1 + kappa. */
    const double over = fmax(bounds->weight_max - 1.0, 0.0);
    const double kappa = loss->confidence + over * (2.0 + loss->confidence);
    const double cells = one_row ? (double)bounds->n_other : (double)bounds->n_self;
    const double rated = fmin(cells, (double)bounds->records_per_user);
    const double each = times(slack * loss->factor, residual);
    const double all = cells + kappa * rated;
    const double l2 = one_row ? all : sqrt(cells + kappa * (2.0 + kappa) * rated);
    const dpf_norms user = {times(each * all, other->l1), times(each * l2, other->l2),
                            times(each * (one_row ? all : 1.0 + kappa), other->linf)};
    const double gone = times(slack * loss->factor * bounds->weight_max * (2.0 + loss->confidence), residual);
    const dpf_norms emptied = {times(gone * rated, other->l1),
                               times(gone * (one_row ? rated : sqrt(rated)), other->l2),
                               times(gone * (one_row ? rated : 1.0), other->linf)};
    at[DPF_ADJ_ADD_REMOVE] = at[DPF_ADJ_ZERO_OUT] = (dpf_norms){
        larger(user.l1, emptied.l1), larger(user.l2, emptied.l2), larger(user.linf, emptied.linf)};
    at[DPF_ADJ_REPLACE] = scaled(2.0, &user);
}

dpf_status weighted_gradient_sensitivity(void *self, const dpf_query *query, const dpf_bounds *bounds,
                                         dpf_sensitivity *blocks, dpf_sensitivity *gram,
                                         dpf_joint_norms *joint)
{
    (void)joint; /* what the blocks do one by one says all */
    const struct weighted_gradient *loss = self;
    (void)gram;
    if (bounds->side < 0 || bounds->side > 1 || loss->sides[bounds->side].columns == 0)
        return loss->host->fail(loss->host, DPF_E_INTERNAL, -1,
                                "sensitivities were asked for a side that has no query yet");
    const double residual = residual_bound(loss, query, bounds);
    const dpf_norms other = {bounds->other_l1, bounds->other_l2, bounds->other_linf};
    fill_record(loss, bounds, residual, &other, blocks[0].at[DPF_UNIT_RECORD]);
    fill_user(loss, bounds, residual, &other, blocks[0].at[DPF_UNIT_USER]);
    return DPF_OK;
}
