/* SPDX-License-Identifier: Apache-2.0 */
#include "score/scorer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- items ------------------------------------------------------------------------------------------------- */

static float *new_rows(struct scorer *scorer, int64_t columns)
{
    struct score_products *p = &scorer->products;
    p->stride = (columns + 15) / 16 * 16;
    scorer->packed = memory_new((size_t)scorer->form.n_items + 1, (size_t)p->stride * sizeof *scorer->packed);
    p->items = scorer->packed;
    return scorer->packed;
}

static int pack_base(struct scorer *scorer)
{
    const dpf_array *base = &scorer->form.arrays[BASE_BASE];
    float *rows = new_rows(scorer, 1);
    for (int64_t i = 0; rows && i < scorer->form.n_items; i++)
        rows[i * scorer->products.stride] = base->type == DPF_ARRAY_F8
                                                ? (float)((const double *)base->data)[i * base->stride]
                                                : ((const float *)base->data)[i * base->stride];
    return rows ? 0 : -1;
}

/* Rows that are stored with padding are used as they are. */
static int pack_rows(struct scorer *scorer)
{
    const dpf_array *items = &scorer->form.arrays[ROWS_ITEMS];
    scorer->products = (struct score_products){items->data, items->stride, scorer->form.scalars[ROWS_OFFSET]};
    if (items->stride % 16 == 0)
        return 0;
    float *rows = new_rows(scorer, items->columns);
    for (int64_t i = 0; rows && i < scorer->form.n_items; i++)
        memcpy(rows + i * scorer->products.stride, (const float *)items->data + i * items->stride,
               (size_t)items->columns * sizeof *rows);
    return rows ? 0 : -1;
}

static const float *loadings_of(const struct scorer *scorer, int64_t item)
{
    return scorer->products.items + item * scorer->products.stride + 1;
}

/* Columns: [bias | loadings | home->loadings]. */
static int pack_ridge(struct scorer *scorer)
{
    const struct score_form *form = &scorer->form;
    const dpf_array *loadings = &form->arrays[RIDGE_LOADINGS];
    const int64_t at_home = scorer->home ? scorer->home->n_loadings : 0;
    scorer->n_loadings = loadings->columns + at_home;
    float *rows = new_rows(scorer, 1 + scorer->n_loadings);
    for (int64_t i = 0; rows && i < form->n_items; i++) {
        float *row = rows + i * scorer->products.stride;
        row[0] = score_floats(form, RIDGE_BIAS)[i];
        memcpy(row + 1, (const float *)loadings->data + i * loadings->stride,
               (size_t)loadings->columns * sizeof *row);
        if (at_home)
            memcpy(row + 1 + loadings->columns, scorer->home->loadings + i * at_home,
                   (size_t)at_home * sizeof *row);
    }
    scorer->products.offset = form->scalars[RIDGE_CENTRE];
    return rows ? 0 : -1;
}

enum { TOGETHER = 16 };

/* Those of an item that has a column, from k to end. */
static void pack_factors(struct scorer *scorer, int64_t item, int64_t k, int64_t end)
{
    const struct score_form *form = &scorer->form;
    const dpf_array *in = &form->arrays[EASE_IN], *out = &form->arrays[EASE_OUT];
    const int64_t j = ((const int32_t *)form->arrays[EASE_COLUMN].data)[item];
    const float undo = score_floats(form, EASE_UNDO)[item];
    const float *from = (const float *)in->data + j * in->stride, *to = (const float *)out->data + j;
    float *row = scorer->packed + item * scorer->products.stride;
    for (int64_t c = k; c < end; c++)
        row[c] = undo * to[c * out->stride];
    if (scorer->is_plain && j >= k && j < end)
        scorer->own[j] = (double)to[j * out->stride];
    for (int64_t c = k; c < end && !scorer->is_plain; c++)
        scorer->own[j] += (double)from[c] * (double)to[c * out->stride];
}

