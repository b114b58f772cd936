/* SPDX-License-Identifier: Apache-2.0 */
#include "score/form.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define F4 DPF_ARRAY_F4
#define I4 DPF_ARRAY_I4
#define LARGE 1e9 /* so that scores are finite */

const struct score_formula_rule score_formulas[SCORE_FORMULAS] = {
    [SCORE_FUNCTION] = {.name = "plugin/1"},
    [SCORE_BASE] = {"base/1",
                    {{"base", "items", "1", "of the released sums", DPF_ARRAY_F8, 0, -1e15, 1e15}},
                    {NULL},
                    0},
    [SCORE_ROWS] = {"rows/1",
                    {{"items", "items", "columns", "of the scores", F4, 0, -INFINITY, INFINITY},
                     {"users", "users", "columns", "of the scores", F4, 1, -INFINITY, INFINITY}},
                    {"offset"},
                    0},
    [SCORE_RIDGE] = {"ridge/1",
                     {{"bias", "items", "1", "units about the centre", F4, 0, -LARGE, LARGE},
                      {"loadings", "items", "loadings", "units", F4, 0, -LARGE, LARGE},
                      {"variance", "items", "1", "squared units", F4, 1, 0, LARGE}},
                     {"centre", "unit", "residual_variance"},
                     1},
    [SCORE_EASE] = {"ease/1",
                    {{"column", "items", "1", "index of a column, or -1", I4, 0, -1, INT32_MAX},
                     {"popularity", "items", "1", "share of the most popular", F4, 0, -LARGE, LARGE},
                     {"undo", "items", "1", "factor of the scores", F4, 0, -LARGE, LARGE},
                     {"weight", "columns", "1", "of a record", F4, 0, -LARGE, LARGE},
                     {"in", "columns", "factors and directions", "of the scores", F4, 0, -LARGE, LARGE},
                     {"out", "factors", "columns", "of the scores", F4, 0, -LARGE, LARGE},
                     {"span", "directions", "items", "of the scores", F4, 0, -LARGE, LARGE}},
                    {"value_low", "value_high", "lowest_weight"},
                    1},
    [SCORE_NEIGHBOURS] = {"neighbours/1",
                          {{"neighbours", "items", "slots", "index of an item, or -1", I4, 0, -1, INT32_MAX},
                           {"similarities", "items", "slots", "similarity", F4, 0, 0, 1},
                           {"reported", "users", "bytes", "bits by item, the lowest first", DPF_ARRAY_U1, 1,
                            0, 255}},
                          {NULL},
                          1},
};

static int refuse(struct dpf_error *error, enum dpf_fault fault, const char *from, const char *array,
                  const char *why)
{
    return error_set(error, fault, "%s: array \"%s\" %s", from, array, why);
}

/* ---- one array ------------------------------------------------------------------------------------------ */

static int32_t arrays_of(enum score_formula formula)
{
    int32_t n = 0;
    while (n < SCORE_MOST_ARRAYS && score_formulas[formula].arrays[n].name)
        n++;
    return n;
}

static const dpf_array *find(const dpf_form *said, const char *name)
{
    for (int32_t i = 0; i < said->n_arrays; i++)
        if (strcmp(said->arrays[i].name, name) == 0)
            return &said->arrays[i];
    return NULL;
}

/* Doubles become the floats that a formula has; 0, or -1 without memory. */
static int make_floats(dpf_array *array, void **owned)
{
    float *floats = memory_raw((size_t)(array->rows * array->columns) + 1, sizeof *floats);
    if (!floats)
        return -1;
    for (int64_t r = 0; r < array->rows; r++)
        for (int64_t c = 0; c < array->columns; c++)
            floats[r * array->columns + c] = (float)((const double *)array->data)[r * array->stride + c];
    array->type = DPF_ARRAY_F4;
    array->stride = array->columns;
    array->data = *owned = floats;
    return 0;
}

static int is_in_range(const dpf_array *array, const struct score_array_rule *rule)
{
    if (rule->least == -(double)INFINITY || array->type == DPF_ARRAY_U1)
        return 1; /* rows that training has made are checked as scores */
    for (int64_t r = 0; r < array->rows; r++)
        for (int64_t c = 0; c < array->columns; c++) {
            const int64_t at = r * array->stride + c;
            const double x = array->type == DPF_ARRAY_F8   ? ((const double *)array->data)[at]
                             : array->type == DPF_ARRAY_I4 ? (double)((const int32_t *)array->data)[at]
                                                           : (double)((const float *)array->data)[at];
            if (!(x >= rule->least && x <= rule->most))
                return 0;
        }
    return 1;
}

