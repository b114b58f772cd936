/* SPDX-License-Identifier: Apache-2.0 */
#include "run/saved_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/recommender_fit.h"
#include "run/npy.h"
#include "run/split_file.h"
#include "plan/plan_make.h"
#include "data/data_options_read.h"

/* without_noise: mechanisms are left out, for what is done at home alone. without_data: no records are read. */
static int open_session(const struct arguments *arguments, const char *directory, int without_noise,
                        int without_data, struct saved_run *out, struct dpf_error *error)
{
    struct arguments *own = memory_need(1, sizeof *own);
    char *config = files_join(directory, "config.ini");
    *own = *arguments;
    own->config = config;
    own->without_data = without_data;
    own->overrides[own->n_overrides++] = "data.item-names="; /* the run has kept them: take_names */
    if (without_data)                                        /* a server's configuration names none */
        own->overrides[own->n_overrides++] = "data.path=/dev/null";
    /* What the configuration says without effect was told when it was trained. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    const int status = session_open(&out->session, own, without_noise, error);
    log_set_level(level);
    free(config);
    free(own);
    return status;
}

static char *file_of(const struct saved_run *run, const char *directory, const char *what)
{
    const char *name = json_string_value(json_object_get(json_object_get(run->json, "files"), what));
    return name && !strstr(name, "..") ? files_join(directory, name) : NULL;
}

/* Names of items as the run wrote them, if it did. */
static int take_names(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    struct id_map *names = &run->dataset.item_names;
    char *path = file_of(run, directory, "item_names");
    const int status = path ? id_map_read_names(path, run->dataset.items.n, names, error) : 0;
    free(path);
    return status;
}

static int load_json(const char *directory, struct saved_run *out, struct dpf_error *error)
{
    json_error_t problem;
    int status = 0;
    char *path = files_join(directory, "run.json"), *sweep = files_join(directory, "sweep.json");
    if (!(out->json = json_load_file(path, 0, &problem)))
        status = access(sweep, F_OK) == 0
                     ? error_set(error, DPF_FAULT_CONFIG,
                                 "%s holds the runs of a sweep or of folds: name one of %s/points", directory,
                                 directory)
                     : error_set(error, DPF_FAULT_CONFIG,
                                 "%s: %s; name the output directory of a run that is complete", path,
                                 problem.text);
    free(path);
    free(sweep);
    return status;
}

/* The hash of the data that the run was trained on, from its private side; "unknown" without. */
static void read_data_hash(const struct saved_run *run, const char *directory, char hash[80])
{
    char *path = file_of(run, directory, "data");
    json_t *json = path ? json_load_file(path, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(json, "sha256"));
    snprintf(hash, 80, "%s", text ? text : "unknown");
    json_decref(json);
    free(path);
}

static void start_pool(struct saved_run *out)
{
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    blas_one_thread();
    out->pool = pool_new(threads < 1 ? 1 : (int)threads);
}

/* The ids of a side as the run wrote them. */
static int take_ids(struct saved_run *out, const char *directory, int side, struct dpf_error *error)
{
    struct dataset *dataset = &out->dataset;
    char *names = file_of(out, directory, side == DPF_SIDE_USERS ? "user_ids" : "item_ids");
    const int status =
        names ? id_map_read(names, side == DPF_SIDE_USERS ? &dataset->users : &dataset->items, error)
              : error_set(error, DPF_FAULT_DATA, "%s/run.json: it does not name the files of ids", directory);
    free(names);
    return status;
}

/* What the plan says of records. */
static void take_range(struct saved_run *out)
{
    const struct plan *plan = &out->session.plan;
    out->dataset.implicit = data_feedback(&plan->data) != FEEDBACK_EXPLICIT;
    out->dataset.value_lo = plan->value_lo;
    out->dataset.value_hi = plan->value_hi;
}

static int load_data(const char *directory, struct saved_run *out, struct dpf_error *error)
{
    struct plan *plan = &out->session.plan;
    if (data_read_by_user(&plan->data, &plan->split, plan->seeded, out->pool, &out->dataset, error) != 0 ||
        dataset_take_home(&out->dataset, error) != 0 ||
        plan_complete(plan, out->dataset.users.n, out->dataset.items.n, error) != 0)
        return -1;
    char hash[80];
    read_data_hash(out, directory, hash);
    if (strcmp(hash, out->dataset.summary.sha256) != 0)
        return error_set(
            error, DPF_FAULT_DATA,
            "%s: the data has changed since the run (SHA-256 %s, then %s); the factors are not of these "
            "records: train again",
            directory, out->dataset.summary.sha256, hash);
    return model_init(&out->model, plan, &out->dataset, error);
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
                               : error_set(error, DPF_FAULT_DATA,
                                           "%s/run.json: it does not name the files of factors", directory);
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
              : error_set(error, DPF_FAULT_DATA, "%s/run.json: it does not name the files of ids", directory);
    free(names);
    return status;
}

/* plugin/1: the bytes of the component, which says whether they are its own. */
static int take_bytes(struct saved_run *run, const char *path, struct dpf_error *error)
{
    struct model *model = &run->model;
    const dpf_array *state = &run->files.arrays[0];
    const int whole = run->files.said.n_arrays == 1 && strcmp(state->name, "state") == 0 &&
                      state->type == DPF_ARRAY_U1 && state->columns == 1;
    if (!whole || plan_has(model->plan, MODEL_HAS_FORM))
        return error_set(error, DPF_FAULT_DATA,
                         "%s does not contain a state of the run's recommender: train again", path);
    model->state_bytes = (uint64_t)state->rows;
    model->state = memory_raw((size_t)state->rows + 1, 1);
    if (!model->state)
        return error_memory(error);
    memcpy(model->state, state->data, (size_t)state->rows);
    return recommender_fit_check(model, path, error);
}

/* n_users: -1 where the users of the run are not known, as beside a release. */
static int read_state(struct saved_run *run, const char *path, int64_t n_users, struct dpf_error *error)
{
    if (model_files_open(path, &run->files, error) != 0)
        return -1;
    if (run->files.said.formula && strcmp(run->files.said.formula, score_formulas[SCORE_FUNCTION].name) == 0)
        return take_bytes(run, path, error);
    return score_form_read(&run->files.said, run->dataset.items.n, n_users, path, DPF_FAULT_DATA,
                           &run->model.form, error);
}

static int load_state(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    char *path = file_of(run, directory, "model");
    int status =
        path ? read_state(run, path, run->dataset.users.n, error)
             : error_set(
                   error, DPF_FAULT_DATA,
                   "%s/run.json: it does not name a model: the run is of an earlier version; train again",
                   directory);
    free(path);
    for (int side = 0; side < 2 && status == 0; side++)
        status = check_side_ids(run, directory, side, error);
    return status;
}

static void take_offset(struct saved_run *run)
{
    const json_t *offset = json_object_get(json_object_get(run->json, "model"), "offset");
    if (json_is_number(offset))
        run->model.offset = json_number_value(offset);
}

/* What the run read from standard input is not there any more. */
static int refuse_piped(const struct saved_run *run, const struct arguments *arguments, const char *directory,
                        struct dpf_error *error)
{
    const json_t *data = json_object_get(json_object_get(run->json, "config"), "data");
    const char *path = json_string_value(json_object_get(data, "path"));
    int overridden = 0;
    for (int i = 0; i < arguments->n_overrides; i++)
        overridden |= strncmp(arguments->overrides[i], "data.path=", 10) == 0;
    return !path || strcmp(path, "-") != 0 || overridden
               ? 0
               : error_set(error, DPF_FAULT_DATA,
                           "this needs the records that the run was trained on, and it read them from "
                           "standard input. "
                           "Write them to a file, and set data.path in %s/config.ini to it; dpframe "
                           "recommend takes "
                           "other records with --data FILE",
                           directory);
}

/* The run's own records are asked for, and are not where they were. */
static int records_are_gone(const struct saved_run *run, const char *directory, struct dpf_error *error)
{
    const struct config *config = run->session.plan.config;
    const struct config_entry *path = config ? config_find(config, "data", "path") : NULL;
    const struct config_entry *format = config ? config_find(config, "data", "format") : NULL;
    const int names_none = !path || !*path->value;
    if (!config || (format && strcmp(format->value, "synthetic") == 0) ||
        error->fault != (names_none ? DPF_FAULT_CONFIG : DPF_FAULT_DATA) ||
        (!names_none && (strpbrk(path->value, "*?[") || access(path->value, F_OK) == 0)))
        return -1;
    *error = (struct dpf_error){0};
    return error_set(error, DPF_FAULT_DATA,
                     "this needs the records that the run was trained on, and %s%s. Set data.path in "
                     "%s/config.ini to where "
                     "they are now; dpframe recommend takes other records with --data FILE",
                     names_none ? "its configuration" : path->value,
                     names_none ? " names none" : " is not there", directory);
}

/* The rows of one user, as a command before this one has kept them. 1; 0: read the training file. */
static int take_kept(const char *directory, const struct split_key *key, const char *user,
                     struct saved_run *out, struct dpf_error *error)
{
    struct dataset *dataset = &out->dataset;
    struct plan *plan = &out->session.plan;
    if (take_ids(out, directory, DPF_SIDE_USERS, error) != 0 ||
        take_ids(out, directory, DPF_SIDE_ITEMS, error) != 0)
        return -1;
    if (!split_file_read(directory, key, id_map_find(&dataset->users, user), dataset)) {
        id_map_free(&dataset->users);
        id_map_free(&dataset->items);
        return 0;
    }
    take_range(out);
    /* Terms made at home read public features; states have what else scores need of them. */
    const int reads_features = plan->model.params.values[MODEL_HOME_TERMS].integer != 0;
    if ((reads_features && data_load_item_features(&plan->data, dataset, error) != 0) ||
        plan_complete(plan, dataset->users.n, dataset->items.n, error) != 0 ||
        model_init(&out->model, plan, dataset, error) != 0)
        return -1;
    return 1;
}

/* The records of everybody, or those of one user. */
static int load_records(const struct arguments *arguments, const char *directory, const char *user,
                        struct saved_run *out, struct dpf_error *error)
{
    struct split_key key;
    char hash[80];
    if (!user)
        return load_data(directory, out, error);
    read_data_hash(out, directory, hash);
    if (split_key_make(arguments, directory, &out->session.plan, hash, &key, error) != 0)
        return -1;
    const int kept = take_kept(directory, &key, user, out, error);
    if (kept != 0)
        return kept > 0 ? 0 : -1;
    if (load_data(directory, out, error) != 0)
        return -1;
    split_file_write(directory, &key, &out->dataset);
    return 0;
}

int saved_run_open(const struct arguments *arguments, const char *directory, const char *user,
                   struct saved_run *out, struct dpf_error *error)
{
    *out = (struct saved_run){0};
    if (load_json(directory, out, error) != 0 || refuse_piped(out, arguments, directory, error) != 0)
        return -1;
    if (open_session(arguments, directory, 0, 0, out, error) != 0)
        return records_are_gone(out, directory, error);
    start_pool(out);
    if (load_records(arguments, directory, user, out, error) != 0 || take_names(out, directory, error) != 0)
        return -1;
    if (!model_has_rows(&out->model))
        return load_state(out, directory, error);
    if (load_side(out, directory, DPF_SIDE_USERS, error) != 0 ||
        load_side(out, directory, DPF_SIDE_ITEMS, error) != 0)
        return -1;
    take_offset(out);
    return 0;
}

/* ---- other records ---------------------------------------------------------------------------------------
 */

static int open_other_session(const struct arguments *arguments, const char *directory, const char *data,
                              struct saved_run *out, struct dpf_error *error)
{
    struct arguments *own = memory_need(1, sizeof *own);
    char *path = memory_format("data.path=%s", data);
    const json_t *component = json_object_get(json_object_get(out->json, "model"), "component");
    *own = *arguments;
    own->overrides[own->n_overrides++] = path;
    /* All of it is what users have at home. */
    own->overrides[own->n_overrides++] = "split.kind=none";
    own->overrides[own->n_overrides++] = "run.compare=";
    /* A bound that noise rests on; none is added here. */
    if (!component)
        own->overrides[own->n_overrides++] = "model.users=0";
    int status = open_session(own, directory, !component, 0, out, error);
    if (status == 0 && data_is_generated(&out->session.plan.data))
        status = error_set(
            error, DPF_FAULT_CONFIG,
            "--data: the run was trained on generated records (data.format = synthetic), so nothing "
            "says how to read a file; train on a file, for example one of dpframe generate");
    free(path);
    free(own);
    return status;
}

static int load_other_data(const char *directory, struct saved_run *out, struct dpf_error *error)
{
    struct plan *plan = &out->session.plan;
    struct id_map items = {0};
    char *names = file_of(out, directory, "item_ids");
    int status =
        names ? id_map_read(names, &items, error)
              : error_set(error, DPF_FAULT_DATA, "%s/run.json: it does not name the files of ids", directory);
    free(names);
    if (status != 0 || data_load_for_items(&plan->data, &plan->split, plan->seeded, out->pool, &items,
                                           &out->dataset, &out->left, error) != 0)
        return -1;
    return plan_complete(plan, -1, out->dataset.items.n, error);
}

/* Users' rows for the items' saved ones. Baselines have none that are solved. */
static int solve_users(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    struct plan *plan = &run->session.plan;
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    const json_t *files = json_object_get(run->json, "files");
    const char *where = json_string_value(json_object_get(files, "user_factors"));
    if (!plan_has(plan, MODEL_TRAINS))
        return 0;
    if (!plan->sides[DPF_SIDE_USERS].updated || (where && strncmp(where, "release/", 8) == 0))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "--data: the users' factors of %s are not solved at home from a user's own records, so new "
            "records need another training",
            directory);
    return engine_fit_side(plan, &run->dataset, run->pool, &run->model, DPF_SIDE_USERS,
                           rounds > 0 ? rounds : 1, error);
}

