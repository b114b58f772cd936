/* SPDX-License-Identifier: Apache-2.0 */
#include "run/record_budgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "base/sheet.h"

static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
static const char *const share_names[] = {"least", "q05", "q25", "median", "q75", "q95", "largest"};
#define N_SHARES (sizeof shares / sizeof shares[0])

/* Epsilons of all records and users for some of the run's releases. */
struct budgets {
    const struct plan *plan;
    const struct dataset *dataset;
    struct instance *accountant;
    double *weights; /* of records, by user */
    double *records, *users;
    double *numbers; /* to be sorted; room for all records, and for all users */
    dpf_event *events;
    int64_t n_events;
};

/* One line of the table. */
struct line {
    const char *term, *of, *group;
    int64_t n, releases; /* releases 0: those of the whole run */
    double quantiles[N_SHARES];
};
typedef void (*take_line)(void *out, const struct line *line);

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
    free(b->weights);
    free(b->records);
    free(b->users);
    free(b->numbers);
    free(b->events);
}

static int budgets_open(struct budgets *b, const struct plan *plan, const struct dataset *dataset,
                        struct dpf_error *error)
{
    const struct csr *csr = &dataset->train.by_user;
    const size_t records = (size_t)csr->ptr[csr->rows] + 1, users = (size_t)csr->rows + 1;
    *b = (struct budgets){.plan = plan, .dataset = dataset, .accountant = knows_weights(plan)};
    b->weights = memory_raw(records, sizeof *b->weights);
    b->records = memory_raw(records, sizeof *b->records);
    b->users = memory_raw(users, sizeof *b->users);
    b->numbers = memory_raw(records > users ? records : users, sizeof *b->numbers);
    b->events = memory_raw((size_t)plan->ledger.n + 1, sizeof *b->events);
    if (!b->weights || !b->records || !b->users || !b->numbers || !b->events) {
        budgets_close(b);
        return error_memory(error);
    }
    for (int64_t k = 0; k < csr->ptr[csr->rows]; k++)
        b->weights[k] = (double)csr->privacy_weights[k];
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
                                             b->weights, csr->ptr, csr->rows, b->users);
    return instance_result(b->accountant, status, "accounting", error);
}

/* ---- quantiles ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts b->numbers. Quantiles are numbers that occur: the least that the share of them does not exceed. */
static void give_line(struct budgets *b, struct line *line, take_line take, void *out)
{
    if (line->n == 0)
        return;
    qsort(b->numbers, (size_t)line->n, sizeof *b->numbers, ascending);
    for (size_t s = 0; s < N_SHARES; s++) {
        int64_t at = (int64_t)ceil(shares[s] * (double)line->n) - 1;
        line->quantiles[s] = b->numbers[at < 0 ? 0 : at];
    }
    take(out, line);
}

/* Records whose user (side 0) or item (side 1) belongs to the group; all of them for group -1. */
static void give_records(struct budgets *b, struct line line, int side, int group, take_line take, void *out)
{
    const struct csr *csr = &b->dataset->train.by_user;
    const struct privacy_weights *w = &b->dataset->weights;
    char name[32] = "all";
    for (int64_t u = 0; u < csr->rows; u++)
        for (int64_t k = csr->ptr[u]; k < csr->ptr[u + 1]; k++) {
            int of = group < 0 ? group : side == 0 ? w->user_groups[u] : w->item_groups[csr->others[k]];
            if (of == group)
                b->numbers[line.n++] = b->records[k];
        }
    if (group >= 0)
        snprintf(name, sizeof name, "%s group %d", side == 0 ? "user" : "item", group + 1);
    line.of = "record";
    line.group = name;
    give_line(b, &line, take, out);
}

