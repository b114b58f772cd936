/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/feature_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "reading/data_params.h"

/* Columns that formats stand for. A key that is set wins. */
static const struct {
    const char *categories, *flags, *year;
} presets[] = {
    [FEATURES_TABLE] = {"", "", ""},
    [FEATURES_ML1M] = {"3", "", "2"},
    [FEATURES_ML100K] = {"", "6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24", "2"},
};

static int bad_columns(const struct config_values *data, const char *key, struct dpf_error *error)
{
    return config_value_error(data, key, error, "give 1 to %d columns, separated by commas",
                              FEATURE_COLUMNS_MAX);
}

/* "1, genres" as a list. */
static int read_columns(const struct config_values *data, const char *key, const char *text,
                        struct feature_columns *out, struct dpf_error *error)
{
    while (*text) {
        size_t length = strcspn(text, ","), start = strspn(text, " "), end = length;
        while (end > start && text[end - 1] == ' ')
            end--;
        if (end <= start || out->n == FEATURE_COLUMNS_MAX)
            return bad_columns(data, key, error);
        out->names[out->n++] = memory_format("%.*s", (int)(end - start), text + start);
        text += length;
        if (*text == ',' && !*++text)
            return bad_columns(data, key, error);
    }
    return 0;
}

static int has_name(const struct feature_columns *columns)
{
    int64_t number;
    for (int64_t i = 0; i < columns->n; i++)
        if (text_to_int(columns->names[i], &number) != 0)
            return 1;
    return 0;
}

static int check_complete(const struct config_values *data, const struct feature_options *o,
                          struct dpf_error *error)
{
    if (o->year.n > 1)
        return config_value_error(data, "item-features", error, "year-of names one column of the file");
    if (o->categories.n + o->flags.n + o->numbers.n + o->year.n == 0)
        return config_value_error(
            data, "item-features", error,
            "which columns are features? Set item-features.categories, item-features.year-of "
            "or item-features.numbers");
    return 0;
}

int feature_options_read(const struct config_values *data, struct feature_options *out,
                         struct dpf_error *error)
{
    const dpf_value *v = data->params.values;
    memset(out, 0, sizeof *out);
    out->path = v[D_ITEM_FEATURES].text ? v[D_ITEM_FEATURES].text : "";
    for (int key = D_ITEM_FEATURES_CATEGORIES; key <= D_ITEM_FEATURES_YEAR && !out->path[0]; key++)
        if (v[key].is_set)
            return config_value_error(
                data, data->table[key].name, error,
                "it says how a file of features is read: name the file, item-features = PATH");
    if (!out->path[0])
        return 0;
    out->format = (enum feature_format)v[D_ITEM_FEATURES_FORMAT].integer;
    const char *item = v[D_COLUMN_ITEM].text;
    int64_t number;
    out->item = item && strcmp(item, "auto") != 0 && text_to_int(item, &number) != 0 ? item : NULL;
    const struct {
        int key;
        const char *fallback;
        struct feature_columns *columns;
    } lists[] = {{D_ITEM_FEATURES_CATEGORIES, presets[out->format].categories, &out->categories},
                 {D_ITEM_FEATURES_NUMBERS, "", &out->numbers},
                 {D_ITEM_FEATURES_YEAR, presets[out->format].year, &out->year}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const dpf_value *value = &v[lists[i].key];
        if (read_columns(data, data->table[lists[i].key].name,
                         value->is_set ? value->text : lists[i].fallback, lists[i].columns, error) != 0)
            return -1;
        out->by_name |= has_name(lists[i].columns);
    }
    if (read_columns(data, "item-features", presets[out->format].flags, &out->flags, error) != 0)
        return -1;
    return check_complete(data, out, error);
}

static void free_columns(struct feature_columns *columns)
{
    for (int64_t i = 0; i < columns->n; i++)
        free(columns->names[i]);
    columns->n = 0;
}

void feature_options_free(struct feature_options *options)
{
    free_columns(&options->categories);
    free_columns(&options->flags);
    free_columns(&options->numbers);
    free_columns(&options->year);
}
