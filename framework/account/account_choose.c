/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_choose.c - dpframe account --choose EPSILON: settings of a mechanism for a target.
 *
 * A mechanism puts its settings on a scale from private to less private (dpf_mechanism.settings); the last
 * place that meets the target is found by bisection, each place judged by composing the whole ledger. Behind
 * a projection that is done for several numbers of rows. What was found is then configured and judged anew,
 * so that the epsilon printed is the configuration's own; among numbers of rows the one with the smallest
 * error that the loss or the solver reports (dpf_utility.error) is marked.
 */
#include "account/account_choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/account_utility.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sheet.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/ticker.h"
#include "plan/calibrate.h"
#include "plan/plan_make.h"

#define MOST_CANDIDATES 40
#define MOST_SETTINGS 32
#define BISECTIONS 24 /* of the scale of settings */

struct candidate {
    int64_t rows;
    double coordinates;           /* of a message */
    int found;                    /* 0: no setting meets the target */
    double values[MOST_SETTINGS]; /* of the mechanism's parameters; NaN: as configured */
    double epsilon, error;        /* error NaN: nothing is reported */
    int bits;                     /* of a number on the wire; 0: sums are not modular */
};

struct choice {
    const struct arguments *arguments;
    struct session *session;
    double target;
    const struct term_plan *term; /* of the session's plan, whose mechanism has settings */
    char rows_key[160];           /* "items.transform.sparse-projection.rows"; "" without a projection */
    struct candidate list[MOST_CANDIDATES];
    int n, best;                  /* best: -1 if no candidate meets the target */
    struct utility_report report; /* of the best one; nobody's if none has one */
};

static const dpf_mechanism *functions_of(const struct term_plan *term)
{
    return term->mechanism->functions;
}

static const struct term_plan *term_with_settings(const struct plan *plan)
{
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++) {
            const struct term_plan *term = &plan->sides[side].terms[t];
            if (plan->sides[side].updated && term->mechanism && functions_of(term)->settings)
                return term;
        }
    return NULL;
}

static int has_settings(const dpf_component *component, uint32_t flags)
{
    (void)flags;
    return ((const dpf_mechanism *)component->functions)->settings != NULL;
}

/* Most noise has one scale, which budget = total chooses: says which mechanisms have more than that to choose. */
static int refuse_mechanisms(const struct choice *c, struct dpf_error *error)
{
    const struct plan *plan = &c->session->plan;
    struct text with = {0};
    registry_add_fitting(plan->registry, DPF_ROLE_MECHANISM, has_settings, 0, &with);
    const int is_total = plan->privacy.params.values[PRIVACY_BUDGET].integer == BUDGET_TOTAL;
    const int status = error_set(
        error, DPF_FAULT_CONFIG,
        "--choose %g: no release of the configuration has a mechanism with settings to choose from (those "
        "that "
        "do: %s). The scale of other noise is chosen by [privacy] budget = total, total-epsilon = %g%s",
        c->target, with.data, c->target, is_total ? ", as it is here: leave --choose out" : "");
    text_free(&with);
    return status;
}

static int describe_release(struct choice *c, struct dpf_error *error)
{
    const struct plan *plan = &c->session->plan;
    c->term = term_with_settings(plan);
    if (!c->term)
        return refuse_mechanisms(c, error);
    if (plan->privacy.params.values[PRIVACY_BUDGET].integer == BUDGET_TOTAL)
        return config_error(plan->config, "privacy", "budget", error,
                            "budget = total chooses the noise by itself; set budget = per-release to have "
                            "settings of mechanism %s chosen by --choose",
                            c->term->mechanism->entry->component->id);
    if (c->term->mechanism->entry->component->n_params > MOST_SETTINGS)
        return error_set(error, DPF_FAULT_PLUGIN, "mechanism %s: --choose reads the first %d parameters only",
                         c->term->mechanism->entry->component->id, MOST_SETTINGS);
    if (!plan->sizes_known)
        return error_set(error, DPF_FAULT_CONFIG,
                         "the numbers of users and items are not known; declare [model] users and items");
    const struct side_plan *side = &plan->sides[c->term->side];
    if (side->state_transform)
        snprintf(c->rows_key, sizeof c->rows_key, "%s.transform.%s.rows", c->term->name,
                 side->state_transform->entry->component->id);
    return 0;
}

