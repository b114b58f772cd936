/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_json.h"

#include <math.h>
#include <string.h>

#include "base/ranks.h"
#include "run/by_user_file.h"
#include "run/model_files.h"

#define DPFRAME_RESULTS_FORMAT 1

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_metrics_json(json_t *object, const struct metrics *metrics)
{
    for (int64_t i = 0; metrics && i < metrics->n; i++)
        json_object_set_new(object, metrics->items[i].name, number(metrics->items[i].value));
}

static json_t *conventions_json(const struct metrics *metrics)
{
    json_t *object = json_object();
    for (int64_t i = 0; i < metrics->n; i++) {
        const struct metric *metric = &metrics->items[i];
        json_t *parts =
            json_pack("{s:s, s:I}", "convention", metric->convention, "averaged_over", (json_int_t)metric->n);
        if (!isnan(metric->low))
            json_object_set_new(parts, "interval", json_pack("[f, f]", metric->low, metric->high));
        json_object_set_new(object, metric->name, parts);
    }
    return object;
}

/* Of each its value and the standard deviation of its noise. */
static json_t *released_json(const struct metrics *released)
{
    json_t *object = json_object();
    for (int64_t i = 0; i < released->n; i++) {
        const struct metric *metric = &released->items[i];
        json_object_set_new(object, metric->name,
                            json_pack("{s:o, s:o, s:I}", "value", number(metric->value), "noise",
                                      number(metric->noise), "averaged_over", (json_int_t)metric->n));
    }
    return object;
}

/* What of this file may be shown to whom. */
static json_t *covers_json(const struct results *r)
{
    static const char *const private_parts[] = {"metrics", "metric_conventions", "baselines", "timing",
                                                "component_metrics"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof private_parts / sizeof private_parts[0]; i++)
        json_object_set_new(object, private_parts[i], json_string("private, not covered"));
    if (r->released)
        json_object_set_new(object, "released_metrics", json_string("released with noise, in the ledger"));
    return object;
}

static json_t *plugins_json(const struct registry *registry)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < registry_used_count(registry); i++) {
        const struct registry_entry *entry = registry_used_at(registry, i);
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "role",
                                               entry->component->role, "id", entry->component->id, "version",
                                               entry->component->version, "plugin", entry->plugin->id, "path",
                                               entry->path, "sha256", entry->sha256));
    }
    return array;
}

static int64_t links_of(const struct dataset *dataset)
{
    const struct csr *links = &dataset->relation.links;
    return links->ptr ? links->ptr[links->rows] : 0;
}

/* Exact counts of private records, and a hash by which whoever has the file recognises it: not in run.json,
   which people pass on. */
json_t *run_json_data(const struct dataset *dataset)
{
    const struct dataset_summary *s = &dataset->summary;
    json_t *object = json_pack("{s:s}", "note", "private: do not publish");
    json_object_set_new(object, "users", json_integer(dataset->users.n));
    json_object_set_new(object, "items", json_integer(dataset->items.n));
    json_object_set_new(object, "ratings", json_integer(s->ratings));
    json_object_set_new(object, "train", json_integer(dataset->train.n));
    json_object_set_new(object, "test", json_integer(dataset->test.n));
    json_object_set_new(object, "lines", json_integer(s->lines));
    json_object_set_new(object, "duplicates", json_integer(s->duplicates));
    json_object_set_new(object, "out_of_range_dropped", json_integer(s->out_of_range));
    json_object_set_new(object, "out_of_range_clipped", json_integer(s->clipped));
    json_object_set_new(object, "out_of_catalogue_dropped", json_integer(s->out_of_catalogue));
    json_object_set_new(object, "below_threshold_dropped", json_integer(s->below_threshold));
    json_object_set_new(object, "value_min", number(s->value_min));
    json_object_set_new(object, "value_mean", number(s->value_mean));
    json_object_set_new(object, "value_max", number(s->value_max));
    json_object_set_new(object, "time_ties_decided", json_integer(s->time_ties_decided));
    json_object_set_new(object, "cold_users", json_integer(s->cold_users));
    json_object_set_new(object, "cold_items", json_integer(s->cold_items));
    json_object_set_new(object, "links", json_integer(links_of(dataset)));
    json_object_set_new(object, "links_of_unknown_users_dropped", json_integer(dataset->relation.unknown));
    json_object_set_new(object, "links_to_oneself_dropped", json_integer(dataset->relation.self));
    json_object_set_new(object, "sha256", json_string(s->sha256));
    return object;
}

