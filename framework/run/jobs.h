/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - work in processes of its own, so many at a time.
 *
 * A process per job, made by fork: what the caller has in memory is there without being copied or parsed
 * again, and a job that crashes hurts nobody. A job dies with its parent. SIGINT and SIGTERM ask the running
 * jobs to end, and start no more; a second one kills them.
 */
#ifndef DPF_RUN_JOBS_H
#define DPF_RUN_JOBS_H

#include <stddef.h>

#include "base/error.h"

#define JOB_INTERRUPTED (-1)

struct jobs {
    void *context;
    size_t n;
    int at_once;
    /* In the caller's process, before job i is started. */
    void (*before)(void *context, size_t i);
    /* In a process of its own; what it returns is the exit code. */
    int (*work)(void *context, size_t i);
    /* In the caller's process. ended is an exit code, or 128 + the number of the signal that killed the job.
     */
    void (*after)(void *context, size_t i, int ended, double seconds);
    /* A few times a second, and after each job. */
    void (*tick)(void *context, size_t running);
};

/* 0: all jobs have ended, however; 1: interrupted. */
int jobs_run(const struct jobs *jobs, struct dpf_error *error);

#endif
