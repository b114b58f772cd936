/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/heard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/score.h"
#include "base/memory.h"
#include "dpframe/accounting.h"
#include "engine/model.h"
#include "engine/recommender_fit.h"

/* ---- writing down ------------------------------------------------------------------------------------- */

struct listening {
    const struct hearing_request *request;
    struct hearing *out;
    size_t next; /* of those that are given */
    int64_t told;
    int failed;  /* no memory */
    int strange; /* a release that nobody stated, or another than is replayed */
};

void hearing_free(struct hearing *hearing)
{
    for (size_t i = 0; i < hearing->n; i++) {
        free(hearing->items[i].seen);
        free(hearing->items[i].exact);
        free(hearing->items[i].scales);
    }
    free(hearing->items);
    free(hearing->state);
    *hearing = (struct hearing){0};
}

static double *copy_of(const double *from, int64_t n, int *failed)
{
    double *out = from ? memory_raw((size_t)n + 1, sizeof *out) : NULL;
    if (out)
        memcpy(out, from, (size_t)n * sizeof *out);
    *failed |= from && !out;
    return out;
}

/* Whether it is written down: of users' own rows only some are. */
static int is_wanted(const struct hearing_request *request, const dpf_witnessed *what)
{
    const dpf_recommender_release *release = &request->plan->recommender.releases[what->release];
    return !(release->flags & DPF_RELEASE_ROW_OF_USER) ||
           (what->row >= request->first_row && what->row - request->first_row < request->n_rows);
}

/* What was heard at this point takes the place of what a replay would release. */
static void hand_over(struct listening *l, const dpf_witnessed *what)
{
    const struct hearing *given = l->request->given;
    const struct heard *heard = l->next < given->n ? &given->items[l->next++] : NULL;
    if (!heard || heard->release != what->release || heard->n != what->n || heard->row != what->row)
        l->strange = 1;
    else
        memcpy(what->numbers, heard->seen, (size_t)what->n * sizeof(double));
}

static void saw(void *context, const dpf_witnessed *what)
{
    struct listening *l = context;
    if (what->release < 0 || what->release >= l->request->plan->recommender.n_releases || what->n < 0 ||
        what->width < 1) {
        l->strange = 1;
        return;
    }
    l->told++;
    if (!is_wanted(l->request, what) || l->failed)
        return;
    if (l->request->given)
        hand_over(l, what);
    struct heard *grown = memory_grow(l->out->items, &l->out->capacity, l->out->n + 1, sizeof *grown);
    l->failed |= !grown;
    if (!grown)
        return;
    l->out->items = grown;
    grown[l->out->n++] = (struct heard){.release = what->release,
                                        .row = what->row,
                                        .n = what->n,
                                        .width = what->width,
                                        .seen = copy_of(what->numbers, what->n, &l->failed),
                                        .exact = copy_of(what->exact, what->n, &l->failed),
                                        .scales = copy_of(what->scales, what->n, &l->failed)};
}

static int judge_listening(const struct listening *l, struct dpf_error *error)
{
    const char *id = l->request->plan->recommender.instance->entry->component->id;
    if (l->failed)
        return error_memory(error);
    if (l->strange)
        return error_set(error, DPF_FAULT_PLUGIN,
                         "recommender %s tells a witness of a release that it does not state, or of others "
                         "when the same was released before: its releases cannot be audited",
                         id);
    if (l->told == 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "recommender %s does not say what it sends (dpf_fit.witness), so that its noise "
                         "cannot be audited",
                         id);
    return 0;
}

static int keep_state(const struct model *model, struct hearing *out, struct dpf_error *error)
{
    out->state = memory_raw((size_t)model->state_bytes + 1, 1);
    if (!out->state)
        return error_memory(error);
    memcpy(out->state, model->state, (size_t)model->state_bytes);
    out->state_bytes = model->state_bytes;
    return 0;
}

int hearing_same_state(const struct hearing *a, const struct hearing *b)
{
    return a->state_bytes == b->state_bytes && memcmp(a->state, b->state, (size_t)a->state_bytes) == 0;
}

int hearing_run(const struct hearing_request *request, struct hearing *out, struct dpf_error *error)
{
    struct listening listening = {.request = request, .out = out};
    const dpf_witness witness = {&listening, saw};
    struct engine_stats stats;
    struct model model = {0};
    *out = (struct hearing){0};
    int status = model_init(&model, request->plan, request->dataset, error);
    if (status == 0)
        status = recommender_fit_watched(&model, request->pool, &witness, &stats, error);
    if (status == 0)
        status = keep_state(&model, out, error);
    model_free(&model);
    if (status == 0)
        status = judge_listening(&listening, error);
    if (status != 0)
        hearing_free(out);
    return status;
}

/* ---- laws --------------------------------------------------------------------------------------------- */

const dpf_event *hearing_event(const struct plan *plan, const struct heard *heard)
{
    return &plan->recommender.releases[heard->release].event;
}

static int is_laplace(const dpf_event *event)
{
    return event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE;
}

static int is_gaussian(const dpf_event *event)
{
    return event->kind == DPF_EVENT_GAUSSIAN || event->kind == DPF_EVENT_DISCRETE_GAUSSIAN ||
           event->kind == DPF_EVENT_SKELLAM;
}

static int is_flip(const dpf_event *event)
{
    return event->kind == DPF_EVENT_RANDOMIZED_RESPONSE && event->p[0] > 0 && event->p[0] < 1;
}

static int has_law(const dpf_event *event)
{
    return is_laplace(event) || is_gaussian(event) || is_flip(event);
}

