/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_by_record.c - stochastic gradient descent by record: a solver that steps after each record (DPF_SOLVER_BY_RECORD).
 *
 * A row's records come one after another. Each is a query of its own at the row as it stands, encoded and decoded as the
 * message of its user where the side has a mechanism, and the solver steps before the next one. Rows of a side do not read
 * each other, so they run in parallel, and the result does not depend on how.
 *
 * Order. A record's place among the others follows from a number of its own, a pseudorandom function of the seed, both ids
 * and the round: who else has records changes nobody's number (C11).
 *
 * Privacy. A record is in one message of a round, as with any other solver, and the loss's sensitivity of a record is that of
 * this message, since nothing that is stated depends on the row at which the gradient is taken. Later messages of the
 * same row read what earlier ones made of it: adaptive composition, which all accountants allow for. So the events of the
 * ledger are those of a step on sums. What differs is what is seen: each message alone, never a sum, and how many steps
 * a row has made. Noise in shares is a share in each message then (condition C5), and degrees show (C8).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/prf.h"
#include "base/ranks.h"
#include "engine/noise_variance.h"
#include "engine/step.h"

struct place {
    uint64_t key;
    int64_t record;
};

struct record_work {
    struct engine *engine;
    struct side_plan *side;
    struct term_run *term;
    int64_t n_rows;
    int64_t batch;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key ? 1 : -1) : (x->record > y->record) - (x->record < y->record);
}

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* A number for each id of a side, for the run. */
static int make_keys(struct engine *engine, int side, struct dpf_error *error)
{
    const struct id_map *ids = side == DPF_SIDE_USERS ? &engine->dataset->users : &engine->dataset->items;
    struct prf function;
    if (engine->order_keys[side])
        return 0;
    engine->order_keys[side] = memory_raw((size_t)ids->n + 1, sizeof *engine->order_keys[side]);
    if (!engine->order_keys[side])
        return error_memory(error);
    prf_open(engine->plan->seeded, "training", side == DPF_SIDE_USERS ? "order of users" : "order of items",
             &function);
    for (int64_t i = 0; i < ids->n; i++)
        engine->order_keys[side][i] = prf_value(&function, id_map_text(ids, i));
    return 0;
}

static struct place *order_records(const struct record_work *work, const dpf_groups *row, int worker)
{
    struct engine *engine = work->engine;
    const int side = work->side->side;
    const int64_t n = row->offsets[1];
    struct place *places = step_buffer(engine, worker, BUFFER_SUMS, (size_t)n + 1, sizeof *places);
    const uint64_t own = mixed(engine->order_keys[side][row->rows[0]] ^ (uint64_t)engine->round);
    for (int64_t i = 0; places && i < n; i++)
        places[i] = (struct place){mixed(own ^ engine->order_keys[1 - side][row->others[i]]), i};
    if (places)
        qsort(places, (size_t)n, sizeof *places, compare_places);
    return places;
}

/* One record's query, as its user's message if there is a mechanism, decoded. */
static int query_record(const struct record_work *work, const dpf_groups *one, int64_t degree, int worker,
                        float *blocks)
{
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    const dpf_query *query = &term->plan->query;
    if (!term->mechanism)
        return step_accumulate_local(engine, worker, term, one, blocks, step_stride(query->width));
    const int64_t row = one->rows[0], user = term->plan->side == DPF_SIDE_ITEMS ? one->others[0] : row;
    const int32_t contributors = (int32_t)degree;
    double *wide = step_buffer(engine, worker, BUFFER_WIDE, (size_t)query->width + 1, sizeof *wide);
    int64_t *integers =
        step_buffer(engine, worker, BUFFER_INTEGERS, (size_t)query->width + 1, sizeof *integers);
    if (!wide || !integers ||
        step_accumulate(engine, worker, term, (uint32_t)user, one, term->noise.grid, wide) != 0)
        return -1;
    dpf_encoded message = {.size = sizeof message,
                           .width = query->width,
                           .n_rows = 1,
                           .first_row = row,
                           .total_rows = term->rows,
                           .values = integers,
                           .stride = query->width,
                           .survivors = 1,
                           .contributors = &contributors};
    struct instance *mechanism = term->plan->mechanism;
    dpf_call *call = step_call(engine, worker, mechanism, term->draw, (uint32_t)user);
    if (step_result(engine, worker, mechanism,
                    noise_encode(engine, term, call, query, wide, query->width, &message),
                    term->plan->side) != 0)
        return -1;
    call = step_call(engine, worker, mechanism, term->draw, DPF_PARTY_AGGREGATE);
    if (step_result(engine, worker, mechanism,
                    noise_decode(engine, term, call, query, &message, wide, query->width),
                    term->plan->side) != 0)
        return -1;
    for (int32_t i = 0; i < query->width; i++)
        blocks[i] = (float)wide[i];
    return 0;
}