json_t *run_json_timing(const struct results *r)
{
    json_t *object = stages_json(r->stages);
    json_object_set_new(object, "users_steps", number(r->stats->seconds[DPF_SIDE_USERS]));
    json_object_set_new(object, "items_steps", number(r->stats->seconds[DPF_SIDE_ITEMS]));
    if (r->stats->cpu_solves > 0) { /* parties solve */
        json_object_set_new(object, "cpu_sums", number(r->stats->cpu_sums));
        json_object_set_new(object, "cpu_noise", number(r->stats->cpu_noise));
        json_object_set_new(object, "cpu_solves", number(r->stats->cpu_solves));
    }
    return object;
}

static json_t *communication_json(const struct engine_stats *stats)
{
    json_t *object = json_pack("{s:I, s:I, s:I}", "messages", (json_int_t)stats->messages, "bytes_up",
                               (json_int_t)stats->bytes_up, "bytes_down", (json_int_t)stats->bytes_down);
    /* Of a party in a round: for each message that entered a sum. */
    if (stats->messages > 0) {
        json_object_set_new(object, "bytes_up_each",
                            number((double)stats->bytes_up / (double)stats->messages));
        json_object_set_new(object, "bytes_down_each",
                            number((double)stats->bytes_down / (double)stats->messages));
    }
    return object;
}

static json_t *ranks_json(const struct results *r)
{
    json_t *array = json_array();
    for (int i = 0; i < ranks_size(); i++)
        json_array_append_new(array, json_pack("{s:f, s:I, s:I}", "cpu", r->ranks[i].cpu, "bytes_sent",
                                               (json_int_t)r->ranks[i].sent, "memory",
                                               (json_int_t)r->ranks[i].peak));
    return array;
}

const char *run_json_side(const struct plan *plan, int side)
{
    return plan->model_facts.released[side] ? "release" : "private";
}

const struct user_values *run_json_by_user(const struct results *r)
{
    return r->test ? r->test->by_user : NULL;
}

static json_t *files_json(const struct results *r)
{
    json_t *object = json_object();
    for (int side = 0; side < 2; side++) {
        const char *where = run_json_side(r->plan, side);
        const char *what = side == DPF_SIDE_USERS ? "user" : "item";
        if (model_has_rows(r->model))
            json_object_set_new(object, side == DPF_SIDE_USERS ? "user_factors" : "item_factors",
                                json_sprintf("%s/%s_factors.npy", where, what));
        json_object_set_new(object, side == DPF_SIDE_USERS ? "user_ids" : "item_ids",
                            json_sprintf("%s/%s_ids.txt", where, what));
    }
    if (r->dataset->item_names.n)
        json_object_set_new(object, "item_names",
                            json_sprintf("%s/item_names.txt", run_json_side(r->plan, DPF_SIDE_ITEMS)));
    json_object_set_new(object, "model",
                        json_sprintf("%s/" MODEL_INDEX, run_json_side(r->plan, DPF_SIDE_ITEMS)));
    json_object_set_new(object, "guarantee", json_string("release/guarantee.txt"));
    json_object_set_new(object, "certificate", json_string("release/certificate.json"));
    json_object_set_new(object, "metrics", json_string("private/metrics.csv"));
    if (by_user_exists(run_json_by_user(r)))
        json_object_set_new(object, "by_user", json_string(BY_USER_FILE));
    if (r->released)
        json_object_set_new(object, "released_metrics", json_string("release/metrics.csv"));
    json_object_set_new(object, "data", json_string("private/data.json"));
    if (record_budgets_exist(r->plan, r->dataset))
        json_object_set_new(object, "record_budgets", json_string("private/record_budgets.csv"));
    if (r->stats->n_noise)
        json_object_set_new(object, "noise", json_string("private/noise.csv"));
    if (r->violations && r->violations->n)
        json_object_set_new(object, "violations", json_string("private/violations.txt"));
    json_object_set_new(object, "config", json_string("config.ini"));
    return object;
}

