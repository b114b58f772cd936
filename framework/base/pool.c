/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"

struct pool {
    int workers;
    int started; /* helper threads that run */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t done;
    uint64_t generation;
    int busy;
    int quit;
    pool_task task;
    void *context;
    int64_t n_tasks;
    atomic_llong next;
    atomic_int failed;
};

struct helper {
    struct pool *pool;
    int worker;
};

static void work_through(struct pool *pool, int worker)
{
    while (!atomic_load_explicit(&pool->failed, memory_order_relaxed)) {
        long long task = atomic_fetch_add(&pool->next, 1);
        if (task >= pool->n_tasks)
            break;
        if (pool->task(pool->context, task, worker) != 0)
            atomic_store(&pool->failed, 1);
    }
}

static void *helper_main(void *argument)
{
    struct helper helper = *(struct helper *)argument;
    free(argument);
    struct pool *pool = helper.pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->generation == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        work_through(pool, helper.worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct pool *pool_new(int workers)
{
    struct pool *pool = memory_need(1, sizeof *pool);
    pool->workers = workers < 1 ? 1 : workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = memory_need((size_t)pool->workers, sizeof *pool->threads);
    while (pool->started + 1 < pool->workers) {
        struct helper *helper = memory_need(1, sizeof *helper);
        *helper = (struct helper){pool, pool->started + 1};
        if (pthread_create(&pool->threads[pool->started], NULL, helper_main, helper) != 0) {
            free(helper);
            log_message(LOG_LEVEL_WARNING, "the system gives %d of %d threads: this takes longer",
                        pool->started + 1, pool->workers);
            break;
        }
        pool->started++;
    }
    return pool;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = 1;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

int pool_workers(const struct pool *pool)
{
    return pool->workers;
}

int pool_run(struct pool *pool, int64_t n_tasks, pool_task task, void *context)
{
    pool->task = task;
    pool->context = context;
    pool->n_tasks = n_tasks;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->failed, 0);
    if (pool->started && n_tasks > 1) {
        pthread_mutex_lock(&pool->lock);
        pool->busy = pool->started;
        pool->generation++;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        work_through(pool, 0);
        pthread_mutex_lock(&pool->lock);
        while (pool->busy)
            pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
    } else {
        work_through(pool, 0);
    }
    return atomic_load(&pool->failed) ? -1 : 0;
}
