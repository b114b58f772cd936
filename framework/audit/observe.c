/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/observe.h"

#include <stdlib.h>
#include <string.h>

#include "audit/binomials.h"
#include "audit/whiten.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "plan/release.h"
#include "seen/recorder.h"

#define MAX_REDRAWS 4096

/* A training that is going on. */
struct watch {
    const struct observe *request;
    struct recorder recorder;
    struct binomials *binomials[2]; /* by side and term: what the law of its noise needs; NULL: another law */
};

static const struct term_plan *term_of(const struct watch *watch, const struct seen *seen)
{
    return seen->event ? NULL : &watch->request->plan->sides[seen->side].terms[seen->term];
}

/* ---- hidden draws --------------------------------------------------------------------------------------- */

static int is_canary(const struct observe *request, const dpf_draw *draw, int64_t i)
{
    if (draw->level == DPF_LEVEL_PARTY)
        return draw->first + i == request->user;
    return draw->users[i] == request->user && (request->item < 0 || draw->items[i] == request->item);
}

/* The canary in has the weight that it has when it is drawn: from other draws of the sampler, until one takes it. */
static dpf_status force_draw(const struct watch *watch, const struct seen *seen)
{
    const struct observe *request = watch->request;
    dpf_status status = DPF_OK;
    for (int64_t i = 0; i < seen->draw->n && status == DPF_OK; i++) {
        if (!is_canary(request, seen->draw, i))
            continue;
        if (request->force == FORCE_OUT)
            seen->weights[i] = 0;
        for (uint32_t k = 1; request->force == FORCE_IN && k <= MAX_REDRAWS && seen->weights[i] == 0; k++) {
            status = seen->again(seen, k, i, &seen->weights[i]);
            if (status != DPF_OK)
                break;
        }
    }
    return status;
}

/* ---- what is seen --------------------------------------------------------------------------------------- */

static int sees_messages(const struct watch *watch, const struct term_plan *term)
{
    return watch->request->view == OBSERVE_MESSAGES && plan_sees_messages(watch->request->plan, term);
}

static dpf_status saw(void *context, const struct seen *seen)
{
    struct watch *watch = context;
    const struct term_plan *term = term_of(watch, seen);
    struct binomials *binomials = term ? &watch->binomials[seen->side][seen->term] : NULL;
    struct observation *o;
    const struct observation *given;
    if (seen->what == SEES_DRAWS)
        return plan_hides_draw(watch->request->plan, term) ? force_draw(watch, seen) : DPF_OK;
    if (seen->what == SEES_PARTS)
        return binomials_add(binomials, seen, watch->request->given != NULL);
    const dpf_status status = recorder_add(&watch->recorder, seen, &o, &given);
    if (status != DPF_OK || !term)
        return status;
    o->told = seen->what == SEES_SUMS && sees_messages(watch, term);
    return binomials_explain(binomials, seen, given, o);
}

static int keep_rows(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct watch *watch = context;
    const struct observe *request = watch->request;
    struct trace *out = watch->recorder.out;
    (void)round;
    for (int side = 0; side < 2; side++) {
        if (!request->plan->sides[side].released)
            continue;
        const size_t width = (size_t)model->columns;
        const size_t needed = out->n_rows + (size_t)request->n_watched * width;
        float *grown = memory_grow(out->rows, &out->rows_capacity, needed + 1, sizeof *grown);
        if (!grown)
            return error_memory(error);
        out->rows = grown;
        for (int64_t i = 0; i < request->n_watched; i++, out->n_rows += width)
            if (request->watched[i] < model->sides[side].rows)
                memcpy(out->rows + out->n_rows, model->sides[side].data + request->watched[i] * model->stride,
                       width * sizeof(float));
            else /* of a user that has left */
                memset(out->rows + out->n_rows, 0, width * sizeof(float));
    }
    return 0;
}

/* ---- one training --------------------------------------------------------------------------------------- */

static void open_binomials(struct watch *watch, int *any)
{
    const struct plan *plan = watch->request->plan;
    for (int side = 0; side < 2; side++) {
        watch->binomials[side] =
            memory_need((size_t)plan->sides[side].n_terms + 1, sizeof *watch->binomials[side]);
        for (int t = 0; t < plan->sides[side].n_terms; t++)
            *any |= binomials_open(&watch->binomials[side][t], plan, side, t);
    }
}

static void leave(struct watch *watch)
{
    for (int side = 0; side < 2; side++) {
        for (int t = 0; watch->binomials[side] && t < watch->request->plan->sides[side].n_terms; t++)
            binomials_free(&watch->binomials[side][t]);
        free(watch->binomials[side]);
    }
}

/* Whose messages are looked at: where parties are users only the canary's can differ. */
static void choose_parties(const struct observe *request, struct observer *observer)
{
    const int of_users = plan_has(request->plan, MODEL_TELLS) ||
                         request->plan->parties.params.values[PARTIES_KIND].integer == PARTIES_USERS;
    if (!of_users)
        return;
    if (request->n_users > 0)
        observer->end_party = request->n_users;
    else if (request->user >= 0) {
        observer->first_party = request->user;
        observer->end_party = request->user + 1;
    }
}

static int train(struct watch *watch, const struct observer *observer, struct model *model,
                 struct dpf_error *error)
{
    const struct observe *request = watch->request;
    const struct engine_hooks hooks = {
        .context = watch, .round_done = request->n_watched ? keep_rows : NULL, .observer = observer};
    struct engine_stats stats;
    return engine_run(request->plan, request->dataset, request->pool, model, &hooks, &stats, error);
}

/* What a component has learned, which may be published beside its releases. */
static int keep_state(const struct model *model, struct trace *out, struct dpf_error *error)
{
    out->state = memory_raw((size_t)model->state_bytes + 1, 1);
    if (!out->state)
        return error_memory(error);
    memcpy(out->state, model->state, (size_t)model->state_bytes);
    out->state_bytes = model->state_bytes;
    return 0;
}

static int watch_training(struct watch *watch, struct dpf_error *error)
{
    const struct observe *request = watch->request;
    struct observer observer = {.context = watch,
                                .wants = SEES_SUMS | (request->force == FORCE_NOTHING ? 0 : SEES_DRAWS),
                                .replays = request->given != NULL,
                                .saw = saw};
    struct model model = {0};
    int any_binomial = 0;
    choose_parties(request, &observer);
    if (request->view == OBSERVE_MESSAGES || plan_has(request->plan, MODEL_TELLS))
        observer.wants |= SEES_MESSAGES;
    open_binomials(watch, &any_binomial);
    if (model_init(&model, request->plan, request->dataset, error) != 0)
        return -1;
    observer.wants |= any_binomial ? SEES_PARTS : 0;
    int status = train(watch, &observer, &model, error);
    if (status == 0 && model.state)
        status = keep_state(&model, watch->recorder.out, error);
    model_free(&model);
    if (status == 0 && watch->recorder.strange)
        status = error_set(error, DPF_FAULT_PLUGIN,
                           "recommender %s releases something else when the same was released before: its "
                           "releases cannot be audited",
                           request->plan->model_facts.id);
    return status;
}

int observe_run(const struct observe *request, struct trace *out, struct dpf_error *error)
{
    struct watch watch = {.request = request, .recorder = {.out = out, .given = request->given}};
    *out = (struct trace){0};
    int status = watch_training(&watch, error);
    leave(&watch);
    if (status == 0)
        status = trace_whiten(request->plan, out, error);
    if (status != 0)
        trace_free(out);
    return status;
}
