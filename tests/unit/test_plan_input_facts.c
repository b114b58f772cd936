/* SPDX-License-Identifier: Apache-2.0 */
/* The table of facts of the input: what is allowed where, which condition fails, and with which key it holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "dpframe/privacy.h"
#include "privacy/guarantee.h"
#include "reading/data_params.h"
#include "reading/input_facts.h"

struct asking {
    struct config *config;
    struct config_values data, split, privacy;
    struct fact_question question;
};

static void bind(struct asking *a, const char *section, const dpf_param *(*table)(int64_t *),
                 struct config_values *out)
{
    struct dpf_error error = {0};
    int64_t n;
    const dpf_param *params = table(&n);
    if (config_bind(a->config, section, params, n, sizeof *params, NULL, 1, out, &error) != 0)
        fail_msg("%s", error.text);
}

static void ask(struct asking *a, const char *text)
{
    struct dpf_error error = {0};
    memset(a, 0, sizeof *a);
    a->config = config_parse("test.ini", text, strlen(text), &error);
    if (!a->config)
        fail_msg("%s", error.text);
    bind(a, "data", data_params, &a->data);
    bind(a, "split", split_params, &a->split);
    bind(a, "privacy", privacy_params, &a->privacy);
    a->question = (struct fact_question){.data = &a->data, .split = &a->split};
    a->question.value_lo = a->data.params.values[D_VALUE_MIN].real;
    a->question.value_hi = a->data.params.values[D_VALUE_MAX].real;
    promise_read(a->config, &a->question.promise);
}

static void stop_asking(struct asking *a)
{
    config_values_free(&a->data);
    config_values_free(&a->split);
    config_values_free(&a->privacy);
    config_free(a->config);
}

#define USER_COMES "[privacy]\nunit = user\nadjacency = add-remove\n"
#define USER_REPLACED "[privacy]\nunit = user\nadjacency = replace\n"
#define USER_ZEROED "[privacy]\nunit = user\nadjacency = zero-out\n"
#define RECORD_COMES "[privacy]\nunit = record\nadjacency = add-remove\n"
#define VALUE_CHANGES "[privacy]\nunit = record\nadjacency = replace-value\n"
#define FORM "[data]\nheader = yes\npath = a.csv\n"
#define LISTS "items-file = items.txt\nusers-file = users.txt\n"

/* condition: the one that fails with these keys, and the key that its sentence must name; 0: all hold. */
struct judged {
    const char *text;
    int64_t users; /* declared */
    const char *shows;
    int condition;
    const char *key;
};

static void expect(const struct judged *j)
{
    static const int conditions[] = {2, 8, 11, 12};
    struct asking a;
    ask(&a, j->text);
    a.question.declared[DPF_SIDE_USERS] = j->users;
    a.question.shows_users = j->shows;
    for (int i = 0; i < 4; i++) {
        const enum input_fact fact = input_not_allowed(conditions[i], 0, &a.question);
        if ((fact < N_INPUT_FACTS) != (conditions[i] == j->condition))
            fail_msg("C%d %s with\n%s", conditions[i],
                     fact < N_INPUT_FACTS ? input_fact_at(fact)->name : "holds", j->text);
        if (fact < N_INPUT_FACTS && !strstr(input_fact_at(fact)->lost(&a.question), j->key))
            fail_msg("\"%s\" does not name %s", input_fact_at(fact)->lost(&a.question), j->key);
    }
    stop_asking(&a);
}

