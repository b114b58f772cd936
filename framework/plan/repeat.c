/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/repeat.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/memory.h"
#include "plan/charge.h"
#include "privacy/statement.h"

/* ---- what it costs ------------------------------------------------------------------------------------- */

/* Releases of an entry in one more round; what is not released by rounds is released once more. */
static int64_t in_round(const struct ledger_entry *entry)
{
    return entry->per_round > 0 ? entry->per_round : entry->event.count;
}

static void warn_of_total(const struct plan *plan)
{
    if (plan->privacy.params.values[PRIVACY_BUDGET].integer == BUDGET_TOTAL)
        log_message(LOG_LEVEL_WARNING,
                    "the noise was chosen for total-epsilon without the rounds that are made again, so the "
                    "stated epsilon exceeds it");
}

int repeat_count(struct plan *plan, int64_t repeats, struct dpf_error *error)
{
    if (repeats == 0)
        return 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        struct ledger_entry *entry = &plan->ledger.entries[i];
        const int64_t more = repeats * in_round(entry);
        entry->event.count += more;
        entry->participations += entry->participations > 0 ? more : 0;
    }
    plan->run_facts.rounds += repeats;
    guarantee_conditions(&plan->privacy, &plan->run_facts, &plan->ledger, &plan->guarantee);
    plan->guarantee.repeats += repeats;
    warn_of_total(plan);
    return guarantee_account(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                             plan->run_facts.rounds, error);
}

int repeat_charge(struct plan *plan, int64_t repeats, const struct data_ledger_resumption *resumption,
                  struct dpf_error *error)
{
    struct ledger again = {0};
    struct guarantee judged = plan->guarantee;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        dpf_event event = plan->ledger.entries[i].event;
        event.count = repeats * in_round(&plan->ledger.entries[i]);
        ledger_add(&again, &event, plan->ledger.entries[i].source);
    }
    int status = guarantee_account(&judged, plan->accountants, plan->n_accountants, &again, repeats, error);
    if (status == 0)
        status = plan_charge_part(plan, &judged, &again, resumption, 1, error);
    guarantee_free(&judged);
    ledger_free(&again);
    return status;
}

/* ---- several runs -------------------------------------------------------------------------------------- */

static void add_releases(const struct ledger *own, int64_t runs, struct ledger *to)
{
    struct ledger all = {0};
    ledger_times(own, runs, &all);
    for (int64_t i = 0; i < all.n; i++)
        ledger_add(to, &all.entries[i].event, all.entries[i].source);
    ledger_free(&all);
}

int repeat_room(struct plan *plan, int64_t runs, struct runs_due *due, struct dpf_error *error)
{
    const struct account *least = statement_least(&plan->guarantee);
    struct guarantee sum = plan->guarantee;
    if (!least) /* the ledger refuses it, if there is one */
        return plan_charge_part(plan, &plan->guarantee, &plan->ledger, NULL, 0, error);
    struct account all = *least;
    due->runs += runs;
    all.answer.epsilon = due->epsilon += (double)runs * least->answer.epsilon;
    all.answer.delta = due->delta += (double)runs * least->answer.delta;
    sum.accounts = &all;
    sum.n_accounts = 1;
    add_releases(&plan->ledger, runs, &due->releases);
    return plan_charge_part(plan, &sum, &due->releases, NULL, 0, error);
}

int repeat_runs(struct plan *plan, int64_t runs, struct runs_cost *out, struct dpf_error *error)
{
    struct ledger all = {0};
    struct guarantee judged = plan->guarantee;
    *out = (struct runs_cost){.epsilon = (double)NAN, .accountant = ""};
    judged.accounts = NULL;
    judged.n_accounts = 0;
    ledger_times(&plan->ledger, runs, &all);
    const int status = guarantee_account(&judged, plan->accountants, plan->n_accountants, &all,
                                         runs * plan->run_facts.rounds, error);
    const struct account *least = status == 0 ? statement_least(&judged) : NULL;
    if (least) {
        out->epsilon = least->answer.epsilon;
        out->delta = least->answer.delta;
        snprintf(out->accountant, sizeof out->accountant, "%s", least->accountant);
    }
    guarantee_free(&judged);
    ledger_free(&all);
    return status;
}
