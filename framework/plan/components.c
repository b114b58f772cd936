/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

char **components_names(const char *list, int *n)
{
    size_t length = strlen(list);
    char **names = malloc((length / 2 + 2) * sizeof *names + length + 1);
    *n = 0;
    if (!names)
        return NULL;
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
    struct config_values **bound = realloc(plan->bound, ((size_t)plan->n_bound + 1) * sizeof(*bound));
    if (!bound)
        return error_memory(error);
    plan->bound = bound;
    plan->bound[plan->n_bound++] = out;
    return 0;
}

/* Makes one component; an empty id leaves *out NULL. */
static int make(struct plan *plan, const char *role, const char *section, const char *key, const char *id,
                const char *params_section, struct instance **out, struct dpf_error *error)
{
    *out = NULL;
    if (!*id)
        return 0;
    const struct registry_entry *entry = registry_find(plan->registry, role, id, error);
    if (!entry) {
        /* The registry knows the name, the configuration knows the place. */
        struct dpf_error found = *error;
        if (found.fault == DPF_FAULT_RUN)
            return -1;
        *error = (struct dpf_error){0};
        config_error(plan->config, section, key, error, "%s", found.text);
        error->fault = found.fault;
        return -1;
    }
    *out = instance_new(entry, params_section, &plan->environment, error);
    return *out ? 0 : -1;
}

int components_make_named(struct plan *plan, const char *role, const char *section, const char *key,
                          const char *id, struct instance **out, struct dpf_error *error)
{
    char *params_section = memory_format("%s.%s", section, key);
    if (!params_section)
        return error_memory(error);
    int status = make(plan, role, section, key, id, params_section, out, error);
    free(params_section);
    return status;
}

/* Without mechanisms there are no messages, and no space in which they are released. */
static int changes_messages(const struct instance *instance)
{
    const dpf_transform *transform = instance->functions;
    return transform->kind == DPF_TRANSFORM_MESSAGE || transform->kind == DPF_TRANSFORM_STATE;
}

static int make_transforms(struct plan *plan, struct term_plan *term, const char *list,
                           struct dpf_error *error)
{
    int n = 0;
    char **names = components_names(list, &n);
    if (names && n > PLAN_MAX_TRANSFORMS) {
        free(names);
        return config_error(plan->config, term->name, "transforms", error, "at most %d transforms",
                            PLAN_MAX_TRANSFORMS);
    }
    term->transforms = names ? memory_new((size_t)n + 1, sizeof *term->transforms) : NULL;
    if (!term->transforms) {
        free(names);
        return error_memory(error);
    }
    int status = components_check_once(plan, term->name, "transforms", names, n, error);
    for (int i = 0; i < n && status == 0; i++) {
        char *section = memory_format("%s.transform.%s", term->name, names[i]);
        if (!section)
            status = error_memory(error);
        struct instance **made = &term->transforms[term->n_transforms];
        if (status == 0)
            status = make(plan, DPF_ROLE_TRANSFORM, term->name, "transforms", names[i], section, made, error);
        if (status == 0 && plan->without_mechanisms && changes_messages(*made)) {
            instance_free(*made);
            *made = NULL;
        } else if (status == 0) {
            term->n_transforms++;
        }
        free(section);
    }
    free(names);
    return status;
}

static int make_term(struct plan *plan, struct term_plan *term, const struct config_values *values,
                     struct dpf_error *error)
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
    if (!*v[TERM_LOSS].text)
        return config_error(plan->config, term->name, "loss", error,
                            "[%s] needs a loss: see \"dpframe list\"", term->name);
    if (term->source == SOURCE_RELATION && term->side != DPF_SIDE_USERS)
        return config_error(plan->config, term->name, "source", error,
                            "source = relation: links are between users, so it belongs to [users]");
    if (components_make_named(plan, DPF_ROLE_LOSS, term->name, "loss", v[TERM_LOSS].text, &term->loss,
                              error) != 0 ||
        make_transforms(plan, term, v[TERM_TRANSFORMS].text, error) != 0)
        return -1;
    if (plan->without_mechanisms)
        return 0;
    if (components_make_named(plan, DPF_ROLE_SAMPLER, term->name, "sampler", v[TERM_SAMPLER].text,
                              &term->sampler, error) != 0 ||
        components_make_named(plan, DPF_ROLE_MECHANISM, term->name, "mechanism", v[TERM_MECHANISM].text,
                              &term->mechanism, error) != 0)
        return -1;
    if (!term->mechanism)
        return 0;
    if (!*v[TERM_AGGREGATOR].text)
        return config_error(plan->config, term->name, "aggregator", error,
                            "[%s] has a mechanism, so it needs an aggregator, for example sum", term->name);
    return components_make_named(plan, DPF_ROLE_AGGREGATOR, term->name, "aggregator", v[TERM_AGGREGATOR].text,
                                 &term->aggregator, error);
}

