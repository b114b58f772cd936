/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/worker.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/ticker.h"
#include "plugin/registry.h"
#include "plugin/services.h"

#define FIRST_CHUNK ((size_t)1 << 16)

static atomic_int fill = -1;

struct chunk {
    struct chunk *next;
    size_t size;
    unsigned char *bytes;
};

/*
 * Scratch is a bump allocator. What does not fit goes to further chunks; before the next callback
 * these become one that is large enough for all, so a steady state allocates nothing.
 */
struct worker {
    dpf_call call;        /* first: a call is its worker */
    struct pool *pool;    /* lent to this call; NULL: none */
    struct chunk *chunks; /* the newest first */
    size_t used;          /* of the newest */
    size_t total;         /* sizes of all chunks */
};

static struct chunk *chunk_new(size_t size)
{
    struct chunk *chunk = memory_new(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->bytes = memory_raw(size, 1);
    if (!chunk->bytes) {
        free(chunk);
        return NULL;
    }
    return chunk;
}

static void free_chunks(struct worker *worker)
{
    while (worker->chunks) {
        struct chunk *chunk = worker->chunks;
        worker->chunks = chunk->next;
        free(chunk->bytes);
        free(chunk);
    }
    worker->used = 0;
    worker->total = 0;
}

static int add_chunk(struct worker *worker, size_t size)
{
    struct chunk *chunk = chunk_new(size);
    if (!chunk)
        return -1;
    chunk->next = worker->chunks;
    worker->chunks = chunk;
    worker->used = 0;
    worker->total += size;
    return 0;
}

static void *take_scratch(const dpf_call *call, uint64_t bytes)
{
    struct worker *worker = call->context;
    if (bytes > SIZE_MAX / 4 || services_request_fails())
        return NULL;
    size_t size = ((size_t)bytes + 63) / 64 * 64;
    if (size == 0)
        size = 64;
    if (!worker->chunks || size > worker->chunks->size - worker->used) {
        size_t wanted = worker->total > FIRST_CHUNK ? worker->total : FIRST_CHUNK;
        if (add_chunk(worker, size > wanted ? size : wanted) != 0)
            return NULL;
    }
    unsigned char *block = worker->chunks->bytes + worker->used;
    worker->used += size;
    int byte = atomic_load_explicit(&fill, memory_order_relaxed);
    if (byte >= 0)
        memset(block, byte, size);
    return block;
}

static int32_t is_cancelled(const dpf_call *call)
{
    (void)call;
    return worker_cancelled();
}

struct lent_task {
    dpf_task task;
    void *context;
};

static int run_lent_task(void *context, int64_t task, int worker)
{
    const struct lent_task *lent = context;
    lent->task(lent->context, task, worker);
    return 0;
}

static void run_on_pool(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    struct worker *worker = call->context;
    struct lent_task lent = {task, context};
    pool_run(worker->pool, n_tasks, run_lent_task, &lent);
}

/* Makes one chunk of several. Without memory the old ones go, and the next request starts anew. */
static void reset_scratch(struct worker *worker)
{
    worker->used = 0;
    if (!worker->chunks || !worker->chunks->next)
        return;
    size_t total = worker->total;
    free_chunks(worker);
    (void)add_chunk(worker, total);
}

struct worker *worker_new(int index, int n_workers)
{
    struct worker *worker = memory_need(1, sizeof *worker);
    worker->call.size = sizeof worker->call;
    worker->call.worker = index;
    worker->call.n_workers = n_workers;
    worker->call.context = worker;
    worker->call.scratch = take_scratch;
    worker->call.cancelled = is_cancelled;
    return worker;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    free_chunks(worker);
    free(worker);
}

dpf_call *worker_call(struct worker *worker, struct instance *instance, int32_t round, uint32_t draw,
                      uint32_t party)
{
    reset_scratch(worker);
    worker->call.round = round;
    worker->call.draw = draw;
    worker->call.party = party;
    worker->call.host = &instance->host;
    worker->call.run_tasks = NULL;
    worker->pool = NULL;
    return &worker->call;
}

void worker_lend_pool(struct worker *worker, struct pool *pool)
{
    worker->pool = pool;
    worker->call.run_tasks = run_on_pool;
}

/* Whoever asks is at work: what has no steps to count shows that it goes on. */
int worker_cancelled(void)
{
    ticker_add(0);
    return interrupt_is_wanted();
}

const char *worker_cancelled_leaves(int checkpoint)
{
    return checkpoint ? "no results are written. The checkpoint is kept: continue with the same command and "
                        "--resume"
                      : "nothing is written";
}

void worker_fill_scratch(int byte)
{
    atomic_store(&fill, byte);
}