int hearing_has_laws(const struct plan *plan, const struct hearing *hearing)
{
    for (int32_t r = 0; r < plan->recommender.n_releases; r++)
        if (!has_law(&plan->recommender.releases[r].event) && plan->recommender.releases[r].event.count > 0)
            return 0;
    for (size_t i = 0; i < hearing->n; i++)
        if (!hearing->items[i].exact)
            return 0;
    return 1;
}

/* What the declared scale of number i is multiplied by. */
static double part_of(const struct heard *heard, int64_t i)
{
    return heard->scales ? heard->scales[i] : 1;
}

/* The scale of Laplace noise, or the standard deviation. */
static double scale_of(const dpf_event *event, const struct heard *heard, int64_t i)
{
    const double scale = event->kind == DPF_EVENT_SKELLAM ? sqrt(event->p[0]) : event->scale;
    return scale * part_of(heard, i);
}

static int same(double x, double y)
{
    return !(x < y) && !(x > y);
}

/* ln of the density of what was seen, but for what does not depend on the exact value. */
static double log_density(const dpf_event *event, double scale, double seen, double exact)
{
    if (is_flip(event))
        return same(seen, exact) ? log1p(-event->p[0]) : log(event->p[0]);
    const double x = (seen - exact) / scale;
    return is_laplace(event) ? -fabs(x) : -x * x / 2;
}

static int same_shape(const struct hearing *a, const struct hearing *b)
{
    if (a->n != b->n)
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].release != b->items[i].release || a->items[i].row != b->items[i].row ||
            a->items[i].n != b->items[i].n)
            return 0;
    return 1;
}

static double ratio_of(const dpf_event *event, const struct heard *seen, const struct heard *first,
                       const struct heard *second)
{
    double sum = 0;
    for (int64_t i = 0; i < seen->n; i++) {
        const double a = first->exact[i], b = second->exact[i], scale = scale_of(event, seen, i);
        if (same(a, b))
            continue;
        if (!is_flip(event) && !(scale > 0)) /* released as it is */
            sum += (same(seen->seen[i], a) - same(seen->seen[i], b)) * SCORE_CERTAIN;
        else
            sum += log_density(event, scale, seen->seen[i], a) - log_density(event, scale, seen->seen[i], b);
    }
    return sum;
}

double hearing_ratio(const struct plan *plan, const struct hearing *seen, const struct hearing *const two[2])
{
    const int can[2] = {same_shape(seen, two[0]), same_shape(seen, two[1])};
    double sum = 0;
    if (!can[0] || !can[1])
        return (can[0] - can[1]) * SCORE_CERTAIN;
    for (size_t i = 0; i < seen->n; i++)
        sum += ratio_of(hearing_event(plan, &seen->items[i]), &seen->items[i], &two[0]->items[i],
                        &two[1]->items[i]);
    return isnan(sum) ? 0 : fmax(-SCORE_CERTAIN, fmin(SCORE_CERTAIN, sum));
}

/* Of one number: the expected ratio where the first value is the true one. */
static double distance_of(const dpf_event *event, double scale, double apart)
{
    const double p = event->p[0], x = fabs(apart) / scale;
    if (is_flip(event))
        return (1 - 2 * p) * (log1p(-p) - log(p));
    if (!(scale > 0))
        return SCORE_CERTAIN;
    return is_laplace(event) ? x + exp(-x) - 1 : x * x / 2;
}

double hearing_distance(const struct plan *plan, const struct hearing *first, const struct hearing *second)
{
    double sum = 0;
    if (!same_shape(first, second))
        return SCORE_CERTAIN;
    for (size_t k = 0; k < first->n; k++) {
        const struct heard *a = &first->items[k], *b = &second->items[k];
        const dpf_event *event = hearing_event(plan, a);
        for (int64_t i = 0; i < a->n && a->exact && b->exact; i++)
            if (!same(a->exact[i], b->exact[i]))
                sum += distance_of(event, scale_of(event, a, i), a->exact[i] - b->exact[i]);
    }
    return fmin(sum, SCORE_CERTAIN);
}

/* ---- moves and noise ----------------------------------------------------------------------------------- */

double hearing_move(const struct plan *plan, const struct hearing *first, const struct hearing *second,
                    size_t at)
{
    const struct heard *a = &first->items[at], *b = &second->items[at];
    const dpf_event *event = hearing_event(plan, a);
    const double stated = dpf_event_sensitivity(event, plan->guarantee.unit, plan->guarantee.adjacency);
    const int32_t norm = dpf_event_norm(event->kind);
    double sum = 0;
    if (b->n != a->n || !a->exact || !b->exact || !has_law(event) || !isfinite(stated))
        return 0;
    for (int64_t i = 0; i < a->n; i++) {
        const double apart = fabs(a->exact[i] - b->exact[i]), x = apart > 0 ? apart / part_of(a, i) : 0;
        sum += norm == 2 ? x * x : x;
    }
    const double moved = norm == 2 ? sqrt(sum) : sum;
    return moved > 0 ? moved / stated : 0;
}

double hearing_noise(const struct plan *plan, const struct heard *heard, int64_t i)
{
    const dpf_event *event = hearing_event(plan, heard);
    if (!heard->exact || !has_law(event))
        return NAN;
    if (is_flip(event)) {
        const double p = event->p[0];
        return (!same(heard->seen[i], heard->exact[i]) - p) / sqrt(p * (1 - p));
    }
    const double scale = scale_of(event, heard, i);
    return scale > 0 ? (heard->seen[i] - heard->exact[i]) / (is_laplace(event) ? scale * sqrt(2) : scale)
                     : (double)NAN;
}

double hearing_fourth_moment(const struct plan *plan, const struct heard *heard)
{
    const dpf_event *event = hearing_event(plan, heard);
    const double spread = event->p[0] * (1 - event->p[0]);
    return is_flip(event) ? 1 / spread - 3 : is_laplace(event) ? 6 : 3;
}
