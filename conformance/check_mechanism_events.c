/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mechanism.events: every block of a release, and of its Gram row, that somebody's records can move is covered by an
 * event that says so, with the sensitivity and the noise that the release has. An event that denies it is a lie:
 * NO_OP, or DATA_BLIND ("the block is public").
 */
#include <math.h>
#include <string.h>

#include "conformance/check_release.h"

static const dpf_mechanism *table(const struct release *r)
{
    return r->instance->functions;
}

static int covers(const struct release *r, const dpf_event *event, int bit)
{
    return check_release_has(r, bit) && (!event->blocks || (event->blocks >> bit & 1));
}

static int is_still(const dpf_norms *norms)
{
    return norms->l1 == 0 && norms->l2 == 0 && norms->linf == 0;
}

/* ---- one event ---- */

static void judge_kind(struct check *check, const struct release *r, const dpf_event *event)
{
    const int correlated = event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
    if (event->kind < DPF_EVENT_NO_OP || (event->kind > DPF_EVENT_RANDOMIZED_RESPONSE && !correlated))
        check_fail(check, "an event has kind %d, not one of DPF_EVENT_*", (int)event->kind);
    if (event->count < 1)
        check_fail(check, "an event has count %lld", (long long)event->count);
    if (event->flags & ~DPF_EVENT_FLAGS)
        check_fail(check, "an event has an unknown flag");
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++)
        if ((event->blocks >> bit & 1) && !check_release_has(r, bit))
            check_fail(check, "an event is about bit %d of the blocks, which the release does not have", bit);
    if (correlated && event->p.correlated.rounds < RUN_ROUNDS)
        check_fail(check, "the event of a run covers %g of its %d rounds", event->p.correlated.rounds,
                   (int)RUN_ROUNDS);
}

static int is_blind(const dpf_event *event)
{
    return event->kind == DPF_EVENT_NO_OP || (event->flags & DPF_EVENT_DATA_BLIND);
}

/* The change of all its blocks, each over its noise, in units of the event's scale. */
static double least_sensitivity(const struct release *r, const dpf_event *event, int laplace)
{
    double sum = 0;
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        if (!covers(r, event, bit) || !(check_release_scale(r, bit) > 0))
            continue;
        const dpf_norms *norms = check_release_norms(r, bit);
        const double x = (laplace ? norms->l1 : norms->l2) * event->scale / check_release_scale(r, bit);
        sum += laplace ? x : x * x;
    }
    return laplace ? sum : sqrt(sum);
}

static void judge_noise_event(struct check *check, const struct release *r, const dpf_event *event)
{
    const int laplace = event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE;
    const int discrete = event->kind == DPF_EVENT_DISCRETE_LAPLACE ||
                         event->kind == DPF_EVENT_DISCRETE_GAUSSIAN ||
                         event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
    const dpf_norms *has = &event->sensitivity.at[r->release.unit][r->release.adjacency];
    if (!(event->scale > 0) || isinf(event->scale)) {
        check_fail(check, "an event with noise has scale %g", event->scale);
        return;
    }
    const double stated = laplace ? has->l1 : has->l2, least = least_sensitivity(r, event, laplace);
    if (!(stated >= least * (1 - 1e-9)))
        check_fail(check, "an event states a sensitivity of %g, the release has %g", stated, least);
    if (discrete && !(event->grid > 0))
        check_fail(check, "an event on the grid has grid %g", event->grid);
    if (check_is_correlated(r) != (event->kind == DPF_EVENT_CORRELATED_GAUSSIAN))
        check_fail(
            check,
            "noise that is correlated between rounds has one event of the whole run, and no other noise has");
}

/* Noise of one block alone: what the event says of it is what the plan says. */
static void judge_scale(struct check *check, const struct release *r, const dpf_event *event)
{
    char name[48];
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        const int laplace = event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE;
        if (!covers(r, event, bit) || event->blocks != UINT32_C(1) << bit || check_is_correlated(r))
            continue;
        const double grid = check_release_grid(r, bit),
                     stated = (laplace ? 2 : 1) * event->scale * event->scale,
                     planned = check_release_variance(r, bit);
        if (stated > planned * 1.02 + grid * grid * r->parties)
            check_fail(check, "%s: the event states noise of variance %g, the plan %g",
                       check_release_name(bit, name), stated, planned);
    }
}

