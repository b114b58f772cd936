/* SPDX-License-Identifier: Apache-2.0 */
#include "item_span.h"

#include <math.h>
#include <string.h>

#include "eigenpairs.h"
#define LEAST_COUNT 2.0 /* of an item whose count is lost in noise */
#define LEAST_OF_COLUMNS 3.0
#define SMOOTH 20.0          /* in log(count + SMOOTH) */
#define LEAST_DIRECTION 1e-3 /* singular values below this part of the largest are left out */
#define POWERS 4             /* of a number: x, x^2, ... */
#define LEAST_HISTORY 5.0

static int32_t *new_integers(const dpf_call *call, int64_t n)
{
    return call->scratch(call, (uint64_t)(n + 1) * sizeof(int32_t));
}

static double *new_numbers(const dpf_call *call, int64_t n)
{
    return call->scratch(call, (uint64_t)(n + 1) * sizeof(double));
}

/* ---- counts ---------------------------------------------------------------------------------------------
 */

struct ranked {
    int64_t total;
    int32_t item;
};

/* Larger totals first, then smaller numbers of items. */
static int is_before(const struct ranked *a, const struct ranked *b)
{
    return a->total != b->total ? a->total > b->total : a->item < b->item;
}

/* Restores the heap below a place: the last of its items in the order is at the top. */
static void sift(struct ranked *heap, int64_t at, int64_t n)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= n)
            return;
        if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!is_before(&heap[at], &heap[child]))
            return;
        const struct ranked moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

/* The m items with the largest totals, in the order of items. */
static int choose_columns(const dpf_call *call, const int64_t *totals, struct item_span *span)
{
    struct ranked *ranked = call->scratch(call, (uint64_t)(span->n_items + 1) * sizeof *ranked);
    if (!ranked)
        return -1;
    /* A heap of the best m, the worst of them on top. */
    for (int64_t i = 0; i < span->n_items; i++) {
        ranked[i] = (struct ranked){totals[i], (int32_t)i};
        span->column[i] = -1;
    }
    for (int64_t i = span->m / 2; i-- > 0;)
        sift(ranked, i, span->m);
    for (int64_t i = span->m; i < span->n_items; i++)
        if (span->m > 0 && is_before(&ranked[i], &ranked[0])) {
            ranked[0] = ranked[i];
            sift(ranked, 0, span->m);
        }
    for (int32_t k = 0; k < span->m; k++)
        span->column[ranked[k].item] = 0;
    int32_t n = 0;
    for (int64_t i = 0; i < span->n_items; i++)
        if (span->column[i] == 0) {
            span->item[n] = (int32_t)i;
            span->column[i] = n++;
        }
    return 0;
}

/*
 * A user of n items adds 1/sqrt(n) to each, so a total is a count over the root of a usual number of items.
 * That one is estimated: all totals together are the sum of users' sqrt(n).
 */
static double usual_history(const struct gram_plan *plan, int64_t n_users, int64_t n_items,
                            const int64_t *totals)
{
    double all = 0.0;
    for (int64_t i = 0; i < n_items; i++)
        all += (double)totals[i];
    const double root = all * plan->counts.grid / (double)(n_users > 0 ? n_users : 1);
    return fmin(fmax(root * root, LEAST_HISTORY), (double)n_items);
}

static void estimate_counts(const struct gram_plan *plan, double usual, const int64_t *totals,
                            struct item_span *span)
{
    const double sigma = (double)plan->counts.steps * plan->counts.grid, root = sqrt(usual);
    for (int64_t i = 0; i < span->n_items; i++) {
        const double total = fmax((double)totals[i] * plan->counts.grid, 0.0);
        const double signal = total > 0.0 ? fmax(1.0 - sigma * sigma / (total * total), 0.0) : 0.0;
        span->count[i] = span->column[i] >= 0 ? fmax(total * root, LEAST_OF_COLUMNS)
                                              : fmax(total * signal * root, LEAST_COUNT);
        span->weight[i] = pow(span->count[i] + plan->weight_offset, -plan->weight_exponent);
    }
}

