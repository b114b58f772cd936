/* SPDX-License-Identifier: Apache-2.0 */
#include "data/relation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/assemble.h"
#include "data/duplicates.h"
#include "dataset/sort_rows.h"

struct link {
    int32_t from, to;
};

/* The link of record i, or one of its ends is -1. */
static struct link link_of(const struct chunk *chunk, int64_t i)
{
    return (struct link){chunk->user_map[chunk->users[i]], chunk->item_map[chunk->items[i]]};
}

static void count_links(const struct table *table, int mutual, struct relation *out)
{
    int64_t *ptr = out->links.ptr;
    for (size_t c = 0; c < table->n_chunks; c++)
        for (int64_t i = 0; i < table->chunks[c]->n; i++) {
            struct link link = link_of(table->chunks[c], i);
            if (link.from < 0 || link.to < 0) {
                out->unknown++;
            } else if (link.from == link.to) {
                out->self++;
            } else {
                ptr[link.from + 1]++;
                ptr[link.to + 1] += mutual;
            }
        }
    for (int64_t r = 0; r < out->links.rows; r++)
        ptr[r + 1] += ptr[r];
}

static void put_link(struct csr *links, int64_t *next, int32_t from, int32_t to, const float *weight)
{
    int64_t at = next[from]++;
    links->others[at] = to;
    if (links->values)
        links->values[at] = *weight;
}

static void fill_links(const struct table *table, int mutual, int64_t *next, struct csr *links)
{
    for (size_t c = 0; c < table->n_chunks; c++) {
        const struct chunk *chunk = table->chunks[c];
        for (int64_t i = 0; i < chunk->n; i++) {
            struct link link = link_of(chunk, i);
            const float *weight = chunk->values ? &chunk->values[i] : NULL;
            if (link.from < 0 || link.to < 0 || link.from == link.to)
                continue;
            put_link(links, next, link.from, link.to, weight);
            if (mutual)
                put_link(links, next, link.to, link.from, weight);
        }
    }
}

static int build_links(const struct data_options *options, const struct table *table, int64_t users,
                       struct pool *pool, struct relation *out, struct dpf_error *error)
{
    struct ratings links = {0};
    int weighted = options->relation.rating_needed;
    int64_t capacity = table->records * (1 + options->relation_mutual);
    int64_t *next = memory_raw((size_t)users + 1, sizeof *next);
    if (!next ||
        ratings_reserve(&links, users, capacity, &(struct ratings_columns){.values = weighted}) != 0) {
        free(next);
        return error_memory(error);
    }
    out->links = links.csr;
    count_links(table, options->relation_mutual, out);
    memcpy(next, out->links.ptr, ((size_t)users + 1) * sizeof *next);
    fill_links(table, options->relation_mutual, next, &out->links);
    free(next);
    links.csr = out->links;
    /* A link given twice is one link; its last weight counts. */
    struct data_options last = *options;
    struct resolved counts = {0};
    last.duplicates = DUPLICATES_LAST;
    if (sort_rows(&links, pool, error) != 0)
        return -1;
    return ratings_resolve(&links, &last, table, NULL, NULL, &counts, NULL, error);
}

int relation_load(const struct data_options *options, const struct id_map *users, struct pool *pool,
                  struct relation *out, struct dpf_error *error)
{
    struct table table = {0};
    struct ids ids = {0};
    int32_t *index = NULL;
    int status =
        table_read(&table, options->relation_path, &options->relation, NULL, &ids, &ids, NULL, pool, error);
    if (status == 0) {
        index = ids_match(&ids, users);
        if (!index)
            status = error_memory(error);
    }
    if (status == 0) {
        table_finish_ids(&table, index, index);
        status = build_links(options, &table, users->n, pool, out, error);
    }
    free(index);
    ids_free(&ids);
    table_free(&table);
    return status;
}