static void judge_event(struct check *check, const struct release *r, const dpf_event *event)
{
    const int has_scale = (event->kind >= DPF_EVENT_LAPLACE && event->kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
                          event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
    judge_kind(check, r, event);
    if (!has_scale || check->outcome == CHECK_FAIL)
        return;
    judge_noise_event(check, r, event);
    if (check->outcome != CHECK_FAIL)
        judge_scale(check, r, event);
}

/* ---- one block ---- */

/* Whether the same draw's estimate follows what is sent. */
static int follows(const struct release *r, struct worker *worker, int bit)
{
    const dpf_block *block = check_release_block(r, bit);
    const int64_t row = bit < DPF_GRAM_BIT ? 0 : ROWS - 1;
    double values[WIDTH] = {0}, before[WIDTH], after[WIDTH];
    if (check_release_estimate(r, worker, 5, values, row, 1, before) != DPF_OK)
        return 0;
    values[block->offset] = fmax(1.0, 16 * check_release_grid(r, bit));
    if (check_release_estimate(r, worker, 5, values, row, 1, after) != DPF_OK)
        return 0;
    return fabs(after[block->offset] - before[block->offset]) > values[block->offset] / 2;
}

static void judge_block(struct check *check, const struct release *r, struct worker *worker,
                        const dpf_event *events, int32_t n, int bit)
{
    const dpf_norms *norms = check_release_norms(r, bit);
    const int noisy = check_release_scale(r, bit) > 0 || check_release_variance(r, bit) > 0;
    int charged = 0, blind = 0, silent = 0, runs = 0;
    char name[48];
    check_release_name(bit, name);
    for (int32_t e = 0; e < n; e++) {
        if (!covers(r, &events[e], bit))
            continue;
        blind |= is_blind(&events[e]);
        charged += !is_blind(&events[e]);
        silent |= events[e].kind == DPF_EVENT_NON_PRIVATE || events[e].kind == DPF_EVENT_UNSUPPORTED;
        runs |= events[e].kind == DPF_EVENT_CORRELATED_GAUSSIAN;
    }
    if (is_still(norms))
        return;
    if (blind)
        check_fail(check,
                   "%s: an event says that it is public or does nothing (DATA_BLIND, NO_OP), but it has the "
                   "sensitivity %g%s",
                   name, norms->l2,
                   follows(r, worker, bit) ? ", and what is decoded follows the values that are sent" : "");
    else if (!charged)
        check_fail(check, "%s: no event covers it, and it has the sensitivity %g", name, norms->l2);
    else if (!noisy && !silent)
        check_fail(check, "%s: the plan gives it no noise, but its event is not NON_PRIVATE", name);
    else if (runs && charged > 1)
        check_fail(check, "%s: another event covers it beside that of the run", name);
}

static void look_events(struct check *check, struct release *r)
{
    struct dpf_error error = {0};
    int32_t n = -1;
    dpf_event *events = check_keep(check, MAX_EVENTS * sizeof *events);
    struct worker *worker = worker_new(0, 1);
    if (!events || !worker) {
        worker_free(worker);
        return;
    }
    const dpf_status status =
        table(r)->events(r->instance->self, &r->release, &r->plan, events, MAX_EVENTS, &n);
    if (instance_result(r->instance, status, "events", &error) != 0)
        check_fail(check, "%s", error.text);
    else if (n < 1 || n > MAX_EVENTS)
        check_fail(check, "%d events for a release that is not public", (int)n);
    else if (!check_guards_hold(events))
        check_fail(check, "events writes outside its output");
    for (int32_t i = 0; check->outcome != CHECK_FAIL && i < n; i++)
        judge_event(check, r, &events[i]);
    for (int bit = 0; check->outcome != CHECK_FAIL && bit < DPF_BLOCK_BITS; bit++)
        if (check_release_has(r, bit))
            judge_block(check, r, worker, events, n, bit);
    if (check->outcome != CHECK_FAIL && r->plan.where == DPF_NOISE_NOWHERE && n == 1 &&
        events[0].kind != DPF_EVENT_NON_PRIVATE)
        check_fail(check, "adds no noise but states an event of kind %d", (int)events[0].kind);
    worker_free(worker);
}

void check_rule_events(struct check *check)
{
    check_each_release(check, look_events);
}