/* ---- a place on the scale --------------------------------------------------------------------------- */

/* A plan with a copy of its ledger, whose events change. */
struct search {
    const struct plan *plan;
    const struct term_plan *term;
    struct instance *accountant;
    struct ledger ledger;
};

static int judge(const struct guarantee *guarantee, struct instance *accountant, const struct ledger *ledger,
                 int64_t rounds, double *epsilon, struct dpf_error *error)
{
    struct guarantee judged = *guarantee;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    int status = guarantee_account(&judged, &accountant, 1, ledger, rounds, error);
    if (status == 0 && judged.accounts[0].refused)
        status = error_set(error, DPF_FAULT_CONFIG, "accountant %s: %s", judged.accounts[0].accountant,
                           judged.accounts[0].reason);
    if (status == 0)
        *epsilon = judged.accounts[0].answer.epsilon;
    guarantee_free(&judged);
    return status;
}

/* Epsilon of the run with the settings at that place, which go to values. */
static int epsilon_at(struct search *s, double place, double values[MOST_SETTINGS], double *epsilon,
                      struct dpf_error *error)
{
    const int term = (int)(s->term - s->plan->sides[s->term->side].terms);
    for (int i = 0; i < MOST_SETTINGS; i++)
        values[i] = NAN;
    for (int64_t i = 0; i < s->ledger.n; i++) {
        dpf_event *event = &s->ledger.entries[i].event;
        *event = s->plan->ledger.entries[i].event;
        if (event->side != s->term->side || event->term != term)
            continue;
        const dpf_status status =
            functions_of(s->term)->settings(s->term->mechanism->self, place, values, event);
        if (instance_result(s->term->mechanism, status, "settings", error) != 0)
            return -1;
    }
    return judge(&s->plan->guarantee, s->accountant, &s->ledger,
                 s->plan->run.params.values[RUN_ROUNDS].integer, epsilon, error);
}

/* Whether the settings at that place meet the target. What an accountant refuses does not. */
static int is_private(struct search *s, double place, double target, double values[MOST_SETTINGS])
{
    struct dpf_error ignored = {0};
    double epsilon;
    ticker_add(1);
    return epsilon_at(s, place, values, &epsilon, &ignored) == 0 && epsilon <= target;
}

/* The last place that meets the target. A refusal at the most private place is an error. */
static int search_scale(struct search *s, double target, struct candidate *out, struct dpf_error *error)
{
    double low = 0, high = 1, values[MOST_SETTINGS], epsilon;
    if (epsilon_at(s, low, values, &epsilon, error) != 0)
        return -1;
    out->found = epsilon <= target;
    memcpy(out->values, values, sizeof values);
    for (int i = 0; i <= BISECTIONS && out->found && low < high && !interrupt_is_wanted(); i++) {
        const double place = i == 0 ? high : low + (high - low) / 2;
        const int meets = is_private(s, place, target, values);
        if (meets)
            memcpy(out->values, values, sizeof values);
        if (meets)
            low = place;
        else
            high = place;
    }
    return interrupt_check("settings were chosen", error); /* what it ended counts as not private */
}

static int choose_place(struct choice *c, const struct plan *plan, struct candidate *out,
                        struct dpf_error *error)
{
    struct search s = {.plan = plan, .term = term_with_settings(plan)};
    s.accountant = calibrate_accountant((struct plan *)(uintptr_t)plan, "--choose", error);
    if (!s.accountant)
        return -1;
    out->coordinates = (double)s.term->rows * s.term->query.width;
    s.ledger.entries = memory_need((size_t)plan->ledger.n, sizeof *s.ledger.entries);
    memcpy(s.ledger.entries, plan->ledger.entries, (size_t)plan->ledger.n * sizeof *s.ledger.entries);
    s.ledger.n = s.ledger.capacity = plan->ledger.n;
    const int status = search_scale(&s, c->target, out, error);
    free(s.ledger.entries);
    return status;
}

