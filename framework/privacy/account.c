/* SPDX-License-Identifier: Apache-2.0 */
/* Runs accountants over the ledger. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "dpframe/accounting.h"
#include "privacy/guarantee.h"

/* The events alone, as accountants take them. */
static dpf_event *ledger_events(const struct ledger *ledger)
{
    dpf_event *events = memory_need((size_t)ledger->n, sizeof *events);
    for (int64_t i = 0; i < ledger->n; i++)
        events[i] = ledger->entries[i].event;
    return events;
}

/* An accountant must not report nonsense as a guarantee. */
static int check_answer(const struct instance *accountant, const dpf_answer *answer, struct dpf_error *error)
{
    if (!(answer->epsilon >= 0.0) || !(answer->delta >= 0.0 && answer->delta <= 1.0))
        return error_set(error, DPF_FAULT_PLUGIN,
                         "accountant %s answered epsilon = %g, delta = %g; epsilon must be at least 0, delta "
                         "in [0, 1]",
                         accountant->entry->component->id, answer->epsilon, answer->delta);
    return 0;
}

/*
 * Where records have weights of their own the statement says what the ends of the declared range cost: that
 * is public, which records have which weight is not.
 */
static int add_range(struct instance *accountant, const struct guarantee *guarantee, const dpf_event *events,
                     int64_t n, const dpf_question *question, struct account *account,
                     struct dpf_error *error)
{
    const dpf_accountant *functions = accountant->functions;
    const double weights[2] = {guarantee->weight_lo, guarantee->weight_hi};
    double epsilon[2];
    char low[32], high[32], *note = account->answer.note;
    const size_t used = strlen(note), room = sizeof account->answer.note - used;
    if (!functions->epsilon_per_unit || isinf(account->answer.epsilon) ||
        !(weights[0] > 0 && weights[0] < weights[1] && isfinite(weights[1])))
        return 0;
    const dpf_status status =
        functions->epsilon_per_unit(accountant->self, events, n, question, weights, NULL, 2, epsilon);
    if (instance_result(accountant, status, "accounting", error) != 0)
        return -1;
    snprintf(note + used, room,
             "%sA record's epsilon goes with its privacy weight: %s at weight %.4g, %s at weight %.4g; a "
             "user's is the sum. Quantiles, which are private: private/record_budgets.csv.",
             used > 0 ? " " : "", guarantee_number_up(epsilon[0], low), weights[0],
             guarantee_number_up(epsilon[1], high), weights[1]);
    return 0;
}

static int ask(struct instance *accountant, const struct guarantee *guarantee, const dpf_event *events,
               int64_t n, int64_t rounds, struct account *account, struct dpf_error *error)
{
    const dpf_accountant *functions = accountant->functions;
    if (interrupt_check("the guarantee was computed", error) != 0)
        return -1;
    const dpf_question question = {
        .size = sizeof question,
        .unit = guarantee->unit,
        .adjacency = guarantee->adjacency,
        .observer = guarantee->observer,
        .delta = guarantee->delta,
        .rounds = rounds,
    };
    memset(account, 0, sizeof *account);
    snprintf(account->accountant, sizeof account->accountant, "%s", accountant->entry->component->id);
    account->is_claim = functions->kind == DPF_ACCOUNTANT_CLAIM;
    account->answer.size = sizeof account->answer;
    account->answer.epsilon = account->answer.epsilon_lower = account->answer.order = NAN;
    const dpf_status status = functions->epsilon(accountant->self, events, n, &question, &account->answer);
    if (status == DPF_OK) {
        account->answer.source[sizeof account->answer.source - 1] = '\0';
        account->answer.note[sizeof account->answer.note - 1] = '\0';
        if (check_answer(accountant, &account->answer, error) != 0)
            return -1;
        return add_range(accountant, guarantee, events, n, &question, account, error);
    }
    account->answer.epsilon = NAN;
    account->answer.delta = guarantee->delta;
    account->answer.source[0] = account->answer.note[0] = '\0';
    if (status == DPF_E_UNSUPPORTED) {
        account->refused = 1;
        instance_reason(accountant, status, account->reason, sizeof account->reason);
        return 0;
    }
    if (instance_result(accountant, status, "accounting", error) == 0)
        return error_set(error, DPF_FAULT_PLUGIN, "accountant %s failed without a reason",
                         account->accountant);
    return -1;
}

int guarantee_account(struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const struct ledger *ledger, int64_t rounds, struct dpf_error *error)
{
    free(guarantee->accounts);
    guarantee->n_accounts = 0;
    guarantee->accounts = memory_need((size_t)n, sizeof *guarantee->accounts);
    dpf_event *events = ledger_events(ledger);
    int status = 0;
    for (int i = 0; status == 0 && i < n; i++) {
        status = ask(accountants[i], guarantee, events, ledger->n, rounds, &guarantee->accounts[i], error);
        if (status == 0)
            guarantee->n_accounts++;
    }
    free(events);
    return status;
}

int guarantee_compose(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const dpf_event *events, int64_t n_events, double delta, double *epsilon, char name[32],
                      struct dpf_error *error)
{
    struct guarantee asked = *guarantee;
    asked.delta = delta;
    asked.weight_lo = asked.weight_hi = 1;
    *epsilon = INFINITY;
    name[0] = '\0';
    for (int i = 0; i < n; i++) {
        struct account account;
        if (ask(accountants[i], &asked, events, n_events, 1, &account, error) != 0)
            return -1;
        if (account.is_claim || account.refused || !(account.answer.epsilon < *epsilon))
            continue;
        *epsilon = account.answer.epsilon;
        snprintf(name, 32, "%s", account.accountant);
    }
    return 0;
}

void guarantee_free(struct guarantee *guarantee)
{
    free(guarantee->accounts);
    guarantee->accounts = NULL;
    guarantee->n_accounts = 0;
}
