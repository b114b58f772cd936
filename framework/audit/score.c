/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/score.h"

#include <math.h>
#include <string.h>

/* The law of one coordinate's noise. */
struct law {
    int is_laplace;
    double scale; /* of Laplace, else the standard deviation; > 0 */
};

/* One observation as two explanations have it. */
struct pair {
    const struct term_plan *term;
    int is_laplace; /* the term's noise, as far as the plan alone is known */
    const struct observation *seen, *exact[2];
    /* Of an earlier round, where noise is drawn once for the run: it must then be the same again. */
    const struct observation *seen_before, *exact_before[2];
};

static int declares_laplace(const struct plan *plan, int side, int term)
{
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (event->side == side && event->term == term &&
            (event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE))
            return 1;
    }
    return 0;
}

static int64_t observed_row(const struct observation *o, int64_t r)
{
    return o->rows ? o->rows[r] : o->first_row + r;
}

/* Without noise what is left is rounding: a few steps of the grid. */
static struct law law_of(const struct pair *pair, int which, int64_t r, int32_t block, int32_t column)
{
    const struct observation *o = pair->exact[which];
    const int shared = pair->term->query.has_shared && observed_row(o, r) == pair->term->rows - 1;
    const double grid = shared ? o->noise.shared_grid[block] : o->noise.grid[block];
    const double least = grid * (1 + sqrt((double)(o->survivors > 0 ? o->survivors : 1)));
    if (pair->seen_before)
        return (struct law){0, 2 * least};
    if (o->deviation)
        return (struct law){0, fmax(o->deviation[r * o->width + column], least)};
    const double scale = shared ? o->noise.shared_scale[block] : o->noise.scale[block];
    if (pair->is_laplace)
        return (struct law){1, fmax(scale, least)};
    const double variance = shared ? 0 : o->noise.variance[block];
    return (struct law){0, fmax(variance > 0 ? sqrt(variance) : scale, least)};
}

static double log_density(const struct law *law, double residual)
{
    const double x = residual / law->scale;
    return law->is_laplace ? -fabs(x) - log(2 * law->scale) : -x * x / 2 - log(law->scale);
}

static double residual(const struct pair *pair, int which, int64_t at)
{
    double rest = pair->seen->seen[at] - pair->exact[which]->exact[at];
    if (pair->seen_before)
        rest -= pair->seen_before->seen[at] - pair->exact_before[which]->exact[at];
    return rest;
}

static double row_ratio(const struct pair *pair, int64_t r)
{
    const dpf_query *query = &pair->term->query;
    double sum = 0;
    for (int32_t b = 0; b < query->n_blocks; b++)
        for (int32_t i = query->blocks[b].offset; i < query->blocks[b].offset + query->blocks[b].length;
             i++) {
            const int64_t at = r * pair->seen->width + i;
            const double x = residual(pair, 0, at), y = residual(pair, 1, at);
            const struct law first = law_of(pair, 0, r, b, i), second = law_of(pair, 1, r, b, i);
            if (x < y || x > y || first.scale < second.scale || first.scale > second.scale)
                sum += log_density(&first, x) - log_density(&second, y);
        }
    return sum;
}

/* ---- observations in lists ---------------------------------------------------------------------------- */

/* The place of the observation of the same rows in an earlier round, or -1. */
static int64_t earlier(const struct observations *list, size_t at)
{
    const struct observation *o = &list->items[at];
    for (size_t i = at; i-- > 0;) {
        const struct observation *e = &list->items[i];
        if (e->side == o->side && e->term == o->term && e->party == o->party && e->round != o->round &&
            e->first_row == o->first_row && e->n_rows == o->n_rows)
            return (int64_t)i;
    }
    return -1;
}

static struct pair pair_at(const struct plan *plan, const struct observations *seen,
                           const struct observations *const exact[2], size_t i)
{
    const struct observation *o = &seen->items[i];
    struct pair pair = {.term = &plan->sides[o->side].terms[o->term],
                        .is_laplace = declares_laplace(plan, o->side, o->term),
                        .seen = o,
                        .exact = {&exact[0]->items[i], &exact[1]->items[i]}};
    const int64_t before = pair.term->draw_lifetime == DPF_LIFETIME_RUN ? earlier(seen, i) : -1;
    if (before >= 0) {
        pair.seen_before = &seen->items[before];
        pair.exact_before[0] = &exact[0]->items[before];
        pair.exact_before[1] = &exact[1]->items[before];
    }
    return pair;
}

static int same_rows(const struct observation *a, const struct observation *b)
{
    return a->side == b->side && a->term == b->term && a->round == b->round && a->party == b->party &&
           a->n_rows == b->n_rows && a->width == b->width && !a->rows == !b->rows &&
           (a->rows ? memcmp(a->rows, b->rows, (size_t)a->n_rows * sizeof *a->rows) == 0
                    : a->first_row == b->first_row);
}

