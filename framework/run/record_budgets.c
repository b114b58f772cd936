/* SPDX-License-Identifier: Apache-2.0 */
#include "run/record_budgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "base/sheet.h"
#include "run/group_quantiles.h"

static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
static const char *const share_names[] = {"least", "q05", "q25", "median", "q75", "q95", "largest"};
#define N_SHARES (sizeof shares / sizeof shares[0])

/* Epsilons of all records and users for some of the run's releases. */
struct budgets {
    const struct plan *plan;
    const struct dataset *dataset;
    struct instance *accountant;
    int n_groups[2];         /* of users, of items; 0: none */
    uint8_t *user_groups;    /* of records; NULL without groups */
    uint8_t *item_groups;    /* the same */
    double *weights;         /* of records, by user */
    double *records, *users; /* users: those with records */
    uint8_t *groups;         /* of these users; NULL without groups */
    int64_t *offsets;        /* of their records */
    int64_t n_users;
    dpf_event *events;
    int64_t n_events;
    struct record_budgets *out;
};

/* One line of the table. */
struct budget_line {
    const char *term, *of; /* of: record or user */
    char group[32];
    int64_t n, releases; /* releases 0: those of the whole run */
    double quantiles[N_SHARES];
};

/* The first accountant that knows weights and has an answer, or NULL. */
static struct instance *knows_weights(const struct plan *plan)
{
    const struct guarantee *guarantee = &plan->guarantee;
    for (int i = 0; i < plan->n_accountants; i++)
        if (((const dpf_accountant *)plan->accountants[i]->functions)->epsilon_per_unit &&
            !(i < guarantee->n_accounts && guarantee->accounts[i].refused))
            return plan->accountants[i];
    return NULL;
}

static int bears_on_weights(const struct plan *plan)
{
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (event->weighted || event->sampling.budget > 0 || event->sampling.weight_from > 0 ||
            event->sampling.weight_below > 0)
            return 1;
    }
    return 0;
}

int record_budgets_exist(const struct plan *plan, const struct dataset *dataset)
{
    if (!dataset->train.by_user.privacy_weights || plan->guarantee.unit != DPF_UNIT_RECORD ||
        ranks_size() > 1) /* quantiles are over all records, of which each rank has a part */
        return 0;
    return knows_weights(plan) != NULL && bears_on_weights(plan);
}

static void budgets_close(struct budgets *b)
{
    free(b->user_groups);
    free(b->item_groups);
    free(b->weights);
    free(b->records);
    free(b->users);
    free(b->groups);
    free(b->offsets);
    free(b->events);
}

static int n_groups(const uint8_t *groups, int64_t n)
{
    int most = 0;
    for (int64_t i = 0; groups && i < n; i++)
        most = groups[i] + 1 > most ? groups[i] + 1 : most;
    return most;
}

static int reserve(struct budgets *b, int64_t n_records, int64_t n_users)
{
    const size_t records = (size_t)n_records + 1, users = (size_t)n_users + 1;
    b->weights = memory_large(records, sizeof *b->weights);
    b->records = memory_large(records, sizeof *b->records);
    b->users = memory_raw(users, sizeof *b->users);
    b->offsets = memory_new(users, sizeof *b->offsets);
    b->events = memory_raw((size_t)b->plan->ledger.n + 1, sizeof *b->events);
    if (b->n_groups[0]) {
        b->user_groups = memory_raw(records, 1);
        b->groups = memory_raw(users, 1);
    }
    if (b->n_groups[1])
        b->item_groups = memory_raw(records, 1);
    return b->weights && b->records && b->users && b->offsets && b->events &&
                   (!b->n_groups[0] || (b->user_groups && b->groups)) && (!b->n_groups[1] || b->item_groups)
               ? 0
               : -1;
}

/* Records and users as the accountant and the quantiles want them: users without records are left out. */
static void lay_out(struct budgets *b)
{
    const struct csr *csr = &b->dataset->train.by_user;
    const struct privacy_weights *w = &b->dataset->weights;
    for (int64_t u = 0; u < csr->rows; u++) {
        for (int64_t k = csr->ptr[u]; k < csr->ptr[u + 1]; k++) {
            b->weights[k] = (double)csr->privacy_weights[k];
            if (b->user_groups)
                b->user_groups[k] = w->user_groups[u];
            if (b->item_groups)
                b->item_groups[k] = w->item_groups[csr->others[k]];
        }
        if (csr->ptr[u + 1] == csr->ptr[u])
            continue;
        if (b->groups)
            b->groups[b->n_users] = w->user_groups[u];
        b->offsets[++b->n_users] = csr->ptr[u + 1];
    }
}

