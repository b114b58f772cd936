/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/table.h"

#include <stdlib.h>
#include <string.h>

#include "reading/row.h"

static void free_slot(struct slot *slot)
{
    ids_free(&slot->users);
    ids_free(&slot->items);
    free(slot->user_map);
    free(slot->item_map);
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->n_chunks; i++)
        chunk_free(table->chunks[i]);
    for (int i = 0; i < table->n_slots; i++)
        free_slot(&table->slots[i]);
    for (int i = 0; i < table->n_paths; i++)
        free(table->paths[i]);
    free(table->chunks);
    free(table->slots);
    free(table->paths);
    memset(table, 0, sizeof *table);
}

void table_replace(struct table *table, struct chunk **chunks, size_t n, struct slot *maps, int64_t records)
{
    for (size_t i = 0; i < table->n_chunks; i++)
        chunk_free(table->chunks[i]);
    for (int i = 0; i < table->n_slots; i++)
        free_slot(&table->slots[i]);
    free(table->chunks);
    free(table->slots);
    for (size_t i = 0; i < n; i++) {
        chunks[i]->user_map = maps->user_map;
        chunks[i]->item_map = maps->item_map;
    }
    table->chunks = chunks;
    table->n_chunks = table->chunks_capacity = n;
    table->slots = maps;
    table->n_slots = maps != NULL;
    table->records = records;
}

void table_finish_ids(struct table *table, const int32_t *user_rank, const int32_t *item_rank)
{
    for (int s = 0; s < table->n_slots; s++) {
        struct slot *slot = &table->slots[s];
        for (int64_t i = 0; i < slot->n_users; i++)
            slot->user_map[i] = user_rank[slot->user_map[i]];
        for (int64_t i = 0; i < slot->n_items; i++)
            slot->item_map[i] = item_rank[slot->item_map[i]];
    }
    for (size_t c = 0; c < table->n_chunks; c++) {
        struct chunk *chunk = table->chunks[c];
        chunk->user_map = table->slots[chunk->slot].user_map;
        chunk->item_map = table->slots[chunk->slot].item_map;
    }
}

int table_find(const struct table *table, int32_t user, int32_t item, int nth, const char **path,
               int64_t *line)
{
    for (size_t c = 0; c < table->n_chunks; c++) {
        const struct chunk *chunk = table->chunks[c];
        for (int64_t i = 0; i < chunk->n; i++) {
            if (chunk->user_map[chunk->users[i]] != user || chunk->item_map[chunk->items[i]] != item ||
                nth-- > 0)
                continue;
            *path = chunk->path;
            *line = chunk->first_line + (chunk->lines_of ? chunk->lines_of[i] : i);
            return 0;
        }
    }
    return -1;
}
