/* SPDX-License-Identifier: Apache-2.0 */
/* Trials in processes of their own, which share the data by fork and hand scores back in shared memory. */
#include "audit/audit_session.h"
#include "audit/crew.h"

/* Trials of both data sets take turns. */
static int run_trial(void *context, struct pool *pool, int64_t trial, struct dpf_error *error)
{
    struct audit_session *audit = context;
    double *out = audit->results + trial * audit->width;
    const int set = (int)(trial / audit->n_trials);
    return trials_run(&audit->trials, pool, set, trial % audit->n_trials, out, error);
}

int audit_jobs_run(struct audit_session *audit, struct dpf_error *error)
{
    audit->n_trials = audit_value(audit, AUDIT_TRIALS)->integer;
    audit->width = audit->trials.n_numbers > 0 ? audit->trials.n_numbers : 1;
    const struct crew crew = {.context = audit,
                              .train = run_trial,
                              .n = 2 * audit->n_trials,
                              .at_once = audit->arguments->jobs,
                              .quiet = audit->arguments->quiet,
                              .what = "trial",
                              .whole = "an audit",
                              .did = "ran trials"};
    audit->results = crew_memory((size_t)(2 * audit->n_trials * audit->width) * sizeof(double));
    return audit->results ? crew_run(&crew, error) : error_memory(error);
}
