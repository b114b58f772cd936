/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/user_pass.h"

#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/ticker.h"
#include "dataset/shares.h"
#include "dpframe/privacy.h"

int64_t user_pass_chunks(int64_t n_users)
{
    const int64_t users = shares_chunk(n_users);
    return (n_users + users - 1) / users;
}

int64_t user_pass_chunk_end(int64_t n_users, int64_t chunk)
{
    const int64_t end = (chunk + 1) * shares_chunk(n_users);
    return end < n_users ? end : n_users;
}

/* Offsets of each rank's chunks; all zero without users. */
static int64_t *chunk_offsets(const struct dataset *dataset, int64_t n_users)
{
    const int64_t users = shares_chunk(n_users);
    int64_t *offsets = memory_need((size_t)ranks_size() + 1, sizeof *offsets);
    shares_offsets(dataset, DPF_SIDE_USERS, offsets);
    for (int r = 0; r <= ranks_size(); r++)
        offsets[r] = n_users ? (offsets[r] + users - 1) / users : 0;
    return offsets;
}

/* First failure of one worker. */
struct failure {
    int64_t user;
    struct dpf_error error;
};

struct pass {
    user_task task;
    void *context;
    int64_t n_users;
    int64_t chunk;
    int64_t first; /* chunk of this rank */
    struct failure *failures;
};

static int run_chunk(void *context, int64_t task, int worker)
{
    const struct pass *pass = context;
    const int64_t chunk = pass->first + task;
    struct failure *failure = &pass->failures[worker];
    const int64_t end = user_pass_chunk_end(pass->n_users, chunk);
    ticker_add(end - chunk * pass->chunk);
    if (interrupt_is_wanted()) {
        failure->user = chunk * pass->chunk;
        return error_set(&failure->error, DPF_FAULT_RUN,
                         "interrupted while users were evaluated; nothing is written");
    }
    for (int64_t user = chunk * pass->chunk; user < end; user++) {
        if (pass->task(pass->context, user, chunk, worker, &failure->error) == 0)
            continue;
        failure->user = user;
        error_set(&failure->error, DPF_FAULT_RUN, "evaluating user %lld failed", (long long)user);
        return -1;
    }
    return 0;
}

int user_pass_run(struct pool *pool, const struct dataset *dataset, int64_t n_users, user_task task,
                  void *context, struct dpf_error *error)
{
    int workers = pool_workers(pool);
    int64_t *offsets = chunk_offsets(dataset, n_users);
    struct pass pass = {task, context, n_users, shares_chunk(n_users), offsets[ranks_rank()], NULL};
    const int64_t chunks = offsets[ranks_rank() + 1] - pass.first;
    free(offsets);
    pass.failures = memory_need((size_t)workers, sizeof *pass.failures);
    ticker_begin("evaluating users", chunks * pass.chunk);
    int status = pool_run(pool, chunks, run_chunk, &pass);
    ticker_end();
    const struct failure *first = NULL;
    for (int w = 0; w < workers; w++) {
        const struct failure *failure = &pass.failures[w];
        if (failure->error.fault != DPF_FAULT_NONE && (!first || failure->user < first->user))
            first = failure;
    }
    if (status != 0 && first)
        error_set(error, first->error.fault, "%s", first->error.text);
    free(pass.failures);
    return status;
}

int user_pass_sum(const struct dataset *dataset, int64_t n_users, double *sums, int64_t width,
                  struct dpf_error *error)
{
    const int64_t chunks = user_pass_chunks(n_users);
    int64_t *offsets = chunk_offsets(dataset, n_users);
    const int status = ranks_gather(sums, (size_t)width * sizeof *sums, offsets, error);
    free(offsets);
    if (status != 0)
        return -1;
    for (int64_t chunk = 1; chunk < chunks; chunk++)
        for (int64_t i = 0; i < width; i++)
            sums[i] += sums[chunk * width + i];
    return 0;
}
