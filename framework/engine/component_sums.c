/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/component_sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"

#define BATCH_BYTES (INT64_C(64) << 20)

struct batch {
    const dpf_user_sum *sum;
    int64_t first, count, most;
    int64_t *messages; /* most x sum->n */
};

static int cannot_make(const struct component_sums *s)
{
    return error_set(s->error, DPF_FAULT_PLUGIN, "recommender %s cannot make a user's message",
                     s->plan->recommender.instance->entry->component->id);
}

static dpf_encoded message_of(const dpf_user_sum *sum, int64_t *values)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = 1,
                         .n_rows = sum->n,
                         .total_rows = sum->n,
                         .values = values,
                         .stride = 1,
                         .survivors = 1};
}

/* ---- messages of users who are here ---------------------------------------------------------------------- */

static int make_message(void *context, int64_t task, int worker)
{
    const struct batch *batch = context;
    int64_t *out = batch->messages + task * batch->sum->n;
    memset(out, 0, (size_t)batch->sum->n * sizeof *out);
    return batch->sum->message(batch->sum->context, (uint32_t)(batch->first + task), worker, out) == DPF_OK
               ? 0
               : -1;
}

static int add_batch(const struct component_sums *s, struct batch *batch, struct sum *into)
{
    if (worker_cancelled())
        return -1;
    if (pool_run(s->pool, batch->count, make_message, batch) != 0)
        return cannot_make(s);
    for (int64_t k = 0; k < batch->count; k++) {
        const dpf_encoded message = message_of(batch->sum, batch->messages + k * batch->sum->n);
        if (sum_add(into, 0, (uint32_t)(batch->first + k), &message, s->error) != 0)
            return -1;
    }
    return 0;
}

static int add_users(const struct component_sums *s, const dpf_user_sum *sum, struct sum *into)
{
    const int64_t bytes = (sum->n + 1) * (int64_t)sizeof(int64_t), most = BATCH_BYTES / bytes;
    const int workers = pool_workers(s->pool);
    struct batch batch = {.sum = sum, .first = s->first, .most = most > workers ? most : workers};
    if (batch.most > s->last - s->first)
        batch.most = s->last - s->first;
    batch.messages = memory_raw((size_t)(batch.most * sum->n) + 1, sizeof *batch.messages);
    int status = batch.messages ? 0 : error_memory(s->error);
    for (; status == 0 && batch.first < s->last; batch.first += batch.most) {
        const int64_t left = s->last - batch.first;
        batch.count = left < batch.most ? left : batch.most;
        status = add_batch(s, &batch, into);
    }
    free(batch.messages);
    return status;
}

/* ---- over links ------------------------------------------------------------------------------------------ */

static struct remote_rows sums_so_far(struct component_sums *s)
{
    return remote_sums(s->told, s->n_told);
}

/* Room for what the server tells of a sum: how many messages are in it, and its numbers. */
static int64_t *grow(struct component_sums *s, int64_t n)
{
    int64_t *grown = realloc(s->told, (size_t)(s->n_told + n + 1) * sizeof *grown);
    if (!grown) {
        error_memory(s->error);
        return NULL;
    }
    s->told = grown;
    s->n_told += n + 1;
    return grown + s->n_told - n - 1;
}

static int tell(struct component_sums *s, const dpf_user_sum *sum)
{
    int64_t *told = grow(s, sum->n);
    if (!told)
        return -1;
    told[0] = sum->survivors;
    memcpy(told + 1, sum->sums, (size_t)sum->n * sizeof *told);
    return 0;
}

/* The next round of which the server speaks, if it is not there yet. */
static int hear(struct component_sums *s, int64_t least)
{
    while (s->at < least) {
        const int status = s->remote->await(s->remote->context, &s->at, s->error);
        if (status < 0)
            return -1;
        if (status == 1)
            s->at = COMPONENT_SUMS_OVER;
    }
    return 0;
}

