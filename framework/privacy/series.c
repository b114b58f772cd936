/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as series: delta over epsilon, and epsilon over rounds. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/dp_event.h"

#define CURVE_POINTS 41
#define ODOMETER_POINTS 24

static double widest(const struct guarantee *guarantee)
{
    double most = 0.0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const double epsilon = guarantee->accounts[i].answer.epsilon;
        if (!guarantee->accounts[i].refused && isfinite(epsilon) && epsilon > most)
            most = epsilon;
    }
    return most > 0.0 ? 2.0 * most : 1.0;
}

/* An accountant that refuses, or cannot answer that question, has no line. */
static void curve_of(const struct guarantee *guarantee, const struct instance *accountant,
                     const dpf_event *events, int64_t n, int64_t rounds, FILE *file)
{
    const dpf_accountant *functions = accountant->functions;
    const double end = widest(guarantee);
    for (int i = 0; functions->delta && i < CURVE_POINTS; i++) {
        const dpf_question question = {.size = sizeof question,
                                       .unit = guarantee->unit,
                                       .adjacency = guarantee->adjacency,
                                       .observer = guarantee->observer,
                                       .epsilon = end * i / (CURVE_POINTS - 1),
                                       .rounds = rounds};
        dpf_answer answer = {.size = sizeof answer};
        if (functions->delta(accountant->self, events, n, &question, &answer) == DPF_OK)
            fprintf(file, "%s,%.9g,%.9g\n", accountant->entry->component->id, question.epsilon, answer.delta);
    }
}

int curve_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error)
{
    dpf_event *events = memory_new((size_t)ledger->n, sizeof *events);
    if (!events)
        return error_memory(error);
    for (int64_t i = 0; i < ledger->n; i++)
        events[i] = ledger->entries[i].event;
    fputs("accountant,epsilon,delta\n", file);
    for (int i = 0; i < n; i++)
        curve_of(guarantee, accountants[i], events, ledger->n, rounds, file);
    free(events);
    return 0;
}

/* After round r of `rounds`. Counts of a whole run are the same in every round, or a cap on all of them. */
static int spent_at(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                    const struct ledger *whole, int64_t rounds, int64_t r, FILE *file,
                    struct dpf_error *error)
{
    struct guarantee judged = *guarantee;
    struct ledger part = {0};
    int status = 0;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    for (int64_t i = 0; i < whole->n && status == 0; i++) {
        dpf_event event = whole->entries[i].event;
        const int64_t in_round = (event.count + rounds - 1) / rounds;
        event.count = in_round * r < event.count ? in_round * r : event.count;
        status = ledger_add(&part, &event, whole->entries[i].source, error);
    }
    if (status == 0)
        status = guarantee_account(&judged, accountants, n, &part, r, error);
    for (int i = 0; status == 0 && i < judged.n_accounts; i++)
        if (!judged.accounts[i].refused)
            fprintf(file, "%lld,%s,%.9g\n", (long long)r, judged.accounts[i].accountant,
                    judged.accounts[i].answer.epsilon);
    guarantee_free(&judged);
    ledger_free(&part);
    return status;
}

int odometer_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                   const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error)
{
    const int64_t points = rounds < ODOMETER_POINTS ? rounds : ODOMETER_POINTS;
    fputs("round,accountant,epsilon\n", file);
    for (int64_t i = 1; i <= points; i++) {
        const int64_t r = i * (rounds / points) + i * (rounds % points) / points;
        if (spent_at(guarantee, accountants, n, ledger, rounds, r, file, error) != 0)
            return -1;
    }
    return 0;
}
