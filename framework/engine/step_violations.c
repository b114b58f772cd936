/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [privacy] on-violation = zero: what a party does whose own records break a rule.
 *
 * If one unit's data could stop a run, its completion would tell others about that unit. So a fault in a
 * callback that worked on one party's records alone stops nothing:
 *   a message       is made again with zeros in place of the query, and encoded with its full noise, so that
 *                   the party is a survivor like any other. Zero lies within every bound that a message has;
 *   a record in a sum that one holder makes of many users (a curator, a silo) contributes nothing; the other
 *                   records of the holder do, since they belong to others;
 *   a row that stays with its party returns to its initial value.
 * Each is a function of the party's own records and of earlier releases. A second attempt reads the same
 * noise as the first would have, as draws are read at party and row. Lack of memory and interruption stop the
 * run as ever: they are not part of the model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/step.h"

int step_forgive(struct engine *engine, int worker)
{
    if (!engine->tolerant || !engine->forgivable[worker])
        return 0;
    engine->forgivable[worker] = 0;
    engine->errors[worker] = (struct dpf_error){0};
    return 1;
}

int step_note(struct engine *engine, int worker, int64_t row)
{
    if (!engine->tolerant || !engine->forgivable[worker])
        return 0;
    engine->forgivable[worker] = 0;
    violations_add(&engine->violations[worker], engine->round, row, &engine->errors[worker]);
    return 1;
}

void step_reset_later(struct engine *engine, int side, int64_t row)
{
    if (engine->reset[side])
        engine->reset[side][row] = 1;
    __atomic_store_n(&engine->any_reset, 1, __ATOMIC_RELAXED);
}

int step_reset_rows(struct engine *engine, struct dpf_error *error)
{
    if (!engine->any_reset)
        return 0;
    engine->any_reset = 0;
    for (int side = 0; side < 2; side++) {
        struct side_factors *factors = &engine->model->sides[side];
        const int64_t width = engine->plan->sides[side].state_width;
        for (int64_t r = 0; engine->reset[side] && r < factors->rows; r++) {
            if (!engine->reset[side][r])
                continue;
            engine->reset[side][r] = 0;
            const int64_t at = r * engine->model->stride;
            if (model_initial_row(engine->model, engine->dataset, side, r, factors->data + at, error) != 0)
                return -1;
            if (engine->next[side])
                memcpy(engine->next[side] + at, factors->data + at,
                       (size_t)engine->model->stride * sizeof(float));
            if (factors->solver_state)
                memset(factors->solver_state + r * width, 0, (size_t)width * sizeof(float));
        }
    }
    return 0;
}

int step_open_violations(struct engine *engine, struct dpf_error *error)
{
    engine->tolerant = engine->plan->guarantee.zero_violations;
    engine->forgivable = memory_need((size_t)engine->n_workers, sizeof *engine->forgivable);
    engine->violations = memory_need((size_t)engine->n_workers, sizeof *engine->violations);
    for (int side = 0; side < 2 && engine->tolerant; side++) {
        const struct side_plan *plan = &engine->plan->sides[side];
        if (!plan->updated || plan->public_rows)
            continue; /* rows that follow from releases stay what these made them */
        engine->reset[side] = memory_new((size_t)engine->model->sides[side].rows + 1, 1);
        if (!engine->reset[side])
            return error_memory(error);
    }
    return 0;
}

int step_close_violations(struct engine *engine, struct violations *into, int status, struct dpf_error *error)
{
    struct violations all = {0};
    if (engine->violations)
        violations_merge(&all, engine->violations, engine->n_workers);
    if (status == 0)
        status = violations_gather(&all, error);
    engine->stats->violations = all.n;
    if (into)
        violations_join(into, &all);
    violations_free(&all);
    free(engine->violations);
    free(engine->forgivable);
    free(engine->reset[0]);
    free(engine->reset[1]);
    return status;
}

/* ---- rows that stay with their parties ------------------------------------------------------------------
 */

/* Where the side's new rows are written. */
static float *written_rows(struct engine *engine, int side)
{
    return engine->next[side] ? engine->next[side] : engine->model->sides[side].data;
}

struct saved_rows {
    float *rows, *state;
    int64_t first;
};

static int save_rows(struct engine *engine, int worker, int side, int64_t first, int64_t count,
                     struct saved_rows *saved)
{
    const int64_t stride = engine->model->stride, width = engine->plan->sides[side].state_width;
    const float *state = engine->model->sides[side].solver_state;
    saved->first = first;
    saved->rows = step_buffer(engine, worker, BUFFER_SAVED, (size_t)(count * (stride + width)) + 1,
                              sizeof *saved->rows);
    if (!saved->rows)
        return -1;
    saved->state = saved->rows + count * stride;
    memcpy(saved->rows, written_rows(engine, side) + first * stride,
           (size_t)(count * stride) * sizeof *saved->rows);
    if (state)
        memcpy(saved->state, state + first * width, (size_t)(count * width) * sizeof *saved->state);
    return 0;
}

static void restore_rows(struct engine *engine, int side, int64_t first, int64_t count,
                         const struct saved_rows *saved)
{
    const int64_t stride = engine->model->stride, width = engine->plan->sides[side].state_width;
    const int64_t at = first - saved->first;
    float *state = engine->model->sides[side].solver_state;
    memcpy(written_rows(engine, side) + first * stride, saved->rows + at * stride,
           (size_t)(count * stride) * sizeof *saved->rows);
    if (state)
        memcpy(state + first * width, saved->state + at * width,
               (size_t)(count * width) * sizeof *saved->state);
}

