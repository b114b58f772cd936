/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/score.h"

#include <math.h>
#include <string.h>

/* One observation as two explanations have it. */
struct pair {
    const dpf_event *events[DPF_BLOCK_BITS]; /* by block, then by block of the Gram row */
    const struct observation *seen, *exact[2];
    /* Of an earlier round, where noise is drawn once for the run: it must then be the same again. */
    const struct observation *seen_before, *exact_before[2];
};

const dpf_event *score_event(const struct plan *plan, const struct observation *o, int32_t block, int gram)
{
    const uint32_t bit = UINT32_C(1) << (block + (gram ? DPF_GRAM_BIT : 0));
    for (int64_t i = 0; i < plan->ledger.n && !o->event; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (event->side == o->side && event->term == o->term &&
            (event->blocks == 0 || (event->blocks & bit) != 0))
            return event;
    }
    return o->event;
}

static void find_events(const struct plan *plan, const struct observation *o, struct pair *pair)
{
    for (int32_t b = 0; b < o->query.n_blocks; b++) {
        pair->events[b] = score_event(plan, o, b, 0);
        pair->events[DPF_GRAM_BIT + b] = score_event(plan, o, b, 1);
    }
}

/* Without noise what is left is rounding: a few steps of the grid. */
static struct law law_at(const struct pair *pair, int which, int64_t r, int32_t block, int32_t column)
{
    const struct observation *o = pair->exact[which];
    const int gram = observation_is_gram(o, r);
    const double grid = gram ? o->noise.gram_grid[block] : o->noise.grid[block];
    const double least = grid * (1 + sqrt((double)(o->survivors > 0 ? o->survivors : 1)));
    if (pair->seen_before)
        return (struct law){LAW_NORMAL, 2 * least};
    return law_of(pair->events[block + (gram ? DPF_GRAM_BIT : 0)], o, r * o->width + column, least);
}

struct law score_law(const struct plan *plan, const struct observation *o, int64_t r, int32_t block,
                     int32_t column)
{
    struct pair pair = {.exact = {o, o}};
    const int gram = observation_is_gram(o, r);
    pair.events[block + (gram ? DPF_GRAM_BIT : 0)] = score_event(plan, o, block, gram);
    return law_at(&pair, 0, r, block, column);
}

/* ln of the ratio of the probabilities that two explanations give to what was seen. */
static double exact_ratio(const struct pair *pair, int64_t at)
{
    const double x = fmax(pair->exact[0]->log_law[at], -SCORE_CERTAIN);
    const double y = fmax(pair->exact[1]->log_law[at], -SCORE_CERTAIN);
    return x - y;
}

/* Number `at` of an explanation, in a replay of a draw for the run over that of an earlier round. */
static double explained(const struct pair *pair, int which, int64_t at)
{
    return pair->exact[which]->exact[at] - (pair->seen_before ? pair->exact_before[which]->exact[at] : 0);
}

static double row_ratio(const struct pair *pair, int64_t r)
{
    const dpf_query *query = &pair->seen->query;
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
            const double seen = pair->seen->seen[at] - (pair->seen_before ? pair->seen_before->seen[at] : 0);
            const double exact[2] = {explained(pair, 0, at), explained(pair, 1, at)};
            const struct law two[2] = {law_at(pair, 0, r, b, i), law_at(pair, 1, r, b, i)};
            sum += law_ratio(two, seen, exact);
        }
    return sum;
}

/* ---- observations in lists ---------------------------------------------------------------------------- */

static struct pair pair_at(const struct plan *plan, const struct observations *seen,
                           const struct observations *const exact[2], size_t i)
{
    const struct observation *o = &seen->items[i];
    struct pair pair = {.seen = o, .exact = {&exact[0]->items[i], &exact[1]->items[i]}};
    const int reused = o->event ? o->event->lifetime == DPF_LIFETIME_RUN
                                : plan->sides[o->side].terms[o->term].draw_lifetime == DPF_LIFETIME_RUN;
    const int64_t before = reused ? observation_earlier(seen, i) : -1;
    find_events(plan, o, &pair);
    if (before >= 0) {
        pair.seen_before = &seen->items[before];
        pair.exact_before[0] = &exact[0]->items[before];
        pair.exact_before[1] = &exact[1]->items[before];
    }
    return pair;
}

/* Whether both lists have observations of the same rows, one for one. */
static int same_shape(const struct observations *a, const struct observations *b)
{
    if (a->n != b->n)
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (!observation_matches(&a->items[i], &b->items[i]))
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
        if (!observation_matches(&seen->items[step.first + k], &out->items[k]))
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
            if (observation_row(o, r) == row)
                score += row_ratio(&pair, r);
    }
    return score;
}

static double row_distance(const struct pair *pair, int64_t r)
{
    const dpf_query *query = &pair->seen->query;
    double sum = 0;
    for (int32_t b = 0; b < query->n_blocks; b++)
        for (int32_t c = 0; c < query->blocks[b].length; c++) {
            const int32_t column = query->blocks[b].offset + c;
            const int64_t at = r * pair->seen->width + column;
            const struct law law = law_at(pair, 0, r, b, column);
            sum += law_distance(&law, pair->exact[0]->exact[at] - pair->exact[1]->exact[at]);
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
    return fmin(sum, SCORE_CERTAIN);
}

int score_has_laws(const struct plan *plan, const struct trace *trace)
{
    for (int32_t r = 0; r < plan->recommender.n_releases; r++)
        if (law_kind_of(&plan->recommender.releases[r].event) == LAW_NONE &&
            plan->recommender.releases[r].event.count > 0)
            return 0;
    for (size_t i = 0; i < trace->sums.n; i++)
        if (!trace->sums.items[i].exact)
            return 0;
    return 1;
}