static int solve_row(void *context, int64_t row, int64_t count, int worker)
{
    struct record_work *work = context;
    struct engine *engine = work->engine;
    float *blocks = step_buffer(engine, worker, BUFFER_BLOCKS,
                                (size_t)step_stride(work->side->query.width) + 16, sizeof *blocks);
    (void)count;
    dpf_groups all;
    if (!blocks || step_stopped(engine, worker) != 0 ||
        step_groups(engine, work->term, HOLDER_ALL, row, 1, worker, &all) != 0)
        return -1;
    const struct place *places = order_records(work, &all, worker);
    if (!places)
        return -1;
    for (int64_t k = 0; k < all.offsets[1]; k++) {
        static const int64_t single[2] = {0, 1};
        const int64_t at = places[k].record;
        dpf_groups one = all;
        one.offsets = single;
        one.others = all.others + at;
        one.values = all.values ? all.values + at : NULL;
        one.weights = all.weights ? all.weights + at : NULL;
        const struct solve_batch batch = {.side = work->side->side,
                                          .first = row,
                                          .count = 1,
                                          .blocks = blocks,
                                          .term = work->term,
                                          .degrees_holder = HOLDER_ALL};
        if (query_record(work, &one, all.offsets[1], worker, blocks) != 0 ||
            step_solve(engine, worker, &batch) != 0)
            return -1;
    }
    return 0;
}

static int solve_rows(void *context, int64_t task, int worker)
{
    struct record_work *work = context;
    for (int64_t row = task * work->batch; row < work->n_rows && row < (task + 1) * work->batch; row++)
        if (step_row_by_row(work->engine, worker, work->side->side, row, 1, solve_row, work) != 0)
            return -1;
    return 0;
}

int step_by_record(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    struct term_run *term = &engine->terms[which][0];
    const int64_t rows = which == DPF_SIDE_USERS ? engine->dataset->users.n : engine->dataset->items.n;
    struct record_work work = {.engine = engine, .side = side, .term = term, .n_rows = rows, .batch = 16};
    if (ranks_size() > 1)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[%s] solver %s steps after each record, which only one process can do: start "
                         "dpframe without mpirun",
                         plan_side_name(which), side->solver->entry->component->id);
    if (make_keys(engine, DPF_SIDE_USERS, error) != 0 || make_keys(engine, DPF_SIDE_ITEMS, error) != 0 ||
        step_prepare(engine, term, error) != 0)
        return -1;
    if (term->mechanism) {
        term->variance_factor = noise_variance_factor(engine, term, 1, 1);
        if (noise_variance_fill(engine, which, error) != 0)
            return -1;
    }
    if (pool_run(engine->pool, (rows + work.batch - 1) / work.batch, solve_rows, &work) != 0)
        return step_failed(engine, error);
    engine->stats->messages +=
        term->mechanism ? engine->dataset->train.by_user.ptr[engine->dataset->users.n] : 0;
    return 0;
}
