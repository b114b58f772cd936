/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as series: delta over epsilon, and epsilon over rounds. */
#include <math.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sheet.h"
#include "base/terminal.h"
#include "privacy/dp_event.h"

#define CURVE_POINTS 41
#define TABLE_POINTS 11
#define ODOMETER_POINTS 24
#define DIGITS 9 /* of numbers in CSV, which are rounded up */

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

/* Events and accountants of one ledger. */
struct curves {
    const struct guarantee *guarantee;
    struct instance *const *accountants;
    int n_accountants;
    dpf_event *events;
    int64_t n;
    int64_t rounds;
};

static void curves_open(struct curves *curves, const struct ledger *ledger)
{
    curves->n = ledger->n;
    curves->events = memory_need((size_t)ledger->n, sizeof *curves->events);
    for (int64_t i = 0; i < ledger->n; i++)
        curves->events[i] = ledger->entries[i].event;
}

/* NaN if the accountant refuses, or cannot answer that question. */
static double delta_at(const struct curves *curves, int which, double epsilon)
{
    const struct instance *accountant = curves->accountants[which];
    const dpf_accountant *functions = accountant->functions;
    const dpf_question question = {.size = sizeof question,
                                   .unit = curves->guarantee->unit,
                                   .adjacency = curves->guarantee->adjacency,
                                   .observer = curves->guarantee->observer,
                                   .epsilon = epsilon,
                                   .rounds = curves->rounds};
    dpf_answer answer = {.size = sizeof answer};
    return functions->delta &&
                   functions->delta(accountant->self, curves->events, curves->n, &question, &answer) == DPF_OK
               ? answer.delta
               : (double)NAN;
}

int curve_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error)
{
    struct curves curves = {guarantee, accountants, n, NULL, 0, rounds};
    const double end = widest(guarantee);
    int status = 0;
    curves_open(&curves, ledger);
    fputs("accountant,epsilon,delta\n", file);
    for (int i = 0; i < n && status == 0; i++)
        for (int point = 0; point < CURVE_POINTS && status == 0; point++) {
            const double epsilon = end * point / (CURVE_POINTS - 1), delta = delta_at(&curves, i, epsilon);
            char number[32];
            if (!isnan(delta))
                fprintf(file, "%s,%.17g,%s\n", accountants[i]->entry->component->id, epsilon,
                        guarantee_digits_up(delta, DIGITS, number));
            status = interrupt_check("the curve was computed", error);
        }
    free(curves.events);
    return status;
}

static void print_sheet(struct sheet *sheet, const char *title, const struct guarantee *guarantee, int width,
                        struct text *out)
{
    text_add(out, "\n");
    char *head = memory_format("%s%s", title, guarantee->plan_holds ? "" : ", IF EVERY CONDITION HELD");
    terminal_wrap(out, "", 0, head, width);
    text_add(out, "\n");
    sheet_write(sheet, SHEET_TEXT, width, out);
    sheet_free(sheet);
    free(head);
}

/* The trade-off curve: the least rate of misses for a rate of false alarms, from the same points. */
static void add_tests(const struct curves *curves, double end, int width, struct text *out)
{
    static const double rates[] = {0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    double epsilon[TABLE_POINTS], delta[TABLE_POINTS];
    struct sheet sheet = {0};
    char title[32];
    sheet_column(&sheet, "accountant", SHEET_LEFT);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        snprintf(title, sizeof title, "%g", rates[r]);
        sheet_column(&sheet, title, SHEET_RIGHT);
    }
    for (int i = 0; i < curves->n_accountants; i++) {
        int n = 0;
        for (int point = 0; point < TABLE_POINTS; point++) {
            epsilon[n] = end * point / (TABLE_POINTS - 1);
            delta[n] = delta_at(curves, i, epsilon[n]);
            n += !isnan(delta[n]);
        }
        if (n == 0)
            continue;
        sheet_text(&sheet, curves->accountants[i]->entry->component->id);
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            sheet_fixed(&sheet, floor(1e5 * reach_missed(epsilon, delta, n, rates[r])) / 1e5, 5);
    }
    print_sheet(&sheet, "TRADE-OFF: LEAST RATE OF MISSES FOR EACH RATE OF FALSE ALARMS", curves->guarantee,
                width, out);
}