/* A state that is computed from items alone fits any users; others were made for those who were there. */
static int read_state_for(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    struct dpf_error why = {0};
    char *path = file_of(run, directory, "model");
    int status =
        path ? read_state(run, path, run->dataset.users.n, &why)
             : error_set(
                   error, DPF_FAULT_DATA,
                   "%s/run.json: it does not name a model: the run is of an earlier version; train again",
                   directory);
    free(path);
    if (status == 0 && run->model.form.formula == SCORE_NEIGHBOURS &&
        run->model.form.arrays[NEIGHBOURS_REPORTED].name)
        status = error_set(&why, DPF_FAULT_DATA, "it has a row of each");
    if (why.fault)
        error_set(error, why.fault,
                  "--data: the state of recommender %s belongs to the users of the run; for others it is "
                  "trained again "
                  "(%s)",
                  run->session.plan.model_facts.id, why.text);
    return status;
}

int saved_run_open_for(const struct arguments *arguments, const char *directory, const char *data,
                       struct saved_run *out, struct dpf_error *error)
{
    *out = (struct saved_run){0};
    if (load_json(directory, out, error) != 0 ||
        open_other_session(arguments, directory, data, out, error) != 0)
        return -1;
    start_pool(out);
    if (load_other_data(directory, out, error) != 0 || take_names(out, directory, error) != 0 ||
        model_init(&out->model, &out->session.plan, &out->dataset, error) != 0)
        return -1;
    if (!model_has_rows(&out->model))
        return read_state_for(out, directory, error);
    take_offset(out);
    return load_side(out, directory, DPF_SIDE_ITEMS, error) == 0 ? solve_users(out, directory, error) : -1;
}