/* Columns: [factors | directions | popularity], undone. */
static int pack_ease(struct scorer *scorer)
{
    const struct score_form *form = &scorer->form;
    const dpf_array *span = &form->arrays[EASE_SPAN];
    const int32_t *column = form->arrays[EASE_COLUMN].data;
    const int64_t r = form->arrays[EASE_OUT].rows, d = span->rows, m = form->arrays[EASE_IN].rows;
    float *rows = new_rows(scorer, r + d + 1);
    scorer->own = memory_new((size_t)m + 1, sizeof *scorer->own);
    if (!rows || !scorer->own)
        return -1;
    scorer->is_plain = ease_is_plain(form);
    for (int64_t i = 0; i < form->n_items; i++) {
        float *row = rows + i * scorer->products.stride;
        row[r + d] = score_floats(form, EASE_POPULARITY)[i];
        for (int64_t k = 0; k < d && column[i] < 0; k++)
            row[r + k] = score_floats(form, EASE_UNDO)[i] * ((const float *)span->data)[k * span->stride + i];
    }
    /* Some factors at a time: "out" is read along its rows, and the items' rows are written by whole lines of the cache. */
    for (int64_t from = 0; from < r; from += TOGETHER)
        for (int64_t i = 0; i < form->n_items; i++)
            if (column[i] >= 0)
                pack_factors(scorer, i, from, from + TOGETHER < r ? from + TOGETHER : r);
    return 0;
}

/* The transpose: who has an item as a neighbour. */
static int turn_neighbours(struct scorer *scorer)
{
    const dpf_array *array = &scorer->form.arrays[NEIGHBOURS_ITEMS];
    const int32_t *neighbours = array->data;
    const int64_t n = scorer->form.n_items, slots = array->columns;
    int64_t *ptr = memory_new((size_t)n + 2, sizeof *ptr);
    scorer->neighbours_ptr = ptr;
    for (int64_t k = 0; ptr && k < n * slots; k++)
        if (neighbours[k] >= 0)
            ptr[neighbours[k] + 2]++;
    for (int64_t i = 0; ptr && i < n; i++)
        ptr[i + 2] += ptr[i + 1];
    scorer->neighbours_of = memory_raw((size_t)(ptr ? ptr[n + 1] : 0) + 1, sizeof *scorer->neighbours_of);
    scorer->similarities = memory_raw((size_t)(ptr ? ptr[n + 1] : 0) + 1, sizeof *scorer->similarities);
    if (!ptr || !scorer->neighbours_of || !scorer->similarities)
        return -1;
    for (int64_t k = 0; k < n * slots; k++)
        if (neighbours[k] >= 0) {
            const int64_t at = ptr[neighbours[k] + 1]++;
            scorer->neighbours_of[at] = (int32_t)(k / slots);
            scorer->similarities[at] = score_floats(&scorer->form, NEIGHBOURS_SIMILARITIES)[k];
        }
    return 0;
}

int scorer_open(struct scorer *scorer, struct dpf_error *error)
{
    static int (*const pack[SCORE_FORMULAS])(struct scorer *) = {[SCORE_BASE] = pack_base,
                                                                 [SCORE_ROWS] = pack_rows,
                                                                 [SCORE_RIDGE] = pack_ridge,
                                                                 [SCORE_EASE] = pack_ease,
                                                                 [SCORE_NEIGHBOURS] = turn_neighbours};
    if (!pack[scorer->form.formula] || pack[scorer->form.formula](scorer) == 0)
        return 0;
    scorer_close(scorer);
    return error_memory(error);
}

/* Popularity of all items, as the release has it. */
static void find_popularity(const struct scorer *scorer, double *out)
{
    const struct score_form *form = &scorer->form;
    for (int64_t i = 0; i < form->n_items; i++)
        out[i] = form->formula == SCORE_EASE ? (double)score_floats(form, EASE_POPULARITY)[i]
                                             : (double)scorer->products.items[i * scorer->products.stride];
}

