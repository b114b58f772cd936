/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/remote_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/recommender_sum.h"

#define WORDS 2 /* of an integer */

struct remote_rows remote_sums_rows(struct remote_sums *sums)
{
    return (struct remote_rows){
        .data = sums->released, .rows = sums->n, .stride = WORDS, .columns = WORDS, .integers = 1};
}

/* ---- a round ------------------------------------------------------------------------------------------ */

/* What the server tells of a sum: how many messages are in it, and its numbers, at the end of the releases. */
static int64_t *grow(struct remote_sums *sums, int64_t n)
{
    int64_t *grown = realloc(sums->released, (size_t)(sums->n + n + 1) * sizeof *grown);
    if (!grown) {
        error_memory(sums->error);
        return NULL;
    }
    sums->released = grown;
    sums->n += n + 1;
    return grown + sums->n - n - 1;
}

static struct remote_release release_of(struct remote_sums *sums, dpf_aggregation *shape)
{
    return (struct remote_release){.aggregator = sums->plan->recommender.aggregator,
                                   .round = sums->made,
                                   .rows = remote_sums_rows(sums),
                                   .sums = shape,
                                   .n_parties = sums->n_users};
}

static int gather(struct remote_sums *sums, dpf_user_sum *sum, dpf_aggregation *shape)
{
    const struct remote_release release = release_of(sums, shape);
    if (sums->remote->gather(sums->remote->context, &release, sums->error) != 0)
        return -1;
    recommender_sum_opened(shape, sum, sums->stats);
    int64_t *told = grow(sums, sum->n);
    if (!told)
        return -1;
    told[0] = sum->survivors;
    memcpy(told + 1, sum->sums, (size_t)sum->n * sizeof *told);
    return 0;
}

/* The next round of which the server speaks, if it is not there yet. */
static int hear(struct remote_sums *sums, int64_t least)
{
    while (sums->at < least) {
        const int status = sums->remote->await(sums->remote->context, &sums->at, sums->error);
        if (status < 0)
            return -1;
        if (status == 1)
            sums->at = REMOTE_SUMS_OVER;
    }
    return 0;
}

static int take(struct remote_sums *sums)
{
    const struct remote_rows known = remote_sums_rows(sums);
    return sums->remote->take(sums->remote->context, &known, sums->error);
}

/* The party's message. Where the party comes later than this round, nothing is sent. */
static int send(struct remote_sums *sums, const dpf_user_sum *sum, dpf_aggregation *shape)
{
    if (hear(sums, sums->made) != 0)
        return -1;
    if (sums->at != sums->made)
        return 0;
    if (take(sums) != 0)
        return -1;
    if (sum->message(sum->context, (uint32_t)sums->remote->party, 0, shape->sums) != DPF_OK)
        return error_set(sums->error, DPF_FAULT_PLUGIN, "recommender %s cannot make a user's message",
                         sums->plan->recommender.instance->entry->component->id);
    const dpf_encoded message = {.size = sizeof message,
                                 .width = 1,
                                 .n_rows = sum->n,
                                 .total_rows = sum->n,
                                 .values = shape->sums,
                                 .stride = 1,
                                 .survivors = 1};
    struct remote_release release = release_of(sums, shape);
    release.message = &message;
    return sums->remote->answer(sums->remote->context, &release, sums->error);
}

static int hear_sum(struct remote_sums *sums, dpf_user_sum *sum)
{
    if (hear(sums, sums->made + 1) != 0)
        return -1;
    const int64_t *told = grow(sums, sum->n);
    if (!told || take(sums) != 0)
        return -1;
    sum->survivors = told[0];
    memcpy(sum->sums, told + 1, (size_t)sum->n * sizeof *told);
    return 0;
}

static dpf_status sum_users(void *context, dpf_user_sum *sum)
{
    struct remote_sums *sums = context;
    const struct recommender_plan *component = &sums->plan->recommender;
    dpf_aggregation shape = {.size = sizeof shape,
                             .width = 1,
                             .rows = sum->n,
                             .n_parties = sums->n_users,
                             .modulus = component->modulus[sum->release],
                             .least_survivors = component->least_survivors,
                             .sums = memory_new((size_t)sum->n + 1, sizeof(int64_t))};
    int status = shape.sums ? 0 : error_memory(sums->error);
    if (status == 0 && sums->remote->party < 0)
        status = gather(sums, sum, &shape);
    else if (status == 0)
        status = send(sums, sum, &shape) == 0 ? hear_sum(sums, sum) : -1;
    free(shape.sums);
    sums->made++;
    return status == 0 ? DPF_OK : worker_cancelled() ? DPF_E_CANCELLED : DPF_E_INTERNAL;
}

dpf_summing remote_sums_begin(struct remote_sums *sums, const struct engine_remote *remote,
                              const struct plan *plan, int64_t n_users, struct engine_stats *stats,
                              struct dpf_error *error)
{
    *sums = (struct remote_sums){
        .remote = remote, .plan = plan, .n_users = n_users, .at = -1, .stats = stats, .error = error};
    return (dpf_summing){sums, sum_users};
}

void remote_sums_free(struct remote_sums *sums)
{
    free(sums->released);
    *sums = (struct remote_sums){.at = -1};
}