json_t *run_json_comparisons(const struct comparison *comparisons, int n)
{
    json_t *object = json_object();
    for (int i = 0; i < n; i++) {
        json_t *metrics = json_object();
        add_metrics_json(metrics, &comparisons[i].metrics);
        if (comparisons[i].epsilon > 0) /* a model that could be released, and is not */
            json_object_set_new(metrics, "epsilon-proved", number(comparisons[i].epsilon));
        json_object_set_new(object, comparisons[i].name, metrics);
    }
    return object;
}

static json_t *model_json(const struct results *r)
{
    if (!model_has_rows(r->model))
        return json_pack("{s:s, s:s, s:I}", "component", r->plan->model_facts.id, "version",
                         r->plan->model_facts.version, "state_bytes", (json_int_t)r->model->state_bytes);
    return json_pack("{s:f, s:i, s:i, s:i, s:i}", "offset", r->model->offset, "columns", r->model->columns,
                     "rank", (int)r->plan->model.params.values[MODEL_RANK].integer, "user_bias_column",
                     r->plan->bias[DPF_SIDE_USERS], "item_bias_column", r->plan->bias[DPF_SIDE_ITEMS]);
}

/* budgets: of records by weight. */
json_t *run_json_make(const struct results *r, const struct record_budgets *budgets)
{
    json_t *root = json_object(), *of_records = record_budgets_json(budgets);
    json_object_set_new(root, "format", json_integer(DPFRAME_RESULTS_FORMAT));
    json_object_set_new(root, "dpframe", json_string(DPFRAME_VERSION));
    /* Metrics of the training part have names that begin with "train-". */
    json_t *metrics = json_object();
    add_metrics_json(metrics, r->test);
    add_metrics_json(metrics, r->train);
    json_object_set_new(root, "metrics", metrics);
    if (r->released)
        json_object_set_new(root, "released_metrics", released_json(r->released));
    json_object_set_new(root, "guarantee_covers", covers_json(r));
    json_object_set_new(root, "baselines", run_json_comparisons(r->comparisons, r->n_comparisons));
    json_object_set_new(root, "metric_conventions", conventions_json(r->test));
    if (by_user_exists(run_json_by_user(r)))
        json_object_set_new(root, "by_user", by_user_json(run_json_by_user(r)));
    json_object_set_new(root, "guarantee", guarantee_json(&r->plan->guarantee));
    if (of_records)
        json_object_set_new(root, "record_budgets", of_records);
    json_object_set_new(root, "timing", run_json_timing(r));
    json_object_set_new(root, "communication", communication_json(r->stats));
    json_object_set_new(root, "component_metrics", component_metrics_json(r->component_metrics));
    json_object_set_new(root, "rounds_done", json_integer(r->stats->rounds_done));
    if (r->spent)
        json_object_set(root, "spent", r->spent);
    if (r->violations && r->violations->n)
        json_object_set_new(root, "violations", json_integer(r->violations->n));
    json_object_set_new(root, "threads", json_integer(r->threads));
    if (r->ranks)
        json_object_set_new(root, "ranks", ranks_json(r));
    json_object_set_new(root, "model", model_json(r));
    json_object_set_new(root, "plugins", plugins_json(r->plan->registry));
    json_object_set_new(root, "files", files_json(r));
    json_object_set_new(root, "config", plan_resolved(r->plan));
    return root;
}

/* Mechanisms of sides and their terms; a recommender has its own. */
static int names_mechanism(const json_t *config)
{
    const char *section, *recommender;
    json_t *keys;
    json_object_foreach((json_t *)(uintptr_t)config, section, keys)
    {
        const char *mechanism = json_string_value(json_object_get(keys, "mechanism"));
        if (mechanism && *mechanism && strcmp(mechanism, "none") != 0)
            return 1;
    }
    recommender = json_string_value(json_object_get(json_object_get(config, "model"), "recommender"));
    return recommender && *recommender;
}

int run_json_has_noise(const json_t *run)
{
    const json_t *guarantee = json_object_get(run, "guarantee");
    return json_integer_value(json_object_get(guarantee, "releases")) > 0 &&
           !json_is_true(json_object_get(guarantee, "released_raw")) &&
           names_mechanism(json_object_get(run, "config"));
}
