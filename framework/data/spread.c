/* SPDX-License-Identifier: Apache-2.0 */
#include "data/spread.h"

#include "data/filter.h"
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "data/assemble.h"
#include "reading/row.h"
#include "dataset/shares.h"
#include "dpframe/privacy.h"

int spread_is_possible(const struct data_options *o)
{
    return ranks_size() > 1 && o->format != FORMAT_SYNTHETIC && !o->file.sections &&
           !(o->file.quoting && o->file.multi_line) && !o->relation_path[0] && !filter_is_set(&o->filter) &&
           o->kind != SPLIT_RANDOM_EXACT;
}

/* ---- whose users are whose ------------------------------------------------------------------------- */

int spread_users(const struct table *table, struct dataset *dataset, struct dpf_error *error)
{
    const int64_t n = dataset->users.n;
    int64_t *counts = memory_new((size_t)n + 1, sizeof *counts);
    int status = counts ? 0 : error_memory(error);
    for (size_t c = 0; c < table->n_chunks && status == 0; c++)
        for (int64_t i = 0; i < table->chunks[c]->n; i++) {
            const int32_t user = table->chunks[c]->user_map[table->chunks[c]->users[i]];
            if (user >= 0)
                counts[user + 1]++;
        }
    if (status == 0)
        status = ranks_sum(counts, n + 1, error);
    for (int64_t u = 0; u < n && status == 0; u++)
        counts[u + 1] += counts[u];
    if (status == 0)
        status = shares_decide(dataset, DPF_SIDE_USERS, counts, n, error);
    free(counts);
    return status;
}

/* ---- records to their users' ranks ------------------------------------------------------------------ */

/* A record on its way. Records without a place in a catalogue have -1 for it. */
struct sent_record {
    int32_t user, item;
    float value, weight;
    double time;
    int64_t line;
    int is_void;
};

/* What the records of one file have. */
struct sent_count {
    int64_t records, values, times, weights;
};

/* Records pass in slices, so that what is on its way takes the same room for any file, and are kept in pieces, which
   are freed one after the other (assemble.h). */
#define SLICE_RECORDS (INT64_C(1) << 19)
#define PIECE_RECORDS (INT64_C(1) << 18)

struct route {
    struct table *table;
    const struct dataset *dataset;
    int64_t *shares; /* of users */
    int64_t files, slice;
    struct sent_count *out, *in;              /* by rank and file */
    int64_t *out_offsets, *in_offsets, *next; /* of a slice, by rank */
    struct sent_record *from, *into;
    int64_t into_room;
    struct chunk **pieces;     /* of what comes, in the order of files, and then of ranks */
    int64_t *first_piece;      /* by file and rank */
    int64_t *filled, *file_at; /* by file and rank; by rank, the file whose records come now */
    size_t chunk_at;           /* of the table: what goes next */
    int64_t record_at;
    int64_t freed; /* records since memory was returned */
};

static void route_close(struct route *route)
{
    free(route->shares);
    free(route->out);
    free(route->in);
    free(route->out_offsets);
    free(route->in_offsets);
    free(route->next);
    free(route->from);
    free(route->into);
    free(route->filled);
    free(route->file_at);
    for (int64_t p = 0; route->pieces && p < route->first_piece[route->files * ranks_size()]; p++)
        chunk_free(route->pieces[p]);
    free(route->pieces);
    free(route->first_piece);
}

static int route_open(struct route *route, struct table *table, const struct dataset *dataset)
{
    const size_t size = (size_t)ranks_size(), files = (size_t)table->n_paths;
    *route = (struct route){.table = table,
                            .dataset = dataset,
                            .files = table->n_paths,
                            .slice = SLICE_RECORDS / ranks_size() + 1};
    route->shares = memory_new(size + 1, sizeof *route->shares);
    route->out = memory_new(size * files + 1, sizeof *route->out);
    route->in = memory_new(size * files + 1, sizeof *route->in);
    route->out_offsets = memory_new(size + 1, sizeof *route->out_offsets);
    route->in_offsets = memory_new(size + 1, sizeof *route->in_offsets);
    route->next = memory_new(size + 1, sizeof *route->next);
    route->from = memory_raw((size_t)route->slice, sizeof *route->from);
    route->first_piece = memory_new(size * files + 1, sizeof *route->first_piece);
    route->filled = memory_new(size * files + 1, sizeof *route->filled);
    route->file_at = memory_new(size + 1, sizeof *route->file_at);
    if (!route->shares || !route->out || !route->in || !route->out_offsets || !route->in_offsets ||
        !route->next || !route->from || !route->first_piece || !route->filled || !route->file_at)
        return -1;
    shares_offsets(dataset, DPF_SIDE_USERS, route->shares);
    return 0;
}

static int64_t file_of(const struct table *table, const struct chunk *chunk)
{
    for (int64_t f = 0; f < table->n_paths; f++)
        if (table->paths[f] == chunk->path)
            return f;
    return 0;
}

