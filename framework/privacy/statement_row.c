/* SPDX-License-Identifier: Apache-2.0 */
/* The statement as one row of a table, to compare configurations. */
#include "base/sheet.h"
#include "dpframe/accounting.h"
#include "privacy/statement.h"

/* The least epsilon of the claims. NULL if there is none. */
static const struct account *least_claim(const struct guarantee *guarantee)
{
    const struct account *best = NULL;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (account->is_claim && !account->refused &&
            (!best || account->answer.epsilon < best->answer.epsilon))
            best = account;
    }
    return best;
}

static void add_account(struct sheet *out, const struct account *account, const char *without)
{
    char epsilon[32], delta[32];
    if (!account) {
        sheet_text(out, without);
        return;
    }
    guarantee_number_up(account->answer.delta, delta);
    const char *shown = guarantee_number_up(account->answer.epsilon, epsilon);
    if (account->answer.delta > 0)
        sheet_printf(out, "(%s, %s), %s", shown, delta, account->accountant);
    else
        sheet_printf(out, "%s, %s", shown, account->accountant);
}

/* Why nothing is proved where no condition fails. */
static void add_unanswered(struct text *out, const struct guarantee *guarantee)
{
    int n = 0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (!account->is_claim)
            text_add(out, "%s%s %s", n++ ? ", " : "", account->accountant,
                     account->refused ? "refuses" : "has no finite epsilon");
    }
    if (n == 0)
        text_add(out, "no accountant that proves");
}

static void add_failing(struct text *out, const struct guarantee *guarantee)
{
    int n = 0;
    text_add(out, "%s", "");
    if (guarantee->released_raw || guarantee->n_releases == 0) {
        text_add(out, "nothing is protected");
        return;
    }
    for (int i = 0; i < N_CONDITIONS; i++)
        if (!guarantee->conditions[i].holds)
            text_add(out, "%s%s", n++ ? ", " : "", guarantee->conditions[i].id);
    if (n == 0 && !statement_least(guarantee))
        add_unanswered(out, guarantee);
}

void guarantee_row_columns(struct sheet *out)
{
    static const char *const titles[] = {"configuration", "unit",   "adjacency", "observer",
                                         "published",     "proved", "fails"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        sheet_column(out, titles[i], SHEET_LEFT);
}

void guarantee_row(const struct guarantee *guarantee, const char *name, struct sheet *out)
{
    struct text fails = {0};
    sheet_text(out, name);
    sheet_printf(out, "%s%s", dpf_unit_name(guarantee->unit), guarantee->joint ? ", joint" : "");
    sheet_text(out, dpf_adjacency_name(guarantee->adjacency));
    sheet_text(out, statement_observer(guarantee->observer));
    add_account(out, least_claim(guarantee), "-");
    add_account(out, statement_least(guarantee), "none");
    add_failing(&fails, guarantee);
    sheet_text(out, fails.data);
    text_free(&fails);
}