/* The values of term sections only matter while components are made, but the resolved configuration
   wants them: they live as long as the plan. */
static struct config_values *keep_values(struct plan *plan, struct dpf_error *error)
{
    if (plan->n_extra == (int)(sizeof plan->extra / sizeof plan->extra[0])) {
        error_set(error, DPF_FAULT_CONFIG, "too many terms: at most %d sections of sides and terms",
                  plan->n_extra);
        return NULL;
    }
    struct config_values *values = memory_new(1, sizeof *values);
    if (!values) {
        error_memory(error);
        return NULL;
    }
    plan->extra[plan->n_extra++] = values;
    return values;
}

static int refuse_term_keys(struct plan *plan, const char *side, struct dpf_error *error)
{
    int64_t n;
    const dpf_param *table = schema_term(&n);
    for (int64_t i = 0; i < n; i++) {
        const struct config_entry *entry = config_find(plan->config, side, table[i].name);
        if (entry && *entry->value) /* an empty value takes back what a file before had */
            return config_error(plan->config, side, table[i].name, error,
                                "[%s] has terms, so %s belongs to a section [%s.TERM]", side, table[i].name,
                                side);
        config_consume(plan->config, side, table[i].name);
    }
    return 0;
}

/*
 * Names key the randomness of a term's components, so two terms of one name would hide two values
 * behind the same noise. The reserved ones name sections of the side itself.
 */
static int check_term_names(struct plan *plan, const char *side, char *const *names, int n,
                            struct dpf_error *error)
{
    static const char *const reserved[] = {"loss",      "sampler",    "transform", "transforms",
                                           "mechanism", "aggregator", "solver"};
    if (components_check_once(plan, side, "terms", names, n, error) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        for (size_t j = 0; j < sizeof reserved / sizeof reserved[0]; j++)
            if (strcmp(names[i], reserved[j]) == 0)
                return config_error(plan->config, side, "terms", error,
                                    "a term cannot be called %s: [%s.%s] contains the side's own parameters",
                                    names[i], side, names[i]);
        if (strchr(names[i], '.'))
            return config_error(plan->config, side, "terms", error,
                                "%s: the name of a term cannot contain a dot", names[i]);
    }
    return 0;
}

static int make_terms(struct plan *plan, struct side_plan *side, const char *list, struct dpf_error *error)
{
    const char *name = plan_side_name(side->side);
    int64_t n_params;
    const dpf_param *table = schema_term(&n_params);
    int n = 0;
    char **names = components_names(list, &n);
    side->terms = names ? memory_new((size_t)(n ? n : 1), sizeof *side->terms) : NULL;
    int status = side->terms ? 0 : error_memory(error);
    if (status == 0 && n)
        status = refuse_term_keys(plan, name, error);
    if (status == 0)
        status = check_term_names(plan, name, names, n, error);
    side->public_rows = 1;
    for (int i = 0; i < (n ? n : 1) && status == 0; i++) {
        struct term_plan *term = &side->terms[i];
        int length = n ? snprintf(term->name, sizeof term->name, "%s.%s", name, names[i])
                       : snprintf(term->name, sizeof term->name, "%s", name);
        if (length < 0 || (size_t)length >= sizeof term->name)
            status =
                config_error(plan->config, name, "terms", error, "the name of term %d is too long", i + 1);
        term->side = side->side;
        side->n_terms++;
        struct config_values *values = status == 0 ? keep_values(plan, error) : NULL;
        if (!values)
            status = -1;
        if (status == 0)
            status = components_bind(plan, term->name, table, n_params, n > 0, values, error);
        if (status == 0)
            status = make_term(plan, term, values, error);
        if (status == 0 && term->mechanism)
            side->released = 1;
        side->public_rows &= term->mechanism && term->destination == DESTINATION_SERVER;
    }
    free(names);
    return status;
}

/* Keys of a side that is not solved, and of its components, may stay in the file: they switch with one line.
 */
