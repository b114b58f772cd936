/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/feature_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Layouts that formats stand for. A key that is set wins. */
struct preset {
    const char *delimiter, *id, *categories, *flags, *year;
    int has_header;
};
static const struct preset presets[] = {
    [FEATURES_CSV] = {"comma", "1", "", "", "", 1},
    [FEATURES_TSV] = {"tab", "1", "", "", "", 1},
    [FEATURES_ML1M] = {"double-colon", "1", "3", "", "2", 0},
    [FEATURES_ML100K] = {"pipe", "1", "",
                         "6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24", "2", 0},
};

static int bad_columns(const struct config *config, const char *key, struct dpf_error *error)
{
    return config_error(config, "data", key, error, "give 1 to %d columns, separated by commas",
                        FEATURE_COLUMNS_MAX);
}

/* "1, genres" as a list. */
static int read_columns(const struct config *config, const char *key, const char *text,
                        struct feature_columns *out, struct dpf_error *error)
{
    while (*text) {
        size_t length = strcspn(text, ","), start = strspn(text, " "), end = length;
        while (end > start && text[end - 1] == ' ')
            end--;
        if (end <= start || out->n == FEATURE_COLUMNS_MAX)
            return bad_columns(config, key, error);
        char *name = memory_new(end - start + 1, 1);
        if (!name)
            return error_memory(error);
        memcpy(name, text + start, end - start);
        out->names[out->n++] = name;
        text += length;
        if (*text == ',' && !*++text)
            return bad_columns(config, key, error);
    }
    return 0;
}

/* Without a header columns have no names. */
static int check_numbers(const struct config *config, const char *key, const struct feature_columns *columns,
                         const char *header, struct dpf_error *error)
{
    int64_t number;
    for (int i = 0; i < columns->n; i++)
        if (text_to_int(columns->names[i], &number) != 0)
            return config_error(
                config, "data", key, error,
                "it names the column \"%s\", but the file has no header: give a number, or set "
                "data.%s = yes",
                columns->names[i], header);
    return 0;
}

static int read_delimiter(const struct config *config, const char *key, const char *text,
                          struct delimiter *out, struct dpf_error *error)
{
    if (!*text)
        return 0;
    if (delimiter_parse(text, out) == 0)
        return 0;
    return config_error(config, "data", key, error,
                        "\"%s\" is not a delimiter; use a punctuation mark, '::', or one of comma, tab, "
                        "semicolon, space, spaces, pipe",
                        text);
}

static int check_complete(const struct config *config, const struct feature_options *o, const char *path_key,
                          struct dpf_error *error)
{
    if (o->id.n != 1 || o->year.n > 1)
        return config_error(config, "data", path_key, error,
                            "column.id and year-of each name one column of the file");
    if (o->categories.n + o->flags.n + o->numbers.n + o->year.n == 0)
        return config_error(config, "data", path_key, error,
                            "which columns are features? Set %s.categories, %s.flags, %s.numbers or "
                            "%s.year-of",
                            path_key, path_key, path_key, path_key);
    return 0;
}

int feature_options_read(const struct config *config, const struct config_values *data, int first,
                         struct feature_options *out, struct dpf_error *error)
{
    const dpf_value *v = data->params.values + first;
    const dpf_param *table = data->table + first;
    memset(out, 0, sizeof *out);
    out->path = v[FEATURE_PATH].text ? v[FEATURE_PATH].text : "";
    out->key = table[FEATURE_PATH].name;
    for (int key = FEATURE_FORMAT; key < FEATURE_KEYS && !out->path[0]; key++)
        if (v[key].is_set)
            return config_error(config, "data", table[key].name, error,
                                "it says how a file of features is read: name the file, %s = PATH",
                                table[FEATURE_PATH].name);
    if (!out->path[0])
        return 0;
    out->format = (enum feature_format)v[FEATURE_FORMAT].integer;
    const struct preset *preset = &presets[out->format];
    const struct {
        enum feature_key key;
        const char *fallback;
        struct feature_columns *columns;
    } lists[] = {{FEATURE_ID, preset->id, &out->id},
                 {FEATURE_CATEGORIES, preset->categories, &out->categories},
                 {FEATURE_FLAGS, preset->flags, &out->flags},
                 {FEATURE_NUMBERS, "", &out->numbers},
                 {FEATURE_YEAR, preset->year, &out->year}};
    out->has_header = v[FEATURE_HEADER].is_set ? (int)v[FEATURE_HEADER].integer : preset->has_header;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const dpf_value *value = &v[lists[i].key];
        const char *key = table[lists[i].key].name;
        if (read_columns(config, key, value->is_set ? value->text : lists[i].fallback, lists[i].columns,
                         error) != 0 ||
            (!out->has_header &&
             check_numbers(config, key, lists[i].columns, table[FEATURE_HEADER].name, error) != 0))
            return -1;
    }
    const char *delimiter = v[FEATURE_DELIMITER].text;
    if (read_delimiter(config, table[FEATURE_DELIMITER].name,
                       delimiter && *delimiter ? delimiter : preset->delimiter, &out->delimiter,
                       error) != 0 ||
        read_delimiter(config, table[FEATURE_SEPARATOR].name, v[FEATURE_SEPARATOR].text, &out->separator,
                       error) != 0)
        return -1;
    out->quoting = out->format == FEATURES_CSV && out->delimiter.length == 1 && !out->delimiter.runs;
    return check_complete(config, out, table[FEATURE_PATH].name, error);
}

static void free_columns(struct feature_columns *columns)
{
    for (int64_t i = 0; i < columns->n; i++)
        free(columns->names[i]);
    columns->n = 0;
}

void feature_options_free(struct feature_options *options)
{
    free_columns(&options->id);
    free_columns(&options->categories);
    free_columns(&options->flags);
    free_columns(&options->numbers);
    free_columns(&options->year);
}