static int take_array(const dpf_array *said, const struct score_array_rule *rule, const char *from,
                      enum dpf_fault fault, dpf_array *out, void **owned, struct dpf_error *error)
{
    *out = *said;
    out->stride = out->stride ? out->stride : out->columns;
    if (out->rows < 0 || out->columns < 0 || out->stride < out->columns ||
        (double)out->rows * (double)out->stride > 0x1p50 || (!out->data && out->rows * out->columns > 0))
        return refuse(error, fault, from, rule->name, "has an impossible shape");
    const int doubles = out->type == DPF_ARRAY_F8, floats = out->type == DPF_ARRAY_F4;
    if (out->type != rule->type && !(doubles && rule->type == F4) && !(floats && rule->type == DPF_ARRAY_F8))
        return refuse(error, fault, from, rule->name, "has numbers of another type");
    if (doubles && rule->type == F4 && make_floats(out, owned) != 0)
        return error_memory(error);
    return is_in_range(out, rule)
               ? 0
               : refuse(error, fault, from, rule->name, "has a number that is out of range");
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

/* Lengths of the same name are the same. */
struct lengths {
    const char *names[2 * SCORE_MOST_ARRAYS];
    int64_t values[2 * SCORE_MOST_ARRAYS];
    int n;
};

static int64_t length_of(const struct lengths *lengths, const char *name)
{
    for (int i = 0; i < lengths->n; i++)
        if (strcmp(lengths->names[i], name) == 0)
            return lengths->values[i];
    return -1;
}

static int agrees(struct lengths *lengths, const char *name, int64_t value)
{
    const int64_t known = strcmp(name, "1") == 0 ? 1 : length_of(lengths, name);
    if (known >= 0)
        return known == value;
    lengths->names[lengths->n] = name;
    lengths->values[lengths->n++] = value;
    return 1;
}

/* Items with columns come in the order of columns. */
static int columns_ascend(const struct score_form *form)
{
    const int32_t *column = form->arrays[EASE_COLUMN].data;
    int32_t next = 0;
    for (int64_t i = 0; i < form->n_items; i++)
        if (column[i] != -1 && column[i] != next++)
            return 0;
    return next == form->arrays[EASE_WEIGHT].rows;
}

static int neighbours_exist(const struct score_form *form)
{
    const dpf_array *array = &form->arrays[NEIGHBOURS_ITEMS];
    for (int64_t i = 0; i < array->rows * array->columns; i++)
        if (((const int32_t *)array->data)[i] >= form->n_items)
            return 0;
    return array->stride == array->columns && form->arrays[NEIGHBOURS_SIMILARITIES].stride == array->columns;
}

/* What single arrays do not show. NULL, or what is wrong. */
static const char *fault_of(const struct score_form *form, const struct lengths *lengths)
{
    const double *s = form->scalars;
    switch (form->formula) {
    case SCORE_RIDGE:
        return s[RIDGE_UNIT] > 0 && s[RIDGE_UNIT] < 1e100 && fabs(s[RIDGE_CENTRE]) < 1e100 &&
                       s[RIDGE_RESIDUAL_VARIANCE] > 0 && s[RIDGE_RESIDUAL_VARIANCE] < 1e100 &&
                       length_of(lengths, "loadings") >= 1 && length_of(lengths, "loadings") <= 4096
                   ? NULL
                   : "its range of ratings or its number of loadings is impossible";
    case SCORE_EASE:
        if (length_of(lengths, "factors and directions") != ease_width(form) && !ease_is_plain(form))
            return "its arrays \"in\", \"out\" and \"span\" have shapes that do not fit";
        if (!(s[EASE_LOWEST_WEIGHT] >= 0 && s[EASE_LOWEST_WEIGHT] <= 1))
            return "its weights of values are impossible";
        return columns_ascend(form) ? NULL : "the columns of its items do not ascend";
    case SCORE_NEIGHBOURS:
        if (form->arrays[NEIGHBOURS_REPORTED].name && length_of(lengths, "bytes") < (form->n_items + 7) / 8)
            return "it has fewer reported bits than items";
        return neighbours_exist(form) ? NULL : "a neighbour is not an item";
    default:
        return NULL;
    }
}

static int take_scalars(const dpf_form *said, const char *from, enum dpf_fault fault, struct score_form *out,
                        struct dpf_error *error)
{
    const char *const *names = score_formulas[out->formula].scalars;
    for (int s = 0; s < SCORE_MOST_SCALARS && names[s]; s++) {
        int32_t at = 0;
        while (at < said->n_scalars && strcmp(said->scalar_names[at], names[s]) != 0)
            at++;
        if (at == said->n_scalars || !isfinite(said->scalars[at]))
            return error_set(error, fault, "%s: the number \"%s\" of %s is missing, or not finite", from,
                             names[s], score_formulas[out->formula].name);
        out->scalars[s] = said->scalars[at];
    }
    return 0;
}

static int take_arrays(const dpf_form *said, int64_t n_items, int64_t n_users, const char *from,
                       enum dpf_fault fault, struct score_form *out, struct dpf_error *error)
{
    struct lengths lengths = {.names = {"items"}, .values = {n_items}, .n = 1};
    if (n_users >= 0)
        agrees(&lengths, "users", n_users);
    for (int32_t a = 0; a < arrays_of(out->formula); a++) {
        const struct score_array_rule *rule = &score_formulas[out->formula].arrays[a];
        const dpf_array *array = find(said, rule->name);
        if (!array && rule->optional)
            continue;
        if (!array)
            return refuse(error, fault, from, rule->name, "is missing");
        if (take_array(array, rule, from, fault, &out->arrays[a], &out->owned[a], error) != 0)
            return -1;
        if (!agrees(&lengths, rule->rows, array->rows) || !agrees(&lengths, rule->columns, array->columns))
            return error_set(error, fault,
                             "%s: array \"%s\" is %" PRId64 " x %" PRId64 ", which does not fit the %" PRId64
                             " items or the other arrays",
                             from, rule->name, array->rows, array->columns, n_items);
    }
    const char *why = fault_of(out, &lengths);
    return why ? error_set(error, fault, "%s: %s", from, why) : 0;
}

int score_form_read(const dpf_form *said, int64_t n_items, int64_t n_users, const char *from,
                    enum dpf_fault fault, struct score_form *out, struct dpf_error *error)
{
    *out = (struct score_form){.n_items = n_items};
    for (int f = SCORE_BASE; said->formula && f < SCORE_FORMULAS; f++)
        if (strcmp(said->formula, score_formulas[f].name) == 0)
            out->formula = (enum score_formula)f;
    int status = out->formula ? take_scalars(said, from, fault, out, error)
                              : error_set(error, fault, "%s: this program does not know the formula \"%s\"",
                                          from, said->formula ? said->formula : "");
    if (status == 0)
        status = take_arrays(said, n_items, n_users, from, fault, out, error);
    if (status != 0)
        score_form_free(out);
    return status;
}

int score_form_keep(struct score_form *form, const void *block, uint64_t bytes, struct dpf_error *error)
{
    for (int a = 0; a < SCORE_MOST_ARRAYS; a++) {
        dpf_array *array = &form->arrays[a];
        const uintptr_t at = (uintptr_t)array->data, first = (uintptr_t)block;
        if (!array->name || form->owned[a] || (at >= first && at < first + bytes))
            continue;
        const size_t size = array->type == DPF_ARRAY_F8   ? 8
                            : array->type == DPF_ARRAY_U1 ? 1
                                                          : 4,
                     n = (size_t)(array->rows * array->stride);
        form->owned[a] = memory_raw(n + 1, size);
        if (!form->owned[a]) {
            score_form_free(form);
            return error_memory(error);
        }
        if (n)
            memcpy(form->owned[a], array->data, n * size);
        array->data = form->owned[a];
    }
    return 0;
}

void score_form_free(struct score_form *form)
{
    for (int a = 0; a < SCORE_MOST_ARRAYS; a++)
        free(form->owned[a]);
    *form = (struct score_form){.formula = SCORE_FUNCTION};
}
