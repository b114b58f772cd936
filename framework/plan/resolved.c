/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as others read it: the resolved configuration, and the pipeline in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config_line.h"
#include "plan/plan.h"
#include "reading/input_facts.h"

typedef void (*value_visitor)(void *context, const char *section, const dpf_param *param, const char *value,
                              int is_set);

static void visit_values(const struct config_values *values, value_visitor visit, void *context)
{
    for (uint32_t i = 0; i < values->params.n_values; i++) {
        const dpf_param *param = (const dpf_param *)(const void *)((const char *)values->table +
                                                                   (int64_t)i * values->table_stride);
        char *text = config_value_text(param, &values->params.values[i]);
        visit(context, values->section, param, text, values->params.values[i].is_set);
        free(text);
    }
}

struct visiting {
    value_visitor visit;
    void *context;
};

static void visit_instance(struct instance *instance, void *context)
{
    const struct visiting *visiting = context;
    visit_values(&instance->values, visiting->visit, visiting->context);
}

static void visit_all(const struct plan *plan, value_visitor visit, void *context)
{
    struct visiting visiting = {visit, context};
    for (int i = 0; i < plan->n_bound; i++)
        visit_values(plan->bound[i], visit, context);
    plan_visit(plan, visit_instance, &visiting);
}

static void set_text(json_t *root, const char *section, const char *key, const char *value)
{
    json_t *object = json_object_get(root, section);
    if (!object) {
        object = json_object();
        json_object_set_new(root, section, object);
    }
    json_object_set_new(object, key, json_string(value));
}

static void add_to_json(void *context, const char *section, const dpf_param *param, const char *value,
                        int is_set)
{
    (void)is_set;
    set_text(context, section, param->name, value);
}

static void add_if_private(void *context, const char *section, const dpf_param *param, const char *value,
                           int is_set)
{
    char name[256];
    (void)value;
    (void)is_set;
    snprintf(name, sizeof name, "%s.%s", section, param->name);
    if (param->flags & DPF_PARAM_PRIVACY)
        json_object_set_new(context, name, json_true());
}

json_t *plan_privacy_keys(const struct plan *plan)
{
    json_t *root = json_object();
    visit_all(plan, add_if_private, root);
    return root;
}

json_t *plan_resolved(const struct plan *plan)
{
    json_t *root = json_object();
    visit_all(plan, add_to_json, root);
    if (plan->without_records)
        json_object_del(json_object_get(root, "data"), "path");
    if (plan->output)
        set_text(root, "run", "output", plan->output);
    return root;
}

/*
 * What the guarantee rests on: keys that parameter tables mark so, keys that decide a fact of the input, and all
 * keys of the model, its sides and its components. Of a path only whether there is one.
 */
static void add_if_stated(void *context, const char *section, const dpf_param *param, const char *value,
                          int is_set)
{
    static const char *const whole[] = {"model", "users", "items", "accountants"};
    const size_t length = strcspn(section, ".");
    int stated = (param->flags & DPF_PARAM_PRIVACY) || input_fact_has_key(section, param->name);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        stated |= length == strlen(whole[i]) && strncmp(section, whole[i], length) == 0;
    (void)is_set;
    stated &= strcmp(param->name, "noise-seed") != 0; /* who knows it removes the noise */
    if (stated)
        set_text(context, section, param->name,
                 param->type == DPF_TYPE_PATH ? (*value ? "given" : "") : value);
}

json_t *plan_stated(const struct plan *plan)
{
    json_t *root = json_object();
    visit_all(plan, add_if_stated, root);
    return root;
}

/* A section is bound in parts, so its lines are gathered before they are written. */
struct ini_parts {
    json_t *set, *defaults;
};

static void add_to_part(void *context, const char *section, const dpf_param *param, const char *value,
                        int is_set)
{
    struct ini_parts *parts = context;
    if (!json_object_get(parts->set, section))
        json_object_set_new(parts->set, section, json_object());
    set_text(is_set ? parts->set : parts->defaults, section, param->name, value);
}

static void add_line(struct text *out, const char *before, const char *key, const char *value)
{
    text_add(out, "%s%s = ", before, key);
    line_add_value(out, value);
    text_add(out, "\n");
}

/*
 * Defaults are comments: some keys have a meaning only beside others, and are refused where they are set
 * without them.
 */
