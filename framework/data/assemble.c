/* SPDX-License-Identifier: Apache-2.0 */
/* From chunks to rows: a counting sort by user, then each row by item. */
#include "data/assemble.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/sort_rows.h"
#include "reading/row.h"

/*
 * Part p has the chunks bounds[p] .. bounds[p+1]-1, about as many records each; next + p rows: where the next
 * record of each user goes that is in its chunks. So the order of lines is kept without locks.
 */
struct scatter {
    const struct table *table;
    struct ratings *out;
    int64_t parts;
    size_t *bounds;
    int64_t *next;
    int frees;            /* columns that are not needed any more */
    atomic_int strangers; /* there are records without an index */
};

/* Behind the records of one user that begins there: files are often in the order of users. */
static inline int64_t run_end(const struct chunk *chunk, int64_t first)
{
    int64_t end = first + 1;
    while (end < chunk->n && chunk->users[end] == chunk->users[first])
        end++;
    return end;
}

static int count_task(void *context, int64_t part, int worker)
{
    struct scatter *scatter = context;
    int64_t *counts = scatter->next + part * scatter->out->csr.rows;
    int strangers = 0;
    (void)worker;
    for (size_t c = scatter->bounds[part]; c < scatter->bounds[part + 1]; c++) {
        const struct chunk *chunk = scatter->table->chunks[c];
        for (int64_t i = 0, end; i < chunk->n; i = end) {
            const int32_t user = chunk->user_map[chunk->users[i]];
            int64_t known = 0;
            end = run_end(chunk, i);
            for (int64_t k = i; k < end; k++)
                known += chunk->item_map[chunk->items[k]] >= 0;
            if (user >= 0)
                counts[user] += known;
            strangers |= user < 0 || known < end - i;
        }
    }
    if (strangers)
        atomic_store(&scatter->strangers, 1);
    return 0;
}

/* Records first .. end-1 of the chunk, of one user, to `at` and behind. Returns how many have an item. */
static int64_t scatter_run(const struct chunk *chunk, int64_t first, int64_t end, int64_t at,
                           struct ratings *out)
{
    struct csr *csr = &out->csr;
    const int64_t begin = at;
    for (int64_t i = first; i < end; i++) {
        const int32_t item = chunk->item_map[chunk->items[i]];
        if (item < 0)
            continue;
        csr->others[at] = item;
        if (csr->values)
            csr->values[at] = chunk->values ? chunk->values[i] : 1.0f;
        if (out->times)
            out->times[at] = chunk_time(chunk, i);
        if (csr->privacy_weights)
            csr->privacy_weights[at] = chunk->weights ? chunk->weights[i] : 1.0f;
        if (csr->voids && chunk->voids && chunk->voids[i]) /* there are few, and the rest is zero already */
            csr->voids[at] = 1;
        at++;
    }
    return at - begin;
}

static void scatter_chunk(const struct chunk *chunk, int64_t *next, struct ratings *out)
{
    for (int64_t i = 0, end; i < chunk->n; i = end) {
        const int32_t user = chunk->user_map[chunk->users[i]];
        end = run_end(chunk, i);
        if (user >= 0)
            next[user] += scatter_run(chunk, i, end, next[user], out);
    }
}

#define WORTH_RETURNING (INT64_C(1) << 20) /* records */

void ratings_return_freed(int64_t *freed)
{
    if (*freed < WORTH_RETURNING)
        return;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    *freed = 0;
}

static int scatter_task(void *context, int64_t part, int worker)
{
    struct scatter *scatter = context;
    int64_t freed = 0;
    (void)worker;
    for (size_t c = scatter->bounds[part]; c < scatter->bounds[part + 1]; c++) {
        struct chunk *chunk = scatter->table->chunks[c];
        scatter_chunk(chunk, scatter->next + part * scatter->out->csr.rows, scatter->out);
        if (!scatter->frees)
            continue;
        chunk_free_columns(chunk);
        freed += chunk->n;
        ratings_return_freed(&freed);
    }
    return 0;
}

static void balance(struct scatter *scatter)
{
    const struct table *table = scatter->table;
    int64_t passed = 0;
    size_t c = 0;
    for (int64_t p = 0; p < scatter->parts; p++) {
        scatter->bounds[p] = c;
        while (c < table->n_chunks &&
               passed + table->chunks[c]->n <= table->records * (p + 1) / scatter->parts)
            passed += table->chunks[c++]->n;
    }
    scatter->bounds[scatter->parts] = table->n_chunks;
}

