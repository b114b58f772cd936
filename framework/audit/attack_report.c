/* SPDX-License-Identifier: Apache-2.0 */
/* What attacks found, as text or JSON on standard output. */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "audit/attack.h"
#include "base/sheet.h"
#include "base/terminal.h"
#include "dpframe/accounting.h"
#include "privacy/statement.h"

/* A paragraph as wide as the terminal. */
static void say(const char *format, ...) DPF_PRINTF(1, 2);
static void say(const char *format, ...)
{
    char words[1024];
    struct text text = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    terminal_wrap(&text, "", 0, words, terminal_width(STDOUT_FILENO));
    fputs(text.data ? text.data : words, stdout);
    text_free(&text);
}

/* proved: the most that any attacker has by the proof. */
static void add_rate(struct sheet *table, const struct attack_finding *f, const char *rate,
                     const struct attack_estimate *e, double proved)
{
    sheet_text(table, attack_game_name(f->game));
    sheet_text(table, attack_view_name(f->view));
    sheet_text(table, rate);
    sheet_fixed(table, e->value, 4);
    sheet_printf(table, "%.4f to %.4f", e->low, e->high);
    if (f->covered)
        sheet_fixed(table, proved, 4);
    else
        sheet_text(table, NULL);
}

static void add_finding(struct sheet *table, const struct attack_finding *f)
{
    static const char *const rates[ATTACK_N_RATES] = {"true at 1 % false", "true at 0.1 % false"};
    add_rate(table, f, "AUC", &f->rates.auc, attack_bound_auc(f->epsilon, f->delta));
    for (int r = 0; r < ATTACK_N_RATES; r++)
        add_rate(table, f, rates[r], &f->rates.true_positives[r],
                 attack_bound_tpr(attack_false_positives[r], f->epsilon, f->delta));
}

static void print_findings(const struct attack_finding *findings, int n)
{
    struct sheet table = {0};
    struct text text = {0};
    sheet_column(&table, "game", SHEET_LEFT);
    sheet_column(&table, "seen", SHEET_LEFT);
    sheet_column(&table, "rate", SHEET_LEFT);
    sheet_column(&table, "found", SHEET_RIGHT);
    sheet_column(&table, "interval", SHEET_RIGHT);
    sheet_column(&table, "proved", SHEET_RIGHT);
    for (int i = 0; i < n; i++)
        add_finding(&table, &findings[i]);
    sheet_write(&table, SHEET_TEXT, terminal_width(STDOUT_FILENO), &text);
    fputs(text.data, stdout);
    sheet_free(&table);
    text_free(&text);
}

/* Which epsilon the bounds are of, and why there is none. */
static void print_reasons(const struct attack_finding *findings, int n)
{
    char epsilon[32], delta[32];
    for (int i = 0; i < n; i++) {
        const struct attack_finding *f = &findings[i];
        if (f->covered)
            say("%s, %s: proved with epsilon = %s, delta = %s%s\n", attack_game_name(f->game),
                attack_view_name(f->view), guarantee_number_up(f->epsilon, epsilon),
                guarantee_number_up(f->delta, delta), f->exceeded ? ", and EXCEEDED" : "");
        else
            say("%s, %s: not covered: %s\n", attack_game_name(f->game), attack_view_name(f->view), f->why);
    }
}

static const char *model_words(const struct plan *plan)
{
    if (plan->without_mechanisms)
        return "the same model without noise";
    return plan->guarantee.n_releases > 0 ? "the model with its noise" : "a model without noise";
}

static void print_text(const struct audit_session *audit, const struct attack_finding *findings, int n,
                       int64_t targets)
{
    const struct plan *plan = &audit->session.plan;
    int exceeded = 0;
    say("Attacks on %s: %lld trainings of each game, in which each of %lld targets is in or out by a fair "
        "coin. Scores are likelihood ratios learnt from the other trainings. Intervals: %g. Unit %s, "
        "adjacency "
        "%s, observer %s.\n\n",
        model_words(plan), (long long)audit->n_trials, (long long)targets,
        audit_value(audit, AUDIT_CONFIDENCE)->real, dpf_unit_name(plan->guarantee.unit),
        dpf_adjacency_name(plan->guarantee.adjacency), statement_observer(plan->guarantee.observer));
    print_findings(findings, n);
    for (int i = 0; i < n; i++)
        exceeded += findings[i].exceeded;
    say("\nAUC is .5 for an attacker who guesses, 1 for one who is always right. \"true at 1 %% false\": how "
        "many "
        "of those who are in are found, while 1 %% of those who are out are taken to be in. \"proved\": the "
        "most "
        "that any attacker reaches by the proof; – where nothing is proved.\n\n");
    print_reasons(findings, n);
    printf(exceeded ? "\nEXCEEDED: what is proved is not true of what runs.\n"
                    : "\nA proof bounds every attack; that this one finds little shows nothing of others.\n");
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *estimate_json(const struct attack_finding *f, const struct attack_estimate *e, double bound)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "value", number(e->value), "low", number(e->low), "high",
                     number(e->high), "at_most", f->covered ? json_real(bound) : json_null());
}

static json_t *finding_json(const struct attack_finding *f)
{
    json_t *rates = json_array();
    for (int r = 0; r < ATTACK_N_RATES; r++) {
        json_t *rate =
            estimate_json(f, &f->rates.true_positives[r],
                          f->covered ? attack_bound_tpr(attack_false_positives[r], f->epsilon, f->delta) : 1);
        json_object_set_new(rate, "false_positives", json_real(attack_false_positives[r]));
        json_array_append_new(rates, rate);
    }
    json_t *out =
        json_pack("{s:s, s:s, s:o, s:o, s:b, s:b}", "game", attack_game_name(f->game), "seen",
                  attack_view_name(f->view), "auc",
                  estimate_json(f, &f->rates.auc, f->covered ? attack_bound_auc(f->epsilon, f->delta) : 1),
                  "true_positives", rates, "covered", f->covered, "exceeded", f->exceeded);
    json_object_set_new(out, "epsilon", f->covered ? json_real(f->epsilon) : json_null());
    json_object_set_new(out, "delta", f->covered ? json_real(f->delta) : json_null());
    if (!f->covered)
        json_object_set_new(out, "why", json_string(f->why));
    return out;
}

static void print_json(const struct audit_session *audit, const struct attack_finding *findings, int n,
                       int64_t targets)
{
    const struct plan *plan = &audit->session.plan;
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, finding_json(&findings[i]));
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:f, s:I, s:f, s:o}", "unit", dpf_unit_name(plan->guarantee.unit),
        "adjacency", dpf_adjacency_name(plan->guarantee.adjacency), "observer",
        statement_observer(plan->guarantee.observer), "noise",
        !plan->without_mechanisms && plan->guarantee.n_releases > 0, "targets", (json_int_t)targets,
        "trainings", (json_int_t)audit->n_trials, "confidence", audit_value(audit, AUDIT_CONFIDENCE)->real,
        "seed", (json_int_t)audit_value(audit, AUDIT_SEED)->integer, "seconds", audit->seconds, "attacks",
        list);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
}

void attack_report(const struct audit_session *audit, const struct attack_finding *findings, int n,
                   int64_t targets)
{
    (audit->arguments->json ? print_json : print_text)(audit, findings, n, targets);
}
