/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/saved_run.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/recommender_fit.h"
#include "report/npy.h"

static int open_session(const struct arguments *arguments, const char *directory, struct saved_run *out,
                        struct dpf_error *error)
{
    struct arguments *own = memory_new(1, sizeof *own);
    char *config = files_join(directory, "config.ini");
    int status = own && config ? 0 : error_memory(error);
    if (status == 0) {
        *own = *arguments;
        own->config = config;
        /* What the configuration says without effect was told when it was trained. */
        enum log_level level = log_set_level(LOG_LEVEL_NONE);
        status = session_open(&out->session, own, 0, error);
        log_set_level(level);
    }
    free(config);
    free(own);
    return status;
}

static int load_json(const char *directory, struct saved_run *out, struct dpf_error *error)
{
    json_error_t problem;
    char *path = files_join(directory, "run.json");
    if (!path)
        return error_memory(error);
    out->json = json_load_file(path, 0, &problem);
    int status = out->json ? 0
                           : error_set(error, DPF_FAULT_CONFIG,
                                       "%s: %s; name the output directory of a run that is complete", path,
                                       problem.text);
    free(path);
    return status;
}

static int load_data(const char *directory, struct saved_run *out, struct dpf_error *error)
{
    struct plan *plan = &out->session.plan;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    openblas_set_num_threads(1);
    out->pool = pool_new(threads < 1 ? 1 : (int)threads);
    if (!out->pool)
        return error_set(error, DPF_FAULT_RUN, "cannot start threads");
    if (data_read(plan->config, &plan->data, &plan->split, plan->seeded, out->pool, &out->dataset, error) !=
            0 ||
        plan_complete(plan, out->dataset.users.n, out->dataset.items.n, error) != 0)
        return -1;
    const char *hash = json_string_value(json_object_get(json_object_get(out->json, "data"), "sha256"));
    if (!hash || strcmp(hash, out->dataset.summary.sha256) != 0)
        return error_set(
            error, DPF_FAULT_DATA,
            "%s: the data has changed since the run (SHA-256 %s, then %s); the factors are not of these "
            "records: train again",
            directory, out->dataset.summary.sha256, hash ? hash : "unknown");
    return model_init(&out->model, plan, &out->dataset, error);
}

static char *file_of(const struct saved_run *run, const char *directory, const char *what)
{
    const char *name = json_string_value(json_object_get(json_object_get(run->json, "files"), what));
    return name && !strstr(name, "..") ? files_join(directory, name) : NULL;
}

/* Row r of the file is that of id r: checked, not assumed. */
static int check_ids(const char *path, const struct id_map *ids, struct dpf_error *error)
{
    FILE *stream = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    int64_t row = 0;
    int same = stream != NULL;
    while (same && getline(&line, &capacity, stream) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        same = row < ids->n && strcmp(line, id_map_text(ids, row)) == 0;
        row++;
    }
    if (stream)
        fclose(stream);
    free(line);
    return same && row == ids->n
               ? 0
               : error_set(error, DPF_FAULT_DATA, "%s: line %lld is not the id that the data has there", path,
                           (long long)row);
}

/* A number that is none would only hide its item, or its user's whole list. */
static int check_finite(const char *path, const struct npy_matrix *matrix, struct dpf_error *error)
{
    for (int64_t i = 0; i < matrix->rows * matrix->columns; i++)
        if (!isfinite(matrix->float32[i]))
            return error_set(error, DPF_FAULT_DATA,
                             "%s: row %lld holds a number that is not finite: train again", path,
                             (long long)(i / matrix->columns));
    return 0;
}

static int load_side(struct saved_run *run, const char *directory, int side, struct dpf_error *error)
{
    struct side_factors *factors = &run->model.sides[side];
    const struct id_map *ids = side == DPF_SIDE_USERS ? &run->dataset.users : &run->dataset.items;
    char *path = file_of(run, directory, side == DPF_SIDE_USERS ? "user_factors" : "item_factors");
    char *names = file_of(run, directory, side == DPF_SIDE_USERS ? "user_ids" : "item_ids");
    struct npy_matrix matrix = {0};
    int status = path && names ? 0
                               : error_set(error, DPF_FAULT_DATA, "%s/run.json: it names no files of factors",
                                           directory);
    if (status == 0)
        status = npy_read(path, &matrix, error);
    if (status == 0 &&
        (!matrix.float32 || matrix.rows != factors->rows || matrix.columns != run->model.columns))
        status = error_set(error, DPF_FAULT_DATA, "%s: %lld x %lld numbers where the run has %lld x %d", path,
                           (long long)matrix.rows, (long long)matrix.columns, (long long)factors->rows,
                           run->model.columns);
    if (status == 0)
        status = check_finite(path, &matrix, error);
    if (status == 0)
        status = check_ids(names, ids, error);
    for (int64_t r = 0; r < factors->rows && status == 0; r++)
        memcpy(factors->data + r * run->model.stride, matrix.float32 + r * matrix.columns,
               (size_t)matrix.columns * sizeof(float));
    npy_free(&matrix);
    free(path);
    free(names);
    return status;
}

static int check_side_ids(const struct saved_run *run, const char *directory, int side,
                          struct dpf_error *error)
{
    char *names = file_of(run, directory, side == DPF_SIDE_USERS ? "user_ids" : "item_ids");
    int status =
        names ? check_ids(names, side == DPF_SIDE_USERS ? &run->dataset.users : &run->dataset.items, error)
              : error_set(error, DPF_FAULT_DATA, "%s/run.json: it names no files of ids", directory);
    free(names);
    return status;
}

/* No more bytes than this plan's component asks for, and bytes that it takes for its own. */
static int read_state(struct saved_run *run, const char *path, struct dpf_error *error)
{
    struct model *model = &run->model;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_DATA, "%s: %s", path, strerror(errno));
    size_t got = fread(model->state, 1, (size_t)model->state_bytes, stream);
    int whole = fgetc(stream) == EOF && !ferror(stream);
    fclose(stream);
    if (!whole)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: more than the %llu bytes of this model's state: train again", path,
                         (unsigned long long)model->state_bytes);
    model->state_bytes = got;
    return recommender_fit_check(model, path, error);
}

static int load_state(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    char *path = file_of(run, directory, "model_state");
    int status = path ? read_state(run, path, error)
                      : error_set(error, DPF_FAULT_DATA, "%s/run.json: it names no model_state", directory);
    free(path);
    for (int side = 0; side < 2 && status == 0; side++)
        status = check_side_ids(run, directory, side, error);
    return status;
}

int saved_run_open(const struct arguments *arguments, const char *directory, struct saved_run *out,
                   struct dpf_error *error)
{
    *out = (struct saved_run){0};
    if (load_json(directory, out, error) != 0 || open_session(arguments, directory, out, error) != 0 ||
        load_data(directory, out, error) != 0)
        return -1;
    if (out->session.plan.recommender.instance)
        return load_state(out, directory, error);
    if (load_side(out, directory, DPF_SIDE_USERS, error) != 0 ||
        load_side(out, directory, DPF_SIDE_ITEMS, error) != 0)
        return -1;
    const json_t *offset = json_object_get(json_object_get(out->json, "model"), "offset");
    if (json_is_number(offset))
        out->model.offset = json_number_value(offset);
    return 0;
}

void saved_run_close(struct saved_run *run)
{
    model_free(&run->model);
    dataset_free(&run->dataset);
    pool_free(run->pool);
    session_close(&run->session);
    json_decref(run->json);
}
