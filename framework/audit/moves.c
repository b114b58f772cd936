/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/moves.h"

#include <math.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "seen/laws.h"

/* What the events of a release state together, in units of the noise; NaN: nothing, or not of these laws. */
struct stated {
    double size;
    int32_t norm;
};

static double in_noise(const struct plan *plan, const dpf_event *event)
{
    const double sensitivity = dpf_event_sensitivity(event, plan->guarantee.unit, plan->guarantee.adjacency);
    return event->kind == DPF_EVENT_SKELLAM ? sensitivity / sqrt(event->p.skellam.variance)
                                            : sensitivity / event->scale;
}

static struct stated stated_of(const struct plan *plan, int side, int term)
{
    struct stated out = {0, 0};
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (event->side != side || event->term != term || event->kind == DPF_EVENT_NO_OP ||
            (event->flags & DPF_EVENT_DATA_BLIND) ||
            dpf_event_sensitivity(event, plan->guarantee.unit, plan->guarantee.adjacency) == 0)
            continue;
        const int known = event->kind == DPF_EVENT_SKELLAM ||
                          (event->kind >= DPF_EVENT_LAPLACE && event->kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
                          event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
        const int32_t norm = dpf_event_norm(event->kind);
        if (!known || (out.norm && out.norm != norm))
            return (struct stated){NAN, 0};
        out.norm = norm;
        const double more = in_noise(plan, event);
        out.size = norm == 2 ? hypot(out.size, more) : out.size + more;
    }
    return out;
}

/* The move of an observation in units of the noise; blocks without noise are not looked at. */
static double measured(const struct observation *first, const struct observation *second, int32_t norm)
{
    double sum = 0;
    for (int64_t r = 0; r < first->n_rows; r++)
        for (int32_t b = 0; b < first->query.n_blocks; b++) {
            const dpf_block *block = &first->query.blocks[b];
            const double scale = observation_scale(first, r, b);
            for (int32_t i = block->offset; i < block->offset + block->length && scale > 0; i++) {
                const int64_t at = r * first->width + i;
                const double x = fabs(first->exact[at] - second->exact[at]) / scale;
                sum += norm == 2 ? x * x : x;
            }
        }
    return norm == 2 ? sqrt(sum) : sum;
}

static int is_correlated(const struct plan *plan, const struct observation *o)
{
    const dpf_mechanism *mechanism = plan->sides[o->side].terms[o->term].mechanism->functions;
    return mechanism->correlation != NULL;
}

/* The move of all rounds and rows of the term of observation `at`: what is stated of correlated noise is
 * about them. */
static double measured_run(const struct trace *first, const struct trace *second, size_t at)
{
    double squares = 0;
    for (size_t i = 0; i <= at; i++) {
        const struct observation *a = &first->sums.items[i], *b = &second->sums.items[i];
        if (a->side != first->sums.items[at].side || a->term != first->sums.items[at].term ||
            !observation_matches(a, b))
            continue;
        const double move = measured(a, b, 2);
        squares += move * move;
    }
    return sqrt(squares);
}

/* The move of observation i of both over what is stated; 0 where nothing is. */
static double share_of(const struct plan *plan, const struct trace *first, const struct trace *second,
                       size_t i)
{
    const struct observation *a = &first->sums.items[i], *b = &second->sums.items[i];
    if (a->event)
        return law_share_of_move(a, b, plan->guarantee.unit, plan->guarantee.adjacency);
    const struct stated stated = stated_of(plan, a->side, a->term);
    if (!observation_matches(a, b) || !(stated.size > 0) || isinf(stated.size))
        return 0;
    return (is_correlated(plan, a) ? measured_run(first, second, i) : measured(a, b, stated.norm)) /
           stated.size;
}

/* Whether a component's states differ though they are computed from equal releases alone. */
static int state_tells(const struct plan *plan, const struct trace *first, const struct trace *second)
{
    return plan->model_facts.released[DPF_SIDE_ITEMS] && first->state && second->state &&
           (first->state_bytes != second->state_bytes ||
            memcmp(first->state, second->state, (size_t)first->state_bytes) != 0);
}

int moves_find(struct trials *trials, struct pool *pool, int64_t number, struct move *out,
               struct dpf_error *error)
{
    struct trace first, second;
    *out = (struct move){.share = 0};
    if (trials->by_reports)
        return 0;
    if (trials_pair(trials, pool, number, &first, &second, error) != 0)
        return -1;
    for (size_t i = 0; i < first.sums.n && i < second.sums.n; i++) {
        const struct observation *a = &first.sums.items[i];
        const double share = share_of(trials->plan, &first, &second, i);
        if (share > out->share)
            *out = (struct move){share, a->side, a->term, a->round};
    }
    /* What is published beside the releases must follow from them. */
    if (state_tells(trials->plan, &first, &second))
        *out = (struct move){.share = INFINITY, .side = DPF_SIDE_ITEMS};
    trace_free(&first);
    trace_free(&second);
    return 0;
}