TEST(each_fact_fails_its_condition_and_names_its_key)
{
    static const struct judged cases[] = {
        {FORM LISTS USER_COMES, 9, NULL, 0, NULL},
        /* the form */
        {"[data]\npath = a.csv\n" LISTS USER_COMES, 9, NULL, 11, "[data] header"},
        {"[data]\npath = a.csv\ncolumn.user = u\n" LISTS USER_COMES, 9, NULL, 0, NULL},
        {"[data]\npath = a.csv\nformat = recbole\n" LISTS USER_COMES, 9, NULL, 0, NULL},
        {"[data]\npath = a.csv\nformat = movielens-1m\n" LISTS USER_COMES, 9, NULL, 0, NULL},
        {"[data]\npath = a.csv\nheader = no\n" LISTS USER_COMES, 9, NULL, 11, "[data] fields"},
        {"[data]\npath = a.csv\nheader = no\nfields = 3\n" LISTS USER_COMES, 9, NULL, 0, NULL},
        {FORM LISTS "multi-line = yes\n" USER_COMES, 9, NULL, 11, "[data] multi-line"},
        {"[data]\npath = a.txt\nformat = netflix\n" LISTS USER_COMES, 9, NULL, 11, "[data] "},
        {"[data]\nformat = synthetic\n" USER_COMES, 9, NULL, 0, NULL},
        /* lists */
        {FORM USER_COMES, 9, NULL, 11, "[data] items-file"},
        {FORM "items-file = i\n" USER_COMES, 9, NULL, 0, NULL},
        {FORM "items-file = i\n" USER_COMES, 0, NULL, 2, "[model] users"},
        {FORM "items-file = i\nusers-file = u\n" USER_COMES, 0, NULL, 0, NULL},
        {FORM USER_COMES "id-lists = public\n", 9, NULL, 0, NULL},
        {FORM "items-file = i\n" USER_REPLACED, 0, NULL, 11, "[model] users"},
        {FORM "items-file = i\n" USER_REPLACED, 9, NULL, 0, NULL},
        {FORM "items-file = i\n" USER_REPLACED, 9, "a row each", 11, "[data] users-file"},
        {FORM "items-file = i\n" USER_ZEROED, 9, "a row each", 11, "[privacy] id-lists"},
        {FORM "items-file = i\nusers-file = u\n" USER_ZEROED, 0, "a row each", 0, NULL},
        {FORM USER_REPLACED "id-lists = public\n", 0, "a row each", 0, NULL},
        {FORM "items-file = i\n" RECORD_COMES, 9, NULL, 11, "[data] users-file"},
        {FORM LISTS RECORD_COMES, 0, NULL, 0, NULL},
        {FORM VALUE_CHANGES, 0, NULL, 0, NULL},
        {FORM "items-file = i\n" USER_ZEROED "interaction-pattern = public\n", 0, "a row each", 0, NULL},
        {FORM LISTS "relation.path = l\n" USER_COMES, 9, NULL, 0, NULL},
        {FORM "items-file = i\nrelation.path = l\n" USER_COMES, 9, NULL, 11, "[data] users-file"},
        {FORM LISTS "relation.path = l\nrelation.similarity = pearson\n" USER_COMES, 9, NULL, 2,
         "relation.similarity"},
        /* what is kept */
        {FORM LISTS "filter.item-min = 2\n" USER_COMES, 9, NULL, 2, "[data] items-file"},
        {FORM "filter.item-min = 2\n" VALUE_CHANGES "interaction-pattern = public\n", 9, NULL, 0, NULL},
        {FORM LISTS "filter.user-max = 2\n" USER_COMES, 9, NULL, 0, NULL},
        {FORM LISTS "filter.user-max = 2\n" RECORD_COMES, 9, NULL, 2, "unit = user"},
        {FORM "filter.user-max = 2\n" VALUE_CHANGES, 9, NULL, 0, NULL},
        {FORM "filter.user-max = 2\nfilter.keep = latest\n" VALUE_CHANGES, 9, NULL, 2,
         "filter.keep = random"},
        {FORM "[split]\nkind = leave-one-out\nby = random\n" VALUE_CHANGES, 9, NULL, 0, NULL},
        {FORM "[split]\nkind = leave-one-out\n" VALUE_CHANGES, 9, NULL, 2, "by = random"},
        {FORM "[split]\nkind = time\ntime-from = 9\n" VALUE_CHANGES, 9, NULL, 2, "kind = random"},
        {FORM LISTS "[split]\nkind = time\ntime-from = 9\n" RECORD_COMES, 9, NULL, 0, NULL},
        {"[data]\nformat = synthetic\n" USER_COMES, 0, NULL, 2, "[model] users"},
        {FORM LISTS "[split]\nkind = leave-one-out\n" RECORD_COMES, 9, NULL, 2, "kind = random"},
        {FORM LISTS "[split]\nkind = random-exact\n" USER_COMES, 9, NULL, 11, "kind = random"},
        {FORM LISTS "[split]\nkind = random\n" RECORD_COMES, 9, NULL, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i]);
}

