/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/renamed.h"
#include "plugin/role_tables.h"

char **components_names(const char *list, int *n)
{
    size_t length = strlen(list);
    char **names = memory_need(1, (length / 2 + 2) * sizeof *names + length + 1);
    *n = 0;
    char *text = (char *)(names + length / 2 + 2);
    memcpy(text, list, length + 1);
    while (text) {
        char *comma = strchr(text, ',');
        if (comma)
            *comma = '\0';
        while (*text == ' ' || *text == '\t')
            text++;
        size_t end = strlen(text);
        while (end && (text[end - 1] == ' ' || text[end - 1] == '\t'))
            text[--end] = '\0';
        if (end)
            names[(*n)++] = text;
        text = comma ? comma + 1 : NULL;
    }
    names[*n] = NULL;
    return names;
}

int components_check_once(const struct plan *plan, const char *section, const char *key, char *const *names,
                          int n, struct dpf_error *error)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return config_error(plan->config, section, key, error, "%s is listed twice", names[i]);
    return 0;
}

int components_bind(struct plan *plan, const char *section, const dpf_param *table, int64_t n, int strict,
                    struct config_values *out, struct dpf_error *error)
{
    if (config_bind(plan->config, section, table, n, sizeof *table, NULL, strict, out, error) != 0)
        return -1;
    plan->bound =
        memory_need_grow(plan->bound, &plan->bound_capacity, (size_t)plan->n_bound + 1, sizeof(*plan->bound));
    plan->bound[plan->n_bound++] = out;
    return 0;
}

int plan_failed(const struct plan *plan)
{
    return plan->error->fault != DPF_FAULT_NONE;
}

/* The registry knows the name, the configuration knows the place. */
static void refuse_name(const struct plan *plan, const char *section, const char *key, const char *id,
                        const struct dpf_error *unknown, struct dpf_error *error)
{
    const struct renamed *renamed = renamed_find(section, key, id);
    if (unknown->fault == DPF_FAULT_RUN) {
        *error = *unknown;
        return;
    }
    if (renamed)
        config_error(plan->config, section, key, error,
                     "it is now called \"%s\"; \"dpframe convert\" rewrites a file", renamed->new_name);
    else
        config_error(plan->config, section, key, error, "%s", unknown->text);
    error->fault = renamed ? DPF_FAULT_CONFIG : unknown->fault;
}

/* Takes over params_section. */
static struct instance *make(struct plan *plan, const char *role, const char *section, const char *key,
                             const char *id, char *params_section)
{
    struct dpf_error unknown = {0};
    struct instance *made = NULL;
    const struct registry_entry *entry =
        *id && !plan_failed(plan) ? registry_find(plan->registry, role, id, &unknown) : NULL;
    if (entry)
        made = instance_new(entry, params_section, &plan->environment, plan->error);
    else if (unknown.fault)
        refuse_name(plan, section, key, id, &unknown, plan->error);
    free(params_section);
    return made;
}

struct instance *components_make_named(struct plan *plan, const char *role, const char *section,
                                       const char *key, const char *id)
{
    return make(plan, role, section, key, id, memory_format("%s.%s", section, key));
}

int components_make_one(struct plan *plan, const char *role, const char *section, const char *key,
                        const char *id, struct instance **out, struct dpf_error *error)
{
    plan->error = error;
    *out = components_make_named(plan, role, section, key, id);
    plan->error = NULL;
    return *id && !*out ? -1 : 0;
}

/* Components of some ways of running alone, on ranks or with parties. All runs have their names and keys checked. */
static const struct elsewhere {
    const char *section, *key, *role;
    const char *otherwise; /* where the key is not set */
    const char *words[2];  /* values that leave the choice to the program, for which `chosen` stands */
    const char *chosen;
} elsewhere[] = {
    {"run", "comm", DPF_ROLE_COMM, "auto", {"auto", "self"}, "mpi"},
    {"federation", "link", DPF_ROLE_LINK, "local", {NULL, NULL}, NULL},
};