static int budgets_open(struct budgets *b, const struct plan *plan, const struct dataset *dataset,
                        struct record_budgets *out, struct dpf_error *error)
{
    const struct csr *csr = &dataset->train.by_user;
    *b = (struct budgets){.plan = plan, .dataset = dataset, .accountant = knows_weights(plan), .out = out};
    b->n_groups[0] = n_groups(dataset->weights.user_groups, dataset->users.n);
    b->n_groups[1] = n_groups(dataset->weights.item_groups, dataset->items.n);
    if (reserve(b, csr->ptr[csr->rows], csr->rows) != 0) {
        budgets_close(b);
        return error_memory(error);
    }
    lay_out(b);
    return 0;
}

/* Asks for the releases of one term (NULL: of all). releases 1: for one of each, 0: for all. */
static int price(struct budgets *b, const struct term_plan *term, int one, struct dpf_error *error)
{
    const struct plan *plan = b->plan;
    const struct csr *csr = &b->dataset->train.by_user;
    const dpf_accountant *functions = b->accountant->functions;
    const struct guarantee *g = &plan->guarantee;
    const dpf_question question = {.size = sizeof question,
                                   .unit = DPF_UNIT_RECORD,
                                   .adjacency = g->adjacency,
                                   .observer = g->observer,
                                   .delta = g->delta,
                                   .rounds = plan->run_facts.rounds};
    b->n_events = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (term && &plan->sides[event->side].terms[event->term] != term)
            continue;
        b->events[b->n_events] = *event;
        if (one && event->count > 0)
            b->events[b->n_events].count = 1;
        b->n_events++;
    }
    dpf_status status = functions->epsilon_per_unit(b->accountant->self, b->events, b->n_events, &question,
                                                    b->weights, NULL, csr->ptr[csr->rows], b->records);
    if (status == DPF_OK)
        status = functions->epsilon_per_unit(b->accountant->self, b->events, b->n_events, &question,
                                             b->weights, b->offsets, b->n_users, b->users);
    return instance_result(b->accountant, status, "accounting", error);
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static int add_line(struct record_budgets *out, const struct budget_line *line, struct dpf_error *error)
{
    struct budget_line *lines = memory_grow(out->lines, &out->room, (size_t)out->n + 1, sizeof *lines);
    if (!lines)
        return error_memory(error);
    out->lines = lines;
    lines[out->n++] = *line;
    return 0;
}

/* Quantiles of all values, and of each group that has any; both kinds of groups of records, one of users. */
static int add_quantiles(struct budgets *b, struct budget_line line, const struct quantile_question *question,
                         struct dpf_error *error)
{
    int64_t sizes[MOST_SETS];
    double quantiles[MOST_SETS * N_SHARES];
    if (group_quantiles(question, sizes, quantiles, error) != 0)
        return -1;
    for (int set = 0; set < 1 + question->n_groups[0] + question->n_groups[1]; set++) {
        const int item = set - question->n_groups[0];
        if (sizes[set] == 0)
            continue;
        line.n = sizes[set];
        memcpy(line.quantiles, quantiles + (size_t)set * N_SHARES, sizeof line.quantiles);
        if (set == 0)
            snprintf(line.group, sizeof line.group, "all");
        else
            snprintf(line.group, sizeof line.group, "%s group %d", item > 0 ? "item" : "user",
                     item > 0 ? item : set);
        if (add_line(b->out, &line, error) != 0)
            return -1;
    }
    return 0;
}

static int add_table(struct budgets *b, struct budget_line line, struct dpf_error *error)
{
    const struct csr *csr = &b->dataset->train.by_user;
    const struct quantile_question of_records = {.values = b->records,
                                                 .n = csr->ptr[csr->rows],
                                                 .groups = {b->user_groups, b->item_groups},
                                                 .n_groups = {b->n_groups[0], b->n_groups[1]},
                                                 .shares = shares,
                                                 .n_shares = N_SHARES};
    const struct quantile_question of_users = {.values = b->users,
                                               .n = b->n_users,
                                               .groups = {b->groups, NULL},
                                               .n_groups = {b->n_groups[0], 0},
                                               .shares = shares,
                                               .n_shares = N_SHARES};
    line.of = "record";
    if (add_quantiles(b, line, &of_records, error) != 0)
        return -1;
    line.of = "user";
    return add_quantiles(b, line, &of_users, error);
}

/* How often a term releases: its events have one count each. 0: never. */
static int64_t releases_of(const struct plan *plan, const struct term_plan *term)
{
    int64_t most = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (&plan->sides[event->side].terms[event->term] == term && event->count > most)
            most = event->count;
    }
    return most;
}

