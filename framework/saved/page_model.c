/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/page_model.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "engine/model_scorer.h"
#include "score/little_known.h"

#define NO_ITEM 65535 /* -1 of indices that are written in 16 bits */

/* ---- numbers -------------------------------------------------------------------------------------------- */

static json_t *base64(const void *bytes, size_t n)
{
    const size_t room = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    char *text = memory_raw(room, 1);
    json_t *json = NULL;
    if (text)
        json = json_string(sodium_bin2base64(text, room, bytes, n, sodium_base64_VARIANT_ORIGINAL));
    free(text);
    return json;
}

/* -1 without memory. */
static int add_numbers(json_t *arrays, const char *name, const char *type, const void *data, size_t bytes,
                       int64_t columns)
{
    json_t *object = json_pack("{s:s, s:I, s:o*}", "type", type, "columns", (json_int_t)columns, "data",
                               base64(data, bytes));
    const int has_data = json_object_get(object, "data") != NULL;
    return json_object_set_new(arrays, name, object) == 0 && has_data ? 0 : -1;
}

static int add_indices(json_t *arrays, const char *name, const int32_t *data, int64_t n, int64_t columns)
{
    int is_short = 1;
    for (int64_t i = 0; i < n; i++)
        is_short &= data[i] >= -1 && data[i] < NO_ITEM;
    if (!is_short)
        return add_numbers(arrays, name, "i4", data, (size_t)n * sizeof *data, columns);
    uint16_t *words = memory_raw((size_t)n + 1, sizeof *words);
    for (int64_t i = 0; words && i < n; i++)
        words[i] = data[i] < 0 ? NO_ITEM : (uint16_t)data[i];
    const int status =
        words ? add_numbers(arrays, name, "u2", words, (size_t)n * sizeof *words, columns) : -1;
    free(words);
    return status;
}

/* Offsets of rows fit 32 bits on a page. */
static int add_offsets(json_t *arrays, const char *name, const int64_t *ptr, int64_t n)
{
    int32_t *words = memory_raw((size_t)n + 2, sizeof *words);
    for (int64_t i = 0; words && i <= n; i++)
        words[i] = (int32_t)ptr[i];
    const int status =
        words ? add_numbers(arrays, name, "i4", words, (size_t)(n + 1) * sizeof *words, 1) : -1;
    free(words);
    return status;
}

static int add_floats(json_t *arrays, const char *name, const double *data, int64_t n)
{
    float *floats = memory_raw((size_t)n + 1, sizeof *floats);
    for (int64_t i = 0; floats && i < n; i++)
        floats[i] = (float)data[i];
    const int status = floats ? add_numbers(arrays, name, "f4", floats, (size_t)n * sizeof *floats, 1) : -1;
    free(floats);
    return status;
}

/* ---- the model's arrays ---------------------------------------------------------------------------------- */

/* Column indices of ease/1 keep their sign; slots without a neighbour are no item either way. */
static int add_array(json_t *arrays, const dpf_array *array, int short_indices)
{
    const int64_t n = array->rows * array->columns;
    const size_t size = array->type == DPF_ARRAY_F8 ? 8 : 4;
    char *rows = memory_raw((size_t)n + 1, size);
    for (int64_t r = 0; rows && r < array->rows; r++)
        memcpy(rows + (size_t)(r * array->columns) * size,
               (const char *)array->data + (size_t)(r * array->stride) * size, (size_t)array->columns * size);
    int status = -1;
    if (rows && array->type == DPF_ARRAY_F8) /* base/1: scores are its float32 */
        status = add_floats(arrays, array->name, (const double *)(const void *)rows, n);
    else if (rows && array->type == DPF_ARRAY_I4 && short_indices)
        status = add_indices(arrays, array->name, (const int32_t *)(const void *)rows, n, array->columns);
    else if (rows)
        status = add_numbers(arrays, array->name, array->type == DPF_ARRAY_I4 ? "i4" : "f4", rows,
                             (size_t)n * size, array->columns);
    free(rows);
    return status;
}

static json_t *arrays_json(const struct score_form *form)
{
    json_t *arrays = json_object();
    for (int a = 0; arrays && a < SCORE_MOST_ARRAYS; a++)
        if (form->arrays[a].name &&
            add_array(arrays, &form->arrays[a], form->formula == SCORE_NEIGHBOURS) != 0) {
            json_decref(arrays);
            return NULL;
        }
    return arrays;
}

static json_t *scalars_json(const struct score_form *form)
{
    json_t *object = json_object();
    for (int s = 0; s < SCORE_MOST_SCALARS && score_formulas[form->formula].scalars[s]; s++)
        json_object_set_new(object, score_formulas[form->formula].scalars[s], json_real(form->scalars[s]));
    return object;
}