TEST(a_sum_needs_users_from_a_list)
{
    static const struct {
        const char *text;
        int fails;
    } cases[] = {
        {FORM LISTS USER_COMES, 1},
        {FORM LISTS USER_REPLACED, 0},
        {FORM "items-file = i\n" USER_REPLACED, 1},
        {FORM USER_ZEROED "id-lists = public\n", 0},
        {FORM LISTS RECORD_COMES, 0},
        {FORM VALUE_CHANGES, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t least = 1; least <= 2; least++) {
            struct asking a;
            ask(&a, cases[i].text);
            a.question.shows_users = "each user adds noise";
            a.question.declared[DPF_SIDE_USERS] = 40;
            a.question.least_users = least;
            assert_int_equal(input_not_allowed(12, 0, &a.question) < N_INPUT_FACTS,
                             least > 1 && cases[i].fails);
            stop_asking(&a);
        }
}

/* Who may decide what, for each promise: the whole rule. */
TEST(the_rule)
{
    static const struct {
        struct promise promise;
        int own_records, own_cells, all_cells;
    } rows[] = {
        {{.unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ADD_REMOVE}, 1, 1, 0},
        {{.unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_REPLACE, .pattern_public = 1}, 1, 1, 0},
        {{.unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT}, 1, 1, 0},
        {{.unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT, .pattern_public = 1}, 1, 1, 1},
        {{.unit = DPF_UNIT_RECORD, .adjacency = DPF_ADJ_ADD_REMOVE, .pattern_public = 1}, 0, 0, 0},
        {{.unit = DPF_UNIT_RECORD, .adjacency = DPF_ADJ_FLIP, .ids_public = 1}, 0, 0, 0},
        {{.unit = DPF_UNIT_RECORD, .adjacency = DPF_ADJ_ZERO_OUT}, 0, 0, 0},
        {{.unit = DPF_UNIT_RECORD, .adjacency = DPF_ADJ_ZERO_OUT, .pattern_public = 1}, 0, 1, 1},
        {{.unit = DPF_UNIT_RECORD, .adjacency = DPF_ADJ_REPLACE_VALUE}, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int by = BY_NOBODY; by < BY_OWN_RECORDS; by++)
            assert_true(input_allows((enum decider)by, &rows[i].promise));
        assert_int_equal(input_allows(BY_OWN_RECORDS, &rows[i].promise), rows[i].own_records);
        assert_int_equal(input_allows(BY_OWN_CELLS, &rows[i].promise), rows[i].own_cells);
        assert_int_equal(input_allows(BY_ALL_CELLS, &rows[i].promise), rows[i].all_cells);
        assert_false(input_allows(BY_RECORDS, &rows[i].promise));
    }
}

/* Reading takes the promise from the text of the keys, and plans from their values. */
TEST(the_promise_is_that_of_the_keys)
{
    static const char *const units[] = {"", "unit = record\n", "unit = user\n"};
    static const char *const adjacencies[] = {"",
                                              "adjacency = replace-value\n",
                                              "adjacency = flip\n",
                                              "adjacency = replace\n",
                                              "adjacency = add-remove\n",
                                              "adjacency = zero-out\n"};
    static const char *const others[] = {"", "interaction-pattern = public\nobserver = server\n",
                                         "id-lists = public\nobserver = parties\n",
                                         "id-lists = private\nobserver = outsider\n"};
    for (int i = 0; i < 3 * 6 * 4; i++) {
        char text[256];
        struct asking a;
        snprintf(text, sizeof text, FORM "[privacy]\n%s%s%s", units[i % 3], adjacencies[i / 3 % 6],
                 others[i / 18]);
        ask(&a, text);
        const dpf_value *v = a.privacy.params.values;
        const struct promise *p = &a.question.promise;
        assert_int_equal(p->unit, v[PRIVACY_UNIT].integer);
        assert_int_equal(p->adjacency, v[PRIVACY_ADJACENCY].integer);
        assert_int_equal(p->observer, v[PRIVACY_OBSERVER].integer);
        assert_int_equal(p->pattern_public, v[PRIVACY_INTERACTION_PATTERN].integer == 1);
        assert_int_equal(p->ids_public, v[PRIVACY_ID_LISTS].integer == 1);
        stop_asking(&a);
    }
}

/* Every entry is complete: it has an answer, and where it can fail, a sentence that names its key. */
TEST(the_table_is_complete)
{
    struct asking a;
    ask(&a, FORM USER_COMES);
    a.question.public_files = "[data] users-file: ...";
    for (int f = 0; f < N_INPUT_FACTS; f++) {
        const struct fact_entry *e = input_fact_at((enum input_fact)f);
        assert_non_null(e->name);
        assert_non_null(e->what);
        assert_non_null(e->by);
        assert_non_null(e->decide);
        assert_int_equal(e->condition != 0, e->lost != NULL);
        assert_true(e->condition == 0 || *e->key);
        assert_true(e->condition == 0 || strpbrk(e->lost(&a.question), "[="));
    }
    stop_asking(&a);
}

/* docs/privacy.md has the table as it is. If it has changed: the message is the new one. */
TEST(the_documents_have_this_table)
{
    char path[512];
    struct text table = {0};
    static char page[1 << 18];
    snprintf(path, sizeof path, "%s/docs/privacy.md", getenv("DPFRAME_SOURCE_DIR"));
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    page[fread(page, 1, sizeof page - 1, stream)] = '\0';
    fclose(stream);
    input_facts_document(&table);
    const int found = strstr(page, table.data) != NULL;
    if (!found)
        fputs(table.data, stderr); /* cmocka cuts long messages off */
    text_free(&table);
    assert_true(found);
}
