/* SPDX-License-Identifier: Apache-2.0 */
#include "data/load_for_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "dataset/ids.h"
#include "lines/file_rows.h"
#include "reading/data_params.h"
#include "reading/feature_file.h"
#include "reading/layout.h"

/* ---- a list of ids ----------------------------------------------------------------------------------- */

static int add_lines(struct files_lines *lines, const char *path, struct ids *ids, struct dpf_error *error)
{
    int64_t n = 0;
    for (const char *line; (line = files_next_line(lines));) {
        const struct field field = {line, strlen(line)};
        n++;
        if (field.length && ids_add(ids, &field) < 0)
            return error_memory(error);
        if (ids->n != n)
            return error_at(error, DPF_FAULT_DATA, path, (long)n,
                            "this line has no id, or one that stands in the list before: train again");
    }
    return 0;
}

/* Codes are given in the order of lines, and so are the indices: sorted, or those of a catalogue. */
static int order_as_read(const struct ids *ids, struct id_map *out, struct dpf_error *error)
{
    struct id_map sorted = {0};
    int32_t *rank = memory_raw((size_t)ids->n + 1, sizeof *rank);
    int status = rank && ids_finish(ids, &sorted, rank) == 0 && id_map_reorder(&sorted, rank, out) == 0
                     ? 0
                     : error_memory(error);
    id_map_free(&sorted);
    free(rank);
    return status;
}

int id_map_read(const char *path, struct id_map *out, struct dpf_error *error)
{
    struct ids ids = {0};
    struct files_lines lines;
    if (files_open_lines(&lines, path, error) != 0)
        return -1;
    int status = add_lines(&lines, path, &ids, error);
    files_close_lines(&lines);
    if (status == 0)
        status = order_as_read(&ids, out, error);
    ids_free(&ids);
    return status;
}

int id_map_read_names(const char *path, int64_t n, struct id_map *out, struct dpf_error *error)
{
    struct files_lines lines;
    struct text bytes = {0};
    int64_t read = 0;
    if (files_open_lines(&lines, path, error) != 0)
        return -1;
    *out = (struct id_map){.offsets = memory_raw((size_t)n + 1, sizeof *out->offsets)};
    for (const char *line; out->offsets && (line = files_next_line(&lines)); read++) {
        if (read < n)
            out->offsets[read] = (int64_t)bytes.length;
        text_append(&bytes, line, strlen(line) + 1);
    }
    files_close_lines(&lines);
    out->bytes = bytes.data;
    if (!out->offsets)
        return error_memory(error);
    out->n = n;
    return read == n ? 0
                     : error_at(error, DPF_FAULT_DATA, path, (long)read,
                                "%lld names of %lld items: train again, or remove the file from run.json",
                                (long long)read, (long long)n);
}

/* The text of a field, without quotes around it. Free it; NULL: no memory. */
static char *unquoted(const struct field *field)
{
    const int quoted = field->length >= 2 && field->data[0] == '"' && field->data[field->length - 1] == '"';
    return memory_format("%.*s", (int)field->length - 2 * quoted, field->data + quoted);
}

int data_check_first_line(const char *path, const struct file_options *options, const struct id_map *items,
                          struct dpf_error *error)
{
    struct text line = {0};
    struct field fields[FIELDS_MAX];
    struct layout layout;
    struct dpf_error other = {0}; /* of a form that whoever reads the file refuses */
    int status = 0;
    if (options->header == HEADER_NO || options->sections || file_rows_first(path, &line, &other) != 0 ||
        !line.length) {
        text_free(&line);
        return 0;
    }
    const int64_t n = fields_split(&options->delimiter, line.data, line.length, fields);
    if (layout_decide(options, fields, n, &layout, &other) == 0 && layout.has_header) {
        char shown[TEXT_SHOWN], *item = unquoted(&fields[layout.columns[COLUMN_ITEM]]);
        if (item && id_map_find(items, item) >= 0)
            status = error_at(
                error, DPF_FAULT_DATA, path, 1,
                "this line is read as the header that the run's own file has, but \"%s\" is an item of "
                "the model: put a header before it",
                text_show(item, shown));
        free(item);
    }
    text_free(&line);
    return status;
}

/* ---- records of these items ------------------------------------------------------------------------------
 */

/* Indices of the file's items among the model's, or -1. Both are in the order of ids, or of the run's
   catalogue, so rows stay ascending: keep_known refuses others. */
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
            if (kept > csr->ptr[row] && map[csr->others[i]] <= csr->others[kept - 1])
                return -1;
            csr->others[kept] = map[csr->others[i]];
            if (csr->values)
                csr->values[kept] = csr->values[i];
            if (csr->voids)
                csr->voids[kept] = csr->voids[i];
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
    if (kept < 0)
        return error_set(
            error, DPF_FAULT_DATA,
            "the items of the run are in another order than data.items-file has them now: give it "
            "the file that it was trained with");
    left->unknown_items = dataset->train.n - kept;
    dataset->train.n = kept;
    id_map_free(&dataset->items);
    dataset->items = *items;
    *items = (struct id_map){0};
    csr_free(&dataset->train.by_item);
    return csr_transpose(&dataset->train.by_user, dataset->items.n, &dataset->train.by_item, error);
}

int data_load_item_features(const struct config_values *data, struct dataset *dataset,
                            struct dpf_error *error)
{
    struct feature_options options;
    feature_table_free(&dataset->features);
    int status = feature_options_read(data, &options, error);
    if (status == 0)
        status = feature_file_load(&options, &dataset->items, &dataset->features, error);
    if (status == 0)
        status = feature_file_words(&options, &dataset->items, &dataset->words, error);
    feature_options_free(&options);
    return status;
}

int data_load_for_items(const struct config_values *data, const struct config_values *split,
                        const struct random_root *seeded, struct pool *pool, struct id_map *items,
                        struct dataset *out, struct left_records *left, struct dpf_error *error)
{
    struct data_options options;
    *left = (struct left_records){0};
    memset(out, 0, sizeof *out);
    int status = data_options_read(data, split, &options, error);
    if (status == 0)
        status = data_check_first_line(options.path, &options.file, items, error);
    if (status == 0)
        status = data_load(data, split, seeded, pool, out, error);
    if (status == 0 && dataset_has_weights(out))
        status = error_set(
            error, DPF_FAULT_CONFIG,
            "records of this run have privacy weights of their own, which other records do not have: "
            "train again with them");
    if (status == 0)
        status = replace_items(out, items, left, error);
    if (status == 0)
        status = data_load_item_features(data, out, error);
    id_map_free(items);
    if (status != 0)
        dataset_free(out);
    return status;
}
