/* SPDX-License-Identifier: Apache-2.0 */
/* step_records.c - records of a step, as losses read them, with the weights that samplers draw. */
#include "engine/step.h"

#include <math.h>
#include <string.h>

const struct csr *step_records(const struct engine *engine, const struct term_run *term, int64_t holder)
{
    if (term->plan->source == SOURCE_RELATION)
        return &engine->dataset->relation.links;
    int users = term->plan->side == DPF_SIDE_USERS;
    if (holder == HOLDER_HERE && engine->here_by_item.ptr)
        return &engine->here_by_item;
    if (holder < 0)
        return users ? &engine->dataset->train.by_user : &engine->dataset->train.by_item;
    const struct party *party = &engine->parties.list[holder];
    return users ? &party->by_user : &party->by_item;
}

static const float *record_values(const struct engine *engine, const struct term_run *term, int64_t holder,
                                  const struct csr *csr)
{
    if (!term->values)
        return csr->values;
    return term->values[holder < 0 ? engine->parties.n : holder];
}

/* Users and items of the records of rows first .. first+count-1. */
static int32_t *record_pairs(struct engine *engine, int orientation, const struct csr *csr, int64_t first,
                             int64_t count, int worker)
{
    int64_t base = csr->ptr[first], n = csr->ptr[first + count] - base;
    int32_t *pairs = step_buffer(engine, worker, BUFFER_PAIRS, (size_t)(2 * n + 1), sizeof *pairs);
    if (!pairs)
        return NULL;
    int32_t *own = orientation == DPF_SIDE_USERS ? pairs : pairs + n;
    int32_t *others = orientation == DPF_SIDE_USERS ? pairs + n : pairs;
    for (int64_t r = first; r < first + count; r++)
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++)
            own[i - base] = (int32_t)r;
    memcpy(others, csr->others + base, (size_t)n * sizeof *others);
    return pairs;
}

dpf_factors step_rows_in_use(const struct engine *engine, int side)
{
    dpf_factors factors = model_factors(engine->model, side);
    if (engine->rows[side])
        factors.data = engine->rows[side];
    return factors;
}

int step_check_weights(struct engine *engine, const struct term_run *term, float *weights, int64_t n,
                       int worker)
{
    double most = term->plan->sampling.weight_max * (1 + 1e-6);
    for (int64_t i = 0; i < n; i++)
        if (!(weights[i] >= 0 && (double)weights[i] <= most)) {
            char name[64];
            error_set(&engine->errors[worker], DPF_FAULT_PLUGIN,
                      "%s: sampler %s gave a record the weight %g, but states that weights lie in [0, %g]",
                      step_name(engine, term->plan->side, name), term->plan->sampler->entry->component->id,
                      (double)weights[i], term->plan->sampling.weight_max);
            engine->forgivable[worker] = 1;
            weights[i] = 0;
            if (!step_note(engine, worker, i))
                return -1;
        }
    return 0;
}

/* The draws of n records, one by one if that fails: a record that cannot be drawn does not take part. */
static int draw_weights(struct engine *engine, struct term_run *term, const dpf_draw *draw, int worker,
                        float *weights)
{
    struct instance *instance = term->plan->sampler;
    dpf_call *call = step_call(engine, worker, instance, term->sample, 0);
    if (step_result(engine, worker, instance, noise_draw(engine, term, call, draw, weights),
                    term->plan->side) == 0)
        return 0;
    if (draw->n == 1) {
        *weights = 0;
        return step_note(engine, worker, draw->users[0]) ? 0 : -1;
    }
    if (!step_forgive(engine, worker))
        return -1;
    for (int64_t i = 0; i < draw->n; i++) {
        dpf_draw one = *draw;
        one.n = 1;
        one.users += i;
        one.items += i;
        one.values = draw->values ? draw->values + i : NULL;
        one.privacy_weights = draw->privacy_weights ? draw->privacy_weights + i : NULL;
        if (draw_weights(engine, term, &one, worker, weights + i) != 0)
            return -1;
    }
    return 0;
}