/* ---- a number of rows ------------------------------------------------------------------------------- */

/* The configuration with these rows (0: as configured) and a mechanism's settings (NULL: as configured). */
static int reopen(struct choice *c, int64_t rows, const double *values, struct session *session,
                  struct dpf_error *error)
{
    const struct plan *configured = &c->session->plan;
    const dpf_component *component = c->term->mechanism->entry->component;
    struct arguments arguments = *c->arguments;
    char settings[MOST_SETTINGS + 1][280];
    int n = 0;
    if (rows)
        snprintf(settings[n++], sizeof settings[0], "%s=%lld", c->rows_key, (long long)rows);
    for (int64_t i = 0; values && i < component->n_params; i++) {
        const char *table = (const char *)component->params + i * component->param_stride;
        if (!isnan(values[i]))
            snprintf(settings[n++], sizeof settings[0], "%s.mechanism.%s=%.17g", c->term->name,
                     ((const dpf_param *)(const void *)table)->name, values[i]);
    }
    if (arguments.n_overrides + n > MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many -o for --choose to add its own");
    for (int i = 0; i < n; i++)
        arguments.overrides[arguments.n_overrides++] = settings[i];
    int status = session_open(session, &arguments, 0, error);
    if (status == 0)
        status = plan_complete(&session->plan, configured->n_users, configured->n_items, error);
    return status;
}

/* What a configuration with the chosen settings costs and what error is reported for it. */
static int measure(struct choice *c, const struct plan *plan, struct candidate *out, struct dpf_error *error)
{
    const struct term_plan *term = term_with_settings(plan);
    struct instance *accountant = calibrate_accountant((struct plan *)(uintptr_t)plan, "--choose", error);
    struct utility_report report;
    if (!accountant || judge(&plan->guarantee, accountant, &plan->ledger,
                             plan->run.params.values[RUN_ROUNDS].integer, &out->epsilon, error) != 0)
        return -1;
    if (!(out->epsilon <= c->target))
        return error_set(
            error, DPF_FAULT_PLUGIN,
            "mechanism %s: the settings that it offered cost %.17g when they are configured, more than "
            "the target of %g",
            term->mechanism->entry->component->id, out->epsilon, c->target);
    if (term->noise.modulus)
        out->bits = (int)ceil(log2((double)term->noise.modulus));
    if (utility_numbers(plan, term->side, c->target, &report, error) != 0)
        return -1;
    if (!report.by)
        return 0;
    if (utility_bounds(&report, error) != 0)
        return -1;
    out->error = report.utility.error;
    return 0;
}

static int add_candidate(struct choice *c, int64_t rows, int64_t shown, struct dpf_error *error)
{
    struct candidate *out = &c->list[c->n];
    struct session session = {0};
    *out = (struct candidate){.rows = shown, .error = NAN};
    int status = reopen(c, rows, NULL, &session, error);
    if (status == 0)
        status = choose_place(c, &session.plan, out, error);
    session_close(&session);
    if (status == 0 && out->found) {
        session = (struct session){0};
        status = reopen(c, rows, out->values, &session, error);
        if (status == 0)
            status = measure(c, &session.plan, out, error);
        session_close(&session);
    }
    if (status != 0)
        return -1;
    if (out->found && (c->best < 0 || out->error < c->list[c->best].error))
        c->best = c->n;
    c->n++;
    return 0;
}

/* All rows, the configured number of them, and powers of two, which flattening need not pad; descending. */
static int numbers_of_rows(const struct choice *c, int64_t rows[MOST_CANDIDATES])
{
    const struct plan *plan = &c->session->plan;
    const int side = c->term->side;
    const int64_t all = side == DPF_SIDE_ITEMS ? plan->n_items : plan->n_users;
    const int64_t configured = plan->sides[side].state_rows;
    int n = 0;
    rows[n++] = all;
    if (configured < all)
        rows[n++] = configured;
    for (int64_t p = 8; p < all && n < MOST_CANDIDATES; p *= 2)
        if (p != configured)
            rows[n++] = p;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && rows[j] > rows[j - 1]; j--) {
            const int64_t swap = rows[j];
            rows[j] = rows[j - 1];
            rows[j - 1] = swap;
        }
    return n;
}