static void skip_side(struct plan *plan, const char *name)
{
    int64_t n;
    const dpf_param *table = schema_term(&n);
    size_t length = strlen(name);
    for (int64_t i = 0; i < n; i++)
        config_consume(plan->config, name, table[i].name);
    for (int64_t i = 0; i < config_size(plan->config); i++) {
        const struct config_entry *entry = config_at(plan->config, i);
        if (strncmp(entry->section, name, length) == 0 && entry->section[length] == '.')
            config_consume(plan->config, entry->section, entry->key);
    }
}

static int make_side(struct plan *plan, int which, struct dpf_error *error)
{
    struct side_plan *side = &plan->sides[which];
    const char *name = plan_side_name(which);
    side->side = which;
    int64_t n;
    const dpf_param *table = schema_side(&n);
    struct config_values *values = keep_values(plan, error);
    if (!values || components_bind(plan, name, table, n, 0, values, error) != 0)
        return -1;
    const dpf_value *v = values->params.values;
    int ordered = 0;
    for (int i = 0; i < plan->n_order; i++)
        ordered |= plan->order[i] == which;
    side->updated = v[SIDE_UPDATE].integer && ordered;
    side->solve_at = (int)v[SIDE_SOLVE_AT].integer;
    if (!side->updated) {
        skip_side(plan, name);
        return 0;
    }
    if (!*v[SIDE_SOLVER].text)
        return config_error(plan->config, name, "solver", error,
                            "[%s] is solved in every round and needs a solver: see \"dpframe list\" (or set "
                            "update = no)",
                            name);
    if (components_make_named(plan, DPF_ROLE_SOLVER, name, "solver", v[SIDE_SOLVER].text, &side->solver,
                              error) != 0)
        return -1;
    side->solver_functions = side->solver->functions;
    return make_terms(plan, side, v[SIDE_TERMS].text, error);
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
static int check_no_side(const struct plan *plan, const char *name, struct dpf_error *error)
{
    const struct config_entry *update = config_find(plan->config, name, "update");
    const size_t length = strlen(name);
    if (update && strcmp(update->value, "no") == 0)
        return 0;
    for (int64_t i = 0; i < config_size(plan->config); i++) {
        const struct config_entry *entry = config_at(plan->config, i);
        if (strncmp(entry->section, name, length) == 0 && strchr(".", entry->section[length]) &&
            *entry->value)
            return config_error(
                plan->config, entry->section, entry->key, error,
                "[model] kind = %s solves no side, and [%s] has no solver that another model would "
                "have: remove the key, or name the solver",
                config_find(plan->config, "model", "kind")->value, name);
    }
    return 0;
}

int components_check_idle_sides(struct plan *plan, struct dpf_error *error)
{
    int status = 0;
    for (int which = 0; which < 2 && status == 0; which++) {
        struct plan apart = *plan;
        const struct config_entry *solver = config_find(plan->config, plan_side_name(which), "solver");
        if (!solver || !*solver->value)
            status = check_no_side(plan, plan_side_name(which), error);
        memset(apart.sides, 0, sizeof apart.sides);
        apart.bound = NULL;
        apart.n_bound = apart.n_extra = 0;
        if (status == 0 && solver && *solver->value)
            status = make_side(&apart, which, error);
        if (!solver || !*solver->value || !apart.sides[which].updated)
            skip_side(plan, plan_side_name(which));
        visit_side(&apart.sides[which], free_one, NULL);
        free_sides(&apart);
    }
    return status;
}

int components_make_accountants(struct plan *plan, struct dpf_error *error)
{
    int n = 0;
    char **names = components_names(plan->accountant_list.params.values[ACCOUNTANTS_LIST].text, &n);
    plan->accountants = names ? memory_new((size_t)n + 1, sizeof *plan->accountants) : NULL;
    int status = plan->accountants ? 0 : error_memory(error);
    if (status == 0)
        status = components_check_once(plan, "accountants", "list", names, n, error);
    for (int i = 0; i < n && status == 0; i++) {
        char *section = memory_format("accountants.%s", names[i]);
        if (!section)
            status = error_memory(error);
        if (status == 0)
            status = make(plan, DPF_ROLE_ACCOUNTANT, "accountants", "list", names[i], section,
                          &plan->accountants[plan->n_accountants], error);
        if (status == 0)
            plan->n_accountants++;
        free(section);
    }
    free(names);
    return status;
}

int components_make_sides(struct plan *plan, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++)
        if (make_side(plan, side, error) != 0)
            return -1;
    return 0;
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
