/* SPDX-License-Identifier: Apache-2.0 */
/* The guarantee for machines: the same facts as statement_text.c. */
#include <math.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "privacy/guarantee.h"
#include "privacy/statement.h"

/* JSON has no infinity and no NaN: "infinity", and null for what is not known. */
static json_t *number(double value)
{
    if (isnan(value))
        return json_null();
    return isinf(value) ? json_string("infinity") : json_real(value);
}

static json_t *account_json(const struct guarantee *guarantee, const struct account *account)
{
    const dpf_answer *answer = &account->answer;
    const int unit = answer->stated_unit ? answer->stated_unit - 1 : guarantee->unit;
    const int adjacency = answer->stated_adjacency ? answer->stated_adjacency - 1 : guarantee->adjacency;
    json_t *object = json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:s}", "accountant", account->accountant,
                               "epsilon", number(answer->epsilon), "delta", number(answer->delta), "unit",
                               dpf_unit_name(unit), "adjacency", dpf_adjacency_name(adjacency), "observer",
                               statement_observer(guarantee->observer), "source", answer->source, "note",
                               account->refused ? account->reason : answer->note);
    if (object && !account->refused) {
        json_object_set_new(object, "epsilon_lower", number(answer->epsilon_lower));
        json_object_set_new(object, "order", number(answer->order));
        json_object_set_new(object, "at_grid_end", json_boolean(answer->at_grid_end));
    }
    return object;
}

static json_t *conditions_json(const struct guarantee *guarantee)
{
    json_t *list = json_array();
    for (int i = 0; list && i < N_CONDITIONS; i++) {
        const struct condition *condition = &guarantee->conditions[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:s}", "id", condition->id, "title",
                                        condition->title, "holds", condition->holds, "why", condition->why));
    }
    return list;
}

static json_t *public_json(const struct guarantee *guarantee)
{
    json_t *list = json_array();
    const char *cursor = guarantee->taken_as_public;
    while (list && *cursor) {
        const size_t length = strcspn(cursor, "\n");
        json_array_append_new(list, json_stringn(cursor, length));
        cursor += length + (cursor[length] == '\n');
    }
    return list;
}

/* Accounts go to the list that says what they are worth. */
static void sort_accounts(const struct guarantee *guarantee, json_t *published, json_t *proved,
                          json_t *unproved, json_t *refused)
{
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        json_t *object = account_json(guarantee, account);
        if (account->refused) {
            json_array_append_new(refused, object);
        } else if (account->is_claim) {
            json_array_append_new(published, object);
        } else if (statement_proves(guarantee, account)) {
            json_object_set_new(object, "joint", json_boolean(guarantee->joint));
            json_object_set_new(object, "plan", json_boolean(!guarantee->run_holds));
            json_array_append_new(proved, object);
        } else {
            json_array_append_new(unproved, object);
        }
    }
}

/* {"accountant", "groups": [{"size", "epsilon"}], "tests": [{"false_alarm", "missed"}], "mu", "mu_holds"} */
static json_t *reach_json(const struct reach *reach)
{
    json_t *groups = json_array(), *tests = json_array();
    for (int i = 0; i < REACH_N_GROUPS; i++)
        json_array_append_new(groups, json_pack("{s:i, s:o}", "size", reach->group[i], "epsilon",
                                                number(reach->group_epsilon[i])));
    for (int i = 0; i < REACH_N_TESTS; i++)
        json_array_append_new(tests, json_pack("{s:o, s:o}", "false_alarm", number(reach->false_alarm[i]),
                                               "missed", number(reach->missed[i])));
    return json_pack("{s:s, s:o, s:o, s:o, s:b}", "accountant", reach->accountant, "groups", groups, "tests",
                     tests, "mu", number(reach->mu), "mu_holds", reach->mu_holds);
}

static json_t *selection_json(const struct selection_summary *selection)
{
    return json_pack("{s:I, s:s, s:s, s:o, s:s, s:o}", "candidates", (json_int_t)selection->candidates,
                     "metric", selection->metric, "repetitions", selection->law, "epsilon_without_tuning",
                     number(selection->alone), "accountant_without_tuning", selection->alone_accountant,
                     "candidate_total_epsilon", number(selection->share));
}

json_t *guarantee_json(const struct guarantee *guarantee)
{
    json_t *published = json_array(), *proved = json_array(), *unproved = json_array(),
           *refused = json_array();
    sort_accounts(guarantee, published, proved, unproved, refused);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:o, s:b, s:b, s:i, s:b, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "unit",
        dpf_unit_name(guarantee->unit), "adjacency", dpf_adjacency_name(guarantee->adjacency), "observer",
        statement_observer(guarantee->observer), "delta", number(guarantee->delta), "joint", guarantee->joint,
        "reproducible", guarantee->reproducible, "releases", guarantee->n_releases, "released_raw",
        guarantee->released_raw, "plan_holds", guarantee->plan_holds, "run_holds", guarantee->run_holds,
        "deviation", guarantee->deviation, "published", published, "proved", proved, "unproved", unproved,
        "refused", refused, "conditions", conditions_json(guarantee), "taken_as_public",
        public_json(guarantee));
    if (json && guarantee->max_curious >= 0)
        json_object_set_new(json, "max_curious", json_integer(guarantee->max_curious));
    if (json && guarantee->noise_factor > 0)
        json_object_set_new(json, "noise_factor", json_real(guarantee->noise_factor));
    if (json && guarantee->trainings > 1)
        json_object_set_new(json, "trainings", json_integer(guarantee->trainings));
    if (json && guarantee->repeats > 0)
        json_object_set_new(json, "repeated_rounds", json_integer(guarantee->repeats));
    const struct data_budget *b = &guarantee->budget;
    if (json && b->known)
        json_object_set_new(
            json, "budget",
            json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:b}", "ledger", b->path, "runs_before",
                      (json_int_t)b->runs, "epsilon_before", b->epsilon, "delta_before", b->delta, "epsilon",
                      b->epsilon + b->own_epsilon, "delta", b->delta + b->own_delta, "max_epsilon", b->most,
                      "epsilon_composed", isnan(b->composed) ? json_null() : json_real(b->composed),
                      "planned", b->planned));
    if (json && guarantee->selection.known)
        json_object_set_new(json, "selection", selection_json(&guarantee->selection));
    if (json && guarantee->reach.known)
        json_object_set_new(json, "reach", reach_json(&guarantee->reach));
    return json;
}
