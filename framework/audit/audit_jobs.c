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

int audit_trials(struct audit_session *audit, int64_t usual, int64_t least, struct dpf_error *error)
{
    const int64_t asked = audit_value(audit, AUDIT_TRIALS)->integer;
    audit->n_trials = asked ? asked : usual;
    return audit->n_trials >= least ? 0
                                    : config_error(audit->session.plan.config, "audit", "trials", error,
                                                   "%lld trainings show nothing: %lld or more are needed",
                                                   (long long)asked, (long long)least);
}

int audit_jobs_run(struct audit_session *audit, struct dpf_error *error)
{
    if (audit_trials(audit, 1000, 20, error) != 0)
        return -1;
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
