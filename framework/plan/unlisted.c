/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/unlisted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"

#define WORTH_A_WORD 0.999 /* of the least epsilon that is listed */

static int is_listed(const struct plan *plan, const char *id)
{
    for (int i = 0; i < plan->n_accountants; i++)
        if (strcmp(plan->accountants[i]->entry->component->id, id) == 0)
            return 1;
    return 0;
}

static double least_listed(const struct guarantee *guarantee)
{
    double least = INFINITY;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (!account->is_claim && !account->refused)
            least = fmin(least, account->answer.epsilon);
    }
    return least;
}

/* Infinity if it refuses, or fails: then there is nothing to recommend. */
static double epsilon_by(struct plan *plan, const struct registry_entry *entry)
{
    struct dpf_error ignored = {0};
    struct guarantee judged = plan->guarantee;
    char *section = memory_format("accountants.%s", entry->component->id);
    struct instance *accountant = instance_new(entry, section, &plan->environment, &ignored);
    double epsilon = INFINITY;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    if (accountant &&
        guarantee_account(&judged, &accountant, 1, &plan->ledger, plan->run_facts.rounds, &ignored) == 0)
        epsilon = least_listed(&judged);
    guarantee_free(&judged);
    instance_free(accountant);
    free(section);
    return epsilon;
}

int unlisted_find(struct plan *plan, struct unlisted *out, struct dpf_error *error)
{
    *out = (struct unlisted){"", INFINITY, least_listed(&plan->guarantee)};
    const int64_t n = plan->guarantee.n_releases > 0 ? registry_count(plan->registry) : 0;
    double least = WORTH_A_WORD * out->listed;
    for (int64_t i = 0; i < n; i++) {
        if (strcmp(registry_role_at(plan->registry, i), DPF_ROLE_ACCOUNTANT) != 0 ||
            is_listed(plan, registry_id_at(plan->registry, i)))
            continue;
        const struct registry_entry *entry = registry_at(plan->registry, i, error);
        if (!entry)
            return -1;
        const dpf_component *component = entry->component;
        if (((const dpf_accountant *)component->functions)->kind != DPF_ACCOUNTANT_PROOF)
            continue;
        const double epsilon = epsilon_by(plan, entry);
        if (interrupt_check("accountants were compared", error) != 0)
            return -1;
        if (!(epsilon < least))
            continue;
        least = out->epsilon = epsilon;
        snprintf(out->accountant, sizeof out->accountant, "%s", component->id);
    }
    return 0;
}