static void expect_shared(struct item_span *span)
{
    double squares = 0.0;
    for (int32_t k = 0; k < span->m; k++) {
        span->shared[k] = span->count[span->item[k]] * span->weight[span->item[k]];
        squares += span->shared[k] * span->shared[k];
    }
    for (int32_t k = 0; k < span->m; k++)
        span->shared[k] /= sqrt(squares);
}

/* ---- directions -----------------------------------------------------------------------------------------
 */

struct chosen_columns {
    int32_t at[GRAM_MOST_SPAN]; /* of the features */
    int32_t n, n_numbers;
};

/* Numbers first, then the categories of most items. */
static void choose_features(const dpf_features *features, struct chosen_columns *out)
{
    const int32_t room = GRAM_MOST_SPAN - 3;
    memset(out, 0, sizeof *out);
    if (!features)
        return;
    for (int64_t c = 0; c < features->columns && out->n + (POWERS - 1) * out->n_numbers + POWERS <= room; c++)
        if (features->column[c].kind == DPF_FEATURE_NUMBER) {
            out->at[out->n++] = (int32_t)c;
            out->n_numbers++;
        }
    while (out->n + (POWERS - 1) * out->n_numbers < room) {
        int64_t best = -1;
        for (int64_t c = 0; c < features->columns; c++) {
            int taken = features->column[c].kind == DPF_FEATURE_NUMBER;
            for (int32_t k = out->n_numbers; k < out->n && !taken; k++)
                taken = out->at[k] == c;
            if (!taken && (best < 0 || features->column[c].mean > features->column[best].mean))
                best = c;
        }
        if (best < 0)
            return;
        out->at[out->n++] = (int32_t)best;
    }
}

/* log counts with mean 0 and deviation 1 over the columns; not further below them than 1. */
static int standard_logs(const dpf_call *call, const struct item_span *span, double **out)
{
    double *logs = new_numbers(call, span->n_items), mean = 0.0, squares = 0.0, least = (double)INFINITY;
    if (!logs)
        return -1;
    for (int64_t i = 0; i < span->n_items; i++)
        logs[i] = log(span->count[i] + SMOOTH);
    for (int32_t k = 0; k < span->m; k++)
        mean += logs[span->item[k]] / span->m;
    for (int32_t k = 0; k < span->m; k++)
        squares += (logs[span->item[k]] - mean) * (logs[span->item[k]] - mean) / span->m;
    const double deviation = squares > 0.0 ? sqrt(squares) : 1.0;
    for (int32_t k = 0; k < span->m; k++)
        least = fmin(least, (logs[span->item[k]] - mean) / deviation);
    for (int64_t i = 0; i < span->n_items; i++)
        logs[i] = fmax((logs[i] - mean) / deviation, least - 1.0);
    *out = logs;
    return 0;
}

/* Unscaled functions of all items: n_items x c. */
static int fill_functions(const dpf_call *call, const struct item_span *span, const dpf_features *features,
                          struct matrix *out)
{
    struct chosen_columns chosen;
    double *logs = NULL;
    choose_features(features, &chosen);
    double *row = new_numbers(call, features ? features->columns : 0);
    if (!row || standard_logs(call, span, &logs) != 0 ||
        matrix_new(call, (int32_t)span->n_items, 3 + chosen.n + (POWERS - 1) * chosen.n_numbers, out) != 0)
        return -1;
    for (int64_t i = 0; i < span->n_items; i++) {
        const double scale = span->count[i] * span->weight[i];
        matrix_column(out, 0)[i] = scale;
        matrix_column(out, 1)[i] = scale * logs[i];
        matrix_column(out, 2)[i] = scale * logs[i] * logs[i];
        if (features)
            dpf_features_row(features, i, row);
        for (int32_t k = 0; k < chosen.n; k++)
            matrix_column(out, 3 + k)[i] = scale * row[chosen.at[k]];
        for (int32_t k = 0; k < chosen.n_numbers; k++) {
            double power = row[chosen.at[k]];
            for (int32_t p = 0; p < POWERS - 1; p++)
                matrix_column(out, 3 + chosen.n + k * (POWERS - 1) + p)[i] =
                    scale * (power *= row[chosen.at[k]]);
        }
    }
    return 0;
}