static int add_all(struct choice *c, struct dpf_error *error)
{
    int64_t rows[MOST_CANDIDATES] = {0};
    const int projects = c->rows_key[0] != '\0', n = projects ? numbers_of_rows(c, rows) : 1;
    int status = 0;
    ticker_begin("choosing settings", (int64_t)n * (BISECTIONS + 1));
    for (int i = 0; i < n && status == 0; i++)
        status = add_candidate(c, rows[i],
                               projects ? rows[i] : c->session->plan.sides[c->term->side].state_rows, error);
    ticker_end();
    return status;
}

/* The report of the best candidate, whose plan has to stay open while it is printed. */
static int report_best(struct choice *c, struct session *session, struct dpf_error *error)
{
    const struct candidate *best = &c->list[c->best];
    return reopen(c, c->rows_key[0] ? best->rows : 0, best->values, session, error) != 0 ||
                   utility_numbers(&session->plan, c->term->side, c->target, &c->report, error) != 0 ||
                   (c->report.by && utility_bounds(&c->report, error) != 0)
               ? -1
               : 0;
}

/* ---- output ----------------------------------------------------------------------------------------- */

static const char *setting_name(const struct choice *c, int64_t i)
{
    const dpf_component *component = c->term->mechanism->entry->component;
    const char *table = (const char *)component->params + i * component->param_stride;
    return ((const dpf_param *)(const void *)table)->name;
}

/* Whether some candidate chooses that parameter. */
static int is_chosen(const struct choice *c, int64_t i)
{
    for (int k = 0; k < c->n; k++)
        if (c->list[k].found && !isnan(c->list[k].values[i]))
            return 1;
    return 0;
}

static void add_row(const struct choice *c, int index, struct sheet *sheet)
{
    const struct candidate *candidate = &c->list[index];
    const int64_t n = c->term->mechanism->entry->component->n_params;
    sheet_text(sheet, index == c->best ? "*" : "");
    sheet_count(sheet, candidate->rows);
    sheet_printf(sheet, "%.0f", candidate->coordinates);
    for (int64_t i = 0; i < n; i++) {
        if (!is_chosen(c, i))
            continue;
        if (candidate->found)
            sheet_printf(sheet, "%.6g", candidate->values[i]);
        else
            sheet_text(sheet, "none");
    }
    if (!candidate->found) {
        for (int i = 0; i < 4; i++)
            sheet_text(sheet, NULL);
        return;
    }
    if (candidate->bits) {
        sheet_printf(sheet, "%d", candidate->bits);
        sheet_printf(sheet, "%.0f", ceil(candidate->coordinates * candidate->bits / 8));
    } else {
        sheet_text(sheet, NULL);
        sheet_text(sheet, NULL);
    }
    sheet_printf(sheet, "%.4g", candidate->epsilon);
    if (isnan(candidate->error))
        sheet_text(sheet, NULL);
    else
        sheet_printf(sheet, "%.3g", candidate->error);
}

static void add_table(const struct choice *c, struct text *out)
{
    struct sheet sheet = {0};
    const int64_t n = c->term->mechanism->entry->component->n_params;
    sheet_column(&sheet, "", SHEET_LEFT);
    sheet_column(&sheet, "rows", SHEET_RIGHT);
    sheet_column(&sheet, "coordinates", SHEET_RIGHT);
    for (int64_t i = 0; i < n; i++)
        if (is_chosen(c, i))
            sheet_column(&sheet, setting_name(c, i), SHEET_RIGHT);
    sheet_column(&sheet, "bits", SHEET_RIGHT);
    sheet_column(&sheet, "bytes", SHEET_RIGHT);
    sheet_column(&sheet, "epsilon", SHEET_RIGHT);
    sheet_column(&sheet, "error", SHEET_RIGHT);
    for (int i = 0; i < c->n; i++)
        add_row(c, i, &sheet);
    sheet_write(&sheet, SHEET_TEXT, terminal_width(STDOUT_FILENO), out);
    sheet_free(&sheet);
}