/* ---- home terms ------------------------------------------------------------------------------------------ */

/* Entries of an item's row that are of one kind, and no text; returns how many. at NULL: counted alone. */
static int64_t copy_kind(const struct feature_table *features, const unsigned char *wide, int32_t item,
                         int kind, int32_t *at, float *values)
{
    int64_t n = 0;
    for (int64_t k = features->ptr[item]; k < features->ptr[item + 1]; k++) {
        if (features->column[features->at[k]].kind != kind || wide[features->at[k]])
            continue;
        if (at) {
            at[n] = features->at[k];
            values[n] = features->values[k];
        }
        n++;
    }
    return n;
}

/* The rows of classes: categories, and after them numbers, of items that have the same sets of these. */
static int add_classes(json_t *arrays, const struct feature_classes *classes,
                       const struct feature_table *features, const unsigned char *wide)
{
    const int64_t n = classes->n;
    int32_t *at = NULL;
    int64_t *ptr = memory_new((size_t)n + 2, sizeof *ptr);
    float *values = NULL;
    for (int pass = 0; ptr && pass < 2; pass++) {
        for (int64_t c = 0; c < n; c++) {
            int32_t *to = pass ? at + ptr[c] : NULL;
            const int64_t first =
                copy_kind(features, wide, classes->item_of_categories[classes->categories[c]],
                          DPF_FEATURE_CATEGORY, to, pass ? values + ptr[c] : NULL);
            ptr[c + 1] =
                ptr[c] + first +
                copy_kind(features, wide, classes->item_of_numbers[classes->numbers[c]], DPF_FEATURE_NUMBER,
                          pass ? to + first : NULL, pass ? values + ptr[c] + first : NULL);
        }
        if (pass)
            break;
        at = memory_raw((size_t)ptr[n] + 1, sizeof *at);
        values = memory_raw((size_t)ptr[n] + 1, sizeof *values);
        if (!at || !values)
            break;
    }
    const int status =
        !ptr || !at || !values
            ? -1
            : add_offsets(arrays, "row_ptr", ptr, n) | add_indices(arrays, "row_at", at, ptr[n], 1) |
                  add_numbers(arrays, "row_value", "f4", values, (size_t)ptr[n] * sizeof *values, 1);
    free(ptr);
    free(at);
    free(values);
    return status;
}

/* 0 says that a column is a category. */
static int add_deviations(json_t *arrays, const struct feature_table *features)
{
    double *deviation = memory_new((size_t)features->columns + 1, sizeof *deviation);
    for (int64_t c = 0; deviation && c < features->columns; c++)
        deviation[c] = features->column[c].kind == DPF_FEATURE_CATEGORY ? 0 : features->column[c].deviation;
    const int status = deviation ? add_numbers(arrays, "deviation", "f8", deviation,
                                               (size_t)features->columns * sizeof *deviation, 1)
                                 : -1;
    free(deviation);
    return status;
}

static int add_kernels(json_t *arrays, const struct home_kernels *home, const struct feature_table *features,
                       const unsigned char *wide)
{
    const int64_t n = home->n_items, n_near = home->near_ptr[n];
    return add_classes(arrays, &home->classes, features, wide) | add_deviations(arrays, features) |
           add_indices(arrays, "class_of", home->classes.of_item, n, 1) |
           add_offsets(arrays, "near_ptr", home->near_ptr, n) |
           add_indices(arrays, "near_item", home->near_item, n_near, 1) |
           add_numbers(arrays, "near_value", "f4", home->near_value, (size_t)n_near * sizeof(float), 1);
}

static json_t *home_json(const struct home_terms *home, const struct feature_table *features)
{
    json_t *arrays = json_object();
    unsigned char *wide = feature_wide_columns(features);
    const int64_t n = home->kernels.n_items;
    int any = 0, status = wide ? add_kernels(arrays, &home->kernels, features, wide) : -1;
    for (int64_t c = 0; wide && c < features->columns; c++)
        any |= features->column[c].kind == DPF_FEATURE_CATEGORY && !wide[c];
    free(wide);
    if (status == 0 && home->root)
        status =
            add_floats(arrays, "root", home->root, n) | add_floats(arrays, "expected", home->expected, n);
    if (status == 0 && home->loadings)
        status = add_numbers(arrays, "loadings", "f4", home->loadings,
                             (size_t)(n * home->n_loadings) * sizeof(float), home->n_loadings);
    if (status != 0) {
        json_decref(arrays);
        return NULL;
    }
    return json_pack("{s:o, s:b}", "arrays", arrays, "categories", any);
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

/* What is not UTF-8 becomes U+FFFD, as on other pages. */
static json_t *words_json(const char *words)
{
    json_t *json = json_string(words);
    struct text text = {0};
    for (const char *at = words; !json && *at;) {
        const int length = text_utf8_length(at);
        text_append(&text, length ? at : "\xef\xbf\xbd", length ? (size_t)length : 3);
        at += length ? length : 1;
    }
    json = json ? json : json_string(text.data ? text.data : "");
    text_free(&text);
    return json;
}

static json_t *ids_json(const struct id_map *ids)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < ids->n; i++)
        json_array_append_new(array, words_json(id_map_text(ids, i)));
    return array;
}

