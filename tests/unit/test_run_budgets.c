/* SPDX-License-Identifier: Apache-2.0 */
/* The table of budgets by record and user, for a plan and a data set small enough to work out by hand. */
#include "run/record_budgets.h"
#include "kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/registry.h"

/* Knows weights: count times sensitivity over scale, times the weight. Only the first refuses. */
static dpf_status weighted_units(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                                 const double *weights, const int64_t *offsets, int64_t n_units,
                                 double *epsilon)
{
    (void)self;
    assert_int_equal(question->unit, DPF_UNIT_RECORD);
    for (int64_t i = 0; i < n_units; i++) {
        epsilon[i] = 0;
        for (int64_t k = offsets ? offsets[i] : i; k < (offsets ? offsets[i + 1] : i + 1); k++)
            for (int64_t e = 0; e < n; e++)
                epsilon[i] += (double)events[e].count * weights[k] *
                              events[e].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 /
                              events[e].scale;
    }
    return DPF_OK;
}

/* Two users, three items, four records; an items' term that stretches and releases 10 times at epsilon 2. */
struct small {
    struct plan plan;
    struct term_plan terms[1];
    dpf_accountant table;
    struct instance mechanism, accountant;
    struct instance *accountants[1];
    struct dataset dataset;
    int64_t ptr[3];
    int32_t items[4];
    float weights[4], users[2], item_weights[3];
    uint8_t user_groups[2], item_groups[3];
};

static void make_small(struct small *s)
{
    memset(s, 0, sizeof *s);
    s->table.epsilon_per_unit = weighted_units;
    s->accountant.functions = &s->table;
    s->accountants[0] = &s->accountant;
    s->plan.accountants = s->accountants;
    s->plan.n_accountants = 1;
    snprintf(s->terms[0].name, sizeof s->terms[0].name, "items");
    s->terms[0].side = DPF_SIDE_ITEMS;
    s->terms[0].mechanism = &s->mechanism;
    s->plan.sides[DPF_SIDE_ITEMS].terms = s->terms;
    s->plan.sides[DPF_SIDE_ITEMS].n_terms = 1;
    static const float w[4] = {0.25f, 0.5f, 1.0f, 0.75f};
    static const int32_t items[4] = {0, 1, 0, 2};
    static const int64_t ptr[3] = {0, 2, 4};
    memcpy(s->weights, w, sizeof w);
    memcpy(s->items, items, sizeof items);
    memcpy(s->ptr, ptr, sizeof ptr);
    s->user_groups[1] = 1;
    s->item_groups[2] = 1;
    s->dataset.users.n = 2;
    s->dataset.items.n = 3;
    s->dataset.train.n = 4;
    s->dataset.train.by_user =
        (struct csr){.rows = 2, .ptr = s->ptr, .others = s->items, .privacy_weights = s->weights};
    s->dataset.weights = (struct privacy_weights){s->users, s->item_weights, s->user_groups, s->item_groups};
}

static void add_event(struct small *s, int weighted, double l1)
{
    dpf_event event = {
        .kind = DPF_EVENT_LAPLACE, .count = 10, .side = DPF_SIDE_ITEMS, .scale = 3, .weighted = weighted};
    event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 = l1;
    ledger_add(&s->plan.ledger, &event, "items");
}

static void expect_line(const char *table, const char *line)
{
    if (!strstr(table, line))
        fail_msg("\"%s\" is missing in:\n%s", line, table);
}

TEST(budgets_are_weights_times_epsilon)
{
    struct small s;
    struct dpf_error error = {0};
    struct record_budgets budgets;
    char *table;
    make_small(&s);
    add_event(&s, 1, 6);
    assert_true(record_budgets_exist(&s.plan, &s.dataset));
    assert_int_equal(record_budgets_make(&s.plan, &s.dataset, &budgets, &error), 0);
    table = record_budgets_text(&budgets);
    expect_line(table, "term,of,group,n,releases,least,q05,q25,median,q75,q95,largest\n");
    expect_line(table, "\nitems,record,all,4,1,0.5,0.5,0.5,1,1.5,2,2\n");
    expect_line(table, "\nitems,record,all,4,10,5,5,5,10,15,20,20\n");
    expect_line(table, "\nitems,record,user group 1,2,1,0.5,0.5,0.5,0.5,1,1,1\n");
    expect_line(table, "\nitems,record,user group 2,2,10,15,15,15,15,20,20,20\n");
    expect_line(table, "\nitems,record,item group 2,1,1,1.5,1.5,1.5,1.5,1.5,1.5,1.5\n");
    expect_line(table, "\nitems,user,all,2,1,1.5,1.5,1.5,1.5,3.5,3.5,3.5\n");
    expect_line(table, "\nitems,user,user group 2,1,10,35,35,35,35,35,35,35\n");
    expect_line(table, "\nrun,record,all,4,all,5,5,5,10,15,20,20\n");
    expect_line(table, "\nrun,user,user group 2,1,all,35,35,35,35,35,35,35\n");
    free(table);
    json_t *json = record_budgets_json(&budgets);
    assert_int_equal(json_array_size(json), 8);
    const json_t *all = json_array_get(json, 0);
    assert_string_equal(json_string_value(json_object_get(all, "of")), "record");
    assert_true(json_real_value(json_object_get(all, "median")) == 10);
    json_decref(json);
    record_budgets_free(&budgets);
    ledger_free(&s.plan.ledger);
}

/* No table where it would not hold. */
TEST(other_plans_have_no_table)
{
    struct dpf_error error = {0};
    struct record_budgets budgets;
    char *table;
    for (int i = 0; i < 5; i++) {
        struct small s;
        make_small(&s);
        if (i == 0)
            s.dataset.weights.users = NULL, s.dataset.train.by_user.privacy_weights = NULL;
        if (i == 1)
            s.table.epsilon_per_unit = NULL;
        if (i == 2)
            s.plan.guarantee.unit = DPF_UNIT_USER;
        if (i != 4)
            add_event(&s, i != 3, 6); /* no event at all, and one that weights have no part in */
        assert_false(record_budgets_exist(&s.plan, &s.dataset));
        assert_int_equal(record_budgets_make(&s.plan, &s.dataset, &budgets, &error), 0);
        table = record_budgets_text(&budgets);
        assert_null(record_budgets_json(&budgets));
        assert_null(table);
        ledger_free(&s.plan.ledger);
    }
}
