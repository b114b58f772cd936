/* SPDX-License-Identifier: Apache-2.0 */
#include "data/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/prf.h"
#include "reading/data_params.h"
#include "reading/table.h"

static const char *const side_names[2] = {"user", "item"};

/* ---- options ------------------------------------------------------------------------------------- */

static int read_groups(const struct config_values *data, int side, struct weight_groups *out,
                       struct dpf_error *error)
{
    static const int keys[2][2] = {{D_WEIGHTS_USER_SHARES, D_WEIGHTS_USER_LEVELS},
                                   {D_WEIGHTS_ITEM_SHARES, D_WEIGHTS_ITEM_LEVELS}};
    const dpf_value *shares = &data->params.values[keys[side][0]];
    const dpf_value *levels = &data->params.values[keys[side][1]];
    *out = (struct weight_groups){shares->reals, levels->reals, levels->count};
    double sum = 0;
    for (int64_t g = 0; g < shares->count; g++)
        sum += shares->reals[g];
    if (levels->count < 1 || levels->count > WEIGHTS_MAX_GROUPS || shares->count != levels->count - 1)
        return config_value_error(
            data, data->table[keys[side][0]].name, error,
            "%lld shares for %lld levels: give 1 to %d levels, and a share for each level "
            "except the last, which gets the rest",
            (long long)shares->count, (long long)levels->count, WEIGHTS_MAX_GROUPS);
    if (sum > 1 + 1e-9)
        return config_value_error(data, data->table[keys[side][0]].name, error,
                                  "the shares add up to %g, more than 1", sum);
    for (int64_t g = 1; g < levels->count; g++)
        if (levels->reals[g] < levels->reals[g - 1])
            return config_value_error(data, data->table[keys[side][1]].name, error,
                                      "levels must not decrease: %g follows %g", levels->reals[g],
                                      levels->reals[g - 1]);
    return 0;
}

int weights_read(const struct config_values *data, int column_weight, struct weights_options *out,
                 struct dpf_error *error)
{
    const dpf_value *v = data->params.values;
    out->kind = (enum weights_kind)v[D_WEIGHTS_KIND].integer;
    out->paths[0] = v[D_WEIGHTS_USERS].text ? v[D_WEIGHTS_USERS].text : "";
    out->paths[1] = v[D_WEIGHTS_ITEMS].text ? v[D_WEIGHTS_ITEMS].text : "";
    out->sensitive_share = v[D_WEIGHTS_SENSITIVE_SHARE].real;
    out->sensitive_weight = v[D_WEIGHTS_SENSITIVE_WEIGHT].real;
    if (out->kind != WEIGHTS_NONE && column_weight)
        return config_value_error(
            data, "weights.kind", error,
            "the ratings have a column of privacy weights (column.privacy-weight) already: "
            "remove one of the two");
    if (out->kind == WEIGHTS_FILES && !out->paths[0][0] && !out->paths[1][0])
        return config_value_error(data, "weights.kind", error,
                                  "files needs data.weights.users, data.weights.items, or both");
    for (int side = 0; side < 2 && out->kind == WEIGHTS_GROUPS; side++)
        if (read_groups(data, side, &out->groups[side], error) != 0)
            return -1;
    return 0;
}

/* Expected: of a uniform draw in [levels[g], levels[g+1]), the last group fixed, a row in group g with
   probability shares[g]. */
static double mean_level(const struct weight_groups *groups)
{
    double mean = 0, rest = 1;
    for (int64_t g = 0; g + 1 < groups->n; g++) {
        mean += groups->shares[g] * (groups->levels[g] + groups->levels[g + 1]) / 2;
        rest -= groups->shares[g];
    }
    return mean + rest * groups->levels[groups->n - 1];
}