static void print_text(const struct choice *c, const char *accountant)
{
    const struct plan *plan = &c->session->plan;
    const int width = terminal_width(STDOUT_FILENO);
    struct text out = {0}, head = {0};
    text_add(&out, "SETTINGS OF MECHANISM %s FOR EPSILON = %g, DELTA = %g\n\n",
             c->term->mechanism->entry->component->id, c->target, plan->guarantee.delta);
    text_add(&head,
             "Epsilon is that of all %lld rounds, by accountant %s; the settings are the least private ones "
             "that meet "
             "the target. rows: released ones. coordinates, bytes: of a message. error: as reported below; * "
             "has the "
             "smallest.",
             (long long)plan->run.params.values[RUN_ROUNDS].integer, accountant);
    terminal_wrap(&out, "", 0, head.data ? head.data : "", width);
    text_add(&out, "\n");
    add_table(c, &out);
    if (!plan->guarantee.plan_holds)
        text_add(&out, "\nThis is not a guarantee: conditions of the plan fail; see dpframe account without "
                       "--choose.\n");
    if (c->best < 0)
        text_add(&out, "\nNo setting meets the target.\n");
    if (c->report.by)
        utility_text(&c->report, width, &out);
    fputs(out.data, stdout);
    text_free(&out);
    text_free(&head);
}

static json_t *candidate_json(const struct choice *c, const struct candidate *candidate)
{
    const int64_t n = c->term->mechanism->entry->component->n_params;
    json_t *settings = json_object();
    for (int64_t i = 0; i < n; i++)
        if (candidate->found && !isnan(candidate->values[i]))
            json_object_set_new(settings, setting_name(c, i), json_real(candidate->values[i]));
    return json_pack("{s:I, s:f, s:b, s:o, s:o, s:o, s:o}", "rows", (json_int_t)candidate->rows,
                     "coordinates", candidate->coordinates, "found", candidate->found, "settings", settings,
                     "bits", candidate->bits ? json_integer(candidate->bits) : json_null(), "epsilon",
                     candidate->found ? json_real(candidate->epsilon) : json_null(), "error",
                     isfinite(candidate->error) ? json_real(candidate->error) : json_null());
}

static void print_json(const struct choice *c, const char *accountant)
{
    const struct plan *plan = &c->session->plan;
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++)
        json_array_append_new(list, candidate_json(c, &c->list[i]));
    json_t *all =
        json_pack("{s:s, s:f, s:f, s:s, s:b, s:o, s:o, s:o}", "mechanism",
                  c->term->mechanism->entry->component->id, "target_epsilon", c->target, "delta",
                  plan->guarantee.delta, "accountant", accountant, "plan_holds", plan->guarantee.plan_holds,
                  "candidates", list, "chosen", c->best >= 0 ? json_integer(c->best) : json_null(), "utility",
                  c->report.by ? utility_json(&c->report) : json_null());
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(all);
}

int account_choose(const struct arguments *arguments, struct session *session, const char *target,
                   struct dpf_error *error)
{
    char *end;
    struct choice c = {.arguments = arguments, .session = session, .best = -1};
    c.target = strtod(target, &end);
    if (*end || end == target || !(c.target > 0 && c.target < INFINITY))
        return error_set(error, DPF_FAULT_CONFIG, "--choose needs an epsilon above 0, not \"%s\"", target);
    if (describe_release(&c, error) != 0)
        return -1;
    const struct instance *accountant = calibrate_accountant(&session->plan, "--choose", error);
    if (!accountant)
        return -1;
    /* The session has printed the warnings of the configuration already. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    struct session best = {0};
    int status = add_all(&c, error);
    if (status == 0 && c.best >= 0)
        status = report_best(&c, &best, error);
    log_set_level(level);
    const char *id = accountant->entry->component->id;
    if (status == 0 && arguments->json)
        print_json(&c, id);
    else if (status == 0)
        print_text(&c, id);
    session_close(&best);
    return status;
}
