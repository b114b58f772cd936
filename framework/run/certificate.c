/* SPDX-License-Identifier: Apache-2.0 */
#include "run/certificate.h"

#include <stdio.h>

#include "base/files.h"
#include "plan/facts.h"
#include "privacy/statement.h"

#define CERTIFICATE_FORMAT "dpframe-certificate/2"

static json_t *chosen_keys(const json_t *section, const char *const *keys)
{
    json_t *object = json_object();
    for (; *keys; keys++) {
        json_t *value = json_object_get(section, *keys);
        if (value)
            json_object_set(object, *keys, value);
    }
    return object;
}

/* ---- facts ------------------------------------------------------------------------------------------- */

/*
 * How many rows a side has, where that is no secret: as declared, or of a list that the statement takes as public. Of users who
 * may come or go it is the declared bound alone.
 */
static json_t *rows_json(const struct plan *plan, int side)
{
    const struct guarantee *g = &plan->guarantee;
    const int64_t stated =
        plan->model.params.values[side == DPF_SIDE_USERS ? MODEL_USERS : MODEL_ITEMS].integer;
    const int hidden =
        side == DPF_SIDE_USERS && g->unit == DPF_UNIT_USER && g->adjacency == DPF_ADJ_ADD_REMOVE;
    const int64_t rows = side == DPF_SIDE_USERS ? plan->n_users : plan->n_items;
    if (stated > 0 && (hidden || rows <= 0))
        return json_integer((json_int_t)stated);
    return g->plan_holds && !hidden && rows > 0 ? json_integer((json_int_t)rows) : json_null();
}

/* The table of facts of the input, line by line: who decides each in this configuration. */
static json_t *facts_json(const struct plan *plan)
{
    struct fact_question question;
    json_t *facts = json_array();
    facts_asked(plan, &question);
    for (int f = 0; f < N_INPUT_FACTS; f++) {
        const struct fact_entry *entry = input_fact_at((enum input_fact)f);
        const enum decider by = input_decider((enum input_fact)f, &question);
        json_t *fact = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", entry->name, "what", entry->what,
                                 "keys", entry->key, "by", input_decider_name(by), "allowed",
                                 input_allows(by, &question.promise));
        if (entry->condition) {
            char id[8];
            snprintf(id, sizeof id, "C%d", entry->condition);
            json_object_set_new(fact, "condition", json_string(id));
        }
        json_array_append_new(facts, fact);
    }
    return facts;
}

/* ---- the program -------------------------------------------------------------------------------------- */

static json_t *program_json(const struct plan *plan)
{
    struct dpf_error unknown = {0};
    char hash[65] = "";
    json_t *plugins = json_array();
    for (int64_t i = 0; i < registry_used_count(plan->registry); i++) {
        const struct registry_entry *entry = registry_used_at(plan->registry, i);
        json_array_append_new(plugins, json_pack("{s:s, s:s, s:s, s:s}", "role", entry->component->role, "id",
                                                 entry->component->id, "version", entry->component->version,
                                                 "sha256", entry->sha256));
    }
    const int known = files_program_sha256(hash, &unknown) == 0;
    return json_pack("{s:s, s:s, s:o, s:o}", "name", "dpframe", "version", DPFRAME_VERSION, "sha256",
                     known ? json_string(hash) : json_null(), "plugins", plugins);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

json_t *certificate_json(const struct plan *plan)
{
    static const char *const said[] = {
        "unit",         "adjacency",       "observer", "delta",      "joint",           "reproducible",
        "plan_holds",   "run_holds",       "proved",   "conditions", "taken_as_public", "max_curious",
        "noise_factor", "repeated_rounds", NULL};
    json_t *guarantee = guarantee_json(&plan->guarantee);
    json_t *root = json_pack("{s:s, s:s}", "format", CERTIFICATE_FORMAT, "note",
                             "check it with dpframe-verify; no line is computed from protected records");
    json_object_set_new(root, "statement", chosen_keys(guarantee, said));
    json_object_set_new(root, "program", program_json(plan));
    json_object_set_new(root, "configuration", plan_stated(plan));
    json_object_set_new(root, "facts", facts_json(plan));
    if (plan->guarantee.selection.parts)
        json_object_set(root, "selection", plan->guarantee.selection.parts);
    json_object_set_new(root, "rows",
                        json_pack("{s:o, s:o}", "users", rows_json(plan, DPF_SIDE_USERS), "items",
                                  rows_json(plan, DPF_SIDE_ITEMS)));
    json_object_set_new(root, "events", ledger_json(&plan->ledger));
    json_decref(guarantee);
    return root;
}
