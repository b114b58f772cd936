/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset.h"
#include "dataset/ids.h"

int64_t csr_find(const struct csr *csr, int64_t row, int32_t other)
{
    int64_t low = csr->ptr[row], high = csr->ptr[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (csr->others[middle] < other)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->ptr[row + 1] && csr->others[low] == other ? low : -1;
}

void csr_free(struct csr *csr)
{
    free(csr->ptr);
    free(csr->others);
    free(csr->values);
    free(csr->privacy_weights);
    free(csr->voids);
    memset(csr, 0, sizeof *csr);
}

static void move_record(struct csr *csr, int64_t from, int64_t to)
{
    csr->others[to] = csr->others[from];
    if (csr->values)
        csr->values[to] = csr->values[from];
    if (csr->privacy_weights)
        csr->privacy_weights[to] = csr->privacy_weights[from];
}

int64_t csr_remove_voids(struct csr *csr)
{
    int64_t from = 0, to = 0;
    if (!csr->voids)
        return 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        for (const int64_t end = csr->ptr[r + 1]; from < end; from++)
            if (!csr->voids[from])
                move_record(csr, from, to++);
        csr->ptr[r + 1] = to;
    }
    csr_forget_voids(csr);
    return from - to;
}

void csr_forget_voids(struct csr *csr)
{
    free(csr->voids);
    csr->voids = NULL;
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

const char *dataset_item_name(const struct dataset *dataset, int64_t item)
{
    return item < dataset->item_names.n ? id_map_text(&dataset->item_names, item) : "";
}

void dataset_free(struct dataset *dataset)
{
    id_map_free(&dataset->users);
    id_map_free(&dataset->items);
    id_map_free(&dataset->item_names);
    records_free(&dataset->train);
    records_free(&dataset->test);
    csr_free(&dataset->known);
    free(dataset->candidates.items);
    csr_free(&dataset->relation.links);
    feature_table_free(&dataset->features);
    feature_table_free(&dataset->words);
    free(dataset->weights.users);
    free(dataset->weights.items);
    free(dataset->weights.user_groups);
    free(dataset->weights.item_groups);
    free(dataset->shares[0]);
    free(dataset->shares[1]);
    violations_free(&dataset->violations);
    memset(dataset, 0, sizeof *dataset);
}

static int transpose_reserve(const struct csr *in, int64_t columns, int64_t n, struct csr *out)
{
    memset(out, 0, sizeof *out);
    out->rows = columns;
    out->ptr = memory_new((size_t)columns + 1, sizeof *out->ptr);
    out->others = memory_large((size_t)n, sizeof *out->others);
    int missing = !out->ptr || !out->others;
    if (in->values)
        missing |= !(out->values = memory_large((size_t)n, sizeof *out->values));
    if (in->privacy_weights)
        missing |= !(out->privacy_weights = memory_large((size_t)n, sizeof *out->privacy_weights));
    if (in->voids)
        missing |= !(out->voids = memory_new((size_t)n, sizeof *out->voids));
    if (!missing)
        return 0;
    csr_free(out);
    return -1;
}

/* Part t has the rows bounds[t] .. bounds[t+1]-1, about as many records each; next + t columns: where the
   next record of each column goes that is in its rows. */
struct transposition {
    const struct csr *in;
    struct csr *out;
    int64_t columns, parts;
    int64_t *bounds, *next;
    int has_voids; /* there is one: marks are zero already */
};

static int count_part(void *context, int64_t part, int worker)
{
    const struct transposition *t = context;
    int64_t *counts = t->next + part * t->columns;
    (void)worker;
    for (int64_t i = t->in->ptr[t->bounds[part]]; i < t->in->ptr[t->bounds[part + 1]]; i++)
        counts[t->in->others[i]]++;
    return 0;
}

/* Counts become places: a column's records of earlier parts stand before those of later ones. */
static void place_columns(const struct transposition *t)
{
    int64_t total = 0;
    for (int64_t c = 0; c < t->columns; c++) {
        t->out->ptr[c] = total;
        for (int64_t part = 0; part < t->parts; part++) {
            int64_t *count = &t->next[part * t->columns + c], here = total;
            total += *count;
            *count = here;
        }
    }
    t->out->ptr[t->columns] = total;
}

static int move_part(void *context, int64_t part, int worker)
{
    const struct transposition *t = context;
    const struct csr *in = t->in, *out = t->out;
    int64_t *next = t->next + part * t->columns;
    (void)worker;
    for (int64_t r = t->bounds[part]; r < t->bounds[part + 1]; r++)
        for (int64_t i = in->ptr[r]; i < in->ptr[r + 1]; i++) {
            const int64_t at = next[in->others[i]]++;
            out->others[at] = (int32_t)r;
            if (in->values)
                out->values[at] = in->values[i];
            if (in->privacy_weights)
                out->privacy_weights[at] = in->privacy_weights[i];
            if (t->has_voids)
                out->voids[at] = in->voids[i];
        }
    return 0;
}

/* As many as there are workers, but no more than keep the places of columns small beside the records. */
static int64_t parts_for(int64_t n, int64_t columns, struct pool *pool)
{
    const int64_t workers = pool ? pool_workers(pool) : 1, most = n / (8 * (columns + 1)) + 1;
    return workers < most ? workers : most;
}

static void run_parts(const struct transposition *t, struct pool *pool, pool_task task)
{
    if (pool && t->parts > 1)
        pool_run(pool, t->parts, task, (void *)(uintptr_t)t);
    for (int64_t part = 0; (!pool || t->parts == 1) && part < t->parts; part++)
        task((void *)(uintptr_t)t, part, 0);
}

int csr_transpose_on(struct pool *pool, const struct csr *in, int64_t columns, struct csr *out,
                     struct dpf_error *error)
{
    const int64_t n = in->ptr ? in->ptr[in->rows] : 0;
    struct transposition t = {.in = in, .out = out, .columns = columns, .parts = parts_for(n, columns, pool)};
    if (transpose_reserve(in, columns, n, out) != 0)
        return error_memory(error);
    t.has_voids = in->voids && n > 0 && memchr(in->voids, 1, (size_t)n);
    t.bounds = memory_new((size_t)t.parts + 1, sizeof *t.bounds);
    t.next = memory_new((size_t)(t.parts * columns), sizeof *t.next);
    const int missing = !t.bounds || !t.next;
    if (!missing && n > 0) {
        csr_balance(in, t.parts, t.bounds);
        run_parts(&t, pool, count_part);
        place_columns(&t);
        run_parts(&t, pool, move_part);
    }
    free(t.bounds);
    free(t.next);
    if (!missing)
        return 0;
    csr_free(out);
    return error_memory(error);
}

int csr_transpose(const struct csr *in, int64_t columns, struct csr *out, struct dpf_error *error)
{
    return csr_transpose_on(NULL, in, columns, out, error);
}

int csr_transpose_counts(const struct csr *in, int64_t columns, struct csr *out, struct dpf_error *error)
{
    *out = (struct csr){.rows = columns, .ptr = memory_new((size_t)columns + 1, sizeof *out->ptr)};
    if (!out->ptr)
        return error_memory(error);
    for (int64_t i = 0; in->ptr && i < in->ptr[in->rows]; i++)
        out->ptr[in->others[i] + 1]++;
    for (int64_t c = 0; c < columns; c++)
        out->ptr[c + 1] += out->ptr[c];
    return 0;
}

void csr_balance(const struct csr *csr, int64_t parts, int64_t *bounds)
{
    const int64_t total = csr->ptr[csr->rows];
    int64_t row = 0;
    for (int64_t p = 0; p < parts; p++) {
        bounds[p] = row;
        while (row < csr->rows && csr->ptr[row + 1] <= total * (p + 1) / parts)
            row++;
    }
    bounds[parts] = csr->rows;
}
