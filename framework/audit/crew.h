/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - many trainings that differ in their number alone, in processes of their own, with a bar. */
#ifndef DPF_AUDIT_CREW_H
#define DPF_AUDIT_CREW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"

struct crew {
    void *context; /* shared with the processes by fork: what they write for others is in shared memory */
    /* Training i, in one of the processes, on a pool of one worker. */
    int (*train)(void *context, struct pool *pool, int64_t i, struct dpf_error *error);
    int64_t n;
    int at_once; /* processes; 0: one for each processor */
    int quiet;
    const char *what, *whole, *did; /* "trial", "an audit", "ran trials" */
};

/* Memory that processes share; release it by munmap. NULL: there is none. */
void *crew_memory(size_t bytes);
/* All of them. The first error of any of them ends it. */
int crew_run(const struct crew *crew, struct dpf_error *error);

#endif
