/* SPDX-License-Identifier: Apache-2.0 */
/* run_once.h - one run of a configuration: load, train, evaluate, write. */
#ifndef DPF_RUN_RUN_ONCE_H
#define DPF_RUN_RUN_ONCE_H

#include "run/arguments.h"

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

/* One run of a configuration. */
struct run_request {
    const struct arguments *arguments; /* output is taken from them too */
    struct data_parsed *parsed;        /* of the run's data, used up; or NULL */
    int threads;                       /* in place of run.threads = 0; 0: one for each processor */
    int quiet;
    double started;              /* by progress_clock, where the caller has begun before; or 0 */
    const struct run_part *part; /* NULL: the run stands for itself, and is charged */
};
int run_once(const struct run_request *request, struct dpf_error *error);

#endif
