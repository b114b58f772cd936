/* SPDX-License-Identifier: Apache-2.0 */
#include "run/certificate.h"

#include <string.h>

#include "base/files.h"
#include "privacy/statement.h"

#define CERTIFICATE_FORMAT "dpframe-certificate/1"

/* ---- the configuration ----------------------------------------------------------------------------- */

/* The keys of a section that the proof rests on; sections of components are copied as they are. */
static const struct {
    const char *section;
    const char *keys[32]; /* NULL after the last */
} declared[] = {
    {"run", {"compare-repetitions", "rounds", "order", "update", "until", "final-step"}},
    {"data",
     {"format",
      "header",
      "delimiter",
      "fields",
      "multi-line",
      "column.user",
      "column.item",
      "column.rating",
      "column.time",
      "column.privacy-weight",
      "encoding",
      "feedback",
      "value-min",
      "value-max",
      "threshold",
      "out-of-range",
      "duplicates",
      "catalogue.outside",
      "filter.user-min",
      "filter.user-max",
      "filter.keep",
      "filter.users",
      "filter.item-min",
      "filter.item-max",
      "filter.core",
      "filter.time-from",
      "filter.time-to",
      "weights.kind",
      "relation.direction",
      "relation.similarity"}},
    {"split", {"kind", "by", "fraction", "n", "folds", "fold", "train-fraction", "time-from", "users"}},
    {"privacy",
     {"unit", "adjacency", "observer", "delta", "randomness", "interaction-pattern", "id-lists", "tuning",
      "on-violation", "budget", "total-epsilon", "calibrate-by"}},
    {"evaluate",
     {"release", "metrics", "release-noise", "release-epsilon", "release-share", "release-records",
      "release-error", "bands", "select"}},
    {"parties", {"kind", "count", "local-iterations"}},
};

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

static int starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Of the model, its sides and terms, and of accountants, all keys count. */
static int is_component(const char *section)
{
    return starts_with(section, "model") || starts_with(section, "users") || starts_with(section, "items") ||
           starts_with(section, "accountants");
}

static json_t *configuration_json(const struct plan *plan)
{
    json_t *all = plan_resolved(plan), *out = json_object(), *section;
    const char *name;
    for (size_t i = 0; i < sizeof declared / sizeof declared[0]; i++)
        if ((section = json_object_get(all, declared[i].section)))
            json_object_set_new(out, declared[i].section, chosen_keys(section, declared[i].keys));
    json_object_foreach(all, name, section)
    {
        if (is_component(name))
            json_object_set(out, name, section);
    }
    json_decref(all);
    return out;
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
    const int known = files_sha256("/proc/self/exe", hash, &unknown) == 0;
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
    json_object_set_new(root, "configuration", configuration_json(plan));
    json_object_set_new(root, "rows",
                        json_pack("{s:o, s:o}", "users", rows_json(plan, DPF_SIDE_USERS), "items",
                                  rows_json(plan, DPF_SIDE_ITEMS)));
    json_object_set_new(root, "events", ledger_json(&plan->ledger));
    json_decref(guarantee);
    return root;
}