/* ---- what is released, alone -----------------------------------------------------------------------------
 */

static int is_released(const struct saved_run *run, const char *what)
{
    const char *name = json_string_value(json_object_get(json_object_get(run->json, "files"), what));
    return name && strncmp(name, "release/", 8) == 0;
}

/* Of rows without records; with values, records would have some. */
static void have_no_records(struct csr *csr, int64_t rows, int values)
{
    *csr = (struct csr){.rows = rows,
                        .ptr = memory_need((size_t)rows + 1, sizeof *csr->ptr),
                        .others = memory_need(1, sizeof *csr->others),
                        .values = values ? memory_need(1, sizeof *csr->values) : NULL};
}

static int take_sizes(struct saved_run *out, struct dpf_error *error)
{
    struct dataset *dataset = &out->dataset;
    const struct plan *plan = &out->session.plan;
    const enum data_feedback feedback = data_feedback(&plan->data);
    take_range(out);
    have_no_records(&dataset->train.by_user, dataset->users.n, feedback != FEEDBACK_IMPLICIT);
    have_no_records(&dataset->train.by_item, dataset->items.n, feedback != FEEDBACK_IMPLICIT);
    if (plan_complete(&out->session.plan, dataset->users.n > 0 ? dataset->users.n : -1, dataset->items.n,
                      error) != 0)
        return -1;
    return model_init(&out->model, plan, dataset, error);
}