char *plan_resolved_ini(const struct plan *plan)
{
    struct ini_parts parts = {json_object(), json_object()};
    struct text text = {0};
    const char *section, *key;
    json_t *object, *value;
    visit_all(plan, add_to_part, &parts);
    if (plan->without_records)
        json_object_del(json_object_get(parts.set, "data"), "path");
    if (plan->output) {
        set_text(parts.set, "run", "output", plan->output);
        json_object_del(json_object_get(parts.defaults, "run"), "output");
    }
    json_object_foreach(parts.set, section, object)
    {
        text_add(&text, "[%s]\n", section);
        json_object_foreach(object, key, value) add_line(&text, "", key, json_string_value(value));
        json_object_foreach(json_object_get(parts.defaults, section), key, value)
            add_line(&text, "; ", key, json_string_value(value));
        text_add(&text, "\n");
    }
    json_decref(parts.set);
    json_decref(parts.defaults);
    return text.data;
}

static void describe_component(struct text *text, const char *role, const struct instance *instance)
{
    if (!instance)
        return;
    text_add(text, "    %-11s %s", role, instance->entry->component->id);
    int shown = 0;
    for (uint32_t i = 0; i < instance->values.params.n_values; i++) {
        const dpf_param *param =
            (const dpf_param *)(const void *)((const char *)instance->values.table +
                                              (int64_t)i * instance->values.table_stride);
        const dpf_value *value = &instance->values.params.values[i];
        if (!value->is_set)
            continue;
        char *shown_value = config_value_text(param, value);
        text_add(text, "%s%s=%s", shown++ ? ", " : "  ", param->name, shown_value);
        free(shown_value);
    }
    text_add(text, "\n");
}

static void describe_noise(struct text *text, const struct term_plan *term)
{
    for (int b = 0; b < term->noise.n_blocks; b++)
        text_add(text, "    %-11s block %d: scale %.6g on grid %.3g\n", "noise", b, term->noise.scale[b],
                 term->noise.grid[b]);
}

static void describe_metrics(struct text *text, const struct plan *plan)
{
    if (plan->metrics.numbers > 0)
        text_add(text, "metrics are released: %d sums over users, %s noise of scale %.6g on grid %.3g\n",
                 plan->metrics.numbers, plan->metrics.laplace ? "Laplace" : "Gaussian", plan->metrics.scale,
                 plan->metrics.grid);
}

static void describe_term(struct text *text, const struct term_plan *term)
{
    describe_component(text, "sampler", term->sampler);
    if (term->source == SOURCE_RELATION)
        text_add(text, "    %-11s friends%s\n", "reads",
                 plan_sends_rows(term)    ? ", who send their rows, once each"
                 : plan_sends_links(term) ? ", who send a message for each link"
                                          : "");
    describe_component(text, "loss", term->loss);
    for (int k = 0; k < term->n_transforms; k++)
        describe_component(text, "transform", term->transforms[k]);
    describe_component(text, "mechanism", term->mechanism);
    describe_noise(text, term);
    describe_component(text, "aggregator", term->aggregator);
}

static void describe_rounds(struct text *text, const struct plan *plan)
{
    for (int i = 0; i < plan->n_order; i++) {
        const struct side_plan *side = &plan->sides[plan->order[i]];
        text_add(text, "  %s: %s\n", plan_side_name(side->side),
                 !side->updated   ? "held at their initial values"
                 : side->released ? "released"
                                  : "local");
        for (int t = 0; t < side->n_terms; t++) {
            if (side->n_terms > 1)
                text_add(text, "   term %s\n", side->terms[t].name);
            describe_term(text, &side->terms[t]);
        }
        describe_component(text, "solver", side->solver);
    }
}

char *plan_text(const struct plan *plan)
{
    static const char *const kinds[] = {"one curator", "silos by users", "silos by items", "each user"};
    struct text text = {0};
    if (!plan_has(plan, MODEL_TRAINS)) {
        text_add(&text, "no training\n");
        return text.data;
    }
    if (plan_has(plan, MODEL_HAS_ROUNDS))
        text_add(&text, "%lld rounds; ", (long long)plan->run.params.values[RUN_ROUNDS].integer);
    text_add(&text, "records held by %s\n", kinds[plan->parties.params.values[PARTIES_KIND].integer]);
    if (plan_has(plan, MODEL_HAS_ROUNDS))
        describe_rounds(&text, plan);
    describe_component(&text, "recommender", plan->recommender.instance);
    for (int32_t i = 0; i < plan->recommender.n_releases; i++)
        text_add(&text, "    %-11s %s\n", "releases", plan->recommender.releases[i].name);
    describe_component(&text, "aggregator", plan->recommender.aggregator);
    describe_metrics(&text, plan);
    return text.data;
}