int step_row_by_row(struct engine *engine, int worker, int side, int64_t first, int64_t count,
                    int (*solve)(void *context, int64_t first, int64_t count, int worker), void *context)
{
    struct saved_rows saved;
    if (!engine->reset[side])
        return solve(context, first, count, worker);
    if (save_rows(engine, worker, side, first, count, &saved) != 0)
        return -1;
    if (solve(context, first, count, worker) == 0)
        return 0;
    if (!step_forgive(engine, worker))
        return -1;
    restore_rows(engine, side, first, count, &saved);
    for (int64_t r = first; r < first + count; r++) {
        if (solve(context, r, 1, worker) == 0)
            continue;
        if (!step_note(engine, worker, r))
            return -1;
        restore_rows(engine, side, r, 1, &saved); /* until the step is over: others may read it */
        step_reset_later(engine, side, r);
    }
    return 0;
}

/* ---- sums over records ----------------------------------------------------------------------------------
 */

static int accumulate(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                      const dpf_groups *groups, const double *grid, double *out)
{
    struct instance *loss = term->plan->loss;
    const dpf_query *query = &term->plan->query;
    dpf_call *call = step_call(engine, worker, loss, (uint32_t)engine->round, party);
    const dpf_status status =
        term->loss->accumulate(loss->self, call, query, groups, grid, out, query->width);
    return step_result(engine, worker, loss, status, term->plan->side);
}

/* One group's records that can be summed by themselves, copied together. */
struct sound_records {
    int32_t *others;
    float *values, *weights;
    int64_t offsets[2];
};

static int open_sound(struct sound_records *sound, const dpf_groups *group, int64_t n)
{
    sound->others = memory_raw((size_t)n + 1, sizeof *sound->others);
    sound->values = group->values ? memory_raw((size_t)n + 1, sizeof *sound->values) : NULL;
    sound->weights = group->weights ? memory_raw((size_t)n + 1, sizeof *sound->weights) : NULL;
    return !sound->others || (group->values && !sound->values) || (group->weights && !sound->weights);
}

static void take_record(struct sound_records *sound, const dpf_groups *group, int64_t i)
{
    const int64_t at = sound->offsets[1]++;
    sound->others[at] = group->others[i];
    if (sound->values)
        sound->values[at] = group->values[i];
    if (sound->weights)
        sound->weights[at] = group->weights[i];
}

/*
 * Each record can be summed by itself, and all together cannot. Where they are one user's, the row becomes
 * zero, as that user's own records say. Where they are many users', zeros would take everybody's records away
 * because of one's, which no sensitivity counts, so the run stops. With bounds that are public (C1) sums
 * cannot overflow: the loss then makes of one record what depends on another.
 */
static int refuse_rest(struct engine *engine, int worker, const struct term_run *term, int64_t row,
                       double *out)
{
    if (term->plan->by_user) {
        memset(out, 0, (size_t)term->plan->query.width * sizeof *out);
        return step_note(engine, worker, row) ? 0 : -1;
    }
    if (!step_forgive(engine, worker))
        return -1;
    return error_set(
        &engine->errors[worker], DPF_FAULT_PLUGIN,
        "[%s] loss %s: records that it sums one by one cannot be summed together. Bound them "
        "(clip-error, clip-rows, a radius of the solver); if they are bounded, what the loss makes of "
        "one record depends on the others",
        term->plan->name, term->plan->loss->entry->component->id);
}

/* A group in which some record is at fault: the sum of the others. */
static int accumulate_sound(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                            const dpf_groups *group, const double *grid, double *out)
{
    struct sound_records sound = {0};
    const int64_t begin = group->offsets[0], end = group->offsets[1];
    int status = open_sound(&sound, group, end - begin) ? error_memory(&engine->errors[worker]) : 0;
    for (int64_t i = begin; i < end && status == 0; i++) {
        const int64_t alone[2] = {i, i + 1};
        dpf_groups one = *group;
        one.offsets = alone;
        if (accumulate(engine, worker, term, party, &one, grid, out) == 0)
            take_record(&sound, group, i);
        else if (!step_note(engine, worker, group->rows[0]))
            status = -1;
    }
    dpf_groups rest = *group;
    rest.offsets = sound.offsets;
    rest.others = sound.others;
    rest.values = sound.values;
    rest.weights = sound.weights;
    if (status == 0 && accumulate(engine, worker, term, party, &rest, grid, out) != 0)
        status = refuse_rest(engine, worker, term, group->rows[0], out);
    free(sound.others);
    free(sound.values);
    free(sound.weights);
    return status;
}

int step_accumulate(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                    const dpf_groups *groups, const double *grid, double *out)
{
    if (accumulate(engine, worker, term, party, groups, grid, out) == 0)
        return 0;
    if (!step_forgive(engine, worker))
        return -1;
    for (int64_t g = 0; g < groups->n_groups; g++) {
        dpf_groups one = *groups;
        double *row = out + g * term->plan->query.width;
        one.n_groups = 1;
        one.rows += g;
        one.offsets += g;
        if (accumulate(engine, worker, term, party, &one, grid, row) == 0)
            continue;
        if (!step_forgive(engine, worker) ||
            accumulate_sound(engine, worker, term, party, &one, grid, row) != 0)
            return -1;
    }
    return 0;
}