int saved_run_has_rows(const char *directory)
{
    struct saved_run run = {0};
    struct dpf_error ignored = {0};
    const int has_rows = load_json(directory, &run, &ignored) == 0 &&
                         json_object_get(json_object_get(run.json, "files"), "user_factors") != NULL;
    json_decref(run.json);
    return has_rows;
}

int saved_run_open_model(const struct arguments *arguments, const char *directory, int rows_of_users,
                         struct saved_run *out, struct dpf_error *error)
{
    *out = (struct saved_run){0};
    if (load_json(directory, out, error) != 0 || open_session(arguments, directory, 0, 1, out, error) != 0 ||
        take_ids(out, directory, DPF_SIDE_USERS, error) != 0 ||
        take_ids(out, directory, DPF_SIDE_ITEMS, error) != 0 || take_names(out, directory, error) != 0 ||
        take_sizes(out, error) != 0)
        return -1;
    start_pool(out);
    if (!model_has_rows(&out->model))
        return load_state(out, directory, error);
    if ((rows_of_users && load_side(out, directory, DPF_SIDE_USERS, error) != 0) ||
        load_side(out, directory, DPF_SIDE_ITEMS, error) != 0)
        return -1;
    take_offset(out);
    return 0;
}

int saved_run_open_released(const struct arguments *arguments, const char *directory, struct saved_run *out,
                            struct dpf_error *error)
{
    *out = (struct saved_run){0};
    if (load_json(directory, out, error) != 0)
        return -1;
    if (!is_released(out, "model") || !json_object_get(json_object_get(out->json, "model"), "component") ||
        !is_released(out, "item_ids"))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s: no state of a recommender is released by this run, so nothing public can be made "
            "of it: train private-popularity",
            directory);
    if (open_session(arguments, directory, 0, 1, out, error) != 0 ||
        take_ids(out, directory, DPF_SIDE_ITEMS, error) != 0 || take_names(out, directory, error) != 0 ||
        take_sizes(out, error) != 0)
        return -1;
    char *path = file_of(out, directory, "model");
    const int status = path ? read_state(out, path, -1, error) : error_memory(error);
    free(path);
    return status;
}

int saved_run_is_proved(const struct saved_run *run)
{
    const json_t *account;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(run->json, "guarantee"), "proved"), i, account)
    {
        if (!json_is_true(json_object_get(account, "plan")))
            return 1;
    }
    return 0;
}

void saved_run_close(struct saved_run *run)
{
    model_free(&run->model);
    model_files_close(&run->files);
    dataset_free(&run->dataset);
    pool_free(run->pool);
    session_close(&run->session);
    json_decref(run->json);
}
