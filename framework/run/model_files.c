/* SPDX-License-Identifier: Apache-2.0 */
#include "run/model_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/memory.h"
#include "engine/model_scorer.h"
#include "run/npy.h"

#define STATE "state" /* plugin/1: the bytes of the component */

static const struct {
    int32_t type;
    size_t size;
    const char *descr;
} types[] = {
    {DPF_ARRAY_F4, 4, "<f4"}, {DPF_ARRAY_F8, 8, "<f8"}, {DPF_ARRAY_I4, 4, "<i4"}, {DPF_ARRAY_U1, 1, "|u1"}};
enum { N_TYPES = sizeof types / sizeof types[0] };

static int type_at(int32_t type)
{
    int t = 0;
    while (t < N_TYPES - 1 && types[t].type != type)
        t++;
    return t;
}

int model_files_owns(const char *name)
{
    const size_t length = strlen(name);
    if (strcmp(name, "index.json") == 0 || strcmp(name, STATE ".npy") == 0)
        return 1;
    for (int f = 0; f < SCORE_FORMULAS; f++)
        for (int a = 0; a < SCORE_MOST_ARRAYS && score_formulas[f].arrays[a].name; a++) {
            const char *array = score_formulas[f].arrays[a].name;
            if (length == strlen(array) + 4 && strncmp(name, array, length - 4) == 0 &&
                strcmp(name + length - 4, ".npy") == 0)
                return 1;
        }
    return 0;
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

/* Of release/, no length that is the number of users is told: users' arrays have theirs in the file itself. */
static void add_array(json_t *arrays, const dpf_array *array, const struct score_array_rule *rule,
                      const char *file)
{
    json_t *object = json_pack("{s:s, s:s}", "file", file, "type", types[type_at(array->type)].descr);
    json_t *axes = json_pack("[s]", rule->rows);
    if (strcmp(rule->columns, "1") != 0)
        json_array_append_new(axes, json_string(rule->columns));
    if (strcmp(rule->rows, "users") != 0)
        json_object_set_new(object, "shape",
                            json_array_size(axes) == 2
                                ? json_pack("[I, I]", (json_int_t)array->rows, (json_int_t)array->columns)
                                : json_pack("[I]", (json_int_t)array->rows));
    json_object_set_new(object, "axes", axes);
    json_object_set_new(object, "unit", json_string(rule->unit));
    json_object_set_new(arrays, array->name, object);
}

static int write_array(const char *where, const dpf_array *array, const struct score_array_rule *rule,
                       json_t *arrays, struct dpf_error *error)
{
    char *file = memory_format("%s.npy", array->name),
         *path = memory_format("%s/model/%s.npy", where, array->name);
    const int t = type_at(array->type);
    const int64_t columns = strcmp(rule->columns, "1") == 0 ? -1 : array->columns;
    int status = npy_write(path, types[t].descr, types[t].size, array->data, array->rows, columns,
                           array->stride, error);
    if (status == 0)
        add_array(arrays, array, rule, file);
    free(file);
    free(path);
    return status;
}

static const struct score_array_rule state_rule = {
    .name = STATE, .rows = "bytes", .columns = "1", .unit = "byte"};

static int write_state(const char *where, const struct model *model, json_t *arrays, struct dpf_error *error)
{
    const dpf_array state = {.name = STATE,
                             .type = DPF_ARRAY_U1,
                             .rows = (int64_t)model->state_bytes,
                             .columns = 1,
                             .stride = 1,
                             .data = model->state};
    return write_array(where, &state, &state_rule, arrays, error);
}

static int write_arrays(const char *where, const struct score_form *form, json_t *arrays,
                        struct dpf_error *error)
{
    int status = 0;
    for (int a = 0; a < SCORE_MOST_ARRAYS && status == 0; a++)
        if (form->arrays[a].name) {
            struct score_array_rule rule = score_formulas[form->formula].arrays[a];
            if (form->formula == SCORE_EASE && a == EASE_IN && ease_is_plain(form))
                rule.columns = "directions";
            status = write_array(where, &form->arrays[a], &rule, arrays, error);
        }
    return status;
}

/* The factors are files of their own; those of users that stay private are not told of beside released ones. */
static void name_factors(const char *part, const struct plan *plan, const struct score_form *form,
                         json_t *arrays)
{
    static const char *const files[2][2] = {
        {"../user_factors.npy", "../item_factors.npy"},
        {"../../release/user_factors.npy", "../../release/item_factors.npy"}};
    const int in_release = strcmp(part, "release") == 0;
    for (int a = 0; a < 2; a++) {
        const int side = form->formula == SCORE_ROWS && a == ROWS_USERS ? DPF_SIDE_USERS : DPF_SIDE_ITEMS;
        const int released = plan->model_facts.released[side];
        if (form->arrays[a].name && (released || !in_release))
            add_array(arrays, &form->arrays[a], &score_formulas[form->formula].arrays[a],
                      files[released && !in_release][side]);
    }
}

static json_t *scalars_json(const struct score_form *form)
{
    json_t *object = json_object();
    for (int s = 0; s < SCORE_MOST_SCALARS && score_formulas[form->formula].scalars[s]; s++)
        json_object_set_new(object, score_formulas[form->formula].scalars[s], json_real(form->scalars[s]));
    return object;
}

static json_t *index_json(const struct model *model, const struct score_form *form)
{
    const struct plan *plan = model->plan;
    json_t *root =
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "format", "dpframe-model", "version", MODEL_FILES_VERSION,
                  "dpframe", DPFRAME_VERSION, "component", plan->model_facts.id, "formula",
                  score_formulas[form->formula].name, "items", (json_int_t)model->dataset->items.n);
    if (isfinite(plan->value_lo) && isfinite(plan->value_hi) && model_predicts_values(model))
        json_object_set_new(root, "range", json_pack("[f, f]", plan->value_lo, plan->value_hi));
    json_object_set_new(root, "scalars", scalars_json(form));
    json_object_set_new(root, "ids", json_string("../item_ids.txt"));
    if (model->dataset->item_names.n)
        json_object_set_new(root, "names", json_string("../item_names.txt"));
    return root;
}