static void give_users(struct budgets *b, struct line line, int group, take_line take, void *out)
{
    const struct csr *csr = &b->dataset->train.by_user;
    char name[32] = "all";
    for (int64_t u = 0; u < csr->rows; u++)
        if (csr->ptr[u + 1] > csr->ptr[u] && (group < 0 || b->dataset->weights.user_groups[u] == group))
            b->numbers[line.n++] = b->users[u];
    if (group >= 0)
        snprintf(name, sizeof name, "user group %d", group + 1);
    line.of = "user";
    line.group = name;
    give_line(b, &line, take, out);
}

static int n_groups(const uint8_t *groups, int64_t n)
{
    int most = 0;
    for (int64_t i = 0; groups && i < n; i++)
        most = groups[i] + 1 > most ? groups[i] + 1 : most;
    return most;
}

static void give_table(struct budgets *b, struct line line, take_line take, void *out)
{
    const struct dataset *d = b->dataset;
    int users = n_groups(d->weights.user_groups, d->users.n),
        items = n_groups(d->weights.item_groups, d->items.n);
    for (int group = -1; group < users; group++)
        give_records(b, line, 0, group, take, out);
    for (int group = 0; group < items; group++)
        give_records(b, line, 1, group, take, out);
    for (int group = -1; group < users; group++)
        give_users(b, line, group, take, out);
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

static int give_terms(struct budgets *b, take_line take, void *out, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < b->plan->sides[side].n_terms; i++) {
            const struct term_plan *term = &b->plan->sides[side].terms[i];
            const int64_t releases = releases_of(b->plan, term);
            struct line line = {.term = term->name, .releases = 1};
            if (releases == 0)
                continue;
            if (price(b, term, 1, error) != 0)
                return -1;
            give_table(b, line, take, out);
            line.releases = releases;
            if (price(b, term, 0, error) != 0)
                return -1;
            give_table(b, line, take, out);
        }
    return 0;
}

static int give_run(struct budgets *b, take_line take, void *out, struct dpf_error *error)
{
    if (price(b, NULL, 0, error) != 0)
        return -1;
    give_table(b, (struct line){.term = "run"}, take, out);
    return 0;
}

/* ---- as CSV and JSON ------------------------------------------------------------------------------- */

static void add_row(void *out, const struct line *line)
{
    struct sheet *table = out;
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

int record_budgets_text(const struct plan *plan, const struct dataset *dataset, char **out,
                        struct dpf_error *error)
{
    struct sheet table = {0};
    struct text text = {0};
    struct budgets b;
    *out = NULL;
    if (!record_budgets_exist(plan, dataset))
        return 0;
    if (budgets_open(&b, plan, dataset, error) != 0)
        return -1;
    add_columns(&table);
    int status = give_terms(&b, add_row, &table, error);
    if (status == 0)
        status = give_run(&b, add_row, &table, error);
    budgets_close(&b);
    if (status == 0 && sheet_write(&table, SHEET_CSV, 0, &text) != 0)
        status = error_memory(error);
    sheet_free(&table);
    if (status == 0)
        *out = text.data;
    else
        text_free(&text);
    return status;
}

static void add_json(void *out, const struct line *line)
{
    json_t *object =
        json_pack("{s:s, s:s, s:I}", "of", line->of, "group", line->group, "n", (json_int_t)line->n);
    for (size_t s = 0; object && s < N_SHARES; s++)
        json_object_set_new(object, share_names[s],
                            isfinite(line->quantiles[s]) ? json_real(line->quantiles[s])
                                                         : json_string("infinity"));
    json_array_append_new(out, object);
}

int record_budgets_json(const struct plan *plan, const struct dataset *dataset, json_t **out,
                        struct dpf_error *error)
{
    struct budgets b;
    *out = NULL;
    if (!record_budgets_exist(plan, dataset))
        return 0;
    if (budgets_open(&b, plan, dataset, error) != 0)
        return -1;
    json_t *list = json_array();
    const int status = list ? give_run(&b, add_json, list, error) : error_memory(error);
    budgets_close(&b);
    if (status == 0)
        *out = list;
    else
        json_decref(list);
    return status;
}
