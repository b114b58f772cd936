/* SPDX-License-Identifier: Apache-2.0 */
/* run_once.h - one run of a configuration: load, train, evaluate, write. */
#ifndef DPF_RUN_RUN_ONCE_H
#define DPF_RUN_RUN_ONCE_H

#include "engine/remote.h"
#include "run/arguments.h"

struct checkpoint;
struct data_parsed;
struct guarantee;
struct ledger;

/*
 * A run whose results may be released only as a part of something larger, which has been charged: a private
 * selection. Results state the ledger and the guarantee of the whole. The run stops before it trains if its
 * own releases are not those at first .. first + n - 1 of that ledger.
 */
struct run_part {
    const struct ledger *ledger;
    const struct guarantee *guarantee;
    int64_t first, n;
    const char *output; /* where the results will lie in the end */
};
#define RUN_DEVIATED                                                                                         \
    90 /* what run_once returns for a part that departed from its plan; it writes no results */

struct dataset;

/* A run with other ends: parties in processes of their own, or the server that this one has joined. */
struct run_remote {
    void *context;
    /* In place of charging, once the plan is complete: finds the other ends, and charges before anything that
     * is made from records leaves. The checkpoint has a path at a server that keeps one. */
    int (*begin)(void *context, struct plan *plan, const struct dataset *dataset,
                 struct checkpoint *checkpoint, struct dpf_error *error);
    struct engine_remote engine;
    /* After the last round, or what went wrong; rows are those that were released. Not called if begin was
     * not.
     */
    void (*end)(void *context, int status, const struct remote_rows *rows, const struct dpf_error *error);
};

/* One run of a configuration. */
struct run_request {
    const struct arguments *arguments; /* output is taken from them too */
    struct data_parsed *parsed;        /* of the run's data, used up; or NULL */
    int threads;                       /* in place of run.threads = 0; 0: one for each processor */
    int quiet;
    int whole_process;               /* the run is all that the process does: its times begin with it */
    const struct run_part *part;     /* NULL: the run stands for itself, and is charged */
    const struct run_remote *remote; /* NULL: all parties are here */
};
int run_once(const struct run_request *request, struct dpf_error *error);

#endif
