/* SPDX-License-Identifier: Apache-2.0 */
#include "score/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- order ---------------------------------------------------------------------------------------------- */

/* What an item is sorted by: where its row begins to be other than 0, then how long it is. */
struct measured {
    double length;
    int32_t first, item;
};

static int before(const void *a, const void *b)
{
    const struct measured *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static const float *row_of(const struct scorer *scorer, int64_t item)
{
    return scorer->products.items + item * scorer->products.stride;
}

/* The column that is left out of lengths. */
static int64_t lone_column(const struct scorer *scorer)
{
    switch (scorer->form.formula) {
    case SCORE_RIDGE:
        return 0; /* the bias */
    case SCORE_EASE:
        return ease_width(&scorer->form); /* popularity, for those who have no record with a column */
    default:
        return -1;
    }
}

static struct measured measure(struct score_panels *p, const float *row, int32_t item)
{
    struct measured m = {0, (int32_t)p->stride, item};
    double squares = 0, all = 0;
    for (int64_t c = 0; c < p->stride; c++) {
        const double size = fabs((double)row[c]);
        all += size * size;
        p->largest[c] = size > p->largest[c] ? size : p->largest[c];
        if (c == p->lone || size == 0)
            continue;
        squares += size * size;
        m.first = c < m.first ? (int32_t)c : m.first;
    }
    const double norm = isfinite(all) ? sqrt(all) : (double)INFINITY;
    p->norm = norm > p->norm ? norm : p->norm;
    m.length = isfinite(squares) ? sqrt(squares) : (double)INFINITY;
    return m;
}

/* ---- panels --------------------------------------------------------------------------------------------- */

/* The columns of a panel, from the first to the last that is not 0 for one of its items. */
static void choose_columns(struct score_panels *p, const struct scorer *scorer, int64_t panel)
{
    int64_t first = p->stride, last = -1;
    for (int64_t at = panel * NEAR_PANEL; at < p->n_items && at < (panel + 1) * NEAR_PANEL; at++) {
        const float *row = row_of(scorer, p->item[at]);
        for (int64_t c = 0; c < first; c++)
            if (row[c] != 0)
                first = c;
        for (int64_t c = p->stride - 1; c > last; c--)
            if (row[c] != 0)
                last = c;
    }
    p->first[panel] = last < 0 ? 0 : (int32_t)first;
    p->columns[panel] = last < 0 ? 1 : (int32_t)(last - first + 1);
}

static int fill(struct score_panels *p, const struct scorer *scorer)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < p->n_panels; k++) {
        choose_columns(p, scorer, k);
        p->at[k] = numbers;
        numbers += (int64_t)p->columns[k] * NEAR_PANEL;
    }
    p->numbers = memory_large((size_t)numbers + 1, sizeof *p->numbers);
    for (int64_t at = 0; p->numbers && at < p->n_items; at++) {
        const int64_t k = at / NEAR_PANEL;
        const float *row = row_of(scorer, p->item[at]) + p->first[k];
        float *to = p->numbers + p->at[k] + at % NEAR_PANEL;
        for (int64_t c = 0; c < p->columns[k]; c++)
            to[c * NEAR_PANEL] = row[c];
    }
    return p->numbers ? 0 : -1;
}

static void bound_blocks(struct score_panels *p, const struct scorer *scorer, const struct measured *measured)
{
    for (int64_t at = 0; at < p->n_items; at++) {
        const int64_t b = at / NEAR_BLOCK;
        const float lone = p->lone < 0 ? 0 : row_of(scorer, p->item[at])[p->lone];
        const int is_first = at % NEAR_BLOCK == 0;
        p->longest[b] = fmax(is_first ? 0 : p->longest[b], measured[at].length);
        p->lone_lo[b] = is_first || lone < p->lone_lo[b] ? lone : p->lone_lo[b];
        p->lone_hi[b] = is_first || lone > p->lone_hi[b] ? lone : p->lone_hi[b];
    }
}

