/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset.h"
#include "dataset/ids.h"

void csr_free(struct csr *csr)
{
    free(csr->ptr);
    free(csr->others);
    free(csr->values);
    free(csr->privacy_weights);
    memset(csr, 0, sizeof *csr);
}

void records_free(struct records *records)
{
    csr_free(&records->by_user);
    csr_free(&records->by_item);
    records->n = 0;
}

void feature_table_free(struct feature_table *table)
{
    for (int64_t c = 0; table->column && c < table->columns; c++)
        free((char *)(uintptr_t)table->column[c].name);
    free(table->ptr);
    free(table->at);
    free(table->values);
    free(table->column);
    memset(table, 0, sizeof *table);
}

const dpf_features *feature_table_view(const struct feature_table *table, dpf_features *view)
{
    *view = (dpf_features){.size = sizeof *view,
                           .n_fields = table->n_fields,
                           .rows = table->rows,
                           .columns = table->columns,
                           .offsets = table->ptr,
                           .at = table->at,
                           .values = table->values,
                           .column = table->column};
    return table->ptr ? view : NULL;
}

void dataset_free(struct dataset *dataset)
{
    id_map_free(&dataset->users);
    id_map_free(&dataset->items);
    records_free(&dataset->train);
    records_free(&dataset->test);
    csr_free(&dataset->candidates);
    csr_free(&dataset->relation.links);
    feature_table_free(&dataset->features[0]);
    feature_table_free(&dataset->features[1]);
    free(dataset->weights.users);
    free(dataset->weights.items);
    free(dataset->weights.user_groups);
    free(dataset->weights.item_groups);
    violations_free(&dataset->violations);
    memset(dataset, 0, sizeof *dataset);
}

static int transpose_reserve(const struct csr *in, int64_t columns, int64_t n, struct csr *out)
{
    memset(out, 0, sizeof *out);
    out->rows = columns;
    out->ptr = memory_new((size_t)columns + 1, sizeof *out->ptr);
    out->others = memory_raw((size_t)n, sizeof *out->others);
    int missing = !out->ptr || !out->others;
    if (in->values)
        missing |= !(out->values = memory_raw((size_t)n, sizeof *out->values));
    if (in->privacy_weights)
        missing |= !(out->privacy_weights = memory_raw((size_t)n, sizeof *out->privacy_weights));
    if (!missing)
        return 0;
    csr_free(out);
    return -1;
}

/* Counts of each column, turned into the place where its next entry goes. */
static void count_columns(const struct csr *in, int64_t columns, int64_t n, int64_t *ptr)
{
    for (int64_t i = 0; i < n; i++)
        ptr[in->others[i] + 1]++;
    int64_t total = 0;
    for (int64_t c = 0; c <= columns; c++) {
        total += ptr[c];
        ptr[c] = total;
    }
}

int csr_transpose(const struct csr *in, int64_t columns, struct csr *out, struct dpf_error *error)
{
    int64_t n = in->ptr ? in->ptr[in->rows] : 0;
    if (transpose_reserve(in, columns, n, out) != 0)
        return error_memory(error);
    count_columns(in, columns, n, out->ptr);
    /* ptr[c] moves from the start of column c to its end, which is the start of c + 1. */
    for (int64_t r = 0; r < in->rows; r++)
        for (int64_t i = in->ptr[r]; i < in->ptr[r + 1]; i++) {
            int64_t at = out->ptr[in->others[i]]++;
            out->others[at] = (int32_t)r;
            if (in->values)
                out->values[at] = in->values[i];
            if (in->privacy_weights)
                out->privacy_weights[at] = in->privacy_weights[i];
        }
    memmove(out->ptr + 1, out->ptr, (size_t)columns * sizeof *out->ptr);
    out->ptr[0] = 0;
    return 0;
}
