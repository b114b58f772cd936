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

int score_is_laplace(const struct plan *plan, int side, int term)
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
    const int gram = pair->term->query.has_gram && observed_row(o, r) == pair->term->rows - 1;
    const double grid = gram ? o->noise.gram_grid[block] : o->noise.grid[block];
    const double least = grid * (1 + sqrt((double)(o->survivors > 0 ? o->survivors : 1)));
    if (pair->seen_before)
        return (struct law){0, 2 * least};
    if (o->deviation)
        return (struct law){0, fmax(o->deviation[r * o->width + column], least)};
    const double scale = gram ? o->noise.gram_scale[block] : o->noise.scale[block];
    if (pair->is_laplace)
        return (struct law){1, fmax(scale, least)};
    const double variance = gram ? o->noise.gram_variance[block] : o->noise.variance[block];
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

/* ln of the ratio of the probabilities that two explanations give to what was seen. */
static double exact_ratio(const struct pair *pair, int64_t at)
{
    const double x = fmax(pair->exact[0]->log_law[at], -SCORE_CERTAIN);
    const double y = fmax(pair->exact[1]->log_law[at], -SCORE_CERTAIN);
    return x - y;
}

static double row_ratio(const struct pair *pair, int64_t r)
{
    const dpf_query *query = &pair->term->query;
    const int is_exact = pair->exact[0]->log_law && pair->exact[1]->log_law && !pair->seen_before;
    double sum = 0;
    for (int32_t b = 0; b < query->n_blocks; b++)
        for (int32_t i = query->blocks[b].offset; i < query->blocks[b].offset + query->blocks[b].length;
             i++) {
            const int64_t at = r * pair->seen->width + i;
            if (is_exact) {
                sum += exact_ratio(pair, at);
                continue;
            }
            const double x = residual(pair, 0, at), y = residual(pair, 1, at);
            const struct law first = law_of(pair, 0, r, b, i), second = law_of(pair, 1, r, b, i);
            if (x < y || x > y || first.scale < second.scale || first.scale > second.scale)
                sum += log_density(&first, x) - log_density(&second, y);
        }
    return sum;
}

/* ---- observations in lists ---------------------------------------------------------------------------- */

int64_t score_earlier(const struct observations *list, size_t at)
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
                        .is_laplace = score_is_laplace(plan, o->side, o->term),
                        .seen = o,
                        .exact = {&exact[0]->items[i], &exact[1]->items[i]}};
    const int64_t before = pair.term->draw_lifetime == DPF_LIFETIME_RUN ? score_earlier(seen, i) : -1;
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

/* Observations of one step of a side: items first .. end-1 of a list. */
struct step {
    size_t first, end;
};

static struct step step_at(const struct observations *list, size_t first)
{
    struct step step = {first, first};
    while (step.end < list->n && list->items[step.end].round == list->items[first].round &&
           list->items[step.end].side == list->items[first].side)
        step.end++;
    return step;
}

/*
 * An explanation's part in the step that was seen: the observations of its own step from *from on, moved so
 * that they stand at the same places. 0 if it has no such step, or one of other rows.
 */
static int step_of(const struct observations *seen, struct step step, const struct observations *list,
                   size_t *from, struct observations *out)
{
    const struct observation *o = &seen->items[step.first];
    size_t i = *from;
    while (i < list->n && (list->items[i].round != o->round || list->items[i].side != o->side))
        i++;
    if (i == list->n)
        return 0;
    const struct step own = step_at(list, i);
    *from = own.end;
    *out = (struct observations){.items = &list->items[own.first], .n = own.end - own.first};
    if (out->n != step.end - step.first)
        return 0;
    for (size_t k = 0; k < out->n; k++)
        if (!same_rows(&seen->items[step.first + k], &out->items[k]))
            return 0;
    return 1;
}

/* ln(1 - q + q e^x). */
static double mixed(double q, double x)
{
    return x > 0 ? x + log(q + (1 - q) * exp(-x)) : log1p(q * expm1(x));
}

/* What can explain a step: the canary taking part with either data set, or not. */
struct chances {
    int can[3];
    double x[2]; /* ln of the densities with the canary in over that without; of both, [0] over [1], if there
                    is no explanation without */
};

static double weigh_chances(const struct chances *c, double q)
{
    double score[2] = {0, 0};
    for (int e = 0; e < 2; e++) {
        if (c->can[2])
            score[e] = c->can[e] ? mixed(q, c->x[e]) : log1p(-q);
        else if (!c->can[e])
            score[e] = -SCORE_CERTAIN;
    }
    return !c->can[2] && c->can[0] && c->can[1] ? c->x[0] : score[0] - score[1];
}

/*
 * A round's step is drawn from a mixture, of the canary taking part or not. Both explanations are compared
 * with its absence, which they share; one whose messages have other rows than those that were seen is none.
 */
static double hidden_ratio(const struct plan *plan, const struct observations *seen,
                           const struct explanation two[2])
{
    const struct observations *lists[3] = {&two[0].canary_in->sums, &two[1].canary_in->sums,
                                           &two[0].out->sums};
    size_t from[3] = {0, 0, 0};
    double score = 0;
    struct step step;
    for (size_t first = 0; first < seen->n; first = step.end) {
        const struct observation *o = &seen->items[first];
        const double q = plan->sides[o->side].terms[o->term].sampling.rate;
        struct observations own[3], here = {.items = &seen->items[first]};
        struct chances chances = {.x = {0, 0}};
        step = step_at(seen, first);
        here.n = step.end - first;
        for (int e = 0; e < 3; e++)
            chances.can[e] = step_of(seen, step, lists[e], &from[e], &own[e]);
        for (int e = 0; e < 2; e++) {
            const struct observations *const exact[2] = {&own[e], chances.can[2] ? &own[2] : &own[1]};
            if (chances.can[e] && (chances.can[2] || (e == 0 && chances.can[1])))
                chances.x[e] = list_ratio(plan, &here, exact, 0, here.n);
        }
        score += weigh_chances(&chances, fmin(fmax(q, 0), 1));
    }
    return score;
}

double score_deviation(const struct plan *plan, const struct observation *o, int64_t r, int32_t block,
                       int32_t column)
{
    const struct pair pair = {.term = &plan->sides[o->side].terms[o->term],
                              .is_laplace = score_is_laplace(plan, o->side, o->term),
                              .exact = {o, o}};
    const struct law law = law_of(&pair, 0, r, block, column);
    return law.is_laplace ? law.scale * sqrt(2) : law.scale;
}

/* ---- scores -------------------------------------------------------------------------------------------- */

/* Whether an explanation has what was seen, as far as rows go; hidden draws are looked at step by step. */
static int explains(const struct trace *seen, const struct explanation *one)
{
    return same_shape(&seen->messages, &one->canary_in->messages) &&
           (one->out || same_shape(&seen->sums, &one->canary_in->sums));
}

double score_ratio(const struct plan *plan, const struct trace *seen, const struct explanation two[2])
{
    const int can[2] = {explains(seen, &two[0]), explains(seen, &two[1])};
    const struct observations *messages[2] = {&two[0].canary_in->messages, &two[1].canary_in->messages};
    const struct observations *sums[2] = {&two[0].canary_in->sums, &two[1].canary_in->sums};
    if (!can[0] || !can[1])
        return (can[0] - can[1]) * SCORE_CERTAIN;
    double score = list_ratio(plan, &seen->messages, messages, 0, seen->messages.n);
    score += two[0].out ? hidden_ratio(plan, &seen->sums, two)
                        : list_ratio(plan, &seen->sums, sums, 0, seen->sums.n);
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