static int add_priced(struct budgets *b, const struct term_plan *term, int one,
                      const struct budget_line *line, struct dpf_error *error)
{
    return price(b, term, one, error) == 0 ? add_table(b, *line, error) : -1;
}

/* Lines from `first` on once more, under another name: the releases are the same. */
static int repeat(struct budgets *b, int64_t first, const char *term, int64_t releases,
                  struct dpf_error *error)
{
    const int64_t end = b->out->n;
    for (int64_t i = first; i < end; i++) {
        struct budget_line line = b->out->lines[i];
        line.term = term;
        line.releases = releases;
        if (add_line(b->out, &line, error) != 0)
            return -1;
    }
    return 0;
}

static int add_term(struct budgets *b, const struct term_plan *term, int64_t releases, int64_t *first,
                    struct dpf_error *error)
{
    struct budget_line line = {.term = term->name, .releases = 1};
    *first = b->out->n;
    if (add_priced(b, term, 1, &line, error) != 0)
        return -1;
    if (releases == 1)
        return repeat(b, *first, term->name, 1, error);
    *first = b->out->n;
    line.releases = releases;
    return add_priced(b, term, 0, &line, error);
}

static int add_terms_and_run(struct budgets *b, struct dpf_error *error)
{
    const struct budget_line run = {.term = "run"};
    int64_t first = 0, covered = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < b->plan->sides[side].n_terms; i++) {
            const struct term_plan *term = &b->plan->sides[side].terms[i];
            const int64_t releases = releases_of(b->plan, term);
            if (releases == 0)
                continue;
            if (add_term(b, term, releases, &first, error) != 0)
                return -1;
            covered = b->n_events; /* of the term, in its last pricing */
        }
    return covered == b->plan->ledger.n ? repeat(b, first, "run", 0, error)
                                        : add_priced(b, NULL, 0, &run, error);
}

int record_budgets_make(const struct plan *plan, const struct dataset *dataset, struct record_budgets *out,
                        struct dpf_error *error)
{
    struct budgets b;
    *out = (struct record_budgets){.n = 0};
    if (!record_budgets_exist(plan, dataset))
        return 0;
    if (budgets_open(&b, plan, dataset, out, error) != 0)
        return -1;
    const int status = add_terms_and_run(&b, error);
    budgets_close(&b);
    if (status != 0)
        record_budgets_free(out);
    return status;
}

void record_budgets_free(struct record_budgets *budgets)
{
    free(budgets->lines);
    memset(budgets, 0, sizeof *budgets);
}

/* ---- as CSV and JSON ------------------------------------------------------------------------------- */

static void add_row(struct sheet *table, const struct budget_line *line)
{
    sheet_text(table, line->term);
    sheet_text(table, line->of);
    sheet_text(table, line->group);
    sheet_count(table, (long long)line->n);
    if (line->releases > 0)
        sheet_count(table, (long long)line->releases);
    else
        sheet_text(table, "all");
    for (size_t s = 0; s < N_SHARES; s++)
        if (isfinite(line->quantiles[s]))
            sheet_exact(table, line->quantiles[s]);
        else
            sheet_text(table, "inf");
}

static void add_columns(struct sheet *table)
{
    static const char *const columns[] = {"term", "of", "group", "n", "releases"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(table, columns[i], i < 3 ? SHEET_LEFT : SHEET_RIGHT);
    for (size_t s = 0; s < N_SHARES; s++)
        sheet_column(table, share_names[s], SHEET_RIGHT);
}

char *record_budgets_text(const struct record_budgets *budgets)
{
    struct sheet table = {0};
    struct text text = {0};
    if (budgets->n == 0)
        return NULL;
    add_columns(&table);
    for (int64_t i = 0; i < budgets->n; i++)
        add_row(&table, &budgets->lines[i]);
    sheet_write(&table, SHEET_CSV, 0, &text);
    sheet_free(&table);
    return text.data;
}

static json_t *line_json(const struct budget_line *line)
{
    json_t *object =
        json_pack("{s:s, s:s, s:I}", "of", line->of, "group", line->group, "n", (json_int_t)line->n);
    for (size_t s = 0; object && s < N_SHARES; s++)
        json_object_set_new(object, share_names[s],
                            isfinite(line->quantiles[s]) ? json_real(line->quantiles[s])
                                                         : json_string("infinity"));
    return object;
}

json_t *record_budgets_json(const struct record_budgets *budgets)
{
    if (budgets->n == 0)
        return NULL;
    json_t *list = json_array();
    for (int64_t i = 0; list && i < budgets->n; i++)
        if (budgets->lines[i].releases == 0)
            json_array_append_new(list, line_json(&budgets->lines[i]));
    return list;
}
