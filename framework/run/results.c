/* SPDX-License-Identifier: Apache-2.0 */
#include "run/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"
#include "dataset/shares.h"
#include "run/by_user_file.h"
#include "run/certificate.h"
#include "run/model_files.h"
#include "run/noise_table.h"
#include "run/npy.h"
#include "run/results_directory.h"
#include "run/run_json.h"

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
    const char *where = run_json_side(r->plan, side);
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
    const char *where = run_json_side(r->plan, side);
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
    return status == 0 ? model_files_write(directory, run_json_side(r->plan, DPF_SIDE_ITEMS), r->model, error)
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
    if (results_directory_clear(directory, error) != 0)
        return -1;
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
    if (status == 0 && by_user_exists(run_json_by_user(results)))
        status = by_user_write(directory, run_json_by_user(results), error);
    if (status == 0)
        status = write_released(directory, results->released, error);
    if (status == 0)
        status = write_budgets(directory, &budgets, error);
    if (status == 0)
        status = write_noise(directory, results, error);
    if (status == 0)
        status = write_violations(directory, results, error);
    if (status == 0)
        status = write_json(directory, "private/data.json", run_json_data(results->dataset), error);
    if (status == 0)
        status = write_text(directory, "release/guarantee.txt", statement, error);
    if (status == 0)
        status = write_json(directory, "release/certificate.json", certificate_json(results->plan), error);
    if (status == 0)
        status = write_text(directory, "config.ini", ini, error);
    if (status == 0) {
        *run = run_json_make(results, &budgets);
        status = write_json(directory, "run.json", json_incref(*run), error);
    }
    if (status != 0) { /* a part of a release looks like one */
        struct dpf_error ignored = {0};
        results_directory_clear(directory, &ignored);
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
    json_object_set_new(run, "timing", run_json_timing(results));
    return write_json(directory, "run.json", run, error);
}