/* A record of nobody stays where it was read, to be listed. */
static int rank_of(const struct route *route, int32_t user)
{
    return user < 0 ? ranks_rank() : shares_rank(route->shares, user);
}

static void count_out(struct route *route)
{
    for (size_t c = 0; c < route->table->n_chunks; c++) {
        const struct chunk *chunk = route->table->chunks[c];
        const int64_t file = file_of(route->table, chunk);
        for (int r = 0; r < ranks_size(); r++) {
            struct sent_count *count = &route->out[r * route->files + file];
            count->values |= chunk->values != NULL;
            count->times |= chunk_has_times(chunk);
            count->weights |= chunk->weights != NULL;
        }
        for (int64_t i = 0; i < chunk->n; i++)
            route->out[rank_of(route, chunk->user_map[chunk->users[i]]) * route->files + file].records++;
    }
}

/* One element for each rank. */
static int swap(size_t bytes, const void *from, void *into, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *ones = memory_new((size_t)size + 1, sizeof *ones);
    if (!ones)
        return error_memory(error);
    for (int r = 0; r <= size; r++)
        ones[r] = r;
    const int status = ranks_exchange(bytes, from, ones, into, ones, error);
    free(ones);
    return status;
}

/* What one rank sends of one file. */
static const struct sent_count *coming(const struct route *route, int64_t k)
{
    return &route->in[k % ranks_size() * route->files + k / ranks_size()];
}

/* Room for some of one file's records of one rank; codes are indices plus 1, so that 0 is "in no catalogue". */
static struct chunk *new_piece(const struct route *route, int64_t k, int64_t left)
{
    const struct sent_count *has = coming(route, k);
    struct chunk *chunk = memory_new(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->lines = left < PIECE_RECORDS ? left : PIECE_RECORDS; /* room */
    const size_t n = (size_t)chunk->lines;
    chunk->path = route->table->paths[k / ranks_size()];
    chunk->users = memory_raw(n, sizeof *chunk->users);
    chunk->items = memory_raw(n, sizeof *chunk->items);
    chunk->values = has->values ? memory_raw(n, sizeof *chunk->values) : NULL;
    chunk->stamps = has->times ? memory_raw(n, sizeof *chunk->stamps) : NULL;
    chunk->weights = has->weights ? memory_raw(n, sizeof *chunk->weights) : NULL;
    chunk->voids = route->table->keeps_voids ? memory_raw(n, sizeof *chunk->voids) : NULL;
    if (!chunk->users || !chunk->items || (has->values && !chunk->values) || (has->times && !chunk->stamps) ||
        (has->weights && !chunk->weights) || (route->table->keeps_voids && !chunk->voids)) {
        chunk_free(chunk);
        return NULL;
    }
    return chunk;
}

static int count_pieces(struct route *route, struct dpf_error *error)
{
    const int64_t n = route->files * ranks_size();
    for (int64_t k = 0; k < n; k++)
        route->first_piece[k + 1] =
            route->first_piece[k] + (coming(route, k)->records + PIECE_RECORDS - 1) / PIECE_RECORDS;
    route->pieces = memory_new((size_t)route->first_piece[n] + 1, sizeof(struct chunk *));
    return route->pieces ? 0 : error_memory(error);
}

static struct sent_record record_of(const struct chunk *chunk, int64_t i, int32_t user)
{
    return (struct sent_record){.user = user,
                                .item = chunk->item_map[chunk->items[i]],
                                .value = chunk->values ? chunk->values[i] : 0,
                                .weight = chunk->weights ? chunk->weights[i] : 0,
                                .time = chunk_has_times(chunk) ? chunk_time(chunk, i) : 0,
                                .is_void = chunk->voids && chunk->voids[i],
                                .line =
                                    chunk->first_line + (chunk->lines_of ? (int64_t)chunk->lines_of[i] : i)};
}

/* How many records there are from the chunk's record i on, at most n. */
static int64_t left_in(const struct chunk *chunk, int64_t i, int64_t n)
{
    return chunk->n - i < n ? chunk->n - i : n;
}

/* The table's next records, in the order of the file for each rank; what has gone is freed. */
static void fill_out(struct route *route)
{
    struct table *table = route->table;
    const size_t first = route->chunk_at;
    const int64_t begin = route->record_at;
    int64_t left = route->slice;
    memset(route->out_offsets, 0, ((size_t)ranks_size() + 1) * sizeof *route->out_offsets);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        route->chunk_at = first;
        route->record_at = begin;
        left = route->slice;
        while (route->chunk_at < table->n_chunks && left > 0) {
            struct chunk *chunk = table->chunks[route->chunk_at];
            const int64_t end = route->record_at + left_in(chunk, route->record_at, left);
            left -= end - route->record_at;
            for (int64_t i = route->record_at; i < end; i++) {
                const int32_t user = chunk->user_map[chunk->users[i]];
                const int rank = rank_of(route, user);
                if (pass == 0)
                    route->out_offsets[rank + 1]++;
                else
                    route->from[route->next[rank]++] = record_of(chunk, i, user);
            }
            route->record_at = end;
            if (end < chunk->n)
                break;
            route->record_at = 0;
            route->chunk_at++;
        }
        for (int r = 0; pass == 0 && r < ranks_size(); r++) {
            route->out_offsets[r + 1] += route->out_offsets[r];
            route->next[r] = route->out_offsets[r];
        }
    }
    for (size_t c = first; c < route->chunk_at; c++) {
        route->freed += table->chunks[c]->n;
        chunk_free(table->chunks[c]);
        table->chunks[c] = NULL;
    }
    ratings_return_freed(&route->freed);
}

