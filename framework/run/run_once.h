/* SPDX-License-Identifier: Apache-2.0 */
/* run_once.h - one run of a configuration: load, train, evaluate, write. */
#ifndef DPF_RUN_RUN_ONCE_H
#define DPF_RUN_RUN_ONCE_H

#include "run/arguments.h"

struct data_parsed;

/* One run of a configuration. */
struct run_request {
    const struct arguments *arguments; /* output is taken from them too */
    struct data_parsed *parsed;        /* of the run's data, used up; or NULL */
    int threads;                       /* in place of run.threads = 0; 0: one for each processor */
    int quiet;
};
int run_once(const struct run_request *request, struct dpf_error *error);

#endif
