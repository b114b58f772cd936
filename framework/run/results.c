/* SPDX-License-Identifier: Apache-2.0 */
#include "run/results.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"
#include "dataset/shares.h"
#include "run/by_user_file.h"
#include "run/certificate.h"
#include "run/model_files.h"
#include "run/npy.h"
#include "run/noise_table.h"
#include "run/record_budgets.h"
#include "run/split_file.h"

#define DPFRAME_RESULTS_FORMAT 1

/* ---- the directory ------------------------------------------------------------------------------ */

/* What a run writes, in order: run.json goes first when it is removed. */
static const char *const result_files[] = {"run.json",
                                           "config.ini",
                                           "release/user_factors.npy",
                                           "release/item_factors.npy",
                                           "release/guarantee.txt",
                                           "release/certificate.json",
                                           "release/metrics.csv",
                                           "release/page.html",
                                           "release/user_ids.txt",
                                           "release/item_ids.txt",
                                           "release/item_names.txt",
                                           "private/user_factors.npy",
                                           "private/item_factors.npy",
                                           "private/data.json",
                                           "private/metrics.csv",
                                           BY_USER_FILE,
                                           SPLIT_FILE,
                                           "private/record_budgets.csv",
                                           "private/noise.csv",
                                           "private/violations.txt",
                                           "private/verdict.json",
                                           "private/report.html",
                                           "private/user_ids.txt",
                                           "private/item_ids.txt",
                                           "private/item_names.txt"};
/* Stays until the results are complete: run/resume.h. */
static const char checkpoint_file[] = "private/checkpoint";
/* The directories of results; those of a model have files of model_files.h alone. */
static const char *const result_parts[] = {"release/model/", "private/model/", "release/", "private/", ""};
#define N_RESULT_PARTS (sizeof result_parts / sizeof result_parts[0])
#define N_RESULT_FILES (sizeof result_files / sizeof result_files[0])

/* The temporary file of an interrupted write, "NAME.partNUMBER"? */
static int is_leftover(const char *name, const char *of)
{
    size_t length = strlen(of);
    if (strncmp(name, of, length) != 0 || strncmp(name + length, ".part", 5) != 0)
        return 0;
    const char *number = name + length + 5;
    return *number && number[strspn(number, "0123456789")] == '\0';
}

static int is_model_part(const char *part)
{
    return strstr(part, "model/") != NULL;
}

/* Does a run write (or leave) an entry of that name in that part of the results? */
static int is_ours(const char *part, const char *name)
{
    if (!*part && (strcmp(name, "release") == 0 || strcmp(name, "private") == 0))
        return 1;
    if (is_model_part(part)) {
        const char *leftover = strstr(name, ".part");
        char *written = leftover ? memory_text(name) : NULL;
        if (written)
            written[leftover - name] = '\0';
        const int ours =
            model_files_owns(name) || (written && model_files_owns(written) && is_leftover(name, written));
        free(written);
        return ours;
    }
    if (*part && strcmp(name, "model") == 0)
        return 1;
    size_t length = strlen(part);
    for (size_t i = 0; i < N_RESULT_FILES; i++) {
        const char *file = result_files[i];
        if (strncmp(file, part, length) != 0 || strchr(file + length, '/'))
            continue;
        if (strcmp(name, file + length) == 0 || is_leftover(name, file + length))
            return 1;
    }
    const char *file = checkpoint_file + length;
    return strncmp(checkpoint_file, part, length) == 0 && !strchr(file, '/') &&
           (strcmp(name, file) == 0 || is_leftover(name, file));
}

/* Calls visit for each entry of a part of the results; 0, or what a visit returned. */
static int visit_part(const char *directory, const char *part,
                      int (*visit)(const char *directory, const char *part, const char *name, void *context),
                      void *context)
{
    char *path = files_join(directory, part);
    DIR *dir = opendir(path);
    int status = 0;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && status == 0; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(directory, part, entry->d_name, context);
    if (dir)
        closedir(dir);
    free(path);
    return status;
}

