/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/remote_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WORDS 2 /* of an integer */

struct remote_rows remote_sums_rows(struct remote_sums *sums)
{
    return (struct remote_rows){
        .data = sums->released, .rows = sums->n, .stride = WORDS, .columns = WORDS, .integers = 1};
}

/* ---- a round ------------------------------------------------------------------------------------------ */

static struct remote_release release_of(struct remote_sums *sums, int32_t round, dpf_aggregation *shape)
{
    return (struct remote_release){.aggregator = sums->aggregator,
                                   .round = round,
                                   .rows = remote_sums_rows(sums),
                                   .sums = shape,
                                   .n_parties = sums->n_users};
}

static int gather_here(struct remote_sums *sums, int32_t round, dpf_aggregation *shape)
{
    const struct remote_release release = release_of(sums, round, shape);
    if (sums->remote->gather(sums->remote->context, &release, sums->error) != 0)
        return -1;
    sums->stats->bytes_up += shape->bytes_up;
    sums->stats->bytes_down += shape->bytes_down;
    sums->stats->messages += shape->survivors;
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

/* Where the party comes later than this round, nothing is sent. */
static int send(struct remote_sums *sums, int32_t round, dpf_aggregation *shape)
{
    dpf_encoded message = {.size = sizeof message,
                           .width = shape->width,
                           .n_rows = shape->rows,
                           .total_rows = shape->rows,
                           .values = shape->sums,
                           .stride = shape->width,
                           .survivors = 1};
    if (hear(sums, round) != 0)
        return -1;
    if (sums->at != round)
        return 0;
    const struct remote_rows known = remote_sums_rows(sums);
    if (sums->remote->take(sums->remote->context, &known, sums->error) != 0)
        return -1;
    struct remote_release release = release_of(sums, round, shape);
    release.message = &message;
    return sums->remote->answer(sums->remote->context, &release, sums->error);
}

static dpf_status gather(void *context, int32_t round, int64_t rows, int32_t width, int64_t *numbers)
{
    struct remote_sums *sums = context;
    dpf_aggregation shape = {
        .size = sizeof shape, .width = width, .rows = rows, .n_parties = sums->n_users, .sums = numbers};
    const int status = sums->remote->party < 0 ? gather_here(sums, round, &shape) : send(sums, round, &shape);
    return status == 0 ? DPF_OK : DPF_E_CANCELLED;
}

/* ---- what is released --------------------------------------------------------------------------------- */

/* Room for n more; they are at the end. */
static int64_t *grow(struct remote_sums *sums, int64_t n)
{
    int64_t *grown = realloc(sums->released, (size_t)(sums->n + n) * sizeof *grown + 1);
    if (!grown) {
        error_memory(sums->error);
        return NULL;
    }
    sums->released = grown;
    sums->n += n;
    return grown + sums->n - n;
}

static dpf_status publish(void *context, int32_t round, int64_t n, int64_t *numbers)
{
    struct remote_sums *sums = context;
    const int is_server = sums->remote->party < 0;
    if (!is_server && hear(sums, round + 1) != 0)
        return DPF_E_CANCELLED;
    int64_t *at = grow(sums, n);
    if (!at)
        return DPF_E_CANCELLED;
    const struct remote_rows known = remote_sums_rows(sums);
    if (is_server)
        memcpy(at, numbers, (size_t)n * sizeof *at);
    else if (sums->remote->take(sums->remote->context, &known, sums->error) != 0)
        return DPF_E_CANCELLED;
    else
        memcpy(numbers, at, (size_t)n * sizeof *at);
    return DPF_OK;
}

dpf_user_sums remote_sums_begin(struct remote_sums *sums, const struct engine_remote *remote,
                                const struct plan *plan, int64_t n_users, struct engine_stats *stats,
                                struct dpf_error *error)
{
    *sums = (struct remote_sums){.remote = remote,
                                 .aggregator = plan->recommender.aggregator,
                                 .n_users = n_users,
                                 .at = -1,
                                 .stats = stats,
                                 .error = error};
    return (dpf_user_sums){sums, gather, publish};
}

void remote_sums_free(struct remote_sums *sums)
{
    free(sums->released);
    *sums = (struct remote_sums){.at = -1};
}