int step_draw_records(struct engine *engine, struct term_run *term, int orientation, const struct csr *csr,
                      const float *values, int64_t first, int64_t count, int worker, float *weights)
{
    int64_t base = csr->ptr[first], n = csr->ptr[first + count] - base;
    int32_t *pairs = record_pairs(engine, orientation, csr, first, count, worker);
    if (!pairs)
        return -1;
    dpf_factors users = step_rows_in_use(engine, DPF_SIDE_USERS);
    dpf_factors items = step_rows_in_use(engine, DPF_SIDE_ITEMS);
    dpf_draw draw = {.size = sizeof draw,
                     .level = DPF_LEVEL_RECORD,
                     .n = n,
                     .first = csr->origin + base,
                     .users = pairs,
                     .items = pairs + n,
                     .values = values ? values + base : NULL,
                     .privacy_weights = csr->privacy_weights ? csr->privacy_weights + base : NULL,
                     .user_factors = &users,
                     .item_factors = &items,
                     .other_l1 = term->mechanism ? term->other_l1 : INFINITY};
    if (draw_weights(engine, term, &draw, worker, weights) != 0)
        return -1;
    return step_check_weights(engine, term, weights, n, worker);
}

/* Weights of users drawn as parties, spread over the records. */
static void spread_weights(const struct term_run *term, const struct csr *csr, int64_t first, int64_t count,
                           float *weights)
{
    int64_t base = csr->ptr[first];
    for (int64_t r = first; r < first + count; r++)
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++) {
            int64_t user = term->plan->side == DPF_SIDE_USERS ? r : csr->others[i];
            weights[i - base] = term->party_weights[user];
        }
}

int step_has_voids(const struct csr *csr, int64_t base, int64_t n)
{
    return csr->voids && n > 0 && memchr(csr->voids + base, 1, (size_t)n) != NULL;
}

void step_void_weights(const struct csr *csr, int64_t base, int64_t n, float *weights)
{
    for (int64_t i = 0; i < n; i++)
        if (csr->voids[base + i])
            weights[i] = 0;
}

int step_groups(struct engine *engine, struct term_run *term, int64_t holder, int64_t first, int64_t count,
                int worker, dpf_groups *groups)
{
    const struct csr *csr = step_records(engine, term, holder);
    const float *values = record_values(engine, term, holder, csr);
    int64_t base = csr->ptr[first], n = csr->ptr[first + count] - base;
    int32_t *rows = step_buffer(engine, worker, BUFFER_ROWS, (size_t)count + 1, sizeof *rows);
    int64_t *offsets = step_buffer(engine, worker, BUFFER_OFFSETS, (size_t)count + 1, sizeof *offsets);
    if (!rows || !offsets)
        return -1;
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)(first + i);
    for (int64_t i = 0; i <= count; i++)
        offsets[i] = csr->ptr[first + i] - base;
    float *weights = NULL;
    int by_record = term->sampler && term->sampler->level == DPF_LEVEL_RECORD;
    const int voids = step_has_voids(csr, base, n);
    if (by_record || term->party_weights || voids) {
        weights = step_buffer(engine, worker, BUFFER_WEIGHTS, (size_t)n + 1, sizeof *weights);
        if (!weights)
            return -1;
        if (by_record && step_draw_records(engine, term, term->plan->side, csr, values, first, count, worker,
                                           weights) != 0)
            return -1;
        if (!by_record && term->party_weights)
            spread_weights(term, csr, first, count, weights);
        for (int64_t i = 0; i < n && !by_record && !term->party_weights; i++)
            weights[i] = 1;
        if (voids)
            step_void_weights(csr, base, n, weights);
    }
    *groups = (dpf_groups){.size = sizeof *groups,
                           .side = term->plan->side,
                           .self = &term->self,
                           .other = &term->other,
                           .n_groups = count,
                           .rows = rows,
                           .offsets = offsets,
                           .others = csr->others + base,
                           .values = values ? values + base : NULL,
                           .weights = weights,
                           .offset = engine->model->offset,
                           .party_row = -1,
                           .residual = &term->residual,
                           .self_features = step_features(engine, term->plan->side),
                           .other_features = step_features(engine, term->plan->source == SOURCE_RELATION
                                                                       ? term->plan->side
                                                                       : 1 - term->plan->side)};
    return 0;
}