static int put(struct route *route, int64_t k, const struct sent_record *record)
{
    const int64_t before = route->filled[k]++;
    struct chunk **piece = &route->pieces[route->first_piece[k] + before / PIECE_RECORDS], *chunk = *piece;
    if (!chunk) {
        *piece = chunk = new_piece(route, k, coming(route, k)->records - before);
        if (!chunk)
            return -1;
        chunk->first_line = record->line;
    }
    if (row_note_line(chunk, record->line - chunk->first_line) != 0 ||
        row_keep_time(chunk, record->time) != 0)
        return -1;
    const int64_t i = chunk->n++;
    chunk->users[i] = record->user + 1;
    chunk->items[i] = record->item + 1;
    if (chunk->values)
        chunk->values[i] = record->value;
    if (chunk->weights)
        chunk->weights[i] = record->weight;
    if (chunk->voids)
        chunk->voids[i] = (uint8_t)record->is_void;
    return 0;
}

/* What a rank sends is in the order of its files. */
static int take_in(struct route *route)
{
    const int size = ranks_size();
    for (int r = 0; r < size; r++)
        for (int64_t i = route->in_offsets[r]; i < route->in_offsets[r + 1]; i++) {
            while (route->filled[route->file_at[r] * size + r] ==
                   route->in[r * route->files + route->file_at[r]].records)
                route->file_at[r]++;
            if (put(route, route->file_at[r] * size + r, &route->into[i]) != 0)
                return -1;
        }
    return 0;
}

static int pass_slice(struct route *route, struct dpf_error *error)
{
    void *into = route->into;
    fill_out(route);
    const int status = ranks_pass(sizeof *route->from, route->from, route->out_offsets, &into,
                                  &route->into_room, route->in_offsets, error);
    route->into = into;
    /* One that has no room says so to all before they go on. */
    return status == 0 ? ranks_agree(take_in(route) == 0 ? 0 : error_memory(error), error) : status;
}

/* Every rank takes part in the slices of the one that has most. */
static int most_slices(const struct route *route, int64_t *n, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *slices = memory_new((size_t)size + 1, sizeof *slices), *each = memory_new((size_t)size + 1, 8);
    int status = slices && each ? 0 : error_memory(error);
    *n = 0;
    for (int r = 0; r <= size && status == 0; r++)
        each[r] = r;
    for (size_t c = 0; c < route->table->n_chunks && status == 0; c++)
        slices[ranks_rank()] += route->table->chunks[c]->n;
    if (status == 0)
        status = ranks_gather(slices, sizeof *slices, each, error);
    for (int r = 0; r < size && status == 0; r++)
        *n = *n > (slices[r] + route->slice - 1) / route->slice
                 ? *n
                 : (slices[r] + route->slice - 1) / route->slice;
    free(slices);
    free(each);
    return status;
}

static int32_t *counting(int64_t n)
{
    int32_t *map = memory_raw((size_t)n + 1, sizeof *map);
    for (int64_t i = 0; map && i <= n; i++)
        map[i] = (int32_t)(i - 1);
    return map;
}

/* The table's own chunks are gone; what has come takes their place. */
static int replace(struct route *route, struct table *table, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t records = 0;
    struct slot *slot = memory_new(1, sizeof *slot);
    if (!slot)
        return error_memory(error);
    slot->user_map = counting(slot->n_users = route->dataset->users.n);
    slot->item_map = counting(slot->n_items = route->dataset->items.n);
    const int status = slot->user_map && slot->item_map ? 0 : error_memory(error);
    for (int64_t k = 0; k < route->files * size; k++)
        records += route->filled[k];
    table_replace(table, route->pieces, (size_t)route->first_piece[route->files * size], slot, records);
    route->pieces = NULL;
    return status;
}

int spread_records(struct table *table, const struct dataset *dataset, struct dpf_error *error)
{
    struct route route;
    int64_t slices = 0;
    int status = route_open(&route, table, dataset) == 0 ? 0 : error_memory(error);
    if (status == 0) {
        count_out(&route);
        status = swap((size_t)route.files * sizeof *route.out, route.out, route.in, error);
    }
    if (status == 0)
        status = count_pieces(&route, error);
    if (status == 0)
        status = most_slices(&route, &slices, error);
    for (int64_t i = 0; i < slices && status == 0; i++)
        status = pass_slice(&route, error);
    if (status == 0)
        status = replace(&route, table, error);
    route_close(&route);
    return status;
}
