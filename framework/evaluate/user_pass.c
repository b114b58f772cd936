/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/user_pass.h"

#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/ticker.h"
#include "dataset/shares.h"
#include "dpframe/privacy.h"

#define MOST_USERS 256 /* of a worker at a time, unless a chunk has more */

int64_t user_pass_chunks(int64_t n_users)
{
    const int64_t users = shares_chunk(n_users);
    return (n_users + users - 1) / users;
}

int64_t user_pass_chunk(int64_t n_users, int64_t user)
{
    return user / shares_chunk(n_users);
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
    int64_t first, past; /* users of this rank */
    int64_t users;       /* of a worker at a time */
    struct failure *failures;
};

static int run_users(void *context, int64_t task, int worker)
{
    const struct pass *pass = context;
    struct failure *failure = &pass->failures[worker];
    const int64_t from = pass->first + task * pass->users,
                  end = from + pass->users < pass->past ? from + pass->users : pass->past;
    ticker_add(end - from);
    if (interrupt_check("users were evaluated", &failure->error) != 0) {
        failure->user = from;
        return -1;
    }
    for (int64_t user = from; user < end; user++) {
        if (pass->task(pass->context, user, end, worker, &failure->error) == 0)
            continue;
        failure->user = user;
        error_set(&failure->error, DPF_FAULT_RUN, "evaluating user %lld failed", (long long)user);
        return -1;
    }
    return 0;
}

/* Whole chunks, so that no two workers add to one: enough users for what is done for many at a time, but some turns for each worker. */
static int64_t users_at_a_time(int64_t n_users, int64_t chunk, int workers)
{
    const int64_t fair = n_users / (8 * (int64_t)workers), most = fair < MOST_USERS ? fair : MOST_USERS;
    return most > chunk ? most / chunk * chunk : chunk;
}

int user_pass_run(struct pool *pool, const struct dataset *dataset, int64_t n_users, user_task task,
                  void *context, struct dpf_error *error)
{
    int workers = pool_workers(pool);
    int64_t *offsets = chunk_offsets(dataset, n_users);
    const int64_t chunk = shares_chunk(n_users), past = offsets[ranks_rank() + 1] * chunk;
    struct pass pass = {.task = task,
                        .context = context,
                        .first = offsets[ranks_rank()] * chunk,
                        .past = past < n_users ? past : n_users};
    free(offsets);
    const int64_t users = pass.past > pass.first ? pass.past - pass.first : 0;
    pass.users = users_at_a_time(users, chunk, workers);
    pass.failures = memory_need((size_t)workers, sizeof *pass.failures);
    ticker_begin("evaluating users", users);
    int status = pool_run(pool, (users + pass.users - 1) / pass.users, run_users, &pass);
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
