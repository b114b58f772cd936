/* SPDX-License-Identifier: Apache-2.0 */
/* From chunks to rows: a counting sort by user, then each row by item. */
#include "data/assemble.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dataset/sort_rows.h"

struct scatter {
    const struct table *table;
    struct ratings *out;
    int64_t *next;   /* where each user's next record goes */
    int64_t *bounds; /* task t fills the rows bounds[t] .. bounds[t+1]-1 */
};

static void scatter_chunk(const struct chunk *chunk, int64_t first, int64_t last, int64_t *next,
                          struct ratings *out)
{
    struct csr *csr = &out->csr;
    for (int64_t i = 0; i < chunk->n; i++) {
        int64_t user = chunk->user_map[chunk->users[i]];
        if (user < first || user >= last || chunk->item_map[chunk->items[i]] < 0)
            continue;
        int64_t at = next[user]++;
        csr->others[at] = chunk->item_map[chunk->items[i]];
        if (csr->values)
            csr->values[at] = chunk->values ? chunk->values[i] : 1.0f;
        if (out->times)
            out->times[at] = chunk->times[i];
        if (csr->privacy_weights)
            csr->privacy_weights[at] = chunk->weights ? chunk->weights[i] : 1.0f;
    }
}

/* Each task reads all chunks and takes the users of its range: no locks, and the order of lines is kept. */
static int scatter_task(void *context, int64_t task, int worker)
{
    struct scatter *scatter = context;
    (void)worker;
    for (size_t c = 0; c < scatter->table->n_chunks; c++)
        scatter_chunk(scatter->table->chunks[c], scatter->bounds[task], scatter->bounds[task + 1],
                      scatter->next, scatter->out);
    return 0;
}

static void balance(const struct csr *csr, int64_t parts, int64_t *bounds)
{
    int64_t total = csr->ptr[csr->rows], row = 0;
    for (int64_t p = 0; p < parts; p++) {
        bounds[p] = row;
        while (row < csr->rows && csr->ptr[row + 1] <= total * (p + 1) / parts)
            row++;
    }
    bounds[parts] = csr->rows;
}

static int columns_of(const struct table *table, int *values, int *times, int *weights)
{
    int untimed = 0;
    *values = *times = *weights = 0;
    for (size_t c = 0; c < table->n_chunks; c++) {
        *values |= table->chunks[c]->values != NULL;
        *weights |= table->chunks[c]->weights != NULL;
        *times |= table->chunks[c]->times != NULL;
        untimed |= table->chunks[c]->times == NULL && table->chunks[c]->n > 0;
    }
    *times &= !untimed; /* times of some files only cannot be compared */
    return 0;
}

/* A record without an index on one side: listed as a fault where faults are, else an error. */
static int pass_over(struct table *table, const struct chunk *chunk, int64_t record, int user,
                     struct dpf_error *error)
{
    const int64_t line = chunk->first_line + (chunk->lines_of ? (int64_t)chunk->lines_of[record] : record);
    struct dpf_error local = {0};
    const int wanted = !table->violations || violations_want(table->violations);
    table->strangers++;
    if (wanted)
        error_at(table->violations ? &local : error, DPF_FAULT_DATA, chunk->path, (long)line,
                 "the %s of this record is not in the catalogue; remove the record, or add its id to %s",
                 user ? "user" : "item", user ? "data.users-file" : "data.items-file");
    if (!table->violations)
        return -1;
    violations_add(table->violations, 0, line, &local);
    return 0;
}

/* Records outside of a catalogue are left out. */
static int count_users(struct table *table, struct csr *csr, struct dpf_error *error)
{
    for (size_t c = 0; c < table->n_chunks; c++) {
        const struct chunk *chunk = table->chunks[c];
        for (int64_t i = 0; i < chunk->n; i++) {
            const int32_t user = chunk->user_map[chunk->users[i]];
            if (user >= 0 && chunk->item_map[chunk->items[i]] >= 0)
                csr->ptr[user + 1]++;
            else if (pass_over(table, chunk, i, user < 0, error) != 0)
                return -1;
        }
    }
    for (int64_t r = 0; r < csr->rows; r++) {
        if (csr->ptr[r + 1] > INT32_MAX)
            return error_set(error, DPF_FAULT_DATA, "a user has more than %d records", INT32_MAX);
        csr->ptr[r + 1] += csr->ptr[r];
    }
    return 0;
}

static int scatter_all(const struct table *table, struct ratings *out, struct pool *pool,
                       struct dpf_error *error)
{
    int64_t rows = out->csr.rows;
    int64_t parts = pool ? pool_workers(pool) : 1;
    struct scatter scatter = {.table = table, .out = out};
    scatter.next = memory_raw((size_t)rows + 1, sizeof *scatter.next);
    scatter.bounds = memory_new((size_t)parts + 1, sizeof *scatter.bounds);
    int status = scatter.next && scatter.bounds ? 0 : error_memory(error);
    if (status == 0) {
        for (int64_t r = 0; r < rows; r++)
            scatter.next[r] = out->csr.ptr[r];
        balance(&out->csr, parts, scatter.bounds);
        if (pool)
            pool_run(pool, parts, scatter_task, &scatter);
        else
            scatter_task(&scatter, 0, 0);
    }
    free(scatter.next);
    free(scatter.bounds);
    return status;
}

int ratings_build(struct table *table, int64_t users, int want_order, struct pool *pool, struct ratings *out,
                  struct dpf_error *error)
{
    int values, times, weights;
    columns_of(table, &values, &times, &weights);
    if (ratings_reserve(out, users, table->records, values, times, weights, want_order) != 0)
        return error_memory(error);
    if (count_users(table, &out->csr, error) == 0 && scatter_all(table, out, pool, error) == 0 &&
        sort_rows(out, pool, error) == 0)
        return 0;
    ratings_free(out);
    return -1;
}
