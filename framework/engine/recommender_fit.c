/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/recommender_fit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

static dpf_csr csr_view(const struct csr *csr)
{
    return (dpf_csr){.rows = csr->rows, .offsets = csr->ptr, .others = csr->others, .values = csr->values};
}

static dpf_interactions records_of(const struct dataset *dataset)
{
    return (dpf_interactions){.size = sizeof(dpf_interactions),
                              .n_users = dataset->users.n,
                              .n_items = dataset->items.n,
                              .n = dataset->train.n,
                              .by_user = csr_view(&dataset->train.by_user),
                              .by_item = csr_view(&dataset->train.by_item)};
}

int recommender_fit_start(struct model *model, struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    uint64_t bytes = 0;
    if (instance_result(instance,
                        component->functions->state_bytes(instance->self, model->dataset->users.n,
                                                          model->dataset->items.n, &bytes),
                        "state_bytes", error) != 0)
        return -1;
    model->state = bytes < SIZE_MAX ? memory_new((size_t)bytes, 1) : NULL;
    model->state_bytes = bytes;
    if (!model->state)
        return error_set(error, DPF_FAULT_RUN, "out of memory: recommender %s needs %llu bytes for its state",
                         instance->entry->component->id, (unsigned long long)bytes);
    return 0;
}

/* ---- training ------------------------------------------------------------------------------------------ */

struct fitting {
    struct pool *pool;
    struct instance *instance;
    struct worker **workers; /* for tasks, one for each of the pool's; the last is for fit itself */
    int n_workers;
};

struct spread_tasks {
    const struct fitting *fitting;
    dpf_status (*task)(void *task_context, const dpf_call *call, int64_t i);
    void *task_context;
    dpf_status *status; /* of each worker */
};

static int run_task(void *context, int64_t i, int worker)
{
    const struct spread_tasks *spread = context;
    const struct fitting *fitting = spread->fitting;
    if (spread->status[worker] != DPF_OK)
        return -1;
    const dpf_call *call =
        worker_call(fitting->workers[worker], fitting->instance, 0, 0, DPF_PARTY_AGGREGATE);
    spread->status[worker] =
        call->cancelled(call) ? DPF_E_CANCELLED : spread->task(spread->task_context, call, i);
    return spread->status[worker] == DPF_OK ? 0 : -1;
}

static dpf_status run_parallel(const dpf_fit *fit, int64_t n,
                               dpf_status (*task)(void *task_context, const dpf_call *call, int64_t i),
                               void *task_context)
{
    const struct fitting *fitting = fit->parallel_context;
    dpf_status *status = memory_new((size_t)fitting->n_workers, sizeof *status), first = DPF_OK;
    if (!status)
        return DPF_E_MEMORY;
    struct spread_tasks spread = {fitting, task, task_context, status};
    if (pool_run(fitting->pool, n, run_task, &spread) != 0)
        first = DPF_E_INTERNAL;
    for (int w = fitting->n_workers - 1; w >= 0; w--)
        if (status[w] != DPF_OK)
            first = status[w];
    free(status);
    return first;
}

static int open_workers(struct fitting *fitting, struct dpf_error *error)
{
    fitting->n_workers = pool_workers(fitting->pool);
    fitting->workers = memory_new((size_t)fitting->n_workers + 1, sizeof(*fitting->workers));
    if (!fitting->workers)
        return error_memory(error);
    for (int w = 0; w <= fitting->n_workers; w++) {
        int index = w < fitting->n_workers ? w : 0;
        fitting->workers[w] = worker_new(index, fitting->n_workers, error);
        if (!fitting->workers[w])
            return -1;
    }
    return 0;
}

static void close_workers(struct fitting *fitting)
{
    for (int w = 0; fitting->workers && w <= fitting->n_workers; w++)
        worker_free(fitting->workers[w]);
    free(fitting->workers);
}

static int fit_with(struct fitting *fitting, struct model *model, struct engine_stats *stats,
                    struct dpf_error *error)
{
    const struct recommender_plan *component = &model->plan->recommender;
    struct instance *instance = component->instance;
    const dpf_interactions records = records_of(model->dataset);
    dpf_fit fit = {.size = sizeof fit,
                   .n_workers = fitting->n_workers,
                   .setup = &component->setup,
                   .records = &records,
                   .state = model->state,
                   .state_bytes = model->state_bytes,
                   .parallel = run_parallel,
                   .parallel_context = fitting};
    const dpf_call *call =
        worker_call(fitting->workers[fitting->n_workers], instance, 0, 0, DPF_PARTY_AGGREGATE);
    dpf_status status = component->functions->fit(instance->self, call, &fit);
    if (worker_cancelled())
        return error_set(error, DPF_FAULT_RUN,
                         "interrupted while recommender %s was trained; nothing is written",
                         instance->entry->component->id);
    if (instance_result(instance, status, "fit", error) != 0)
        return -1;
    stats->messages = fit.messages;
    stats->bytes_up = fit.bytes_up;
    stats->bytes_down = fit.bytes_down;
    stats->rounds_done = 1;
    return 0;
}

int recommender_fit_run(struct model *model, struct pool *pool, struct engine_stats *stats,
                        struct dpf_error *error)
{
    struct fitting fitting = {.pool = pool, .instance = model->plan->recommender.instance};
    memset(stats, 0, sizeof *stats);
    int status = open_workers(&fitting, error);
    if (status == 0)
        status = fit_with(&fitting, model, stats, error);
    close_workers(&fitting);
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
    return error_set(error, DPF_FAULT_DATA, "%s: this is no state of the run's recommender: %s", path,
                     why.text);
}

static int score_all(const struct model *model, int32_t user, float *scores, struct dpf_error *error)
{
    struct instance *instance = model->plan->recommender.instance;
    const dpf_interactions records = records_of(model->dataset);
    struct worker *worker = worker_new(0, 1, error);
    if (!worker)
        return -1;
    const dpf_scoring scoring = {
        .size = sizeof scoring, .user = user, .records = &records, .state = model->state, .scores = scores};
    const dpf_call *call = worker_call(worker, instance, 0, 0, (uint32_t)user);
    int status =
        instance_result(instance, model->plan->recommender.functions->scores(instance->self, call, &scoring),
                        "scores", error);
    worker_free(worker);
    return status;
}

int recommender_fit_scores(const struct model *model, int32_t user, const int32_t *items, int64_t n,
                           double *out, struct dpf_error *error)
{
    float *scores = memory_new((size_t)model->dataset->items.n, sizeof *scores);
    int status = scores ? score_all(model, user, scores, error) : error_memory(error);
    for (int64_t k = 0; k < n && status == 0; k++)
        out[k] = (double)scores[items ? items[k] : k];
    free(scores);
    return status;
}