void curve_table(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                 const struct ledger *ledger, int64_t rounds, int width, struct text *out)
{
    struct curves curves = {guarantee, accountants, n, NULL, 0, rounds};
    const double end = widest(guarantee);
    struct sheet sheet = {0};
    curves_open(&curves, ledger);
    sheet_column(&sheet, "epsilon", SHEET_RIGHT);
    for (int i = 0; i < n; i++)
        sheet_column(&sheet, accountants[i]->entry->component->id, SHEET_RIGHT);
    for (int point = 0; point < TABLE_POINTS; point++) {
        const double epsilon = end * point / (TABLE_POINTS - 1);
        char number[32];
        sheet_text(&sheet, guarantee_digits_up(epsilon, 5, number));
        for (int i = 0; i < n; i++) {
            const double delta = delta_at(&curves, i, epsilon);
            sheet_text(&sheet, isnan(delta) ? NULL : guarantee_digits_up(delta, 4, number));
        }
    }
    print_sheet(&sheet, "DELTA FOR EACH EPSILON", guarantee, width, out);
    add_tests(&curves, end, width, out);
    free(curves.events);
}

/* Of an entry's releases, those that one unit can have had after r rounds: a cap may be used up early. What
   is released once after the last round is made when a run ends, however many rounds it had. */
static int64_t released_after(const struct ledger_entry *entry, int64_t r, int ended)
{
    const int64_t all = entry->event.count;
    return ended && entry->event.round > 0                       ? all
           : r <= entry->event.round                             ? 0
           : entry->per_round == 0 || entry->per_round > all / r ? all
                                                                 : entry->per_round * r;
}

/* What has been spent after round r: free judged. */
static int account_round(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                         const struct ledger *whole, int64_t r, int ended, struct guarantee *judged,
                         struct dpf_error *error)
{
    struct ledger part = {0};
    *judged = *guarantee;
    judged->accounts = NULL;
    judged->n_accounts = 0;
    for (int64_t i = 0; i < whole->n; i++) {
        dpf_event event = whole->entries[i].event;
        event.count = released_after(&whole->entries[i], r, ended);
        ledger_add(&part, &event, whole->entries[i].source);
    }
    const int status = guarantee_account(judged, accountants, n, &part, r, error);
    ledger_free(&part);
    return status;
}

static int spent_at(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                    const struct ledger *whole, int64_t r, FILE *file, struct dpf_error *error)
{
    struct guarantee judged;
    char number[32];
    const int status = account_round(guarantee, accountants, n, whole, r, 0, &judged, error);
    for (int i = 0; status == 0 && i < judged.n_accounts; i++)
        if (!judged.accounts[i].refused)
            fprintf(file, "%lld,%s,%s\n", (long long)r, judged.accounts[i].accountant,
                    guarantee_digits_up(judged.accounts[i].answer.epsilon, DIGITS, number));
    guarantee_free(&judged);
    return status;
}

json_t *odometer_json(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const struct ledger *ledger, int64_t round, struct dpf_error *error)
{
    struct guarantee judged;
    json_t *spent = account_round(guarantee, accountants, n, ledger, round, 1, &judged, error) == 0
                        ? json_object()
                        : NULL;
    for (int i = 0; spent && i < judged.n_accounts; i++) {
        char name[96];
        snprintf(name, sizeof name, "epsilon-%s", judged.accounts[i].accountant);
        if (!judged.accounts[i].refused && isfinite(judged.accounts[i].answer.epsilon))
            json_object_set_new(spent, name, json_real(judged.accounts[i].answer.epsilon));
    }
    guarantee_free(&judged);
    return spent;
}

int odometer_write(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                   const struct ledger *ledger, int64_t rounds, FILE *file, struct dpf_error *error)
{
    const int64_t points = rounds < ODOMETER_POINTS ? rounds : ODOMETER_POINTS;
    fputs("round,accountant,epsilon\n", file);
    for (int64_t i = 1; i <= points; i++) {
        const int64_t r = i * (rounds / points) + i * (rounds % points) / points;
        if (spent_at(guarantee, accountants, n, ledger, r, file, error) != 0)
            return -1;
    }
    return 0;
}