/* Keeps the path of an entry that no run writes; 1 if it is one. */
static int find_foreign(const char *directory, const char *part, const char *name, void *found)
{
    (void)directory;
    if (is_ours(part, name))
        return 0;
    *(char **)found = memory_format("%s%s", part, name);
    return 1;
}

/* Fails if something in the directory is not the result of a run, whole or interrupted: [run] output = results
 * beside runs in results/NAME is a common case. */
static int refuse_others(const char *directory, struct dpf_error *error)
{
    char *found = NULL;
    for (size_t i = 0; i < N_RESULT_PARTS && !found; i++)
        visit_part(directory, result_parts[i], find_foreign, &found);
    if (!found)
        return 0;
    error_set(error, DPF_FAULT_CONFIG,
              "[run] output = %s: the directory contains %s, which does not belong to the results of one "
              "run; choose another directory with -O DIRECTORY",
              directory, found);
    free(found);
    return -1;
}

static int make_inside(const char *directory, const char *name, struct dpf_error *error)
{
    char *path = files_join(directory, name);
    int status = files_make_directory(path, error);
    free(path);
    return status;
}

/* Before anything is trained, and before the results of an earlier run are removed. */
static int check_writable(const char *directory, const char *part, struct dpf_error *error)
{
    char *path = *part ? files_join(directory, part) : memory_text(directory);
    int status = access(path, W_OK | X_OK) == 0 || (*part && errno == ENOENT)
                     ? 0
                     : error_set(error, DPF_FAULT_CONFIG, "[run] output = %s: cannot write there: %s", path,
                                 strerror(errno));
    free(path);
    return status;
}

/* Said before training, while it can still be stopped: the files are removed when the new ones are complete.
 */
static void announce_replacement(const char *directory)
{
    char *path = files_join(directory, "run.json"), when[32];
    struct stat info;
    struct tm at;
    if (stat(path, &info) == 0 && localtime_r(&info.st_mtime, &at) &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &at) > 0)
        log_message(LOG_LEVEL_WARNING,
                    "%s holds a run of %s, which this one replaces when it is complete; -O DIRECTORY keeps "
                    "both",
                    directory, when);
    free(path);
}

int results_prepare(const char *directory, struct dpf_error *error)
{
    struct stat info;
    if (stat(directory, &info) == 0 && !S_ISDIR(info.st_mode))
        return error_set(error, DPF_FAULT_CONFIG, "[run] output = %s: this is a file, not a directory",
                         directory);
    if (refuse_others(directory, error) != 0)
        return -1;
    if (files_make_configured("[run] output", directory, error) != 0)
        return -1;
    if (check_writable(directory, "", error) != 0 || check_writable(directory, "release", error) != 0 ||
        check_writable(directory, "private", error) != 0)
        return -1;
    announce_replacement(directory);
    return 0;
}

void results_abandon(const char *directory)
{
    for (size_t i = 0; i < N_RESULT_PARTS; i++) {
        char *path = files_join(directory, result_parts[i]);
        rmdir(path); /* fails, as it should, unless it is empty */
        free(path);
    }
    rmdir(directory);
}

static void remove_inside(const char *directory, const char *name)
{
    char *path = files_join(directory, name);
    unlink(path);
    free(path);
}

static int remove_leftover(const char *directory, const char *part, const char *name, void *unused)
{
    (void)unused;
    char *inside = strstr(name, ".part") || is_model_part(part) ? memory_format("%s%s", part, name) : NULL;
    if (inside && is_ours(part, name))
        remove_inside(directory, inside);
    free(inside);
    return 0;
}