/* What is required may stand in the file of whoever makes the component. */
static int check_keys(struct plan *plan, const struct elsewhere *e, const char *id, struct dpf_error *error)
{
    struct config_values values;
    const struct registry_entry *entry = registry_look(plan->registry, e->role, id, error);
    if (!entry)
        return -1;
    const dpf_component *component = entry->component;
    char *section = memory_format("%s.%s", e->section, e->key),
         *who = memory_format("%s %s", role_name(e->role), id);
    dpf_param *table = memory_need((size_t)component->n_params, sizeof *table);
    for (int64_t i = 0; i < component->n_params; i++) {
        const char *at = (const char *)component->params + i * component->param_stride;
        memcpy(&table[i], at,
               component->param_stride < (int64_t)sizeof *table ? (size_t)component->param_stride
                                                                : sizeof *table);
        table[i].flags &= ~(uint32_t)DPF_PARAM_REQUIRED;
    }
    const int status =
        config_bind(plan->config, section, table, component->n_params, sizeof *table, who, 1, &values, error);
    if (status == 0)
        config_values_free(&values);
    free(table);
    free(section);
    free(who);
    return status;
}

static int check_elsewhere(struct plan *plan, const struct elsewhere *e, struct dpf_error *error)
{
    const struct config_entry *entry = config_find(plan->config, e->section, e->key);
    const char *named = entry && *entry->value ? entry->value : e->otherwise, *id = named;
    char *section = memory_format("%s.%s", e->section, e->key);
    const int has_keys = config_has_section(plan->config, section);
    int status = 0;
    for (int i = 0; i < 2; i++)
        id = e->words[i] && strcmp(named, e->words[i]) == 0 ? e->chosen : id;
    const int is_there = registry_has(plan->registry, e->role, id);
    if (is_there && has_keys) {
        status = check_keys(plan, e, id, error);
    } else if (!is_there && entry && id == named) {
        struct dpf_error unknown = {0};
        registry_find(plan->registry, e->role, id, &unknown);
        refuse_name(plan, e->section, e->key, id, &unknown, error);
        status = -1;
    } else if (has_keys) { /* of a plugin that is not installed here, and that nobody has asked for */
        config_consume_section(plan->config, section);
    }
    free(section);
    return status;
}

int components_check_elsewhere(struct plan *plan, struct dpf_error *error)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (check_elsewhere(plan, &elsewhere[i], error) != 0)
            return -1;
    return 0;
}

/* Without mechanisms there are no messages, and no space in which they are released. */
static int changes_messages(const struct instance *instance)
{
    const dpf_transform *transform = instance->functions;
    return transform->kind == DPF_TRANSFORM_MESSAGE || transform->kind == DPF_TRANSFORM_STATE;
}

static void make_transforms(struct plan *plan, struct term_plan *term, const char *list)
{
    int n = 0;
    char **names = components_names(list, &n);
    if (n > PLAN_MAX_TRANSFORMS)
        config_error(plan->config, term->name, "transforms", plan->error, "at most %d transforms",
                     PLAN_MAX_TRANSFORMS);
    components_check_once(plan, term->name, "transforms", names, n, plan->error);
    term->transforms = memory_need((size_t)n + 1, sizeof *term->transforms);
    for (int i = 0; i < n && !plan_failed(plan); i++) {
        struct instance *made = make(plan, DPF_ROLE_TRANSFORM, term->name, "transforms", names[i],
                                     memory_format("%s.transform.%s", term->name, names[i]));
        if (made && plan->without_mechanisms && changes_messages(made))
            instance_free(made);
        else if (made)
            term->transforms[term->n_transforms++] = made;
    }
    free(names);
}

