/* SPDX-License-Identifier: Apache-2.0 */
/* Trials in processes of their own, which share the data by fork and hand scores back in shared memory. */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "audit/audit_session.h"
#include "base/ticker.h"
#include "run/progress.h"
#include "run/jobs.h"

struct board {
    atomic_llong done;
    atomic_int failed;
    struct dpf_error error; /* of the first that failed */
};

struct crew {
    struct audit_session *audit;
    struct board *board; /* shared */
    int64_t chunk;
    struct progress progress;
    int crashed;
};

static void *shared_memory(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

/* Trials of both data sets take turns. */
static int run_trial(struct audit_session *audit, struct pool *pool, int64_t trial, struct dpf_error *error)
{
    double *out = audit->results + trial * audit->width;
    const int set = (int)(trial / audit->n_trials);
    return trials_run(&audit->trials, pool, set, trial % audit->n_trials, out, error);
}

static int run_chunk(void *context, size_t i)
{
    struct crew *crew = context;
    struct audit_session *audit = crew->audit;
    struct dpf_error error = {0};
    struct pool *pool = pool_new(1);
    const int64_t first = (int64_t)i * crew->chunk, all = 2 * audit->n_trials;
    const int64_t end = first + crew->chunk < all ? first + crew->chunk : all;
    int status = pool ? 0 : error_memory(&error);
    for (int64_t trial = first; trial < end && status == 0 && !atomic_load(&crew->board->failed); trial++) {
        status = run_trial(audit, pool, trial, &error);
        atomic_fetch_add(&crew->board->done, status == 0);
    }
    if (status != 0 && atomic_exchange(&crew->board->failed, 1) == 0)
        crew->board->error = error;
    pool_free(pool);
    return status == 0 ? 0 : DPF_FAULT_RUN;
}

static void after_chunk(void *context, size_t i, int ended, double seconds)
{
    struct crew *crew = context;
    (void)i;
    (void)seconds;
    crew->crashed |= ended > 128;
    if (ended != 0)
        atomic_store(&crew->board->failed, 1);
}

static void show_progress(void *context, size_t running)
{
    struct crew *crew = context;
    (void)running;
    const int64_t done = atomic_load(&crew->board->done);
    if (!crew->audit->arguments->quiet && done > 0)
        progress_step(&crew->progress, done, "");
}

static int run_all(struct crew *crew, int at_once, struct dpf_error *error)
{
    const int64_t all = 2 * crew->audit->n_trials;
    const struct jobs jobs = {.context = crew,
                              .n = (size_t)((all + crew->chunk - 1) / crew->chunk),
                              .at_once = at_once,
                              .work = run_chunk,
                              .after = after_chunk,
                              .tick = show_progress};
    ticker_enable(0); /* trials have a bar of their own */
    progress_start(&crew->progress, all);
    crew->progress.what = "trial";
    const int status = jobs_run(&jobs, error);
    if (!crew->audit->arguments->quiet)
        progress_end(&crew->progress);
    if (status < 0)
        return -1;
    if (status > 0)
        return error_set(error, DPF_FAULT_RUN, "interrupted; an audit has no result until it has ended");
    if (atomic_load(&crew->board->failed) && crew->board->error.fault)
        *error = crew->board->error;
    else if (atomic_load(&crew->board->failed))
        return error_set(error, DPF_FAULT_RUN,
                         crew->crashed ? "a process that ran trials was killed"
                                       : "a process that ran trials failed");
    return error->fault ? -1 : 0;
}

int audit_jobs_run(struct audit_session *audit, struct dpf_error *error)
{
    struct crew crew = {.audit = audit};
    long at_once = audit->arguments->jobs ? audit->arguments->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    audit->n_trials = audit_value(audit, AUDIT_TRIALS)->integer;
    audit->width = audit->trials.n_numbers > 0 ? audit->trials.n_numbers : 1;
    const size_t bytes = (size_t)(2 * audit->n_trials * audit->width) * sizeof(double);
    audit->results = shared_memory(bytes);
    crew.board = shared_memory(sizeof *crew.board);
    if (at_once < 1)
        at_once = 1;
    /* Long enough to be worth a process, short enough for them to end together. */
    crew.chunk = 2 * audit->n_trials / (at_once * 8);
    crew.chunk = crew.chunk < 1 ? 1 : crew.chunk > 256 ? 256 : crew.chunk;
    openblas_set_num_threads(1); /* BLAS starts no threads before the forks */
    const int status =
        audit->results && crew.board ? run_all(&crew, (int)at_once, error) : error_memory(error);
    if (crew.board)
        munmap(crew.board, sizeof *crew.board);
    return status;
}
