/* SPDX-License-Identifier: Apache-2.0 */
#include "score/user_row.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- ridge/1 -------------------------------------------------------------------------------------------- */

/* a x = b for the lower triangle of a positive definite matrix of order d, which is overwritten; 0, or -1. */
static int solve(double *a, int64_t d, double *x)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * d + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * d + k] * a[j * d + k];
            if (i == j && !(sum > 0 && isfinite(sum)))
                return -1;
            a[i * d + j] = i == j ? sqrt(sum) : sum / a[j * d + j];
        }
        for (int64_t k = 0; k < i; k++)
            x[i] -= a[i * d + k] * x[k];
        x[i] /= a[i * d + i];
    }
    for (int64_t i = d - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < d; k++)
            x[i] -= a[k * d + i] * x[k];
        x[i] /= a[i * d + i];
    }
    return 0;
}

/* t = (I + sum w q q')^-1 sum w (y - b) q, w = 1 / (s2 + v), y = (value - centre) / unit. Columns: [unit | unit t]. */
static int read_ridge(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                      struct dpf_error *error)
{
    const struct score_form *form = &scorer->form;
    const int64_t d = score_columns(form, RIDGE_LOADINGS), stride = form->arrays[RIDGE_LOADINGS].stride;
    const double unit = form->scalars[RIDGE_UNIT];
    if (!desk->work && !(desk->work = memory_raw((size_t)(d * d + 2 * d), sizeof *desk->work)))
        return error_memory(error);
    double *a = desk->work, *t = a + d * d, *q = t + d;
    memset(a, 0, (size_t)(d * d + d) * sizeof *a);
    for (int64_t k = 0; k < own->n; k++) {
        const int64_t item = own->items[k];
        const float *loadings = score_floats(form, RIDGE_LOADINGS) + item * stride;
        const double value = own->values ? (double)own->values[k] : 1;
        const double v =
            form->arrays[RIDGE_VARIANCE].name ? (double)score_floats(form, RIDGE_VARIANCE)[item] : 0;
        const double w = 1 / (form->scalars[RIDGE_RESIDUAL_VARIANCE] + v),
                     e = w * ((value - form->scalars[RIDGE_CENTRE]) / unit -
                              (double)score_floats(form, RIDGE_BIAS)[item]);
        for (int64_t r = 0; r < d; r++)
            q[r] = (double)loadings[r];
        for (int64_t r = 0; r < d; r++) {
            const double x = w * q[r];
            t[r] += e * q[r];
            for (int64_t c = 0; c <= r; c++)
                a[r * d + c] += x * q[c];
        }
    }
    for (int64_t r = 0; r < d; r++)
        a[r * d + r] += 1;
    if (solve(a, d, t) != 0)
        memset(t, 0, (size_t)d * sizeof *t); /* only if something is not finite */
    desk->made[0] = (float)unit;
    for (int64_t r = 0; r < d; r++)
        desk->made[1 + r] = (float)(unit * t[r]);
    return 0;
}

/* ---- ease/1 --------------------------------------------------------------------------------------------- */

static double value_weight(const struct score_form *form, const float *values, int64_t k)
{
    const float lo = (float)form->scalars[EASE_VALUE_LOW], hi = (float)form->scalars[EASE_VALUE_HIGH],
                lowest = (float)form->scalars[EASE_LOWEST_WEIGHT];
    if (!values || !(lo < hi) || !(values[k] < hi))
        return 1;
    return (double)(values[k] > lo ? lowest + (1.0F - lowest) * ((values[k] - lo) / (hi - lo)) : lowest);
}

static int reserve_shifts(struct score_desk *desk, int64_t n, struct dpf_error *error)
{
    int32_t *items = memory_grow(desk->shifted, &desk->room[0], (size_t)n + 1, sizeof *items);
    desk->shifted = items ? items : desk->shifted;
    double *shifts = memory_grow(desk->shifts, &desk->room[1], (size_t)n + 1, sizeof *shifts);
    desk->shifts = shifts ? shifts : desk->shifts;
    return items && shifts ? 0 : error_memory(error);
}

