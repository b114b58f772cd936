/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/step_scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/additive.h"

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "plan/release.h"
#include "plan/sensitivity.h"

#define USERS_PER_TASK 64
#define NUMBERS_AT_ONCE 8192 /* of a message: they stay in the second-level cache */
#define ROWS_PER_TASK 8
#define MOST_STEPS 0x1p50 /* of dpf_loss.accumulate_scaled */

struct scaled {
    struct messages_work *work;
    struct instance *clip;
    double *factors; /* NULL in the second pass, which reads the next */
    const double *scaling;
    int64_t *sums;
    int unusual; /* messages must be made */
};

/* The only transform that changes messages, if it can be measured; else NULL. */
static struct instance *find_clip(const struct term_plan *plan)
{
    struct instance *clip = NULL;
    for (int i = 0; i < plan->n_transforms; i++) {
        const dpf_transform *transform = plan->transforms[i]->functions;
        if (transform->kind != DPF_TRANSFORM_MESSAGE && transform->kind != DPF_TRANSFORM_STATE)
            continue;
        if (clip || !transform->measure || transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE))
            return NULL;
        clip = plan->transforms[i];
    }
    return clip;
}

/* Numbers of messages are bounded by public constants, and so are the sums: there is nothing to check in a
 * run. */
static int is_in_range(const struct messages_work *work)
{
    const struct term_plan *plan = work->term->plan;
    const int64_t senders = plan_senders(work->engine->plan, plan);
    const double most = fmin(dpf_additive_limit(senders), MOST_STEPS);
    for (int32_t b = 0; b < plan->sent.n_blocks; b++) {
        const double number = plan_largest_contribution(&plan->sensitivity.blocks[b], DPF_UNIT_USER);
        if (!(number / work->term->noise.grid[b] + 1 < most))
            return 0;
    }
    return work->n_parties <= senders;
}

static int is_usual(const struct messages_work *work)
{
    const struct term_run *term = work->term;
    const struct term_plan *plan = term->plan;
    const int32_t where = term->noise.where;
    /* Ranks index the records of their users by item as they are. */
    return !work->engine->observed && (ranks_size() == 1 || !term->values) && plan->by_user &&
           !plan->pooled && plan->side == DPF_SIDE_ITEMS && plan->source == SOURCE_RECORDS && !work->dense &&
           !plan->query.has_gram && !plan->bounds_from_data && term->loss->accumulate_scaled &&
           (!term->sampler || term->sampler->level == DPF_LEVEL_PARTY) &&
           (term->mechanism->flags & DPF_MECHANISM_ROUNDS) && term->noise.modulus == 0 &&
           (where == DPF_NOISE_NOWHERE || where == DPF_NOISE_AT_SUM) &&
           (term->aggregator->flags & DPF_AGGREGATOR_ADDS) && !term->aggregator->finish && is_in_range(work);
}

/* ---- the first pass ------------------------------------------------------------------------------------ */

/* 1: what failed is for the messages to report, where it is the user's. */
static int is_unusual(struct scaled *s, int worker, dpf_status status, struct instance *instance)
{
    struct engine *engine = s->work->engine;
    if (step_result(engine, worker, instance, status, s->work->term->plan->side) == 0)
        return 0;
    if (engine->forgivable[worker]) {
        engine->forgivable[worker] = 0;
        engine->errors[worker] = (struct dpf_error){0};
        __atomic_store_n(&s->unusual, 1, __ATOMIC_RELAXED);
    }
    return 1;
}

/* Rows first .. first+count-1 of a user's message, measured. */
static int measure_rows(struct scaled *s, const dpf_groups *all, int64_t first, int64_t count, uint32_t user,
                        int worker, double *values, double numbers[DPF_MEASURE_NUMBERS])
{
    struct engine *engine = s->work->engine;
    struct term_run *term = s->work->term;
    const dpf_query *query = &term->plan->query;
    const dpf_transform *clip = s->clip->functions;
    struct instance *loss = term->plan->loss;
    dpf_groups groups = *all;
    groups.n_groups = count;
    groups.rows += first;
    groups.offsets += first;
    dpf_call *call = step_call(engine, worker, loss, (uint32_t)engine->round, user);
    dpf_status status = term->loss->accumulate(loss->self, call, query, &groups, NULL, values, query->width);
    if (is_unusual(s, worker, status, loss))
        return -1;
    const dpf_message rows = {.size = sizeof rows,
                              .party = user,
                              .n_rows = count,
                              .rows = groups.rows,
                              .total_rows = s->work->query_rows,
                              .values = values,
                              .stride = query->width,
                              .width = query->width};
    call = step_call(engine, worker, s->clip, (uint32_t)engine->round, user);
    return is_unusual(s, worker, clip->measure(s->clip->self, call, &rows, numbers), s->clip) ? -1 : 0;
}

static int measure_user(struct scaled *s, int64_t user, int worker)
{
    struct engine *engine = s->work->engine;
    const dpf_query *query = &s->work->term->plan->query;
    const dpf_transform *clip = s->clip->functions;
    const int64_t piece = query->width < NUMBERS_AT_ONCE ? NUMBERS_AT_ONCE / query->width : 1;
    double numbers[DPF_MEASURE_NUMBERS] = {0};
    dpf_groups groups;
    double *values =
        step_buffer(engine, worker, BUFFER_WIDE, (size_t)(piece * query->width) + 1, sizeof *values);
    if (!values || messages_groups(s->work, user, worker, &groups) != 0)
        return -1;
    for (int64_t first = 0; first < groups.n_groups; first += piece) {
        const int64_t left = groups.n_groups - first;
        if (measure_rows(s, &groups, first, left < piece ? left : piece, (uint32_t)user, worker, values,
                         numbers) != 0)
            return -1;
    }
    s->factors[user] = 1;
    if (groups.n_groups == 0)
        return 0;
    dpf_call *call = step_call(engine, worker, s->clip, (uint32_t)engine->round, (uint32_t)user);
    const dpf_status status =
        clip->factor(s->clip->self, call, numbers, groups.n_groups, query->width, &s->factors[user]);
    if (is_unusual(s, worker, status, s->clip))
        return -1;
    if (!isfinite(s->factors[user]))
        __atomic_store_n(&s->unusual, 1, __ATOMIC_RELAXED);
    return 0;
}