void data_weight_range(const struct config_values *data, struct data_weight_range *out)
{
    const dpf_value *v = data->params.values;
    *out = (struct data_weight_range){1, 1, 1};
    switch (v[D_WEIGHTS_KIND].integer) {
    case WEIGHTS_GROUPS: {
        struct weight_groups users = {v[D_WEIGHTS_USER_SHARES].reals, v[D_WEIGHTS_USER_LEVELS].reals,
                                      v[D_WEIGHTS_USER_LEVELS].count};
        struct weight_groups items = {v[D_WEIGHTS_ITEM_SHARES].reals, v[D_WEIGHTS_ITEM_LEVELS].reals,
                                      v[D_WEIGHTS_ITEM_LEVELS].count};
        out->lo = users.levels[0] * items.levels[0];
        out->hi = users.levels[users.n - 1] * items.levels[items.n - 1];
        out->mean = mean_level(&users) * mean_level(&items);
        break;
    }
    case WEIGHTS_SENSITIVE:
        out->lo = v[D_WEIGHTS_SENSITIVE_WEIGHT].real;
        out->mean = 1 - v[D_WEIGHTS_SENSITIVE_SHARE].real * (1 - out->lo);
        break;
    case WEIGHTS_FILES:
        *out = (struct data_weight_range){0, 1, (double)NAN};
        break;
    default:
        if (v[D_COLUMN_WEIGHT].text && strcmp(v[D_COLUMN_WEIGHT].text, "none") != 0)
            *out = (struct data_weight_range){0, (double)INFINITY, (double)NAN};
    }
}

/* ---- by groups ----------------------------------------------------------------------------------- */

/* A row's draw says both which group it is in and where between that group's levels its weight lies. */
static void draw_side(const struct weight_groups *groups, const struct prf *draw, const struct id_map *ids,
                      float *weights, uint8_t *of)
{
    for (int64_t row = 0; row < ids->n; row++) {
        const double u = prf_unit(prf_value(draw, id_map_text(ids, row)));
        double begin = 0;
        int64_t g = 0;
        while (g + 1 < groups->n && u >= begin + groups->shares[g])
            begin += groups->shares[g++];
        const int last = g + 1 == groups->n;
        const double low = groups->levels[g], high = last ? low : groups->levels[g + 1];
        weights[row] = (float)(last ? low : low + (high - low) * (u - begin) / groups->shares[g]);
        of[row] = (uint8_t)g;
    }
}

static int reserve_sides(struct dataset *dataset, int groups)
{
    struct privacy_weights *w = &dataset->weights;
    w->users = memory_raw((size_t)dataset->users.n + 1, sizeof *w->users);
    w->items = memory_raw((size_t)dataset->items.n + 1, sizeof *w->items);
    if (groups) {
        w->user_groups = memory_new((size_t)dataset->users.n + 1, 1);
        w->item_groups = memory_new((size_t)dataset->items.n + 1, 1);
    }
    return w->users && w->items && (!groups || (w->user_groups && w->item_groups)) ? 0 : -1;
}

static int draw_groups(const struct weights_options *options, const struct random_root *root,
                       struct dataset *dataset, struct dpf_error *error)
{
    struct privacy_weights *w = &dataset->weights;
    struct prf users, items;
    if (reserve_sides(dataset, 1) != 0)
        return error_memory(error);
    prf_open(root, "data", "weights of users", &users);
    prf_open(root, "data", "weights of items", &items);
    draw_side(&options->groups[0], &users, &dataset->users, w->users, w->user_groups);
    draw_side(&options->groups[1], &items, &dataset->items, w->items, w->item_groups);
    return 0;
}

/* ---- from files ---------------------------------------------------------------------------------- */

static int take_chunk(const struct chunk *chunk, float *weights, struct dpf_error *error)
{
    for (int64_t i = 0; i < chunk->n; i++) {
        float weight = chunk->values[i];
        int32_t row = chunk->user_map[chunk->users[i]];
        int64_t line = chunk->first_line + (chunk->lines_of ? (int64_t)chunk->lines_of[i] : i);
        if (!(weight > 0 && weight <= 1))
            return error_at(error, DPF_FAULT_DATA, chunk->path, (long)line,
                            "a privacy weight is %g; it must be above 0 and at most 1", (double)weight);
        if (row >= 0)
            weights[row] = weight;
    }
    return 0;
}

/* Of an id that nobody has given one, where that stops nothing: next to no budget is spent. */
#define LEAST_WEIGHT 0x1p-20f

