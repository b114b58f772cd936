/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/catalogue.h"

#include <stdlib.h>

#include "base/memory.h"
#include "reading/table.h"

/* The codes in the order of lines: those of the reader follow from which thread read what. */
static int order_lines(const struct table *table, const struct id_map *sorted, const int32_t *rank,
                       int32_t *order, struct dpf_error *error)
{
    uint8_t *seen = memory_new((size_t)sorted->n + 1, 1);
    if (!seen)
        return error_memory(error);
    int64_t n = 0;
    int status = 0;
    for (size_t c = 0; c < table->n_chunks && status == 0; c++) {
        const struct chunk *chunk = table->chunks[c];
        for (int64_t i = 0; i < chunk->n && status == 0; i++) {
            const int32_t at = rank[table->slots[chunk->slot].user_map[chunk->users[i]]];
            if (seen[at])
                status = error_at(error, DPF_FAULT_DATA, chunk->path,
                                  (long)(chunk->first_line + (chunk->lines_of ? chunk->lines_of[i] : i)),
                                  "this catalogue contains the id \"%s\" twice; remove one of the lines",
                                  id_map_text(sorted, at));
            else
                order[n++] = at;
            seen[at] = 1;
        }
    }
    free(seen);
    return status;
}

int catalogue_load(const char *path, const struct file_options *file, struct pool *pool, struct id_map *out,
                   struct dpf_error *error)
{
    struct table table = {0};
    struct ids ids = {0};
    struct id_map sorted = {0};
    int32_t *rank = NULL, *order = NULL;
    int status = table_read(&table, path, file, NULL, &ids, &ids, NULL, pool, error);
    if (status == 0) {
        rank = memory_raw((size_t)ids.n + 1, sizeof *rank);
        order = memory_raw((size_t)ids.n + 1, sizeof *order);
        if (!rank || !order || ids_finish(&ids, &sorted, rank) != 0)
            status = error_memory(error);
    }
    if (status == 0)
        status = order_lines(&table, &sorted, rank, order, error);
    if (status == 0 && id_map_reorder(&sorted, order, out) != 0)
        status = error_memory(error);
    id_map_free(&sorted);
    free(rank);
    free(order);
    ids_free(&ids);
    table_free(&table);
    return status;
}