static void make_term(struct plan *plan, struct term_plan *term, const struct config_values *values)
{
    const dpf_value *v = values->params.values;
    term->source = (int)v[TERM_SOURCE].integer;
    term->destination = (int)v[TERM_DESTINATION].integer;
    term->messages = (int)v[TERM_SEND].integer;
    term->raw_residual = v[TERM_RESIDUAL].integer == RESIDUAL_RAW;
    term->returns_transformed = v[TERM_RETURNED].integer == RETURNED_TRANSFORMED;
    term->bounds_from_data = v[TERM_BOUNDS].integer == BOUNDS_FROM_DATA;
    term->participations = v[TERM_MAX_PARTICIPATIONS].integer;
    term->layout = v[TERM_LAYOUT].integer == LAYOUT_FULL ? DPF_LAYOUT_FULL : DPF_LAYOUT_PACKED;
    term->block_shares = &v[TERM_BLOCK_SHARES];
    term->gram_share = v[TERM_GRAM_SHARE].real;
    term->secrecy = (int)v[TERM_SAMPLE_SECRECY].integer - 1;
    if (!*v[TERM_LOSS].text)
        config_error(plan->config, term->name, "loss", plan->error, "[%s] needs a loss: see \"dpframe list\"",
                     term->name);
    else if (term->source == SOURCE_RELATION && term->side != DPF_SIDE_USERS)
        config_error(plan->config, term->name, "source", plan->error,
                     "source = relation: links are between users, so it belongs to [users]");
    term->loss = components_make_named(plan, DPF_ROLE_LOSS, term->name, "loss", v[TERM_LOSS].text);
    make_transforms(plan, term, v[TERM_TRANSFORMS].text);
    if (plan->without_mechanisms)
        return;
    term->sampler =
        components_make_named(plan, DPF_ROLE_SAMPLER, term->name, "sampler", v[TERM_SAMPLER].text);
    term->mechanism =
        components_make_named(plan, DPF_ROLE_MECHANISM, term->name, "mechanism", v[TERM_MECHANISM].text);
    if (!term->mechanism)
        return;
    if (!*v[TERM_AGGREGATOR].text)
        config_error(plan->config, term->name, "aggregator", plan->error,
                     "[%s] has a mechanism, so it needs an aggregator, for example sum", term->name);
    term->aggregator =
        components_make_named(plan, DPF_ROLE_AGGREGATOR, term->name, "aggregator", v[TERM_AGGREGATOR].text);
}

/* Binds a section whose values only matter while components are made, but which the resolved configuration
   wants: they live as long as the plan. NULL once the plan has failed. */
static const struct config_values *bind_kept(struct plan *plan, const char *section,
                                             const dpf_param *(*params)(int64_t *n), int strict)
{
    int64_t n;
    const dpf_param *table = params(&n);
    if (plan->n_extra == (int)(sizeof plan->extra / sizeof plan->extra[0]))
        error_set(plan->error, DPF_FAULT_CONFIG, "too many terms: at most %d sections of sides and terms",
                  plan->n_extra);
    if (plan_failed(plan))
        return NULL;
    struct config_values *values = plan->extra[plan->n_extra++] = memory_need(1, sizeof *values);
    return components_bind(plan, section, table, n, strict, values, plan->error) == 0 ? values : NULL;
}

static void refuse_term_keys(struct plan *plan, const char *side)
{
    int64_t n;
    const dpf_param *table = schema_term(&n);
    for (int64_t i = 0; i < n; i++) {
        const struct config_entry *entry = config_find(plan->config, side, table[i].name);
        if (entry && *entry->value) /* an empty value takes back what a file before had */
            config_error(plan->config, side, table[i].name, plan->error,
                         "[%s] has terms, so %s belongs to a section [%s.TERM]", side, table[i].name, side);
        config_consume(plan->config, side, table[i].name);
    }
}

/*
 * Names key the randomness of a term's components, so two terms of one name would hide two values
 * behind the same noise. The reserved ones name sections of the side itself.
 */
static void check_term_names(struct plan *plan, const char *side, char *const *names, int n)
{
    static const char *const reserved[] = {"loss",      "sampler",    "transform", "transforms",
                                           "mechanism", "aggregator", "solver"};
    components_check_once(plan, side, "terms", names, n, plan->error);
    for (int i = 0; i < n; i++) {
        for (size_t j = 0; j < sizeof reserved / sizeof reserved[0]; j++)
            if (strcmp(names[i], reserved[j]) == 0)
                config_error(plan->config, side, "terms", plan->error,
                             "a term cannot be called %s: [%s.%s] contains the side's own parameters",
                             names[i], side, names[i]);
        if (strchr(names[i], '.'))
            config_error(plan->config, side, "terms", plan->error,
                         "%s: the name of a term cannot contain a dot", names[i]);
    }
}