/* Lines "id weight". Whatever has ratings must have one: nobody's budget is guessed. */
static int read_side(const struct weights_options *options, int side, const struct id_map *map,
                     struct pool *pool, float *weights, struct violations *violations,
                     struct dpf_error *error)
{
    struct table table = {0};
    struct ids ids = {0};
    int32_t *index = NULL;
    const char *path = options->paths[side];
    for (int64_t r = 0; r < map->n; r++)
        weights[r] = path[0] ? 0.0f : 1.0f;
    if (!path[0])
        return 0;
    int status = table_read(&table, path, &options->file, NULL, &ids, &ids, NULL, pool, error);
    if (status == 0 && !(index = ids_match(&ids, map)) /* ids without ratings need no weight */)
        status = error_memory(error);
    if (status == 0)
        table_finish_ids(&table, index, index);
    for (size_t c = 0; c < table.n_chunks && status == 0; c++)
        status = take_chunk(table.chunks[c], weights, error);
    for (int64_t r = 0; r < map->n && status == 0; r++)
        if (!(weights[r] > 0)) {
            error_set(error, DPF_FAULT_DATA,
                      "%s: %s %s has ratings but no privacy weight; add a line for it (1 is the full budget)",
                      path, side_names[side], id_map_text(map, r));
            violations_add(violations, 0, 0, error);
            weights[r] = LEAST_WEIGHT;
        }
    free(index);
    ids_free(&ids);
    table_free(&table);
    return status;
}

int weights_load(const struct data_options *options, struct pool *pool, struct dataset *dataset,
                 struct dpf_error *error)
{
    const struct weights_options *o = &options->weights;
    if (o->kind != WEIGHTS_FILES)
        return 0;
    if (reserve_sides(dataset, 0) != 0)
        return error_memory(error);
    if (read_side(o, 0, &dataset->users, pool, dataset->weights.users, &dataset->violations, error) != 0)
        return -1;
    return read_side(o, 1, &dataset->items, pool, dataset->weights.items, &dataset->violations, error);
}

/* ---- records ------------------------------------------------------------------------------------- */

/* Weights of a user's records: products, or the sensitive weight by each record's own draw. */
static void fill_user(const struct weights_options *options, const struct prf *draw,
                      const struct dataset *dataset, int64_t user, struct csr *csr)
{
    const struct privacy_weights *w = &dataset->weights;
    struct prf own;
    if (!w->users)
        prf_within(draw, id_map_text(&dataset->users, user), &own);
    for (int64_t k = csr->ptr[user]; k < csr->ptr[user + 1]; k++) {
        const int32_t item = csr->others[k];
        if (w->users)
            csr->privacy_weights[k] = w->users[user] * w->items[item];
        else
            csr->privacy_weights[k] =
                prf_unit(prf_value(&own, id_map_text(&dataset->items, item))) < options->sensitive_share
                    ? (float)options->sensitive_weight
                    : 1.0f;
    }
}

static int fill_records(const struct weights_options *options, const struct prf *draw,
                        const struct dataset *dataset, struct csr *csr, struct dpf_error *error)
{
    if (!csr->ptr)
        return 0;
    csr->privacy_weights = memory_raw((size_t)csr->ptr[csr->rows] + 1, sizeof *csr->privacy_weights);
    if (!csr->privacy_weights)
        return error_memory(error);
    for (int64_t r = 0; r < csr->rows; r++)
        fill_user(options, draw, dataset, r, csr);
    return 0;
}

int weights_assign(const struct data_options *options, const struct random_root *seeded,
                   struct dataset *dataset, struct dpf_error *error)
{
    const struct weights_options *o = &options->weights;
    if (o->kind == WEIGHTS_NONE)
        return 0;
    struct prf sensitive;
    prf_open(seeded, "data", "sensitive records", &sensitive);
    int status = 0;
    if (o->kind == WEIGHTS_GROUPS)
        status = draw_groups(o, seeded, dataset, error);
    if (status == 0)
        status = fill_records(o, &sensitive, dataset, &dataset->train.by_user, error);
    if (status == 0)
        status = fill_records(o, &sensitive, dataset, &dataset->test.by_user, error);
    return status;
}