/* What people know items by: their names, or the ids of those without. */
static json_t *titles_json(const struct dataset *dataset)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < dataset->items.n; i++) {
        const char *name = dataset_item_name(dataset, i);
        json_array_append_new(array, words_json(*name ? name : id_map_text(&dataset->items, i)));
    }
    return array;
}

/* Items that enter no list: dpframe recommend leaves them out, too. NULL: out of memory. */
static json_t *unlisted_json(const struct scorer *scorer)
{
    const int64_t n = scorer->form.n_items;
    uint8_t *unlisted = memory_new((size_t)n + 1, 1);
    json_t *array = unlisted ? json_array() : NULL;
    if (unlisted)
        (void)little_known_items(&scorer->form, unlisted);
    for (int64_t i = 0; array && i < n; i++)
        if (unlisted[i])
            json_array_append_new(array, json_integer(i));
    free(unlisted);
    return array;
}

static int refuse(const struct saved_run *run, const struct scorer *scorer, const char *directory,
                  struct dpf_error *error)
{
    if (scorer->form.formula == SCORE_FUNCTION)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s: recommender %s computes scores by code of its own, which a page cannot run: a page needs "
            "one of the formulas of docs/model-state.md",
            directory, run->session.plan.model_facts.id);
    if (scorer->form.formula == SCORE_NEIGHBOURS && scorer->form.arrays[NEIGHBOURS_REPORTED].name)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%s: scores follow from what the users of the run have reported, and not from own records: "
            "train with [model.recommender] history = own",
            directory);
    return 0;
}

/* "<" would end the element that the text stands in. */
static char *without_tags(const char *json)
{
    struct text text = {0};
    while (json && *json) {
        const size_t length = strcspn(json, "<");
        text_append(&text, json, length);
        json += length;
        if (*json == '<') {
            text_append(&text, "\\u003c", 6);
            json++;
        }
    }
    return text.data;
}

static json_t *model_json(const struct saved_run *run, const struct scorer *scorer)
{
    const struct plan *plan = &run->session.plan;
    json_t *root =
        json_pack("{s:s, s:I, s:o, s:o*, s:o}", "formula", score_formulas[scorer->form.formula].name, "items",
                  (json_int_t)run->dataset.items.n, "scalars", scalars_json(&scorer->form), "arrays",
                  arrays_json(&scorer->form), "ids", ids_json(&run->dataset.items));
    json_object_set_new(root, "unlisted", unlisted_json(scorer));
    if (isfinite(plan->value_lo) && isfinite(plan->value_hi) && plan->value_lo < plan->value_hi)
        json_object_set_new(root, "range", json_pack("[f, f]", plan->value_lo, plan->value_hi));
    if (run->dataset.item_names.n)
        json_object_set_new(root, "titles", titles_json(&run->dataset));
    if (scorer->home)
        json_object_set_new(root, "home", home_json(scorer->home, &run->dataset.features));
    return root;
}

int page_model_write(struct saved_run *run, const char *directory, char **json, struct dpf_error *error)
{
    const struct plan *plan = &run->session.plan;
    struct scorer scorer = {.context = NULL};
    json_t *root = NULL;
    char *text = NULL;
    *json = NULL;
    int status = 0;
    if (plan->model.params.values[MODEL_HOME_TERMS].integer)
        status = data_load_item_features(&plan->data, &run->dataset, error);
    if (status == 0)
        status = model_scorer(&run->model, &scorer, error);
    if (status == 0)
        status = refuse(run, &scorer, directory, error);
    if (status == 0) {
        root = model_json(run, &scorer);
        text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        *json = without_tags(text);
        if (!*json || !json_object_get(root, "arrays") || !json_object_get(root, "unlisted") ||
            (scorer.home && !json_object_get(root, "home")))
            status = error_memory(error);
    }
    scorer_close(&scorer);
    json_decref(root);
    free(text);
    return status;
}