/* Whether both lists have observations of the same rows, one for one. */
static int same_shape(const struct observations *a, const struct observations *b)
{
    if (a->n != b->n)
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (!same_rows(&a->items[i], &b->items[i]))
            return 0;
    return 1;
}

/* ln of the ratio of densities of the observations first .. end-1. */
static double list_ratio(const struct plan *plan, const struct observations *seen,
                         const struct observations *const exact[2], size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const struct pair pair = pair_at(plan, seen, exact, i);
        for (int64_t r = 0; r < pair.seen->n_rows && !pair.seen->told; r++)
            sum += row_ratio(&pair, r);
    }
    return sum;
}

/* ---- hidden draws -------------------------------------------------------------------------------------- */

/* ln(1 - q + q e^x). */
static double mixed(double q, double x)
{
    return x > 0 ? x + log(q + (1 - q) * exp(-x)) : log1p(q * expm1(x));
}

/*
 * A round's step is drawn from a mixture, of the canary taking part or not. Both explanations are compared
 * with its absence, which they share.
 */
static double hidden_ratio(const struct plan *plan, const struct observations *seen,
                           const struct explanation two[2])
{
    double score = 0;
    for (size_t first = 0, end; first < seen->n; first = end) {
        const struct observation *o = &seen->items[first];
        const double q = plan->sides[o->side].terms[o->term].sampling.rate;
        for (end = first;
             end < seen->n && seen->items[end].round == o->round && seen->items[end].side == o->side; end++)
            ;
        for (int e = 0; e < 2; e++) {
            const struct observations *const exact[2] = {&two[e].canary_in->sums, &two[e].out->sums};
            const double x = list_ratio(plan, seen, exact, first, end);
            score += (e == 0 ? 1 : -1) * mixed(fmin(fmax(q, 0), 1), x);
        }
    }
    return score;
}

/* ---- scores -------------------------------------------------------------------------------------------- */

double score_ratio(const struct plan *plan, const struct trace *seen, const struct explanation two[2],
                   int own)
{
    const double certain = own == 0 ? SCORE_CERTAIN : -SCORE_CERTAIN;
    const int hidden = two[0].out && two[1].out;
    double score = 0;
    for (int messages = 0; messages < 2; messages++) {
        const struct observations *list = messages ? &seen->messages : &seen->sums;
        const struct observations *exact[2];
        for (int e = 0; e < 2; e++) {
            exact[e] = messages ? &two[e].canary_in->messages : &two[e].canary_in->sums;
            if (!same_shape(list, exact[e]) || (hidden && !messages && !same_shape(list, &two[e].out->sums)))
                return certain;
        }
        score +=
            hidden && !messages ? hidden_ratio(plan, list, two) : list_ratio(plan, list, exact, 0, list->n);
    }
    return isnan(score) ? 0 : fmax(-SCORE_CERTAIN, fmin(SCORE_CERTAIN, score));
}

double score_row(const struct plan *plan, const struct trace *seen, const struct trace *const two[2],
                 int side, int64_t row)
{
    const struct observations *list = &seen->sums, *exact[2] = {&two[0]->sums, &two[1]->sums};
    double score = 0;
    if (!same_shape(list, exact[0]) || !same_shape(list, exact[1]))
        return 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct observation *o = &list->items[i];
        if (o->side != side)
            continue;
        const struct pair pair = pair_at(plan, list, exact, i);
        for (int64_t r = 0; r < o->n_rows; r++)
            if (observed_row(o, r) == row)
                score += row_ratio(&pair, r);
    }
    return score;
}

/* The expected ratio of densities of one coordinate, for exact values so far apart. */
static double coordinate_distance(const struct law *law, double apart)
{
    const double x = fabs(apart) / law->scale;
    return law->is_laplace ? x + exp(-x) - 1 : x * x / 2;
}

static double row_distance(const struct pair *pair, int64_t r)
{
    const dpf_query *query = &pair->term->query;
    double sum = 0;
    for (int32_t b = 0; b < query->n_blocks; b++)
        for (int32_t c = 0; c < query->blocks[b].length; c++) {
            const int32_t column = query->blocks[b].offset + c;
            const int64_t at = r * pair->seen->width + column;
            const struct law law = law_of(pair, 0, r, b, column);
            sum += coordinate_distance(&law, pair->exact[0]->exact[at] - pair->exact[1]->exact[at]);
        }
    return sum;
}

double score_distance(const struct plan *plan, const struct trace *first, const struct trace *second)
{
    double sum = 0;
    for (int messages = 0; messages < 2; messages++) {
        const struct observations *exact[2] = {messages ? &first->messages : &first->sums,
                                               messages ? &second->messages : &second->sums};
        if (!same_shape(exact[0], exact[1]))
            return SCORE_CERTAIN;
        for (size_t i = 0; i < exact[0]->n; i++) {
            const struct pair pair = pair_at(plan, exact[0], exact, i);
            for (int64_t r = 0; r < pair.seen->n_rows && !pair.seen->told && !pair.seen_before; r++)
                sum += row_distance(&pair, r);
        }
    }
    return sum;
}
