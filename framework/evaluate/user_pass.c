/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/user_pass.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/ticker.h"

#define SMALLEST_CHUNK 16
#define MOST_CHUNKS 4096

static int64_t chunk_users(int64_t n_users)
{
    int64_t users = (n_users + MOST_CHUNKS - 1) / MOST_CHUNKS;
    return users < SMALLEST_CHUNK ? SMALLEST_CHUNK : users;
}

int64_t user_pass_chunks(int64_t n_users)
{
    int64_t users = chunk_users(n_users);
    return (n_users + users - 1) / users;
}

int64_t user_pass_chunk_end(int64_t n_users, int64_t chunk)
{
    const int64_t end = (chunk + 1) * chunk_users(n_users);
    return end < n_users ? end : n_users;
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
    struct failure *failures;
};

static int run_chunk(void *context, int64_t chunk, int worker)
{
    const struct pass *pass = context;
    struct failure *failure = &pass->failures[worker];
    const int64_t end = user_pass_chunk_end(pass->n_users, chunk);
    ticker_add(end - chunk * pass->chunk);
    for (int64_t user = chunk * pass->chunk; user < end; user++) {
        if (pass->task(pass->context, user, chunk, worker, &failure->error) == 0)
            continue;
        failure->user = user;
        error_set(&failure->error, DPF_FAULT_RUN, "evaluating user %lld failed", (long long)user);
        return -1;
    }
    return 0;
}

int user_pass_run(struct pool *pool, int64_t n_users, user_task task, void *context, struct dpf_error *error)
{
    int workers = pool_workers(pool);
    struct pass pass = {task, context, n_users, chunk_users(n_users), NULL};
    pass.failures = memory_new((size_t)workers, sizeof *pass.failures);
    if (!pass.failures)
        return error_memory(error);
    ticker_begin("evaluating users", n_users);
    int status = pool_run(pool, user_pass_chunks(n_users), run_chunk, &pass);
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

void user_pass_sum(double *sums, int64_t chunks, int64_t width)
{
    for (int64_t chunk = 1; chunk < chunks; chunk++)
        for (int64_t i = 0; i < width; i++)
            sums[i] += sums[chunk * width + i];
}