static int write_index(const char *where, json_t *root, struct dpf_error *error)
{
    char *path = memory_format("%s/" MODEL_INDEX, where);
    const int status = json_write(path, json_incref(root), error);
    free(path);
    return status;
}

int model_files_write(const char *directory, const char *part, const struct model *model,
                      struct dpf_error *error)
{
    struct scorer scorer;
    char *where = files_join(directory, part), *inside = files_join(where, "model");
    json_t *arrays = json_object(), *root = NULL;
    int status = files_make_directory(inside, error);
    if (status == 0)
        status = model_scorer((struct model *)(uintptr_t)model, &scorer, error);
    if (status == 0) {
        const struct score_form *form = &scorer.form;
        root = index_json(model, form);
        if (model_has_rows(model))
            name_factors(part, model->plan, form, arrays);
        else
            status = form->formula == SCORE_FUNCTION ? write_state(where, model, arrays, error)
                                                     : write_arrays(where, form, arrays, error);
        json_object_set(root, "arrays", arrays);
        scorer_close(&scorer);
    }
    if (status == 0)
        status = write_index(where, root, error);
    json_decref(arrays);
    json_decref(root);
    free(inside);
    free(where);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static int refuse(const char *path, const char *why, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_DATA,
                     "%s: %s: train again, or use the version of dpframe that wrote it", path, why);
}

static int map_array(const char *path, const char *name, const json_t *said, struct model_files *out, int at,
                     struct dpf_error *error)
{
    const char *file = json_string_value(json_object_get(said, "file")), *slash = strrchr(path, '/');
    dpf_array *array = &out->arrays[at];
    if (!file || *file == '/')
        return error_set(error, DPF_FAULT_DATA, "%s: array \"%s\" names no file beside the index", path,
                         name);
    char *beside = memory_format("%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, file);
    int status = npy_map(beside, &out->maps[at], error);
    free(beside);
    if (status != 0)
        return -1;
    const struct npy_map *map = &out->maps[at];
    *array = (dpf_array){.name = name, .rows = map->rows, .columns = map->columns, .data = map->data};
    for (int t = 0; t < N_TYPES; t++)
        if (strcmp(map->descr, types[t].descr) == 0)
            array->type = types[t].type;
    return 0;
}

static int read_index(const char *path, struct model_files *out, struct dpf_error *error)
{
    json_error_t problem;
    const char *name;
    json_t *value;
    out->index = json_load_file(path, 0, &problem);
    if (!out->index)
        return error_set(error, DPF_FAULT_DATA, "%s: %s; name the directory of a run that is complete", path,
                         problem.text);
    const char *format = json_string_value(json_object_get(out->index, "format"));
    if (!format || strcmp(format, "dpframe-model") != 0)
        return refuse(path, "this is not the index of a model", error);
    if (json_integer_value(json_object_get(out->index, "version")) != MODEL_FILES_VERSION)
        return refuse(path, "the model has a version that this program does not read", error);
    out->said.formula = json_string_value(json_object_get(out->index, "formula"));
    json_object_foreach(json_object_get(out->index, "scalars"), name, value)
    {
        if (!json_is_number(value) || out->said.n_scalars == SCORE_MOST_SCALARS)
            continue;
        out->scalar_names[out->said.n_scalars] = name;
        out->scalars[out->said.n_scalars++] = json_number_value(value);
    }
    json_object_foreach(json_object_get(out->index, "arrays"), name, value)
    {
        if (out->said.n_arrays == SCORE_MOST_ARRAYS)
            return refuse(path, "it names more arrays than a model can have", error);
        if (map_array(path, name, value, out, out->said.n_arrays, error) != 0)
            return -1;
        out->said.n_arrays++;
    }
    return 0;
}

int model_files_open(const char *path, struct model_files *out, struct dpf_error *error)
{
    *out = (struct model_files){.index = NULL};
    out->maps = memory_need(SCORE_MOST_ARRAYS, sizeof *out->maps);
    out->said = (dpf_form){.size = sizeof out->said,
                           .arrays = out->arrays,
                           .scalar_names = out->scalar_names,
                           .scalars = out->scalars};
    return read_index(path, out, error);
}

void model_files_close(struct model_files *files)
{
    for (int a = 0; files->maps && a < SCORE_MOST_ARRAYS; a++)
        npy_unmap(&files->maps[a]);
    free(files->maps);
    json_decref(files->index);
    *files = (struct model_files){.index = NULL};
}
