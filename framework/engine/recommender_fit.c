/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/recommender_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/component_sums.h"
#include "engine/model_work.h"
#include "seen/witness.h"

static dpf_csr csr_view(const struct csr *csr)
{
    return (dpf_csr){.rows = csr->rows, .offsets = csr->ptr, .others = csr->others, .values = csr->values};
}

/* The training records as plugins see them, with what they point to. */
struct records_view {
    dpf_interactions records;
    dpf_features features;
};

static const dpf_interactions *records_of(const struct model *model, struct records_view *view)
{
    const struct dataset *dataset = model->dataset;
    view->records =
        (dpf_interactions){.size = sizeof(dpf_interactions),
                           .divided = ranks_size() > 1,
                           .n_users = dataset->users.n,
                           .n_items = dataset->items.n,
                           .n = model->train->n,
                           .by_user = csr_view(&model->train->by_user),
                           .by_item = csr_view(&model->train->by_item),
                           .item_features = plan_releases_read_items(model->plan)
                                                ? feature_table_view(&dataset->features, &view->features)
                                                : NULL,
                           .first_user = shares_first(dataset, DPF_SIDE_USERS),
                           .end_user = shares_last(dataset, DPF_SIDE_USERS),
                           .user_voids = model->train->by_user.voids,
                           .item_voids = model->train->by_item.voids};
    return &view->records;
}

/* ---- training ------------------------------------------------------------------------------------------ */

/* What a component adds up over ranks, and the error of the first sum that failed. */
static dpf_status add_up_ranks(void *context, int64_t *values, int64_t n)
{
    struct dpf_error *error = context;
    return ranks_sum(values, n, error) == 0 ? DPF_OK : DPF_E_INTERNAL;
}

/* Room for a recommender's state, zeroed. */
static int make_state(struct model *model, struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    uint64_t bytes = 0;
    if (instance_result(instance,
                        component->functions->state_bytes(instance->self, model->dataset->users.n,
                                                          model->dataset->items.n, &bytes),
                        "state_bytes", error) != 0)
        return -1;
    free(model->state);
    model->state = bytes < SIZE_MAX ? memory_new((size_t)bytes, 1) : NULL;
    model->state_bytes = bytes;
    if (!model->state)
        return error_set(error, DPF_FAULT_RUN, "out of memory: recommender %s needs %llu bytes for its state",
                         instance->entry->component->id, (unsigned long long)bytes);
    return 0;
}

static int fit_with(struct worker *worker, struct pool *pool, struct model *model, const dpf_witness *witness,
                    const dpf_summing *summing, struct engine_stats *stats, struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    struct records_view view;
    struct dpf_error lost = {0};
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &component->setup,
                   .records = records_of(model, &view),
                   .state = model->state,
                   .state_bytes = model->state_bytes,
                   .witness = witness,
                   .processes = &lost,
                   .add_up = ranks_size() > 1 ? add_up_ranks : NULL,
                   .summing = summing};
    const dpf_call *call = worker_call(worker, instance, 0, 0, DPF_PARTY_AGGREGATE);
    worker_lend_pool(worker, pool);
    dpf_status status = component->functions->fit(instance->self, call, &fit);
    if (worker_cancelled())
        return error_set(error, DPF_FAULT_RUN,
                         "interrupted while recommender %s was trained; nothing is written",
                         instance->entry->component->id);
    if (lost.fault) {
        *error = lost;
        return -1;
    }
    if (error->text[0])
        return error_while_running(error); /* of the aggregator */
    if (instance_result(instance, status, "fit", error) != 0)
        return error_while_running(error);
    if (fit.state_bytes > model->state_bytes)
        return error_set(error, DPF_FAULT_PLUGIN,
                         "[model.recommender] recommender %s: fit used more than state_bytes",
                         instance->entry->component->id);
    model->state_bytes = fit.state_bytes;
    if (!summing) {
        stats->messages = fit.messages;
        stats->bytes_up = fit.bytes_up;
        stats->bytes_down = fit.bytes_down;
    }
    stats->rounds_done = 1;
    return 0;
}

/* With an aggregator, which has a worker of its own: its calls come while fit's is open. */
static int fit_summing(struct worker *worker, struct pool *pool, struct model *model,
                       const dpf_witness *witness, struct component_sums *sums, struct dpf_error *error)
{
    const struct dataset *dataset = model->dataset;
    sums->plan = model->plan;
    sums->pool = pool;
    sums->worker = worker_new(0, pool_workers(pool));
    sums->n_users = dataset->users.n;
    sums->first = shares_first(dataset, DPF_SIDE_USERS);
    sums->last = shares_last(dataset, DPF_SIDE_USERS);
    sums->at = -1;
    sums->error = error;
    const dpf_summing summing = {sums, component_sums_make};
    const int status = fit_with(worker, pool, model, witness, &summing, sums->stats, error);
    worker_free(sums->worker);
    sums->worker = NULL;
    return status;
}

/* A component that releases what it did not state, or does not say what it releases, cannot be observed. */
static int judge_witness(const struct model *model, const struct witness *w, struct dpf_error *error)
{
    const char *id = model->plan->recommender.instance->entry->component->id;
    if (w->status == DPF_E_MEMORY)
        return error_memory(error);
    if (w->strange || w->status != DPF_OK)
        return error_set(
            error, DPF_FAULT_PLUGIN,
            "recommender %s tells a witness of a release that it does not state: its releases cannot "
            "be audited",
            id);
    if (w->told == 0)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "recommender %s does not say what it sends (dpf_fit.witness), so that its noise cannot be "
            "audited",
            id);
    return 0;
}