/*
 * Columns: [factors | directions | popularity]. z is the user's row of weights, of norm 1: the sums of z times "in"; an own
 * item does not predict itself. Without a record that has a column the popular items are all there is.
 */
static int read_ease(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                     struct dpf_error *error)
{
    const struct score_form *form = &scorer->form;
    const dpf_array *in = &form->arrays[EASE_IN];
    const int32_t *column = form->arrays[EASE_COLUMN].data;
    const float *weight = score_floats(form, EASE_WEIGHT), *undo = score_floats(form, EASE_UNDO);
    const int64_t width = in->columns;
    double squares = 0;
    if ((!desk->work && !(desk->work = memory_raw((size_t)width + 1, sizeof *desk->work))) ||
        reserve_shifts(desk, own->n, error) != 0)
        return error_memory(error);
    memset(desk->work, 0, (size_t)width * sizeof *desk->work);
    for (int64_t k = 0; k < own->n; k++) {
        const int32_t j = column[own->items[k]];
        if (j < 0)
            continue;
        const double z = (double)weight[j] * value_weight(form, own->values, k);
        desk->shifted[desk->n_shifts] = own->items[k];
        desk->shifts[desk->n_shifts++] = z;
        squares += z * z;
    }
    desk->made[width] = squares > 0 ? 0 : 1;
    desk->n_shifts = squares > 0 ? desk->n_shifts : 0;
    for (int64_t s = 0; s < desk->n_shifts; s++) {
        const int32_t item = desk->shifted[s], j = column[item];
        const double z = desk->shifts[s] / sqrt(squares);
        const float *row = (const float *)in->data + j * in->stride;
        for (int64_t c = 0; c < width; c++)
            desk->work[c] += z * (double)row[c];
        desk->shifts[s] = -z * scorer->own[j] * (double)undo[item];
    }
    for (int64_t c = 0; c < width; c++)
        desk->made[c] = (float)desk->work[c];
    return 0;
}

/* ---- neighbours/1 ----------------------------------------------------------------------------------------- */

static void add_neighbour(const struct scorer *scorer, struct score_desk *desk, int64_t item)
{
    for (int64_t k = scorer->neighbours_ptr[item]; k < scorer->neighbours_ptr[item + 1]; k++)
        desk->all[scorer->neighbours_of[k]] += (double)scorer->similarities[k];
}

/* In the order of items: the same sums for any scores that are asked for. */
static int read_neighbours(const struct scorer *scorer, struct score_desk *desk,
                           const struct score_records *own, struct dpf_error *error)
{
    const int64_t n = scorer->form.n_items;
    if (!desk->all && !(desk->all = memory_raw((size_t)n + 1, sizeof *desk->all)))
        return error_memory(error);
    memset(desk->all, 0, (size_t)n * sizeof *desk->all);
    for (int64_t k = 0; k < own->n; k++)
        add_neighbour(scorer, desk, own->items[k]);
    return 0;
}

/* ---- any -------------------------------------------------------------------------------------------------- */

int user_row_make(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                  struct dpf_error *error)
{
    const int64_t stride = scorer->products.stride;
    desk->n_shifts = 0;
    if (scorer->products.items) {
        if (!desk->made && !(desk->made = memory_new((size_t)stride, sizeof *desk->made)))
            return error_memory(error);
        desk->row = desk->made;
    }
    switch (scorer->form.formula) {
    case SCORE_BASE:
        desk->made[0] = 1;
        return 0;
    case SCORE_RIDGE:
        return read_ridge(scorer, desk, own, error);
    case SCORE_EASE:
        return read_ease(scorer, desk, own, error);
    case SCORE_NEIGHBOURS:
        return read_neighbours(scorer, desk, own, error);
    default:
        return error_set(error, DPF_FAULT_CONFIG,
                         "the rows of users of this model are not made from their records");
    }
}