static void make_terms(struct plan *plan, struct side_plan *side, const char *list)
{
    const char *name = plan_side_name(side->side);
    int n = 0;
    char **names = components_names(list, &n);
    side->terms = memory_need((size_t)(n ? n : 1), sizeof *side->terms);
    if (n)
        refuse_term_keys(plan, name);
    check_term_names(plan, name, names, n);
    side->public_rows = 1;
    for (int i = 0; i < (n ? n : 1) && !plan_failed(plan); i++) {
        struct term_plan *term = &side->terms[i];
        int length = n ? snprintf(term->name, sizeof term->name, "%s.%s", name, names[i])
                       : snprintf(term->name, sizeof term->name, "%s", name);
        if (length < 0 || (size_t)length >= sizeof term->name)
            config_error(plan->config, name, "terms", plan->error, "the name of term %d is too long", i + 1);
        term->side = side->side;
        side->n_terms++;
        const struct config_values *values = bind_kept(plan, term->name, schema_term, n > 0);
        if (values)
            make_term(plan, term, values);
        side->released |= term->mechanism != NULL;
        side->public_rows &= term->mechanism && term->destination == DESTINATION_SERVER;
    }
    free(names);
}

/* Keys of a side that is not solved, and of its components, may stay in the file: they switch with one line.
 */
static void skip_side(struct plan *plan, const char *name)
{
    static const dpf_param *(*const tables[])(int64_t *) = {schema_side, schema_term};
    const size_t length = strlen(name);
    for (int t = 0; t < 2; t++) {
        int64_t n;
        const dpf_param *table = tables[t](&n);
        for (int64_t i = 0; i < n; i++)
            config_consume(plan->config, name, table[i].name);
    }
    for (int64_t i = 0; i < config_size(plan->config); i++) {
        const struct config_entry *entry = config_at(plan->config, i);
        if (strncmp(entry->section, name, length) == 0 && entry->section[length] == '.')
            config_consume(plan->config, entry->section, entry->key);
    }
}

static void make_side(struct plan *plan, int which)
{
    struct side_plan *side = &plan->sides[which];
    const char *name = plan_side_name(which);
    side->side = which;
    const struct config_values *values = bind_kept(plan, name, schema_side, 0);
    if (!values)
        return;
    const dpf_value *v = values->params.values;
    int ordered = 0;
    for (int i = 0; i < plan->n_order; i++)
        ordered |= plan->order[i] == which;
    side->updated = v[SIDE_UPDATE].integer && ordered;
    side->solve_at = (int)v[SIDE_SOLVE_AT].integer;
    if (!side->updated) {
        skip_side(plan, name);
        return;
    }
    if (!*v[SIDE_SOLVER].text)
        config_error(plan->config, name, "solver", plan->error,
                     "[%s] is solved in every round and needs a solver: see \"dpframe list\" (or set "
                     "update = no)",
                     name);
    side->solver = components_make_named(plan, DPF_ROLE_SOLVER, name, "solver", v[SIDE_SOLVER].text);
    side->solver_functions = side->solver ? side->solver->functions : NULL;
    make_terms(plan, side, v[SIDE_TERMS].text);
}

static void free_sides(struct plan *plan);
static void free_one(struct instance *instance, void *context);
static void visit_side(const struct side_plan *side, void (*visit)(struct instance *instance, void *context),
                       void *context);

/*
 * Baselines are not solved, but a variant of a file may be one: both sides may stay if they would do in a
 * factorization. They are made for that, apart from the plan, and forgotten. Without a solver there is no side.
 */
