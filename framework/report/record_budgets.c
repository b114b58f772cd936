/* SPDX-License-Identifier: Apache-2.0 */
#include "report/record_budgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static int stretches(const struct term_plan *term)
{
    int found = 0;
    for (int i = 0; i < term->n_transforms; i++)
        found |= ((const dpf_transform *)term->transforms[i]->functions)->kind == DPF_TRANSFORM_RECORD;
    return found && term->mechanism && term->source == SOURCE_RECORDS;
}

/* What a record of weight 1 spends in all of a term's releases, with how many there are. NaN if some
   noise has no pure epsilon. */
static double spent_by_term(const struct plan *plan, const struct term_plan *term, int64_t *releases)
{
    double epsilon = 0;
    *releases = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (&plan->sides[event->side].terms[event->term] != term || event->kind == DPF_EVENT_NO_OP)
            continue;
        int laplace = event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE;
        double l1 = event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1;
        epsilon += laplace ? (double)event->count * l1 / event->scale : (double)NAN;
        *releases = event->count > *releases ? event->count : *releases;
    }
    return epsilon;
}

/* ---- quantiles ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
#define N_SHARES (sizeof shares / sizeof shares[0])

/* Sorts the numbers. Quantiles are numbers that occur: the least that the share of them does not exceed. */
static void add_row(struct text *text, const char *term, const char *of, const char *group, double *numbers,
                    int64_t n, int64_t releases)
{
    char value[32];
    if (n == 0)
        return;
    qsort(numbers, (size_t)n, sizeof *numbers, ascending);
    for (int composed = 0; composed < 2; composed++) {
        text_add(text, "%s,%s,%s,%lld,%lld", term, of, group, (long long)n,
                 (long long)(composed ? releases : 1));
        for (size_t s = 0; s < N_SHARES; s++) {
            int64_t at = (int64_t)ceil(shares[s] * (double)n) - 1;
            double epsilon = numbers[at < 0 ? 0 : at];
            text_add(text, ",%s", text_from_real(composed ? epsilon : epsilon / (double)releases, value));
        }
        text_add(text, "\n");
    }
}

/* ---- tables -------------------------------------------------------------------------------------- */

struct table_of {
    const struct dataset *dataset;
    const char *term;
    double epsilon; /* of weight 1, all releases */
    int64_t releases;
    double *numbers; /* room for all records, and for all users */
};

static double weight_at(const struct csr *csr, int64_t k)
{
    return csr->privacy_weights ? (double)csr->privacy_weights[k] : 1;
}

/* Records whose user (side 0) or item (side 1) belongs to the group; all of them for group -1. */
static void add_records(struct text *text, const struct table_of *t, int side, int group)
{
    const struct csr *csr = &t->dataset->train.by_user;
    const struct privacy_weights *w = &t->dataset->weights;
    char name[32] = "all";
    int64_t n = 0;
    for (int64_t u = 0; u < csr->rows; u++)
        for (int64_t k = csr->ptr[u]; k < csr->ptr[u + 1]; k++) {
            int of = group < 0 ? group : side == 0 ? w->user_groups[u] : w->item_groups[csr->others[k]];
            if (of == group)
                t->numbers[n++] = t->epsilon * weight_at(csr, k);
        }
    if (group >= 0)
        snprintf(name, sizeof name, "%s group %d", side == 0 ? "user" : "item", group + 1);
    add_row(text, t->term, "record", name, t->numbers, n, t->releases);
}

static void add_users(struct text *text, const struct table_of *t, int group)
{
    const struct csr *csr = &t->dataset->train.by_user;
    char name[32] = "all";
    int64_t n = 0;
    for (int64_t u = 0; u < csr->rows; u++) {
        double sum = 0;
        for (int64_t k = csr->ptr[u]; k < csr->ptr[u + 1]; k++)
            sum += t->epsilon * weight_at(csr, k);
        if (csr->ptr[u + 1] > csr->ptr[u] && (group < 0 || t->dataset->weights.user_groups[u] == group))
            t->numbers[n++] = sum;
    }
    if (group >= 0)
        snprintf(name, sizeof name, "user group %d", group + 1);
    add_row(text, t->term, "user", name, t->numbers, n, t->releases);
}

static int n_groups(const uint8_t *groups, int64_t n)
{
    int most = 0;
    for (int64_t i = 0; groups && i < n; i++)
        most = groups[i] + 1 > most ? groups[i] + 1 : most;
    return most;
}

static void add_table(struct text *text, const struct table_of *t)
{
    const struct dataset *d = t->dataset;
    int users = n_groups(d->weights.user_groups, d->users.n),
        items = n_groups(d->weights.item_groups, d->items.n);
    for (int group = -1; group < users; group++)
        add_records(text, t, 0, group);
    for (int group = 0; group < items; group++)
        add_records(text, t, 1, group);
    for (int group = -1; group < users; group++)
        add_users(text, t, group);
}

/* The term's epsilon into t. 0 if it has no table. */
static int take_term(const struct plan *plan, const struct term_plan *term, struct table_of *t)
{
    t->term = term->name;
    t->epsilon = stretches(term) ? spent_by_term(plan, term, &t->releases) : (double)NAN;
    return isfinite(t->epsilon) && t->releases > 0;
}

int record_budgets_exist(const struct plan *plan, const struct dataset *dataset)
{
    struct table_of t = {.dataset = dataset};
    int found = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < plan->sides[side].n_terms; i++)
            found |= take_term(plan, &plan->sides[side].terms[i], &t);
    return found && dataset_has_weights(dataset);
}

int record_budgets_text(const struct plan *plan, const struct dataset *dataset, char **out,
                        struct dpf_error *error)
{
    struct text text = {0};
    struct table_of t = {.dataset = dataset};
    int64_t room = dataset->train.n > dataset->users.n ? dataset->train.n : dataset->users.n;
    *out = NULL;
    if (!record_budgets_exist(plan, dataset))
        return 0;
    t.numbers = memory_raw((size_t)room + 1, sizeof *t.numbers);
    if (!t.numbers)
        return error_memory(error);
    text_add(&text, "term,of,group,n,releases,least,q05,q25,median,q75,q95,largest\n");
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < plan->sides[side].n_terms; i++)
            if (take_term(plan, &plan->sides[side].terms[i], &t))
                add_table(&text, &t);
    free(t.numbers);
    if (text.failed) {
        text_free(&text);
        return error_memory(error);
    }
    *out = text.data;
    return 0;
}