static void run_parts(struct scatter *scatter, struct pool *pool, pool_task task)
{
    if (pool && scatter->parts > 1)
        pool_run(pool, scatter->parts, task, scatter);
    for (int64_t p = 0; (!pool || scatter->parts == 1) && p < scatter->parts; p++)
        task(scatter, p, 0);
}

/* A record without an index on one side: no fault, or listed as one where faults are, else an error. */
static int pass_over(struct table *table, size_t c, int64_t record, int user, struct violations *list,
                     struct dpf_error *error)
{
    const struct chunk *chunk = table->chunks[c];
    const int64_t line = chunk->first_line + (chunk->lines_of ? (int64_t)chunk->lines_of[record] : record);
    struct dpf_error local = {0};
    table->strangers++;
    if (table->drops_strangers)
        return 0;
    if (!list || violations_want(list, (int64_t)c, line))
        error_at(
            list ? &local : error, DPF_FAULT_DATA, chunk->path, (long)line,
            "the %s of this record is not in the catalogue; remove the record, or add its id to %s, or set "
            "data.catalogue.outside = drop",
            user ? "user" : "item", user ? "data.users-file" : "data.items-file");
    if (!list)
        return -1;
    violations_add(list, (int64_t)c, line, &local);
    return 0;
}

/* Records outside of a catalogue are left out, in the order of lines. */
static int tell_strangers(struct table *table, struct dpf_error *error)
{
    struct violations list = {0};
    int status = 0;
    for (size_t c = 0; c < table->n_chunks && status == 0; c++) {
        const struct chunk *chunk = table->chunks[c];
        for (int64_t i = 0; i < chunk->n && status == 0; i++) {
            const int32_t user = chunk->user_map[chunk->users[i]];
            if (user < 0 || chunk->item_map[chunk->items[i]] < 0)
                status = pass_over(table, c, i, user < 0, table->violations ? &list : NULL, error);
        }
    }
    if (table->violations)
        violations_join(table->violations, &list);
    return status;
}

/* Counts become places: a user's records of earlier parts stand before those of later ones. */
static int place_rows(struct scatter *scatter, struct dpf_error *error)
{
    struct csr *csr = &scatter->out->csr;
    int64_t total = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        csr->ptr[r] = total;
        for (int64_t p = 0; p < scatter->parts; p++) {
            int64_t *count = &scatter->next[p * csr->rows + r], here = total;
            total += *count;
            *count = here;
        }
        if (total - csr->ptr[r] > INT32_MAX)
            return error_set(error, DPF_FAULT_DATA, "a user has more than %d records", INT32_MAX);
    }
    csr->ptr[csr->rows] = total;
    return 0;
}

static int scatter_all(struct table *table, struct ratings *out, int frees, struct pool *pool,
                       struct dpf_error *error)
{
    const int64_t rows = out->csr.rows, workers = pool ? pool_workers(pool) : 1;
    const int64_t most =
        table->records / (8 * (rows + 1)) + 1; /* places of users stay small beside records */
    struct scatter scatter = {
        .table = table, .out = out, .frees = frees, .parts = workers < most ? workers : most};
    scatter.next = memory_new((size_t)(scatter.parts * rows), sizeof *scatter.next);
    scatter.bounds = memory_new((size_t)scatter.parts + 1, sizeof *scatter.bounds);
    int status = scatter.next && scatter.bounds ? 0 : error_memory(error);
    if (status == 0) {
        balance(&scatter);
        run_parts(&scatter, pool, count_task);
        if (atomic_load(&scatter.strangers) && !table->strangers_told)
            status = tell_strangers(table, error);
        table->strangers_told = 1;
    }
    if (status == 0)
        status = place_rows(&scatter, error);
    if (status == 0)
        run_parts(&scatter, pool, scatter_task);
    free(scatter.next);
    free(scatter.bounds);
    return status;
}

int ratings_build(struct table *table, int64_t users, const struct ratings_wish *wish, struct pool *pool,
                  struct ratings *out, struct dpf_error *error)
{
    const struct table_form *form = &table->form;
    const struct ratings_columns has = {.values = form->values && wish->values,
                                        .times = form->times && wish->times,
                                        .weights = form->weights && wish->values,
                                        .order = wish->order,
                                        .voids = table->keeps_voids && wish->values};
    if (ratings_reserve(out, users, table->records, &has) != 0)
        return error_memory(error);
    if (scatter_all(table, out, wish->last, pool, error) == 0 && sort_rows(out, pool, error) == 0)
        return 0;
    ratings_free(out);
    return -1;
}
