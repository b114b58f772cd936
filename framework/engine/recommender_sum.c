/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/recommender_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BATCH_BYTES (INT64_C(64) << 20)

struct batch {
    const dpf_user_sum *sum;
    int64_t first, count, most;
    int64_t *messages; /* most x sum->n */
};

static int make_message(void *context, int64_t task, int worker)
{
    const struct batch *batch = context;
    int64_t *out = batch->messages + task * batch->sum->n;
    memset(out, 0, (size_t)batch->sum->n * sizeof *out);
    return batch->sum->message(batch->sum->context, (uint32_t)(batch->first + task), worker, out) == DPF_OK
               ? 0
               : -1;
}

static const dpf_aggregator *aggregator_of(const struct recommender_sum *s)
{
    return s->plan->recommender.aggregator->functions;
}

static int absorb_batch(const struct recommender_sum *s, const struct batch *batch, dpf_aggregation *into)
{
    struct instance *instance = s->plan->recommender.aggregator;
    dpf_status status = DPF_OK;
    for (int64_t k = 0; k < batch->count && status == DPF_OK; k++) {
        const dpf_encoded message = {.size = sizeof message,
                                     .width = 1,
                                     .n_rows = batch->sum->n,
                                     .total_rows = batch->sum->n,
                                     .values = batch->messages + k * batch->sum->n,
                                     .stride = 1,
                                     .survivors = 1};
        const dpf_call *call =
            worker_call(s->worker, instance, (int32_t)s->made, s->made, (uint32_t)(batch->first + k));
        status = aggregator_of(s)->absorb(instance->self, call, into, &message);
    }
    return instance_result(instance, status, "absorb", s->error);
}

static int absorb_all(const struct recommender_sum *s, struct batch *batch, dpf_aggregation *into)
{
    for (batch->first = 0; batch->first < s->n_users; batch->first += batch->most) {
        const int64_t left = s->n_users - batch->first;
        batch->count = left < batch->most ? left : batch->most;
        if (worker_cancelled())
            return -1;
        if (pool_run(s->pool, batch->count, make_message, batch) != 0)
            return error_set(s->error, DPF_FAULT_PLUGIN, "recommender %s cannot make a user's message",
                             s->plan->recommender.instance->entry->component->id);
        if (absorb_batch(s, batch, into) != 0)
            return -1;
    }
    return 0;
}

static int finish(const struct recommender_sum *s, dpf_aggregation *into)
{
    struct instance *instance = s->plan->recommender.aggregator;
    if (!aggregator_of(s)->finish)
        return 0;
    const dpf_call *call = worker_call(s->worker, instance, (int32_t)s->made, s->made, DPF_PARTY_AGGREGATE);
    worker_lend_pool(s->worker, s->pool);
    return instance_result(instance, aggregator_of(s)->finish(instance->self, call, into), "finish",
                           s->error);
}

/* An aggregator that opens too small a sum, or counts otherwise, must not be believed. */
static int check_survivors(const struct recommender_sum *s, const dpf_aggregation *into)
{
    if (into->survivors >= s->plan->recommender.least_survivors)
        return 0;
    return error_set(s->error, DPF_FAULT_RUN,
                     "a sum has %lld messages, but its noise in shares needs %lld: it is not released",
                     (long long)into->survivors, (long long)s->plan->recommender.least_survivors);
}

void recommender_sum_opened(const dpf_aggregation *from, dpf_user_sum *sum, struct engine_stats *stats)
{
    const int64_t modulus = (int64_t)from->modulus;
    for (int64_t i = 0; i < from->rows; i++)
        sum->sums[i] = from->sums[i] - (modulus && from->sums[i] >= modulus / 2 ? modulus : 0);
    sum->survivors = from->survivors;
    stats->messages += from->survivors;
    stats->bytes_up += from->bytes_up;
    stats->bytes_down += from->bytes_down;
}

static int sum_up(const struct recommender_sum *s, dpf_user_sum *sum, struct batch *batch,
                  dpf_aggregation *into)
{
    if (!batch->messages || !into->sums || !into->state)
        return error_memory(s->error);
    if (absorb_all(s, batch, into) != 0 || finish(s, into) != 0 || check_survivors(s, into) != 0)
        return -1;
    recommender_sum_opened(into, sum, s->stats);
    return 0;
}

dpf_status recommender_sum_users(void *context, dpf_user_sum *sum)
{
    struct recommender_sum *s = context;
    const struct instance *instance = s->plan->recommender.aggregator;
    const int64_t bytes = (sum->n + 1) * (int64_t)sizeof(int64_t), most = BATCH_BYTES / bytes;
    const int workers = pool_workers(s->pool);
    struct batch batch = {.sum = sum, .most = most > workers ? most : workers};
    dpf_aggregation into = {.size = sizeof into,
                            .width = 1,
                            .rows = sum->n,
                            .n_parties = s->n_users,
                            .modulus = s->plan->recommender.modulus[sum->release],
                            .least_survivors = s->plan->recommender.least_survivors};
    if (batch.most > s->n_users)
        batch.most = s->n_users;
    into.sums = memory_new((size_t)sum->n, sizeof *into.sums);
    into.state = memory_new(
        (size_t)(aggregator_of(s)->state_bytes ? aggregator_of(s)->state_bytes(instance->self, &into) : 1),
        1);
    batch.messages = memory_raw((size_t)(batch.most * sum->n), sizeof *batch.messages);
    const int status = sum_up(s, sum, &batch, &into);
    s->made++;
    free(batch.messages);
    free(into.state);
    free(into.sums);
    return status == 0 ? DPF_OK : worker_cancelled() ? DPF_E_CANCELLED : DPF_E_INTERNAL;
}
