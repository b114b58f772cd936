/* SPDX-License-Identifier: Apache-2.0 */
#include "run/by_user_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/memory.h"
#include "run/npy.h"

int by_user_exists(const struct user_values *values)
{
    return values && values->n_users > 0 && values->n_metrics > 0;
}

json_t *by_user_json(const struct user_values *values)
{
    json_t *array = json_array();
    for (int m = 0; m < values->n_metrics; m++) {
        const struct user_metric *metric = &values->metrics[m];
        json_array_append_new(array,
                              json_pack("{s:s, s:b}", "metric", metric->name, "root", metric->is_root));
    }
    return array;
}

int by_user_write(const char *directory, const struct user_values *values, struct dpf_error *error)
{
    const int64_t width = user_values_width(values);
    char *path = files_join(directory, BY_USER_FILE);
    const int status = npy_write_float64(path, values->rows, values->n_users, width, width, error);
    free(path);
    return status;
}

static int read_metrics(const char *path, const json_t *columns, struct user_values *out,
                        struct dpf_error *error)
{
    size_t i;
    json_t *column;
    out->metrics = memory_need(json_array_size(columns) + 1, sizeof *out->metrics);
    json_array_foreach(columns, i, column)
    {
        struct user_metric *metric = &out->metrics[out->n_metrics++];
        const char *name = json_string_value(json_object_get(column, "metric"));
        snprintf(metric->name, sizeof metric->name, "%s", name ? name : "");
        metric->is_root = json_is_true(json_object_get(column, "root"));
    }
    return out->n_metrics ? 0
                          : error_set(error, DPF_FAULT_DATA, "%s: run.json does not name its columns", path);
}

static int read_rows(const char *path, struct user_values *out, struct dpf_error *error)
{
    struct npy_matrix matrix;
    if (npy_read(path, &matrix, error) != 0)
        return -1;
    const int fits = matrix.float64 && matrix.columns == user_values_width(out);
    out->rows = matrix.float64;
    out->n_users = matrix.rows;
    matrix.float64 = NULL;
    npy_free(&matrix);
    return fits ? 0
                : error_set(error, DPF_FAULT_DATA, "%s does not have the columns that run.json names", path);
}

int by_user_read(const char *directory, const json_t *run, struct user_values **out, struct dpf_error *error)
{
    const char *file = json_string_value(json_object_get(json_object_get(run, "files"), "by_user"));
    *out = NULL;
    if (!file)
        return error_set(
            error, DPF_FAULT_DATA,
            "%s has no results by user: it has no test part, or no metric that is a mean over users; run it "
            "again with [split] and [evaluate] metrics",
            directory);
    char *path = files_join(directory, file);
    struct user_values *values = memory_need(1, sizeof *values);
    int status = read_metrics(path, json_object_get(run, "by_user"), values, error);
    if (status == 0)
        status = read_rows(path, values, error);
    free(path);
    if (status != 0)
        user_values_free(values);
    else
        *out = values;
    return status;
}
