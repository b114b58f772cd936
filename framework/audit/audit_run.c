/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/mman.h>

#include "audit/attack.h"
#include "audit/audit_run.h"
#include "audit/audit_session.h"
#include "audit/audit_ways.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/progress.h"

static void audit_close(struct audit_session *audit)
{
    if (audit->results)
        munmap(audit->results, (size_t)(2 * audit->n_trials * audit->width) * sizeof(double));
    trials_free(&audit->trials);
    extremes_free(&audit->extreme);
    one_run_free(&audit->one_run);
    dataset_free(&audit->base);
    free(audit->statements);
    noise_check_free(&audit->noise);
    config_values_free(&audit->values);
    session_close(&audit->session);
}

static int audit_open(struct audit_session *audit, int without_mechanisms, struct dpf_error *error)
{
    int64_t n;
    const dpf_param *table = audit_params(&n);
    if (session_open(&audit->session, audit->arguments, without_mechanisms, error) != 0)
        return -1;
    return config_bind(audit->session.plan.config, "audit", table, n, sizeof *table, NULL, 1, &audit->values,
                       error);
}

/* The same without noise, where an attack asks for it. */
static int leave_out_noise(struct audit_session *audit, struct dpf_error *error)
{
    if (audit_value(audit, AUDIT_ATTACK_NOISE)->integer)
        return 0;
    config_values_free(&audit->values);
    session_close(&audit->session);
    return audit_open(audit, 1, error);
}

static int check_noise(struct audit_session *audit, struct dpf_error *error)
{
    const int one_run = audit_in_one_run(audit);
    struct pool *pool = pool_new(1);
    const int status = noise_check_run(&audit->session.plan, one_run ? &audit->base : &audit->trials.sets[0],
                                       pool, &audit->noise, error);
    pool_free(pool);
    return status;
}

static int audit_all(struct audit_session *audit, int *violations, struct dpf_error *error)
{
    const double started = progress_clock();
    if (audit_open(audit, 0, error) != 0 || audit_check_way(audit, error) != 0)
        return -1;
    log_set_level(LOG_LEVEL_WARNING);
    if (audit_value(audit, AUDIT_ATTACK)->integer != ATTACKS_NONE)
        return leave_out_noise(audit, error) == 0 ? attack_run(audit, violations, error) : -1;
    if (audit_pair_make(audit, error) != 0 ||
        (!audit_in_one_run(audit) && audit_jobs_run(audit, error) != 0) || check_noise(audit, error) != 0 ||
        audit_judge(audit, error) != 0)
        return -1;
    audit->seconds = progress_clock() - started;
    *violations = audit_report(audit);
    return 0;
}

int audit_run(const struct arguments *arguments, int of_plugin, int *violations, struct dpf_error *error)
{
    struct audit_session *audit = memory_need(1, sizeof *audit);
    audit->arguments = arguments;
    audit->of_plugin = of_plugin;
    const int status = audit_all(audit, violations, error);
    audit_close(audit);
    free(audit);
    return status;
}