static int measure_task(void *context, int64_t task, int worker)
{
    struct scaled *s = context;
    const float *weights = s->work->term->party_weights;
    const int64_t first = s->work->first + task * USERS_PER_TASK, n = s->work->last;
    if (step_stopped(s->work->engine, worker) != 0)
        return -1;
    for (int64_t user = first; user < n && user < first + USERS_PER_TASK; user++) {
        if (__atomic_load_n(&s->unusual, __ATOMIC_RELAXED))
            return -1;
        s->factors[user] = 0;
        if ((!weights || weights[user] != 0) && measure_user(s, user, worker) != 0)
            return -1;
    }
    return 0;
}

/* Of one rank, the records by item are those of its users. */
static int index_by_item(struct engine *engine, struct dpf_error *error)
{
    const struct dataset *dataset = engine->dataset;
    const int64_t first = shares_first(dataset, DPF_SIDE_USERS);
    struct csr own = dataset->train.by_user;
    if (ranks_size() == 1 || engine->here_by_item.ptr)
        return 0;
    own.ptr += first;
    own.rows = shares_last(dataset, DPF_SIDE_USERS) - first;
    if (csr_transpose_on(engine->pool, &own, dataset->items.n, &engine->here_by_item, error) != 0)
        return -1;
    for (int64_t i = 0; i < own.ptr[own.rows]; i++)
        engine->here_by_item.others[i] += (int32_t)first;
    return 0;
}

int scaled_factors(struct messages_work *work, double **factors, struct dpf_error *error)
{
    struct scaled s = {.work = work};
    *factors = NULL;
    if (!is_usual(work))
        return 0;
    s.clip = find_clip(work->term->plan);
    if (!s.clip)
        return 0;
    if (index_by_item(work->engine, error) != 0)
        return -1;
    s.factors = memory_raw((size_t)work->n_parties + 1, sizeof *s.factors);
    if (!s.factors)
        return error_memory(error);
    const int64_t tasks = (work->last - work->first + USERS_PER_TASK - 1) / USERS_PER_TASK;
    const int status = pool_run(work->engine->pool, tasks, measure_task, &s);
    if (status == 0 && !s.unusual) {
        *factors = s.factors;
        return 0;
    }
    free(s.factors);
    for (int w = 0; status != 0 && w < work->engine->n_workers; w++)
        if (work->engine->errors[w].fault != DPF_FAULT_NONE)
            return step_failed(work->engine, error);
    return 0;
}

/* ---- the second pass ------------------------------------------------------------------------------------
 */

static int sum_task(void *context, int64_t task, int worker)
{
    struct scaled *s = context;
    struct engine *engine = s->work->engine;
    struct term_run *term = s->work->term;
    const dpf_query *query = &term->plan->query;
    const int32_t width = s->work->sum.shape.width;
    const int64_t first = task * ROWS_PER_TASK, left = s->work->sum.shape.rows - first;
    const int64_t count = left < ROWS_PER_TASK ? left : ROWS_PER_TASK;
    struct instance *loss = term->plan->loss;
    dpf_groups groups;
    if (step_stopped(engine, worker) != 0 ||
        step_groups(engine, term, HOLDER_HERE, first, count, worker, &groups) != 0)
        return -1;
    dpf_call *call = step_call(engine, worker, loss, (uint32_t)engine->round, DPF_PARTY_AGGREGATE);
    const dpf_status status = term->loss->accumulate_scaled(loss->self, call, query, &groups, s->scaling,
                                                            term->noise.grid, s->sums + first * width, width);
    return step_result(engine, worker, loss, status, term->plan->side);
}

/* What the aggregator would have counted of the messages. */
static void count_messages(struct messages_work *work)
{
    const struct csr *csr = &work->engine->dataset->train.by_user;
    const float *weights = work->term->party_weights;
    const uint64_t row_bytes = (uint64_t)work->sum.shape.width * sizeof(int64_t) + sizeof(int32_t);
    int64_t messages = 0;
    uint64_t bytes_up = 0;
    for (int64_t user = work->first; user < work->last; user++) {
        if (weights && weights[user] == 0)
            continue;
        messages++;
        bytes_up += (uint64_t)(csr->ptr[user + 1] - csr->ptr[user]) * row_bytes;
    }
    sum_plain_counts(&work->sum, messages, bytes_up);
}

int scaled_sums(struct messages_work *work, const double *factors, struct dpf_error *error)
{
    struct scaled s = {.work = work, .scaling = factors, .sums = sum_plain(&work->sum)};
    const int64_t rows = work->sum.shape.rows;
    if (!s.sums)
        return error_set(error, DPF_FAULT_PLUGIN, "an aggregator that does more than add was passed over");
    if (pool_run(work->engine->pool, (rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, sum_task, &s) != 0)
        return step_failed(work->engine, error);
    count_messages(work);
    return 0;
}
