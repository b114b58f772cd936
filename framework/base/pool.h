/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the worker threads.
 *
 * pool_run hands out the tasks 0 .. n-1 in order, each to whichever worker is free, and returns when
 * all are done. Results must not depend on which worker runs a task. The caller is worker 0.
 */
#ifndef DPF_BASE_POOL_H
#define DPF_BASE_POOL_H

#include <stdint.h>

struct pool;

/* A task. Returns 0, or -1 to have the remaining tasks skipped. */
typedef int (*pool_task)(void *context, int64_t task, int worker);

/* Where the system gives fewer threads, the others do their work, with a warning. */
struct pool *pool_new(int workers);
void pool_free(struct pool *pool);
int pool_workers(const struct pool *pool);
/* 0, or -1 if a task failed. */
int pool_run(struct pool *pool, int64_t n_tasks, pool_task task, void *context);

#endif
