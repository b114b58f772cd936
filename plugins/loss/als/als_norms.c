/* SPDX-License-Identifier: Apache-2.0 */
#include "als_norms.h"

#include <math.h>

static double least(double a, double b)
{
    return a < b ? a : b;
}

dpf_norms als_vector_norms(const dpf_bounds *bounds)
{
    const double root = sqrt(bounds->dimension);
    dpf_norms y = {bounds->other_l1, bounds->other_l2, bounds->other_linf};
    y.l2 = least(y.l2, least(y.l1, root * y.linf));
    y.linf = least(y.linf, y.l2);
    y.l1 = least(y.l1, root * y.l2);
    return y;
}

double als_value_change(const dpf_bounds *bounds)
{
    const double range = bounds->value_hi - bounds->value_lo;
    const int stated = bounds->size >= offsetof(dpf_bounds, value_change) + sizeof(bounds->value_change) &&
                       bounds->value_change > 0;
    return stated ? least(bounds->value_change, range) : range;
}

dpf_norms als_outer_norms(const dpf_norms *y, uint32_t layout, const dpf_bounds *bounds)
{
    dpf_norms outer = {y->l1 * y->l1, y->l2 * y->l2, y->linf * y->linf};
    if (layout == DPF_LAYOUT_PACKED) {
        outer.l1 = (outer.l1 + outer.l2) / 2;
        if (bounds->size >= offsetof(dpf_bounds, other_upper) + sizeof(bounds->other_upper) &&
            bounds->other_upper > 0)
            outer.l1 = least(outer.l1, bounds->other_upper);
        outer.l2 *= sqrt((1 + least(1, outer.linf / outer.l2)) / 2);
        if (y->l2 == 0 || isinf(y->l2))
            outer.l2 = y->l2;
    }
    return outer;
}

dpf_norms als_scaled(dpf_norms norms, double factor)
{
    norms.l1 = factor == 0 || norms.l1 == 0 ? 0 : norms.l1 * factor;
    norms.l2 = factor == 0 || norms.l2 == 0 ? 0 : norms.l2 * factor;
    norms.linf = factor == 0 || norms.linf == 0 ? 0 : norms.linf * factor;
    return norms;
}

static dpf_norms multiplied(dpf_norms norms, double l1, double l2, double linf)
{
    const dpf_norms factors[3] = {als_scaled(norms, l1), als_scaled(norms, l2), als_scaled(norms, linf)};
    return (dpf_norms){factors[0].l1, factors[1].l2, factors[2].linf};
}

/*
 * Two contributions of the same size, one taken away and one put in its place. Vectors can be opposite:
 * twice the norm. Positive semidefinite matrices cannot: their inner product is at least 0, in PACKED
 * too ((<y,z>^2 + sum y_i^2 z_i^2) / 2), so |Y - Z|_2^2 <= |Y|_2^2 + |Z|_2^2; single entries off the
 * diagonal still move by twice their bound. Counts are of one sign.
 */
static dpf_norms replaced(dpf_norms norms, int32_t kind, int32_t dimension, int psd, int same_row)
{
    if (kind == DPF_BLOCK_COUNT)
        return same_row ? norms : multiplied(norms, 2, sqrt(2), 1);
    if (kind == DPF_BLOCK_QUADRATIC && psd)
        return multiplied(norms, 2, sqrt(2), dimension > 1 ? 2 : 1);
    return multiplied(norms, 2, 2, 2);
}

/* A user's records, all present against all absent. */
static dpf_norms user_norms(dpf_norms record, const dpf_bounds *bounds)
{
    if (bounds->side == DPF_SIDE_USERS) { /* they meet in the user's own row */
        const double most = bounds->records_per_user == INT64_MAX
                                ? INFINITY
                                : least((double)bounds->records_per_user, (double)bounds->n_other);
        return multiplied(record, most, most, most);
    }
    /* Pairs are distinct, so they lie in different rows. */
    const double most = bounds->records_per_user == INT64_MAX
                            ? INFINITY
                            : least((double)bounds->records_per_user, (double)bounds->n_self);
    return multiplied(record, most, sqrt(most), 1);
}

static int block_slot(int32_t kind)
{
    return kind == DPF_BLOCK_QUADRATIC ? 0 : kind == DPF_BLOCK_LINEAR ? 1 : 2;
}

void als_unit_sensitivity(const dpf_query *query, const dpf_bounds *bounds, const struct als_contribution *c,
                          int flip, dpf_sensitivity *blocks)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        const int32_t kind = query->blocks[b].kind;
        const int slot = block_slot(kind);
        dpf_norms *record = blocks[b].at[DPF_UNIT_RECORD], *user = blocks[b].at[DPF_UNIT_USER];
        record[DPF_ADJ_REPLACE_VALUE] = c->revalued[slot];
        record[DPF_ADJ_ADD_REMOVE] = record[DPF_ADJ_ZERO_OUT] = c->present[slot];
        if (flip)
            record[DPF_ADJ_FLIP] = c->present[slot];
        const dpf_norms all = user_norms(c->present[slot], bounds);
        user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = all;
        user[DPF_ADJ_REPLACE] = replaced(all, kind, query->dimension, c->psd, bounds->side == DPF_SIDE_USERS);
    }
}

void als_gram_sensitivity(const dpf_query *query, const dpf_bounds *bounds, double factor, int flip,
                          dpf_sensitivity *gram)
{
    const dpf_norms zero = {0, 0, 0};
    const dpf_norms y = als_vector_norms(bounds);
    for (int32_t b = 0; b < query->n_blocks; b++) {
        const int32_t kind = query->blocks[b].kind;
        dpf_norms part = zero;
        if (kind == DPF_BLOCK_QUADRATIC && bounds->side == DPF_SIDE_ITEMS)
            part = als_scaled(als_outer_norms(&y, query->blocks[b].layout, bounds), factor);
        dpf_norms *record = gram[b].at[DPF_UNIT_RECORD], *user = gram[b].at[DPF_UNIT_USER];
        record[DPF_ADJ_REPLACE_VALUE] = record[DPF_ADJ_ADD_REMOVE] = record[DPF_ADJ_ZERO_OUT] = zero;
        if (flip)
            record[DPF_ADJ_FLIP] = zero;
        user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = part;
        user[DPF_ADJ_REPLACE] = replaced(part, kind, query->dimension, 1, 1);
    }
}
