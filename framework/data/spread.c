/* SPDX-License-Identifier: Apache-2.0 */
#include "data/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "reading/row.h"
#include "dataset/shares.h"
#include "dpframe/privacy.h"

static int filters(const struct filter_options *f)
{
    return f->user_min > 0 || f->user_max > 0 || f->users < 1 || f->item_min > 0 || f->item_max > 0 ||
           isfinite(f->time_from) || isfinite(f->time_to);
}

int spread_is_possible(const struct data_options *o)
{
    return ranks_size() > 1 && o->format != FORMAT_SYNTHETIC && !o->file.sections &&
           !(o->file.quoting && o->file.multi_line) && !o->relation_path[0] && !filters(&o->filter) &&
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

struct route {
    const struct table *table;
    const struct dataset *dataset;
    int64_t *shares; /* of users */
    int64_t files;
    struct sent_count *out, *in; /* by rank and file */
    int64_t *out_offsets, *in_offsets;
    struct sent_record *from, *into;
};

static void route_close(struct route *route)
{
    free(route->shares);
    free(route->out);
    free(route->in);
    free(route->out_offsets);
    free(route->in_offsets);
    free(route->from);
    free(route->into);
}

static int route_open(struct route *route, const struct table *table, const struct dataset *dataset)
{
    const size_t size = (size_t)ranks_size(), files = (size_t)table->n_paths;
    *route = (struct route){.table = table, .dataset = dataset, .files = table->n_paths};
    route->shares = memory_new(size + 1, sizeof *route->shares);
    route->out = memory_new(size * files + 1, sizeof *route->out);
    route->in = memory_new(size * files + 1, sizeof *route->in);
    route->out_offsets = memory_new(size + 1, sizeof *route->out_offsets);
    route->in_offsets = memory_new(size + 1, sizeof *route->in_offsets);
    if (!route->shares || !route->out || !route->in || !route->out_offsets || !route->in_offsets)
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
    int low = 0, high = ranks_size() - 1;
    if (user < 0)
        return ranks_rank();
    while (low < high) {
        const int middle = (low + high) / 2;
        if (user < route->shares[middle + 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
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

static int swap_counts(struct route *route, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *ones = memory_new((size_t)size + 1, sizeof *ones);
    if (!ones)
        return error_memory(error);
    for (int r = 0; r <= size; r++)
        ones[r] = r;
    const int status =
        ranks_exchange((size_t)route->files * sizeof *route->out, route->out, ones, route->in, ones, error);
    free(ones);
    for (int r = 0; r < size && status == 0; r++) {
        route->out_offsets[r + 1] = route->out_offsets[r];
        route->in_offsets[r + 1] = route->in_offsets[r];
        for (int64_t f = 0; f < route->files; f++) {
            route->out_offsets[r + 1] += route->out[r * route->files + f].records;
            route->in_offsets[r + 1] += route->in[r * route->files + f].records;
        }
    }
    return status;
}

/* In the order of the file for each rank: chunks are in order, file after file. */
static int fill_out(struct route *route, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *next = memory_new((size_t)size + 1, sizeof *next);
    route->from = memory_raw((size_t)route->out_offsets[size] + 1, sizeof *route->from);
    route->into = memory_raw((size_t)route->in_offsets[size] + 1, sizeof *route->into);
    if (!next || !route->from || !route->into) {
        free(next);
        return error_memory(error);
    }
    memcpy(next, route->out_offsets, (size_t)size * sizeof *next);
    for (size_t c = 0; c < route->table->n_chunks; c++) {
        const struct chunk *chunk = route->table->chunks[c];
        for (int64_t i = 0; i < chunk->n; i++) {
            const int32_t user = chunk->user_map[chunk->users[i]];
            route->from[next[rank_of(route, user)]++] = (struct sent_record){
                .user = user,
                .item = chunk->item_map[chunk->items[i]],
                .value = chunk->values ? chunk->values[i] : 0,
                .weight = chunk->weights ? chunk->weights[i] : 0,
                .time = chunk_has_times(chunk) ? chunk_time(chunk, i) : 0,
                .is_void = chunk->voids && chunk->voids[i],
                .line = chunk->first_line + (chunk->lines_of ? (int64_t)chunk->lines_of[i] : i)};
        }
    }
    free(next);
    return 0;
}

/* One file's records of one rank; codes are indices plus 1, so that 0 is "in no catalogue". */
static struct chunk *chunk_of(const struct route *route, int64_t file, int source,
                              const struct sent_record *records, int64_t n)
{
    const struct sent_count *has = &route->in[source * route->files + file];
    struct chunk *chunk = memory_new(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->n = n;
    chunk->path = route->table->paths[file];
    chunk->first_line = n > 0 ? records[0].line : 1;
    chunk->users = memory_raw((size_t)n + 1, sizeof *chunk->users);
    chunk->items = memory_raw((size_t)n + 1, sizeof *chunk->items);
    chunk->lines_of = memory_raw((size_t)n + 1, sizeof *chunk->lines_of);
    chunk->values = has->values ? memory_raw((size_t)n + 1, sizeof *chunk->values) : NULL;
    chunk->times = has->times ? memory_raw((size_t)n + 1, sizeof *chunk->times) : NULL;
    chunk->weights = has->weights ? memory_raw((size_t)n + 1, sizeof *chunk->weights) : NULL;
    chunk->voids = route->table->keeps_voids ? memory_raw((size_t)n + 1, sizeof *chunk->voids) : NULL;
    if (!chunk->users || !chunk->items || !chunk->lines_of || (has->values && !chunk->values) ||
        (has->times && !chunk->times) || (has->weights && !chunk->weights) ||
        (route->table->keeps_voids && !chunk->voids)) {
        chunk_free(chunk);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        chunk->users[i] = records[i].user + 1;
        chunk->items[i] = records[i].item + 1;
        chunk->lines_of[i] = (uint32_t)(records[i].line - chunk->first_line);
        if (has->values)
            chunk->values[i] = records[i].value;
        if (has->times)
            chunk->times[i] = records[i].time;
        if (has->weights)
            chunk->weights[i] = records[i].weight;
        if (chunk->voids)
            chunk->voids[i] = (uint8_t)records[i].is_void;
    }
    return chunk;
}

static int32_t *counting(int64_t n)
{
    int32_t *map = memory_raw((size_t)n + 1, sizeof *map);
    for (int64_t i = 0; map && i <= n; i++)
        map[i] = (int32_t)(i - 1);
    return map;
}

/* The table's own chunks go; those of what has come stand in the order of files, and then of ranks. */
static int take_in(struct route *route, struct table *table, struct dpf_error *error)
{
    const int size = ranks_size();
    const int64_t n_chunks = route->files * size;
    struct chunk **chunks = memory_new((size_t)n_chunks + 1, sizeof(struct chunk *));
    struct slot *slot = memory_new(1, sizeof *slot);
    int64_t *next = memory_new((size_t)size + 1, sizeof *next);
    int status = chunks && slot && next ? 0 : error_memory(error);
    if (status == 0) {
        slot->user_map = counting(slot->n_users = route->dataset->users.n);
        slot->item_map = counting(slot->n_items = route->dataset->items.n);
        status = slot->user_map && slot->item_map ? 0 : error_memory(error);
        memcpy(next, route->in_offsets, (size_t)size * sizeof *next);
    }
    for (int64_t k = 0; k < n_chunks && status == 0; k++) {
        const int source = (int)(k % size);
        const int64_t file = k / size, n = route->in[source * route->files + file].records;
        chunks[k] = chunk_of(route, file, source, route->into + next[source], n);
        next[source] += n;
        status = chunks[k] ? 0 : error_memory(error);
    }
    free(next);
    table_replace(table, chunks, status == 0 ? (size_t)n_chunks : 0, slot, route->in_offsets[size]);
    return status;
}

int spread_records(struct table *table, const struct dataset *dataset, struct dpf_error *error)
{
    struct route route;
    int status = route_open(&route, table, dataset) == 0 ? 0 : error_memory(error);
    if (status == 0) {
        count_out(&route);
        status = swap_counts(&route, error);
    }
    if (status == 0)
        status = fill_out(&route, error);
    if (status == 0)
        status = ranks_exchange(sizeof *route.from, route.from, route.out_offsets, route.into,
                                route.in_offsets, error);
    free(route.from);
    route.from = NULL;
    if (status == 0)
        status = take_in(&route, table, error);
    route_close(&route);
    return status;
}