/* Nothing would tell a mistyped key of a side that no model solves. */
static void check_no_side(struct plan *plan, const char *name)
{
    const struct config_entry *update = config_find(plan->config, name, "update");
    const size_t length = strlen(name);
    if (update && strcmp(update->value, "no") == 0)
        return;
    for (int64_t i = 0; i < config_size(plan->config); i++) {
        const struct config_entry *entry = config_at(plan->config, i);
        if (strncmp(entry->section, name, length) == 0 && strchr(".", entry->section[length]) &&
            *entry->value)
            config_error(plan->config, entry->section, entry->key, plan->error,
                         "[model] kind = %s solves no side, and [%s] has no solver that another model would "
                         "have: remove the key, or name the solver",
                         config_find(plan->config, "model", "kind")->value, name);
    }
}

void components_check_idle_sides(struct plan *plan)
{
    for (int which = 0; which < 2 && !plan_failed(plan); which++) {
        struct plan apart = *plan;
        const struct config_entry *solver = config_find(plan->config, plan_side_name(which), "solver");
        memset(apart.sides, 0, sizeof apart.sides);
        apart.bound = NULL;
        apart.bound_capacity = 0;
        apart.n_bound = apart.n_extra = 0;
        if (!solver || !*solver->value)
            check_no_side(plan, plan_side_name(which));
        else
            make_side(&apart, which);
        if (!solver || !*solver->value || !apart.sides[which].updated)
            skip_side(plan, plan_side_name(which));
        visit_side(&apart.sides[which], free_one, NULL);
        free_sides(&apart);
    }
}

void components_make_accountants(struct plan *plan)
{
    int n = 0;
    char **names = components_names(plan->accountant_list.params.values[ACCOUNTANTS_LIST].text, &n);
    plan->accountants = memory_need((size_t)n + 1, sizeof *plan->accountants);
    components_check_once(plan, "accountants", "list", names, n, plan->error);
    for (int i = 0; i < n && !plan_failed(plan); i++) {
        struct instance *made = make(plan, DPF_ROLE_ACCOUNTANT, "accountants", "list", names[i],
                                     memory_format("accountants.%s", names[i]));
        if (made)
            plan->accountants[plan->n_accountants++] = made;
    }
    free(names);
}

void components_make_sides(struct plan *plan)
{
    make_side(plan, DPF_SIDE_USERS);
    make_side(plan, DPF_SIDE_ITEMS);
}

static void visit_one(struct instance *instance, void (*visit)(struct instance *instance, void *context),
                      void *context)
{
    if (instance)
        visit(instance, context);
}

static void visit_side(const struct side_plan *side, void (*visit)(struct instance *instance, void *context),
                       void *context)
{
    visit_one(side->solver, visit, context);
    for (int i = 0; i < side->n_terms; i++) {
        const struct term_plan *term = &side->terms[i];
        visit_one(term->loss, visit, context);
        visit_one(term->sampler, visit, context);
        for (int t = 0; t < term->n_transforms; t++)
            visit_one(term->transforms[t], visit, context);
        visit_one(term->mechanism, visit, context);
        visit_one(term->aggregator, visit, context);
    }
}

void plan_visit(const struct plan *plan, void (*visit)(struct instance *instance, void *context),
                void *context)
{
    for (int which = 0; which < 2; which++)
        visit_side(&plan->sides[which], visit, context);
    visit_one(plan->recommender.instance, visit, context);
    visit_one(plan->recommender.aggregator, visit, context);
    for (int i = 0; i < plan->n_accountants; i++)
        visit_one(plan->accountants[i], visit, context);
}

static void free_one(struct instance *instance, void *context)
{
    (void)context;
    instance_free(instance);
}

/* With the values of their sections. */
static void free_sides(struct plan *plan)
{
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        for (int i = 0; i < side->n_terms; i++)
            free(side->terms[i].transforms);
        free(side->terms);
        free(side->ridge_per_count);
        free(side->ridge_constant);
    }
    for (int i = 0; i < plan->n_extra; i++) {
        config_values_free(plan->extra[i]);
        free(plan->extra[i]);
    }
    free(plan->bound);
}

void components_free(struct plan *plan)
{
    plan_visit(plan, free_one, NULL);
    free_sides(plan);
    free(plan->accountants);
}
