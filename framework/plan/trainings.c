/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/trainings.h"

#include "base/log.h"
#include "privacy/statement.h"

int trainings_count(struct plan *plan, int64_t trainings, struct dpf_error *error)
{
    const double alone = statement_least_epsilon(&plan->guarantee);
    struct ledger all;
    if (plan->ledger.n == 0)
        return 0;
    ledger_times(&plan->ledger, trainings, &all);
    ledger_free(&plan->ledger);
    plan->ledger = all;
    plan->run_facts.rounds *= trainings;
    guarantee_conditions(&plan->privacy, &plan->run_facts, &plan->ledger, &plan->guarantee);
    plan->guarantee.trainings = trainings;
    plan->guarantee.alone = alone;
    if (plan->privacy.params.values[PRIVACY_BUDGET].integer == BUDGET_TOTAL)
        log_message(LOG_LEVEL_WARNING,
                    "the noise is that of total-epsilon for one training; with [run] compare-repetitions "
                    "%lld trainings are "
                    "counted, so the stated epsilon exceeds it",
                    (long long)trainings);
    return guarantee_account(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                             plan->run_facts.rounds, error);
}
