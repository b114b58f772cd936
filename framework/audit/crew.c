/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "audit/crew.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/interrupt.h"
#include "base/ticker.h"
#include "run/jobs.h"
#include "run/progress.h"

struct board {
    atomic_llong done;
    atomic_int failed;
    struct dpf_error error; /* of the first that failed */
};

struct shift {
    const struct crew *crew;
    struct board *board; /* shared with the processes */
    int64_t chunk;
    struct progress progress;
    int crashed;
};

void *crew_memory(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static int train_chunk(void *context, size_t i)
{
    struct shift *shift = context;
    const struct crew *crew = shift->crew;
    struct dpf_error error = {0};
    struct pool *pool = pool_new(1);
    const int64_t first = (int64_t)i * shift->chunk;
    const int64_t end = first + shift->chunk < crew->n ? first + shift->chunk : crew->n;
    int status = 0;
    ticker_set(TICKER_OFF); /* all trainings have one bar */
    for (int64_t t = first; t < end && status == 0 && !atomic_load(&shift->board->failed); t++) {
        status = interrupt_check("trainings were made", &error);
        if (status == 0)
            status = crew->train(crew->context, pool, t, &error);
        atomic_fetch_add(&shift->board->done, status == 0);
    }
    if (status != 0 && atomic_exchange(&shift->board->failed, 1) == 0)
        shift->board->error = error;
    pool_free(pool);
    return status == 0 ? 0 : DPF_FAULT_RUN;
}

static void after_chunk(void *context, size_t i, int ended, double seconds)
{
    struct shift *shift = context;
    (void)i;
    (void)seconds;
    shift->crashed |= ended > 128;
    if (ended != 0)
        atomic_store(&shift->board->failed, 1);
}

static void show_progress(void *context, size_t running)
{
    struct shift *shift = context;
    const int64_t done = atomic_load(&shift->board->done);
    (void)running;
    if (!shift->crew->quiet && done > 0)
        progress_step(&shift->progress, done, "");
}

static int train_all(struct shift *shift, int at_once, struct dpf_error *error)
{
    const struct crew *crew = shift->crew;
    const struct jobs jobs = {.context = shift,
                              .n = (size_t)((crew->n + shift->chunk - 1) / shift->chunk),
                              .at_once = at_once,
                              .work = train_chunk,
                              .after = after_chunk,
                              .tick = show_progress};
    progress_start(&shift->progress, crew->n);
    shift->progress.what = crew->what;
    const int status = jobs_run(&jobs, error);
    if (!crew->quiet)
        progress_end(&shift->progress);
    if (status < 0)
        return -1;
    if (status > 0)
        return error_set(error, DPF_FAULT_RUN, "interrupted; %s has no result until it has ended",
                         crew->whole);
    if (atomic_load(&shift->board->failed) && shift->board->error.fault)
        *error = shift->board->error;
    else if (atomic_load(&shift->board->failed))
        return error_set(error, DPF_FAULT_RUN, "a process that %s %s", crew->did,
                         shift->crashed ? "was killed" : "failed");
    return error->fault ? -1 : 0;
}

int crew_run(const struct crew *crew, struct dpf_error *error)
{
    long at_once = crew->at_once ? crew->at_once : sysconf(_SC_NPROCESSORS_ONLN);
    struct shift shift = {.crew = crew, .board = crew_memory(sizeof *shift.board)};
    if (!shift.board)
        return error_memory(error);
    if (at_once < 1)
        at_once = 1;
    /* Long enough to be worth a process, short enough for them to end together. */
    shift.chunk = crew->n / (at_once * 8);
    shift.chunk = shift.chunk < 1 ? 1 : shift.chunk > 256 ? 256 : shift.chunk;
    blas_one_thread(); /* BLAS starts no threads before the forks */
    const int status = train_all(&shift, (int)at_once, error);
    munmap(shift.board, sizeof *shift.board);
    return status;
}
