/* SPDX-License-Identifier: Apache-2.0 */
#include "data/load_for_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "reading/data_params.h"
#include "reading/feature_file.h"
#include "dataset/ids.h"

/* ---- a list of ids ----------------------------------------------------------------------------------- */

static int add_lines(struct files_lines *lines, struct ids *ids, struct dpf_error *error)
{
    for (const char *line; (line = files_next_line(lines));) {
        const struct field field = {line, strlen(line)};
        if (field.length && ids_add(ids, &field) < 0)
            return error_memory(error);
    }
    return 0;
}

/* Codes are given in the order of lines, and so must be the indices. */
static int check_order(const char *path, const int32_t *rank, int64_t n, struct dpf_error *error)
{
    for (int64_t i = 0; i < n; i++)
        if (rank[i] != i)
            return error_at(error, DPF_FAULT_DATA, path, (long)i + 1,
                            "the ids are not in the order of a run's: train again");
    return 0;
}

int id_map_read(const char *path, struct id_map *out, struct dpf_error *error)
{
    struct ids ids = {0};
    struct files_lines lines;
    if (files_open_lines(&lines, path, error) != 0)
        return -1;
    int status = add_lines(&lines, &ids, error);
    int32_t *rank = memory_raw((size_t)ids.n + 1, sizeof *rank);
    files_close_lines(&lines);
    if (status == 0 && (!rank || ids_finish(&ids, out, rank) != 0))
        status = error_memory(error);
    else if (status == 0 && (status = check_order(path, rank, ids.n, error)) != 0)
        id_map_free(out);
    ids_free(&ids);
    free(rank);
    return status;
}

/* ---- records of these items ------------------------------------------------------------------------------
 */

/* Indices of the file's items among the model's, or -1. Both are in the order of ids, so rows stay ascending.
 */
static int32_t *item_indices(const struct id_map *from, const struct id_map *to)
{
    int32_t *map = memory_raw((size_t)from->n + 1, sizeof *map);
    for (int64_t i = 0; map && i < from->n; i++)
        map[i] = (int32_t)id_map_find(to, id_map_text(from, i));
    return map;
}

static int64_t keep_known(struct csr *csr, const int32_t *map)
{
    int64_t kept = 0, first = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        const int64_t last = csr->ptr[row + 1];
        for (int64_t i = first; i < last; i++) {
            if (map[csr->others[i]] < 0)
                continue;
            csr->others[kept] = map[csr->others[i]];
            if (csr->values)
                csr->values[kept] = csr->values[i];
            kept++;
        }
        csr->ptr[row + 1] = kept;
        first = last;
    }
    return kept;
}

static int replace_items(struct dataset *dataset, struct id_map *items, struct left_records *left,
                         struct dpf_error *error)
{
    int32_t *map = item_indices(&dataset->items, items);
    if (!map)
        return error_memory(error);
    const int64_t kept = keep_known(&dataset->train.by_user, map);
    free(map);
    left->unknown_items = dataset->train.n - kept;
    dataset->train.n = kept;
    id_map_free(&dataset->items);
    dataset->items = *items;
    *items = (struct id_map){0};
    csr_free(&dataset->train.by_item);
    return csr_transpose(&dataset->train.by_user, dataset->items.n, &dataset->train.by_item, error);
}

static int load_item_features(const struct config *config, const struct config_values *data,
                              struct dataset *dataset, struct dpf_error *error)
{
    struct feature_options options;
    feature_table_free(&dataset->features[1]);
    int status = feature_options_read(config, data, D_ITEM_FEATURES, &options, error);
    if (status == 0)
        status = feature_file_load(&options, &dataset->items, &dataset->features[1], error);
    feature_options_free(&options);
    return status;
}

int data_load_for_items(const struct config *config, const struct config_values *data,
                        const struct config_values *split, const struct random_root *seeded,
                        struct pool *pool, struct id_map *items, struct dataset *out,
                        struct left_records *left, struct dpf_error *error)
{
    *left = (struct left_records){0};
    int status = data_load(config, data, split, seeded, pool, out, error);
    if (status == 0 && dataset_has_weights(out))
        status = error_set(
            error, DPF_FAULT_CONFIG,
            "records of this run have privacy weights of their own, which other records do not have: "
            "train again with them");
    if (status == 0)
        status = replace_items(out, items, left, error);
    if (status == 0)
        status = load_item_features(config, data, out, error);
    id_map_free(items);
    if (status != 0)
        dataset_free(out);
    return status;
}