/* Columns to norm 1 over the m items, and only those. */
static int restrict_functions(const dpf_call *call, const struct item_span *span, struct matrix *all,
                              struct matrix *out)
{
    if (matrix_new(call, span->m, all->columns, out) != 0)
        return -1;
    for (int32_t c = 0; c < all->columns; c++) {
        double *from = matrix_column(all, c), *to = matrix_column(out, c), squares = 0.0;
        for (int32_t k = 0; k < span->m; k++)
            squares += from[span->item[k]] * from[span->item[k]];
        const double scale = squares > 1e-18 ? 1.0 / sqrt(squares) : 0.0;
        for (int64_t i = 0; i < span->n_items; i++)
            from[i] *= scale;
        for (int32_t k = 0; k < span->m; k++)
            to[k] = from[span->item[k]];
    }
    return 0;
}

/* Left singular vectors of F over the m items, by the eigenvectors of F'F; the same combinations of all. */
static int orthonormal_basis(const dpf_call *call, struct matrix *all, struct matrix *some,
                             struct item_span *span)
{
    struct matrix gram, turn;
    double values[GRAM_MOST_SPAN];
    const int32_t c = all->columns;
    if (matrix_new(call, c, c, &gram) != 0)
        return -1;
    matrix_multiply(1.0, some, CblasTrans, some, CblasNoTrans, 0.0, &gram);
    if (symmetric_eigen(call, &gram, values) != 0)
        return -1;
    int32_t first = 0; /* ascending: the last ones are kept */
    while (first < c && values[first] <= LEAST_DIRECTION * LEAST_DIRECTION * values[c - 1])
        first++;
    turn = (struct matrix){matrix_column(&gram, first), c, c - first};
    for (int32_t k = 0; k < turn.columns; k++)
        cblas_dscal(c, 1.0 / sqrt(values[first + k]), matrix_column(&turn, k), 1);
    if (matrix_new(call, span->m, turn.columns, &span->basis) != 0 ||
        matrix_new(call, (int32_t)span->n_items, turn.columns, &span->all) != 0)
        return -1;
    matrix_multiply(1.0, some, CblasNoTrans, &turn, CblasNoTrans, 0.0, &span->basis);
    matrix_multiply(1.0, all, CblasNoTrans, &turn, CblasNoTrans, 0.0, &span->all);
    return 0;
}

int item_span_make(const dpf_call *call, const struct gram_plan *plan, int64_t n_users, int64_t n_items,
                   const int64_t *totals, const dpf_features *features, struct item_span *out)
{
    struct matrix all, some;
    *out = (struct item_span){.n_items = n_items,
                              .count = new_numbers(call, n_items),
                              .weight = new_numbers(call, n_items),
                              .column = new_integers(call, n_items),
                              .item = new_integers(call, plan->items),
                              .shared = new_numbers(call, plan->items),
                              .m = (int32_t)(plan->items < n_items ? plan->items : n_items)};
    if (!out->count || !out->weight || !out->column || !out->item || !out->shared ||
        choose_columns(call, totals, out) != 0) {
        call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
        return -1;
    }
    const double usual = usual_history(plan, n_users, n_items, totals);
    estimate_counts(plan, usual, totals, out);
    expect_shared(out);
    out->kept = gram_plan_kept(plan, usual);
    if (fill_functions(call, out, features, &all) != 0 || restrict_functions(call, out, &all, &some) != 0)
        return -1;
    return orthonormal_basis(call, &all, &some, out);
}