static int fit(struct model *model, struct pool *pool, const struct engine_remote *remote,
               const dpf_witness *witness, struct engine_stats *stats, struct dpf_error *error)
{
    struct component_sums sums = {.remote = remote, .stats = stats};
    struct worker *worker = worker_new(0, pool_workers(pool));
    int status = make_state(model, error) != 0 ? -1
                 : model->plan->recommender.aggregator
                     ? fit_summing(worker, pool, model, witness, &sums, error)
                     : fit_with(worker, pool, model, witness, NULL, stats, error);
    worker_free(worker);
    model->told = sums.told;
    model->n_told = sums.n_told;
    return status;
}

/* Tasks of the component are spread over the pool; the bytes do not depend on the division. */
static int train(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
                 const struct engine_hooks *hooks, struct engine_stats *stats, struct dpf_error *error)
{
    struct witness w;
    (void)dataset;
    if (!hooks || !hooks->observer)
        return fit(model, pool, hooks ? hooks->remote : NULL, NULL, stats, error);
    const dpf_witness witness =
        witness_begin(&w, hooks->observer, plan->recommender.releases, plan->recommender.n_releases);
    int status = fit(model, pool, NULL, &witness, stats, error);
    if (status == 0)
        status = judge_witness(model, &w, error);
    witness_end(&w);
    return status;
}

/* ---- a trained state -------------------------------------------------------------------------------------
 */

int recommender_fit_check(const struct model *model, const char *path, struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    struct dpf_error why = {0};
    dpf_status status = component->functions->check(
        instance->self, model->dataset->users.n, model->dataset->items.n, model->state, model->state_bytes);
    if (instance_result(instance, status, "check", &why) == 0)
        return 0;
    return error_set(error, DPF_FAULT_DATA, "%s does not contain a state of the run's recommender: %s", path,
                     why.text);
}

/* One call of scores for a row of a CSR. */
static int score_row(const struct model *model, const dpf_interactions *records, int32_t user, double *out,
                     const int32_t *items, int64_t n, struct dpf_error *error)
{
    struct instance *instance = model->plan->recommender.instance;
    struct worker *worker = worker_new(0, 1);
    float *found = memory_new((size_t)records->n_items + 1, sizeof *found);
    int status = found ? 0 : error_memory(error);
    if (status == 0) {
        const dpf_scoring scoring = {
            .size = sizeof scoring, .user = user, .records = records, .state = model->state, .scores = found};
        const dpf_call *call = worker_call(worker, instance, 0, 0, (uint32_t)user);
        status = instance_result(instance,
                                 model->plan->recommender.functions->scores(instance->self, call, &scoring),
                                 "scores", error);
    }
    for (int64_t k = 0; k < n && status == 0; k++)
        out[k] = (double)found[items ? items[k] : k];
    free(found);
    worker_free(worker);
    return status;
}

/* plugin/1, a component without a form: context is the model. */
static int scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                  struct dpf_error *error)
{
    const struct model *model = context;
    struct records_view view;
    return score_row(model, records_of(model, &view), user, out, items, n, error);
}

static int scores_of(void *context, const struct score_records *own, double *out, struct dpf_error *error)
{
    const struct model *model = context;
    const int64_t n_items = model->dataset->items.n, user_offsets[2] = {0, own->n};
    struct records_view view;
    int32_t *users = memory_new((size_t)own->n + 1, sizeof *users);
    int64_t *item_offsets = memory_new((size_t)n_items + 2, sizeof *item_offsets);
    int status = users && item_offsets ? 0 : error_memory(error);
    for (int64_t k = 0; status == 0 && k < own->n; k++)
        item_offsets[own->items[k] + 1] = 1;
    for (int64_t i = 0; status == 0 && i < n_items; i++)
        item_offsets[i + 1] += item_offsets[i];
    if (status == 0) {
        records_of(model, &view);
        view.records.n_users = 1;
        view.records.n = own->n;
        view.records.divided = 0;
        view.records.user_voids = view.records.item_voids = NULL;
        view.records.by_user =
            (dpf_csr){.rows = 1, .offsets = user_offsets, .others = own->items, .values = own->values};
        view.records.by_item =
            (dpf_csr){.rows = n_items, .offsets = item_offsets, .others = users, .values = own->values};
        status = score_row(model, &view.records, 0, out, NULL, n_items, error);
    }
    free(item_offsets);
    free(users);
    return status;
}

static int form_of(const struct model *model, struct score_form *out, struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    const int64_t n_users = model->dataset->users.n, n_items = model->dataset->items.n;
    char from[160];
    dpf_form form = {.size = sizeof form};
    *out = (struct score_form){.formula = SCORE_FUNCTION};
    if (!component->functions->form)
        return 0;
    struct worker *worker = worker_new(0, 1);
    snprintf(from, sizeof from, "[model.recommender] recommender %s", instance->entry->component->id);
    int status =
        instance_result(instance,
                        component->functions->form(instance->self, worker_call(worker, instance, 0, 0, 0),
                                                   n_users, n_items, model->state, &form),
                        "form", error);
    if (status == 0)
        status = score_form_read(&form, n_items, n_users, from, DPF_FAULT_PLUGIN, out, error);
    if (status == 0)
        status = score_form_keep(out, model->state, model->state_bytes, error);
    worker_free(worker);
    return status;
}

static int open_component(struct model *model, struct dpf_error *error)
{
    (void)model, (void)error; /* its state is made when it is trained, or read */
    return 0;
}

static int form(struct model *model, struct scorer *out, struct dpf_error *error)
{
    out->scores = scores;
    out->scores_of = scores_of;
    return form_of(model, &out->form, error);
}

const struct model_work component_work = {open_component, train, form};