int score_panels_init(struct score_panels *p, const struct scorer *scorer, int64_t n_items,
                      const uint8_t *barred, struct dpf_error *error)
{
    const size_t items = (size_t)n_items + 1;
    int64_t n = n_items, k = 0;
    for (int64_t i = 0; barred && i < n_items; i++)
        n -= barred[i] != 0;
    *p = (struct score_panels){.n_items = n,
                               .n_panels = (n + NEAR_PANEL - 1) / NEAR_PANEL,
                               .n_blocks = (n + NEAR_BLOCK - 1) / NEAR_BLOCK,
                               .stride = scorer->products.stride,
                               .lone = lone_column(scorer)};
    struct measured *measured = memory_raw(items, sizeof *measured);
    p->item = memory_raw(items, sizeof *p->item);
    p->place = memory_raw(items, sizeof *p->place);
    p->at = memory_raw((size_t)p->n_panels + 1, sizeof *p->at);
    p->first = memory_raw((size_t)p->n_panels + 1, sizeof *p->first);
    p->columns = memory_raw((size_t)p->n_panels + 1, sizeof *p->columns);
    p->longest = memory_raw((size_t)p->n_blocks + 1, sizeof *p->longest);
    p->lone_lo = memory_raw((size_t)p->n_blocks + 1, sizeof *p->lone_lo);
    p->lone_hi = memory_raw((size_t)p->n_blocks + 1, sizeof *p->lone_hi);
    p->largest = memory_new((size_t)p->stride + 1, sizeof *p->largest);
    int status = measured && p->item && p->place && p->at && p->first && p->columns && p->longest &&
                         p->lone_lo && p->lone_hi && p->largest
                     ? 0
                     : -1;
    for (int64_t i = 0; status == 0 && i < n_items; i++) {
        p->place[i] = -1;
        if (!barred || !barred[i])
            measured[k++] = measure(p, row_of(scorer, i), (int32_t)i);
    }
    if (status == 0) {
        qsort(measured, (size_t)n, sizeof *measured, before);
        for (int64_t at = 0; at < n; at++) {
            p->item[at] = measured[at].item;
            p->place[measured[at].item] = (int32_t)at;
        }
        bound_blocks(p, scorer, measured);
        status = fill(p, scorer);
    }
    free(measured);
    if (status == 0)
        return 0;
    score_panels_free(p);
    return error_memory(error);
}

void score_panels_free(struct score_panels *p)
{
    free(p->item);
    free(p->place);
    free(p->numbers);
    free(p->at);
    free(p->first);
    free(p->columns);
    free(p->longest);
    free(p->lone_lo);
    free(p->lone_hi);
    free(p->largest);
    memset(p, 0, sizeof *p);
}

/* ---- bounds --------------------------------------------------------------------------------------------- */

void score_panels_measure(const struct score_panels *p, const float *row, double *squares)
{
    squares[0] = 0;
    for (int64_t c = 0; c < p->stride; c++)
        squares[c + 1] = squares[c] + (c == p->lone ? 0 : (double)row[c] * (double)row[c]);
}

/* A bound of the product of both rows without the lone column. Sums of squares are rounded up to the stride times, each by
   2^-53 of the whole: 1e-10 of it is more than enough for strides below 10^5, which is what near scores have. */
static double product_bound(const struct score_panels *p, int64_t block, const double *squares)
{
    const int64_t from = block * (NEAR_BLOCK / NEAR_PANEL), past = from + NEAR_BLOCK / NEAR_PANEL;
    int64_t first = p->stride, end = 0;
    for (int64_t k = from; k < past && k < p->n_panels; k++) {
        const int64_t last = p->first[k] + p->columns[k];
        first = p->first[k] < first ? p->first[k] : first;
        end = last > end ? last : end;
    }
    return sqrt(squares[end] - squares[first] + 1e-10 * squares[p->stride]) * p->longest[block] * (1 + 1e-10);
}

struct score_bounds score_panels_bound(const struct score_panels *p, int64_t block, const float *row,
                                       const double *squares)
{
    const double most = product_bound(p, block, squares), lone = p->lone < 0 ? 0 : (double)row[p->lone];
    const double lo = lone * (double)p->lone_lo[block], hi = lone * (double)p->lone_hi[block];
    return (struct score_bounds){most + fmax(lo, hi), most + fmax(fabs(lo), fabs(hi))};
}