int scorer_add_home(struct scorer *scorer, const struct feature_table *features,
                    const struct feature_table *words, struct dpf_error *error)
{
    const int formula = (int)scorer->form.formula, of_lists = formula == SCORE_EASE || formula == SCORE_BASE;
    if (!of_lists && formula != SCORE_RIDGE)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "[model] home-terms = yes: this model has no home terms; private-gram, private-ratings, "
            "private-popularity and private-biases have");
    struct home_terms *home = memory_new(1, sizeof *home);
    double *popularity = memory_raw((size_t)scorer->form.n_items + 1, sizeof *popularity);
    const int64_t n = scorer->form.n_items;
    int status = home && popularity ? 0 : error_memory(error);
    if (status == 0 && of_lists) {
        find_popularity(scorer, popularity);
        status = home_terms_open_lists(features, words, n, popularity, home, error);
    } else if (status == 0) {
        status = home_terms_open_values(features, words, n, loadings_of(scorer, 0), scorer->n_loadings,
                                        scorer->products.stride, home, error);
    }
    free(popularity);
    if (status != 0) {
        free(home);
        return -1;
    }
    scorer->home = home;
    if (of_lists)
        return 0;
    free(scorer->packed);
    scorer->packed = NULL;
    return pack_ridge(scorer) == 0 ? 0 : error_memory(error);
}

void scorer_close(struct scorer *scorer)
{
    if (scorer->home)
        home_terms_close(scorer->home);
    free(scorer->home);
    score_form_free(&scorer->form);
    free(scorer->packed);
    free(scorer->own);
    free(scorer->neighbours_ptr);
    free(scorer->neighbours_of);
    free(scorer->similarities);
    *scorer = (struct scorer){.context = NULL};
}

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

/* Each record's residual from a fit to the others (Sherman, Morrison). turned: the transpose of the fit's Cholesky factor. */
static int find_residuals(const struct scorer *scorer, struct score_desk *desk,
                          const struct score_records *own, const double *turned, const double *t, double *q,
                          struct dpf_error *error)
{
    const struct score_form *form = &scorer->form;
    const int64_t d = scorer->n_loadings;
    double *residuals = memory_grow(desk->residuals, &desk->room[2], (size_t)own->n + 1, sizeof *residuals);
    if (!residuals)
        return error_memory(error);
    desk->residuals = residuals;
    for (int64_t k = 0; k < own->n; k++) {
        const int64_t item = own->items[k];
        const float *loadings = loadings_of(scorer, item);
        const double v = form->arrays[RIDGE_VARIANCE].name ? (double)score_floats(form, RIDGE_VARIANCE)[item]
                                                           : 0,
                     value = own->values ? (double)own->values[k] : 1;
        double e = (value - form->scalars[RIDGE_CENTRE]) / form->scalars[RIDGE_UNIT] -
                   (double)score_floats(form, RIDGE_BIAS)[item],
               squares = 0;
        for (int64_t r = 0; r < d; r++) {
            e -= (double)loadings[r] * t[r];
            q[r] = (double)loadings[r];
        }
        /* The leverage q' (L L')^-1 q w is |L^-1 q|^2 w; columns of L are rows of `turned`. */
        for (int64_t c = 0; c < d; c++) {
            q[c] /= turned[c * d + c];
            squares += q[c] * q[c];
            for (int64_t r = c + 1; r < d; r++)
                q[r] -= turned[c * d + r] * q[c];
        }
        residuals[k] = e / fmax(1 - squares / (form->scalars[RIDGE_RESIDUAL_VARIANCE] + v), 1e-6);
    }
    return 0;
}