/* Files of an earlier run must not be taken for those of this one. */
static void remove_earlier(const char *directory)
{
    for (size_t i = 0; i < N_RESULT_FILES; i++)
        remove_inside(directory, result_files[i]);
    for (size_t i = 0; i < N_RESULT_PARTS; i++)
        visit_part(directory, result_parts[i], remove_leftover, NULL);
    for (size_t i = 0; i < N_RESULT_PARTS; i++) {
        char *path = is_model_part(result_parts[i]) ? files_join(directory, result_parts[i]) : NULL;
        rmdir(path);
        free(path);
    }
}

/* ---- pieces of run.json --------------------------------------------------------------------------- */

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
static json_t *data_json(const struct dataset *dataset)
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

static json_t *timing_json(const struct results *r)
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

static const char *side_of_files(const struct plan *plan, int side)
{
    return plan->model_facts.released[side] ? "release" : "private";
}

static const struct user_values *by_user(const struct results *r)
{
    return r->test ? r->test->by_user : NULL;
}

static json_t *files_json(const struct results *r)
{
    json_t *object = json_object();
    for (int side = 0; side < 2; side++) {
        const char *where = side_of_files(r->plan, side);
        const char *what = side == DPF_SIDE_USERS ? "user" : "item";
        if (model_has_rows(r->model))
            json_object_set_new(object, side == DPF_SIDE_USERS ? "user_factors" : "item_factors",
                                json_sprintf("%s/%s_factors.npy", where, what));
        json_object_set_new(object, side == DPF_SIDE_USERS ? "user_ids" : "item_ids",
                            json_sprintf("%s/%s_ids.txt", where, what));
    }
    if (r->dataset->item_names.n)
        json_object_set_new(object, "item_names",
                            json_sprintf("%s/item_names.txt", side_of_files(r->plan, DPF_SIDE_ITEMS)));
    json_object_set_new(object, "model",
                        json_sprintf("%s/" MODEL_INDEX, side_of_files(r->plan, DPF_SIDE_ITEMS)));
    json_object_set_new(object, "guarantee", json_string("release/guarantee.txt"));
    json_object_set_new(object, "certificate", json_string("release/certificate.json"));
    json_object_set_new(object, "metrics", json_string("private/metrics.csv"));
    if (by_user_exists(by_user(r)))
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

json_t *results_comparisons_json(const struct comparison *comparisons, int n)
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
static json_t *run_json(const struct results *r, const struct record_budgets *budgets)
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
    json_object_set_new(root, "baselines", results_comparisons_json(r->comparisons, r->n_comparisons));
    json_object_set_new(root, "metric_conventions", conventions_json(r->test));
    if (by_user_exists(by_user(r)))
        json_object_set_new(root, "by_user", by_user_json(by_user(r)));
    json_object_set_new(root, "guarantee", guarantee_json(&r->plan->guarantee));
    if (of_records)
        json_object_set_new(root, "record_budgets", of_records);
    json_object_set_new(root, "timing", timing_json(r));
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

int results_have_noise(const json_t *run)
{
    const json_t *guarantee = json_object_get(run, "guarantee");
    return json_integer_value(json_object_get(guarantee, "releases")) > 0 &&
           !json_is_true(json_object_get(guarantee, "released_raw")) &&
           names_mechanism(json_object_get(run, "config"));
}

/* ---- files ------------------------------------------------------------------------------------------ */

static int write_json(const char *directory, const char *name, json_t *json, struct dpf_error *error)
{
    char *path = files_join(directory, name);
    const int status = json_write(path, json, error);
    free(path);
    return status;
}

static int write_text(const char *directory, const char *name, const char *text, struct dpf_error *error)
{
    char *path = files_join(directory, name);
    const int status = files_write_text(path, text, error);
    free(path);
    return status;
}

/* A line each. */
static int write_lines(const char *directory, const char *side_name, const char *name,
                       const struct id_map *texts, struct dpf_error *error)
{
    char *path = memory_format("%s/%s/%s", directory, side_name, name);
    struct files_write write;
    int status = files_open_write(&write, path, error);
    for (int64_t i = 0; i < texts->n && status == 0; i++)
        fprintf(write.stream, "%s\n", id_map_text(texts, i));
    if (status == 0)
        status = files_commit_write(&write, error);
    free(path);
    return status;
}

/* Ids of a side, and names of items beside theirs: whoever may see the one may see the other, which is public. */
static int write_ids(const char *directory, const struct results *r, int side, struct dpf_error *error)
{
    const char *where = side_of_files(r->plan, side);
    const struct dataset *dataset = r->dataset;
    if (side == DPF_SIDE_USERS)
        return write_lines(directory, where, "user_ids.txt", &dataset->users, error);
    return write_lines(directory, where, "item_ids.txt", &dataset->items, error) == 0 && dataset->item_names.n
               ? write_lines(directory, where, "item_names.txt", &dataset->item_names, error)
           : error->fault ? -1
                          : 0;
}

static int write_shares(const char *path, const struct results *r, int side, struct dpf_error *error)
{
    int64_t *offsets = memory_need((size_t)ranks_size() + 1, sizeof *offsets);
    shares_offsets(r->dataset, side, offsets);
    const int status = npy_write_shares(path, r->model->sides[side].data, r->model->columns, r->model->stride,
                                        offsets, error);
    free(offsets);
    return status;
}

int results_help_write(const struct results *r, struct dpf_error *error)
{
    for (int side = 0; side < 2 && model_has_rows(r->model); side++)
        if (!model_shares_rows(r->plan, side) && write_shares(NULL, r, side, error) != 0)
            return -1;
    return 0;
}

static int write_factors(const char *directory, const struct results *r, int side, struct dpf_error *error)
{
    const char *where = side_of_files(r->plan, side);
    const char *what = side == DPF_SIDE_USERS ? "user" : "item";
    char *path = memory_format("%s/%s/%s_factors.npy", directory, where, what);
    const struct side_factors *factors = &r->model->sides[side];
    int status = model_shares_rows(r->plan, side)
                     ? npy_write_float32(path, factors->data, factors->rows, r->model->columns,
                                         r->model->stride, error)
                     : write_shares(path, r, side, error);
    free(path);
    return status;
}

/* The arrays of a component, the factors of both sides, or none; and the ids of both sides. */
static int write_model(const char *directory, const struct results *r, struct dpf_error *error)
{
    int status = 0;
    for (int side = 0; side < 2 && status == 0; side++) {
        if (model_has_rows(r->model))
            status = write_factors(directory, r, side, error);
        if (status == 0)
            status = write_ids(directory, r, side, error);
    }
    return status == 0 ? model_files_write(directory, side_of_files(r->plan, DPF_SIDE_ITEMS), r->model, error)
                       : -1;
}

static void add_metrics(struct text *text, const char *part, const struct metrics *metrics)
{
    char value[32], low[32], high[32];
    for (int64_t i = 0; metrics && i < metrics->n; i++) {
        const struct metric *metric = &metrics->items[i];
        text_add(text, "%s,,%s,%s,%lld,%s,%s\n", part, metric->name,
                 isfinite(metric->value) ? text_from_real(metric->value, value) : "", (long long)metric->n,
                 isfinite(metric->low) ? text_from_real(metric->low, low) : "",
                 isfinite(metric->high) ? text_from_real(metric->high, high) : "");
    }
}

static int write_metrics(const char *directory, const struct results *r, struct dpf_error *error)
{
    struct text text = {0};
    char value[32];
    text_add(&text, "part,round,metric,value,averaged_over,low,high\n");
    for (int64_t i = 0; i < r->n_train_rmse; i++)
        text_add(&text, "train,%lld,rmse,%s,%lld,,\n", (long long)i + 1,
                 text_from_real(r->train_rmse[i], value), (long long)r->dataset->train.n);
    add_metrics(&text, "train", r->train);
    add_metrics(&text, "test", r->test);
    for (int i = 0; i < r->n_comparisons; i++)
        add_metrics(&text, r->comparisons[i].name, &r->comparisons[i].metrics);
    int status = write_text(directory, "private/metrics.csv", text.data, error);
    text_free(&text);
    return status;
}

/* The only metrics outside of private/. */
static int write_released(const char *directory, const struct metrics *released, struct dpf_error *error)
{
    struct text text = {0};
    char value[32], noise[32];
    if (!released)
        return 0;
    text_add(&text, "metric,value,noise,averaged_over\n");
    for (int64_t i = 0; i < released->n; i++) {
        const struct metric *metric = &released->items[i];
        text_add(&text, "%s,%s,%s,%lld\n", metric->name,
                 isfinite(metric->value) ? text_from_real(metric->value, value) : "",
                 isfinite(metric->noise) ? text_from_real(metric->noise, noise) : "", (long long)metric->n);
    }
    int status = write_text(directory, "release/metrics.csv", text.data, error);
    text_free(&text);
    return status;
}

/* Only where records have budgets of their own. */
static int write_budgets(const char *directory, const struct record_budgets *budgets, struct dpf_error *error)
{
    char *table = record_budgets_text(budgets);
    int status = table ? write_text(directory, "private/record_budgets.csv", table, error) : 0;
    free(table);
    return status;
}

static int write_noise(const char *directory, const struct results *r, struct dpf_error *error)
{
    char *table = noise_table_text(r->stats);
    int status = table ? write_text(directory, "private/noise.csv", table, error) : 0;
    free(table);
    return status;
}

/* Only where there were any: the list tells about single records. */
static int write_violations(const char *directory, const struct results *r, struct dpf_error *error)
{
    if (!r->violations || r->violations->n == 0)
        return 0;
    char *text = violations_text(r->violations);
    int status = write_text(directory, "private/violations.txt", text, error);
    free(text);
    return status;
}

int results_write(const char *directory, const struct results *results, json_t **run, struct dpf_error *error)
{
    *run = NULL;
    if (make_inside(directory, "release", error) != 0 || make_inside(directory, "private", error) != 0)
        return -1;
    remove_earlier(directory);
    struct record_budgets budgets;
    stages_enter(results->stages, STAGE_BUDGETS);
    if (record_budgets_make(results->plan, results->dataset, &budgets, error) != 0)
        return -1;
    stages_enter(results->stages, STAGE_WRITE);
    char *statement = guarantee_text(&results->plan->guarantee);
    char *ini = plan_resolved_ini(results->plan);
    int status = write_model(directory, results, error);
    if (status == 0)
        status = write_metrics(directory, results, error);
    if (status == 0 && by_user_exists(by_user(results)))
        status = by_user_write(directory, by_user(results), error);
    if (status == 0)
        status = write_released(directory, results->released, error);
    if (status == 0)
        status = write_budgets(directory, &budgets, error);
    if (status == 0)
        status = write_noise(directory, results, error);
    if (status == 0)
        status = write_violations(directory, results, error);
    if (status == 0)
        status = write_json(directory, "private/data.json", data_json(results->dataset), error);
    if (status == 0)
        status = write_text(directory, "release/guarantee.txt", statement, error);
    if (status == 0)
        status = write_json(directory, "release/certificate.json", certificate_json(results->plan), error);
    if (status == 0)
        status = write_text(directory, "config.ini", ini, error);
    if (status == 0) {
        *run = run_json(results, &budgets);
        status = write_json(directory, "run.json", json_incref(*run), error);
    }
    record_budgets_free(&budgets);
    free(statement);
    free(ini);
    return status;
}

int results_rewrite_timing(const char *directory, const struct results *results, json_t *run,
                           struct dpf_error *error)
{
    stages_enter(results->stages, STAGE_WRITE);
    json_object_set_new(run, "timing", timing_json(results));
    return write_json(directory, "run.json", run, error);
}