static int take(struct component_sums *s)
{
    const struct remote_rows known = sums_so_far(s);
    return s->remote->take(s->remote->context, &known, s->error);
}

/* The party's message. Where the party comes later than this round, nothing is sent. */
static int send(struct component_sums *s, const dpf_user_sum *sum, struct sum *into)
{
    int64_t *values = memory_new((size_t)sum->n + 1, sizeof *values);
    int status = values ? hear(s, s->made) : error_memory(s->error);
    if (status == 0 && s->at == s->made) {
        status = take(s);
        if (status == 0 && sum->message(sum->context, (uint32_t)s->remote->party, 0, values) != DPF_OK)
            status = cannot_make(s);
        const dpf_encoded message = message_of(sum, values);
        if (status == 0)
            status = sum_add(into, 0, (uint32_t)s->remote->party, &message, s->error);
    }
    free(values);
    return status;
}

static int hear_sum(struct component_sums *s, dpf_user_sum *sum)
{
    if (hear(s, s->made + 1) != 0)
        return -1;
    const int64_t *told = grow(s, sum->n);
    if (!told || take(s) != 0)
        return -1;
    sum->survivors = told[0];
    memcpy(sum->sums, told + 1, (size_t)sum->n * sizeof *told);
    return 0;
}

/* ---- a sum ----------------------------------------------------------------------------------------------- */

static int open_sum(struct component_sums *s, const dpf_user_sum *sum, struct sum *into)
{
    const struct recommender_plan *component = &s->plan->recommender;
    const dpf_recommender_release *release = &component->releases[sum->release];
    s->bound = (struct sum_bound){.message = (double)release->largest,
                                  .variance = (double)release->share_steps * (double)release->share_steps};
    const struct sum_shape shape = {.aggregator = component->aggregator,
                                    .rows = sum->n,
                                    .width = 1,
                                    .round = s->made,
                                    .n_parties = s->n_users,
                                    .modulus = component->modulus[sum->release],
                                    .least = component->least_survivors,
                                    .bounds = &s->bound,
                                    .span = ranks_size() > 1 ? SUM_EVERYWHERE : SUM_ALONE};
    struct sum_hands hands = {.workers = &s->worker,
                              .n = 1,
                              .pool = s->pool,
                              .link = {.remote = s->remote, .known = sums_so_far(s), .n_listed = s->n_users}};
    snprintf(hands.step, sizeof hands.step, "sum %d", (int)s->made + 1);
    return sum_open(into, &shape, &hands, s->error);
}

/* Numbers by a modulus as the integers nearest to zero. */
static void take_result(const struct component_sums *s, const struct sum *from, dpf_user_sum *sum)
{
    const dpf_aggregation *result = sum_result(from);
    const int64_t modulus = (int64_t)result->modulus;
    for (int64_t i = 0; i < result->rows; i++)
        sum->sums[i] = result->sums[i] - (modulus && result->sums[i] >= modulus / 2 ? modulus : 0);
    sum->survivors = result->survivors;
    sum_tally(from, 1, s->stats);
}

static int add_up(struct component_sums *s, dpf_user_sum *sum, struct sum *into)
{
    if (s->remote && s->remote->party >= 0)
        return send(s, sum, into) == 0 ? hear_sum(s, sum) : -1;
    if ((!s->remote && add_users(s, sum, into) != 0) || sum_close(into, s->error) != 0)
        return -1;
    take_result(s, into, sum);
    return s->remote ? tell(s, sum) : 0;
}

dpf_status component_sums_make(void *context, dpf_user_sum *sum)
{
    struct component_sums *s = context;
    struct sum into = {.state = SUM_EMPTY};
    int status = open_sum(s, sum, &into);
    if (status == 0)
        status = add_up(s, sum, &into);
    sum_free(&into);
    s->made++;
    return status == 0 ? DPF_OK : worker_cancelled() ? DPF_E_CANCELLED : DPF_E_INTERNAL;
}