/* t = (I + sum w q q')^-1 sum w (y - b) q, w = 1 / (s2 + v), y = (value - centre) / unit. Columns: [unit | unit t]. */
static int read_ridge(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                      struct dpf_error *error)
{
    const struct score_form *form = &scorer->form;
    const int64_t d = scorer->n_loadings;
    const double unit = form->scalars[RIDGE_UNIT];
    if (!desk->work && !(desk->work = memory_raw((size_t)(d * d + 2 * d), sizeof *desk->work)))
        return error_memory(error);
    double *a = desk->work, *t = a + d * d, *q = t + d;
    memset(a, 0, (size_t)(d * d + d) * sizeof *a);
    for (int64_t k = 0; k < own->n; k++) {
        const int64_t item = own->items[k];
        const float *loadings = loadings_of(scorer, item);
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
    const int solved = solve(a, d, t) == 0;
    if (!solved)
        memset(t, 0, (size_t)d * sizeof *t); /* only if something is not finite */
    for (int64_t r = 0; scorer->home && r < d; r++)
        for (int64_t c = 0; c < r; c++)
            a[c * d + r] = a[r * d + c];
    if (scorer->home && find_residuals(scorer, desk, own, a, t, q, error) != 0)
        return -1;
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

/* The columns of those items that count, and those behind the factors. */
static int list_columns(const struct scorer *scorer, struct score_desk *desk, struct dpf_error *error)
{
    const int32_t *column = scorer->form.arrays[EASE_COLUMN].data;
    const int64_t r = scorer->form.arrays[EASE_OUT].rows, width = ease_width(&scorer->form);
    int32_t *columns =
        memory_grow(desk->columns, &desk->room[3], (size_t)(desk->n_shifts + width + 1 - r), sizeof *columns);
    if (!columns)
        return error_memory(error);
    desk->columns = columns;
    desk->n_columns = 0;
    for (int64_t s = 0; s < desk->n_shifts; s++)
        columns[desk->n_columns++] = column[desk->shifted[s]];
    for (int64_t c = r; c <= width; c++)
        columns[desk->n_columns++] = (int32_t)c;
    return 0;
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
    const int64_t width = ease_width(form), first = scorer->is_plain ? form->arrays[EASE_OUT].rows : 0;
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
    if (scorer->is_plain && list_columns(scorer, desk, error) != 0)
        return -1;
    for (int64_t c = 0; c < first; c++)
        desk->made[c] = 0;
    for (int64_t s = 0; s < desk->n_shifts; s++) {
        const int32_t item = desk->shifted[s], j = column[item];
        const double z = desk->shifts[s] / sqrt(squares);
        const float *row = (const float *)in->data + j * in->stride;
        for (int64_t c = first; c < width; c++)
            desk->work[c] += z * (double)row[c - first];
        if (scorer->is_plain)
            desk->made[j] = (float)z;
        desk->shifts[s] = -z * scorer->own[j] * (double)undo[item];
    }
    for (int64_t c = first; c < width; c++)
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

/* ---- any formula -------------------------------------------------------------------------------------------------- */

/* Into the desk: row and shifts, or for neighbours/1 all scores. Not for rows/1, whose users' rows are stored. */
static int user_row_make(const struct scorer *scorer, struct score_desk *desk,
                         const struct score_records *own, struct dpf_error *error)
{
    const int64_t stride = scorer->products.stride;
    desk->n_shifts = 0;
    desk->has_home = 0;
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
                         "users' rows of this model are not computed from their records");
    }
}

/* ---- users ---------------------------------------------------------------------------------------------------- */

void score_desk_free(struct score_desk *desk)
{
    free(desk->made);
    free(desk->columns);
    free(desk->work);
    free(desk->all);
    free(desk->shifted);
    free(desk->shifts);
    free(desk->residuals);
    free(desk->at_home);
    *desk = (struct score_desk){.user = 0};
}

/* The history that a server has of a user: the items whose bits are set. */
static int read_reported(const struct scorer *scorer, struct score_desk *desk, int64_t user,
                         struct dpf_error *error)
{
    const dpf_array *reported = &scorer->form.arrays[NEIGHBOURS_REPORTED];
    const uint8_t *bits = (const uint8_t *)reported->data + user * reported->stride;
    int32_t *items = memory_raw((size_t)scorer->form.n_items + 1, sizeof *items);
    struct score_records own = {0, items, NULL};
    for (int64_t i = 0; items && i < scorer->form.n_items; i++)
        if (bits[i / 8] >> (i % 8) & 1)
            items[own.n++] = (int32_t)i;
    const int status = items ? user_row_make(scorer, desk, &own, error) : error_memory(error);
    free(items);
    return status;
}

static struct score_records records_of(const struct scorer *scorer, int64_t user)
{
    const struct csr *records = scorer->records;
    return records ? (struct score_records){records->ptr[user + 1] - records->ptr[user],
                                            records->others + records->ptr[user],
                                            records->values ? records->values + records->ptr[user] : NULL}
                   : (struct score_records){0};
}

int scorer_user(const struct scorer *scorer, struct score_desk *desk, int64_t user, struct dpf_error *error)
{
    const struct score_form *form = &scorer->form;
    struct score_records own = {0};
    if (desk->user == user + 1)
        return 0;
    desk->user = 0;
    if (form->formula == SCORE_ROWS) {
        const dpf_array *users = &form->arrays[ROWS_USERS];
        desk->row = (const float *)users->data + user * users->stride;
        desk->user = user + 1;
        return 0;
    }
    if (form->formula == SCORE_NEIGHBOURS && form->arrays[NEIGHBOURS_REPORTED].name) {
        if (read_reported(scorer, desk, user, error) != 0)
            return -1;
    } else {
        if (score_formulas[form->formula].reads_records)
            own = records_of(scorer, user);
        if (user_row_make(scorer, desk, &own, error) != 0)
            return -1;
    }
    desk->user = user + 1;
    return 0;
}

/* ---- scores --------------------------------------------------------------------------------------------------- */

/* Sixteen partial sums: vectorises, and the order of additions is fixed. */
static double product(const struct score_products *p, const float *u, int64_t item)
{
    const float *v = p->items + item * p->stride;
    float part[16] = {0};
    for (int64_t c = 0; c < p->stride; c += 16)
        for (int l = 0; l < 16; l++)
            part[l] += u[c + l] * v[c + l];
    double sum = p->offset;
    for (int l = 0; l < 16; l++)
        sum += (double)part[l];
    return sum;
}

/* The same number, where the row is 0 in most columns. */
static double product_of_few(const struct score_products *p, const struct score_desk *desk, int64_t item)
{
    const float *v = p->items + item * p->stride;
    float part[16] = {0};
    for (int64_t k = 0; k < desk->n_columns; k++)
        part[desk->columns[k] % 16] += desk->row[desk->columns[k]] * v[desk->columns[k]];
    double sum = p->offset;
    for (int l = 0; l < 16; l++)
        sum += (double)part[l];
    return sum;
}

static double shift_of(const struct score_desk *desk, int32_t item)
{
    int64_t lo = 0, hi = desk->n_shifts;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (desk->shifted[middle] < item)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < desk->n_shifts && desk->shifted[lo] == item ? desk->shifts[lo] : 0;
}

static void scores_of_desk(const struct scorer *scorer, const struct score_desk *desk, const int32_t *items,
                           int64_t n, double *out)
{
    if (!scorer->products.items) {
        for (int64_t k = 0; k < n; k++)
            out[k] = desk->all[items ? items[k] : k];
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out[k] = scorer->is_plain ? product_of_few(&scorer->products, desk, items ? items[k] : k)
                                  : product(&scorer->products, desk->row, items ? items[k] : k);
    for (int64_t s = 0; !items && s < desk->n_shifts; s++)
        if (desk->shifted[s] < n)
            out[desk->shifted[s]] += desk->shifts[s];
    for (int64_t k = 0; items && desk->n_shifts && k < n; k++)
        out[k] += shift_of(desk, items[k]);
}

/* Scores with home terms; those of lists need all scores of the user, which the desk keeps. */
static int scores_at_home(const struct scorer *scorer, struct score_desk *desk,
                          const struct score_records *own, const int32_t *items, int64_t n, double *out,
                          struct dpf_error *error)
{
    const struct home_terms *home = scorer->home;
    const int64_t all = scorer->form.n_items;
    if (scorer->form.formula == SCORE_RIDGE) {
        scores_of_desk(scorer, desk, items, n, out);
        for (int64_t k = 0; k < n; k++)
            out[k] += scorer->form.scalars[RIDGE_UNIT] *
                      home_terms_value(home, own->items, desk->residuals, own->n,
                                       score_floats(&scorer->form, RIDGE_BIAS), items ? items[k] : k);
        return 0;
    }
    if (!desk->at_home &&
        !(desk->at_home = memory_raw((size_t)(all + home_terms_work(home)) + 1, sizeof *desk->at_home)))
        return error_memory(error);
    if (!desk->has_home) {
        const int same = scorer_is_base(scorer);
        if (!same)
            scores_of_desk(scorer, desk, NULL, all, desk->at_home);
        home_terms_lists(home, own->items, own->n, same, desk->at_home + all, desk->at_home);
        desk->has_home = 1;
    }
    for (int64_t k = 0; k < n; k++)
        out[k] = desk->at_home[items ? items[k] : k];
    return 0;
}

/* 0 * x is NaN just for what is not finite; four chains hide the latency of the addition. */
static int all_finite(const double *x, int64_t n)
{
    double a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += 0 * x[i];
        b += 0 * x[i + 1];
        c += 0 * x[i + 2];
        d += 0 * x[i + 3];
    }
    for (; i < n; i++)
        a += 0 * x[i];
    return a + b + c + d == 0;
}

static void name_of(const struct id_map *map, int64_t index, char name[128])
{
    if (map && map->bytes && index < map->n)
        snprintf(name, 128, "%s", id_map_text(map, index));
    else
        snprintf(name, 128, "number %lld", (long long)index);
}

static int report(const struct scorer *scorer, int64_t user, int64_t item, double score,
                  struct dpf_error *error)
{
    char user_name[128], item_name[128];
    name_of(scorer->users, user, user_name);
    name_of(scorer->items, item, item_name);
    return error_set(
        error, DPF_FAULT_RUN,
        "the model's score of item %s for user %s is %s; the factors have diverged: try a smaller "
        "learning rate, more regularisation, or less noise",
        item_name, user_name, isnan(score) ? "not a number" : "infinite");
}

int scorer_scores(const struct scorer *scorer, struct score_desk *desk, int64_t user, const int32_t *items,
                  int64_t n, double *out, struct dpf_error *error)
{
    if (n == 0)
        return 0;
    if (scorer->form.formula == SCORE_FUNCTION) {
        if (scorer->scores(scorer->context, (int32_t)user, items, n, out, error) != 0)
            return error_set(error, DPF_FAULT_RUN, "the model could not score user number %lld",
                             (long long)user);
    } else {
        if (scorer_user(scorer, desk, user, error) != 0)
            return -1;
        const struct score_records own = records_of(scorer, user);
        if (!scorer->home)
            scores_of_desk(scorer, desk, items, n, out);
        else if (scores_at_home(scorer, desk, &own, items, n, out, error) != 0)
            return -1;
    }
    if (all_finite(out, n))
        return 0;
    int64_t i = 0;
    while (isfinite(out[i]))
        i++;
    return report(scorer, user, items ? items[i] : i, out[i], error);
}

int scorer_scores_of(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                     int64_t n, double *out, struct dpf_error *error)
{
    if (scorer->form.formula == SCORE_FUNCTION)
        return scorer->scores_of
                   ? scorer->scores_of(scorer->context, own, out, error)
                   : error_set(error, DPF_FAULT_CONFIG, "this model scores only users of its data");
    desk->user = 0;
    if (user_row_make(scorer, desk, own, error) != 0)
        return -1;
    if (scorer->home)
        return scores_at_home(scorer, desk, own, NULL, n, out, error);
    scores_of_desk(scorer, desk, NULL, n, out);
    return 0;
}
