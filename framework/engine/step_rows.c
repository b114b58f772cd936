/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Released sides whose messages can be made row by row: one curator, or silos. For each batch of
 * rows every party's query is put on the grid, encoded and summed; the sum is decoded and solved.
 * With site = party each party solves its own noisy query and the solved rows are summed, as
 * integers on a fixed grid.
 *
 * Before it is summed by a party, each record's contribution is rounded to the mechanism's grid
 * (dpf_on_grid), so a party's sum is exact and the sensitivity grows by one grid step a coordinate.
 */
#include <math.h>
#include <string.h>

#include "engine/step.h"

/* Solved rows that parties send: steps of 2^-30, so that sums of 2^20 parties with rows up to 2^12 fit. */
#define ROW_STEP 0x1p-30

struct rows_work {
    struct engine *engine;
    struct side_plan *side;
    int64_t batch;
    int64_t messages;
};

/* Which holders have records of this side's rows. */
static int64_t n_holders(const struct engine *engine, const struct term_run *term)
{
    return term->mechanism && term->plan->source == SOURCE_RECORDS ? engine->parties.n : 1;
}

static int64_t holder_of(const struct term_run *term, int64_t index)
{
    return term->mechanism && term->plan->source == SOURCE_RECORDS ? index : HOLDER_ALL;
}

/* A party's query for a batch of rows, in float64 on the grid. */
static double *party_query(struct engine *engine, int worker, struct term_run *term, int64_t party,
                           int64_t first, int64_t count)
{
    const dpf_query *query = &term->plan->query;
    dpf_groups groups;
    double *wide =
        step_buffer(engine, worker, BUFFER_WIDE, (size_t)(count * query->width) + 1, sizeof *wide);
    if (!wide ||
        step_groups(engine, term, holder_of(term, party), first, count, worker, &groups) != 0)
        return NULL;
    struct instance *instance = term->plan->loss;
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, (uint32_t)party);
    dpf_status status = term->loss->accumulate(instance->self, call, query, &groups,
                                               term->mechanism ? term->noise.grid : NULL, wide, query->width);
    return step_result(engine, worker, instance, status, term->plan->side) == 0 ? wide : NULL;
}

static dpf_integers integers_of(const dpf_query *query, int64_t *values, int64_t first, int64_t count,
                                int64_t total, int64_t survivors)
{
    return (dpf_integers){.size = sizeof(dpf_integers),
                          .width = query->width,
                          .n_rows = count,
                          .first_row = first,
                          .total_rows = total,
                          .values = values,
                          .stride = query->width,
                          .survivors = survivors};
}

static int encode(struct engine *engine, int worker, struct term_run *term, int64_t party, const double *values,
                  dpf_integers *out)
{
    struct instance *instance = term->plan->mechanism;
    if (term->mechanism->flags & DPF_MECHANISM_CONTRIBUTORS) {
        int32_t *all = step_buffer(engine, worker, BUFFER_CONTRIBUTORS, (size_t)out->n_rows + 1, sizeof *all);
        for (int64_t r = 0; all && r < out->n_rows; r++)
            all[r] = (int32_t)engine->parties.n;
        if (!all)
            return -1;
        out->contributors = all;
    }
    dpf_call *call = step_call(engine, worker, instance, term->draw, (uint32_t)party);
    dpf_status status = term->mechanism->encode(instance->self, call, &term->noise, &term->plan->query, values,
                                                term->plan->query.width, out);
    return step_result(engine, worker, instance, status, term->plan->side);
}

static int decode(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                  const dpf_integers *sums, double *out)
{
    struct instance *instance = term->plan->mechanism;
    dpf_call *call = step_call(engine, worker, instance, term->draw, party);
    dpf_status status = term->mechanism->decode(instance->self, call, &term->noise, &term->plan->query, sums, out,
                                                term->plan->query.width);
    return step_result(engine, worker, instance, status, term->plan->side);
}

/* An aggregation of a batch of rows, in the worker's buffers. */
static int open_aggregation(struct engine *engine, int worker, struct term_run *term, int64_t rows,
                            int32_t width, uint64_t modulus, dpf_aggregation *aggregation)
{
    struct instance *instance = term->plan->aggregator;
    size_t n = (size_t)(rows * width);
    int64_t *sums = step_buffer(engine, worker, BUFFER_SUMS, n + 1, sizeof *sums);
    uint64_t bytes = term->aggregator->state_bytes
                         ? term->aggregator->state_bytes(instance->self, rows, width, engine->parties.n)
                         : 0;
    void *state = step_buffer(engine, worker, BUFFER_AGGREGATOR, (size_t)bytes + 1, 1);
    if (!sums || !state)
        return -1;
    memset(sums, 0, n * sizeof *sums);
    memset(state, 0, (size_t)bytes);
    *aggregation = (dpf_aggregation){.size = sizeof *aggregation,
                                     .width = width,
                                     .rows = rows,
                                     .n_parties = engine->parties.n,
                                     .modulus = modulus,
                                     .sums = sums,
                                     .state = state};
    return 0;
}

/* The aggregator sees the batch as rows 0 .. count-1. */
static int absorb(struct engine *engine, int worker, struct term_run *term, int64_t party,
                  dpf_aggregation *aggregation, dpf_integers message)
{
    struct instance *instance = term->plan->aggregator;
    message.first_row = 0;
    message.total_rows = message.n_rows;
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, (uint32_t)party);
    return step_result(engine, worker, instance,
                       term->aggregator->absorb(instance->self, call, aggregation, &message), term->plan->side);
}

static int close_aggregation(struct engine *engine, int worker, struct term_run *term,
                             dpf_aggregation *aggregation)
{
    struct instance *instance = term->plan->aggregator;
    if (!term->aggregator->finish)
        return 0;
    dpf_call *call =
        step_call(engine, worker, instance, (uint32_t)engine->round, DPF_PARTY_AGGREGATE);
    return step_result(engine, worker, instance, term->aggregator->finish(instance->self, call, aggregation),
                       term->plan->side);
}

/*
 * Rows first .. first+count-1 of one term, from every party to the decoded estimate in float64.
 * exact, if not NULL, replaces the parties' queries (the shared row): one row for each party.
 */
static double *release_rows(struct engine *engine, int worker, struct term_run *term, int64_t first,
                            int64_t count, const double *exact, int64_t parties)
{
    const dpf_query *query = &term->plan->query;
    if (!term->mechanism)
        return party_query(engine, worker, term, 0, first, count);
    int64_t *integers =
        step_buffer(engine, worker, BUFFER_INTEGERS, (size_t)(count * query->width) + 1, sizeof *integers);
    dpf_aggregation aggregation;
    if (!integers || open_aggregation(engine, worker, term, count, query->width, term->noise.modulus,
                                      &aggregation) != 0)
        return NULL;
    for (int64_t party = 0; party < parties; party++) {
        const double *values = exact ? exact + party * query->width
                                     : party_query(engine, worker, term, party, first, count);
        dpf_integers message = integers_of(query, integers, first, count, term->plan->rows, 1);
        if (!values || encode(engine, worker, term, party, values, &message) != 0 ||
            absorb(engine, worker, term, party, &aggregation, message) != 0)
            return NULL;
    }
    if (close_aggregation(engine, worker, term, &aggregation) != 0)
        return NULL;
    dpf_integers sums =
        integers_of(query, aggregation.sums, first, count, term->plan->rows, aggregation.survivors);
    double *out = step_buffer(engine, worker, BUFFER_WIDE2, (size_t)(count * query->width) + 1, sizeof *out);
    if (!out || decode(engine, worker, term, DPF_PARTY_AGGREGATE, &sums, out) != 0)
        return NULL;
    double scale = term->aggregator->scale(term->plan->aggregator->self, aggregation.survivors);
    for (int64_t i = 0; i < count * query->width; i++)
        out[i] *= scale;
    __atomic_add_fetch(&engine->stats->bytes_up, aggregation.bytes_up, __ATOMIC_RELAXED);
    __atomic_add_fetch(&engine->stats->bytes_down, aggregation.bytes_down, __ATOMIC_RELAXED);
    return out;
}

static void narrow(const double *wide, int64_t rows, int32_t width, float *out, int64_t stride, int add)
{
    for (int64_t r = 0; r < rows; r++)
        for (int32_t i = 0; i < width; i++) {
            float value = (float)wide[r * width + i];
            out[r * stride + i] = add ? out[r * stride + i] + value : value;
        }
}

static int server_batch(void *context, int64_t task, int worker)
{
    struct rows_work *work = context;
    struct engine *engine = work->engine;
    struct side_plan *side = work->side;
    struct term_run *terms = engine->terms[side->side];
    int64_t rows = engine->model->sides[side->side].rows;
    int64_t first = task * work->batch, count = rows - first < work->batch ? rows - first : work->batch;
    int64_t stride = step_stride(side->query.width);
    float *blocks = step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * stride) + 16, sizeof *blocks);
    if (!blocks)
        return -1;
    for (int t = 0; t < side->n_terms; t++) {
        const double *wide =
            release_rows(engine, worker, &terms[t], first, count, NULL, n_holders(engine, &terms[t]));
        if (!wide)
            return -1;
        narrow(wide, count, side->query.width, blocks, stride, t > 0);
    }
    struct solve_batch batch = {.side = side->side,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .shared = terms[0].n_shared ? terms[0].shared : NULL,
                                .term = &terms[0],
                                .degrees_holder = HOLDER_ALL};
    return step_solve(engine, worker, &batch);
}

/* One party's batch at site = party: noisy query, solved there, rows to integers. */
static int solve_at_party(struct engine *engine, int worker, struct term_run *term, int64_t party,
                          int64_t first, int64_t count, int64_t *out)
{
    struct side_plan *side = &engine->plan->sides[term->plan->side];
    const dpf_query *query = &term->plan->query;
    int64_t stride = step_stride(query->width), model_stride = engine->model->stride;
    int64_t *integers =
        step_buffer(engine, worker, BUFFER_INTEGERS, (size_t)(count * query->width) + 1, sizeof *integers);
    double *noisy = step_buffer(engine, worker, BUFFER_WIDE2, (size_t)(count * query->width) + 1, sizeof *noisy);
    float *blocks = step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * stride) + 16, sizeof *blocks);
    float *next = step_buffer(engine, worker, BUFFER_NEXT, (size_t)(count * model_stride), sizeof *next);
    const double *wide = integers && noisy && blocks && next
                             ? party_query(engine, worker, term, party, first, count)
                             : NULL;
    if (!wide)
        return -1;
    dpf_integers message = integers_of(query, integers, first, count, term->plan->rows, 1);
    if (encode(engine, worker, term, party, wide, &message) != 0 ||
        decode(engine, worker, term, (uint32_t)party, &message, noisy) != 0)
        return -1;
    narrow(noisy, count, query->width, blocks, stride, 0);
    memcpy(next, engine->model->sides[side->side].data + first * model_stride,
           (size_t)(count * model_stride) * sizeof *next);
    struct solve_batch batch = {.side = side->side,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .shared = term->n_shared ? term->shared + party * step_stride(query->width) : NULL,
                                .term = term,
                                .degrees_holder = party,
                                .next = next};
    if (step_solve(engine, worker, &batch) != 0)
        return -1;
    int32_t d = query->dimension;
    for (int64_t r = 0; r < count; r++)
        for (int32_t c = 0; c < d; c++) {
            double value = (double)next[r * model_stride + query->first + c] / ROW_STEP;
            if (!(fabs(value) < 0x1p42)) {
                char name[64];
                return error_set(&engine->errors[worker], DPF_FAULT_RUN,
                                 "%s: a solved row holds %g, too large to be sent", step_name(engine, side->side, name),
                                 value * ROW_STEP);
            }
            out[r * d + c] = llrint(value);
        }
    return 0;
}

static int party_batch(void *context, int64_t task, int worker)
{
    struct rows_work *work = context;
    struct engine *engine = work->engine;
    struct term_run *term = &engine->terms[work->side->side][0];
    const dpf_query *query = &term->plan->query;
    int64_t rows = engine->model->sides[work->side->side].rows, d = query->dimension;
    int64_t first = task * work->batch, count = rows - first < work->batch ? rows - first : work->batch;
    int64_t *solved = step_buffer(engine, worker, BUFFER_TERM_BLOCKS, (size_t)(count * d) + 1, sizeof *solved);
    dpf_aggregation aggregation;
    if (!solved || open_aggregation(engine, worker, term, count, (int32_t)d, 0, &aggregation) != 0)
        return -1;
    for (int64_t party = 0; party < engine->parties.n; party++) {
        if (solve_at_party(engine, worker, term, party, first, count, solved) != 0)
            return -1;
        dpf_integers message = {.size = sizeof message,
                                .width = (int32_t)d,
                                .n_rows = count,
                                .total_rows = count,
                                .values = solved,
                                .stride = d,
                                .survivors = 1};
        if (absorb(engine, worker, term, party, &aggregation, message) != 0)
            return -1;
    }
    if (close_aggregation(engine, worker, term, &aggregation) != 0)
        return -1;
    double scale = term->aggregator->scale(term->plan->aggregator->self, aggregation.survivors) * ROW_STEP;
    float *next = engine->next[work->side->side] + first * engine->model->stride;
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < d; c++)
            next[r * engine->model->stride + query->first + c] = (float)((double)aggregation.sums[r * d + c] * scale);
    __atomic_add_fetch(&engine->stats->bytes_up, aggregation.bytes_up, __ATOMIC_RELAXED);
    return 0;
}

/* The shared row as each party sends it: the part of its own rows of the other side where silos divide
   that side, else the same from every party that has all of it. */
static int prepare_shared(struct engine *engine, struct side_plan *side, struct term_run *term,
                          struct dpf_error *error)
{
    const dpf_query *query = &term->plan->query;
    int64_t n = n_holders(engine, term), stride = step_stride(query->width);
    int divided = engine->parties.partition == 1 - side->side;
    int by_party = side->site == SITE_PARTY;
    double *exact = step_buffer(engine, 0, BUFFER_WIDE, (size_t)(n * query->width) + 1, sizeof *exact);
    if (!exact || step_shared_room(term, by_party ? n : 1, error) != 0)
        return exact ? -1 : step_failed(engine, error);
    int64_t senders = divided ? n : 1;
    for (int64_t party = 0; party < senders; party++) {
        const struct party *holder = &engine->parties.list[party];
        if (step_shared_exact(engine, term, divided ? holder->members : NULL,
                              divided ? holder->n_members : term->other.rows, exact + party * query->width,
                              error) != 0)
            return -1;
    }
    for (int64_t party = senders; party < n; party++)
        memcpy(exact + party * query->width, exact, (size_t)query->width * sizeof *exact);
    int64_t row = term->plan->rows - 1;
    for (int64_t party = 0; by_party && party < n; party++) {
        int64_t *integers = step_buffer(engine, 0, BUFFER_INTEGERS, (size_t)query->width, sizeof *integers);
        double *noisy = step_buffer(engine, 0, BUFFER_WIDE2, (size_t)query->width, sizeof *noisy);
        if (!integers || !noisy)
            return step_failed(engine, error);
        dpf_integers message = integers_of(query, integers, row, 1, term->plan->rows, 1);
        if (encode(engine, 0, term, party, exact + party * query->width, &message) != 0 ||
            decode(engine, 0, term, (uint32_t)party, &message, noisy) != 0)
            return step_failed(engine, error);
        narrow(noisy, 1, query->width, term->shared + party * stride, stride, 0);
    }
    if (by_party)
        return 0;
    const double *sum = release_rows(engine, 0, term, row, 1, exact, senders);
    if (!sum)
        return step_failed(engine, error);
    narrow(sum, 1, query->width, term->shared, stride, 0);
    return 0;
}

int step_by_rows(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    struct term_run *terms = engine->terms[which];
    for (int t = 0; t < side->n_terms; t++) {
        if (step_prepare(engine, &terms[t], error) != 0)
            return -1;
        if (terms[t].plan->query.has_shared && prepare_shared(engine, side, &terms[t], error) != 0)
            return -1;
    }
    for (int t = 1; t < side->n_terms; t++)
        for (int64_t i = 0; terms[t].n_shared && terms[0].n_shared && i < side->query.width; i++)
            terms[0].shared[i] += terms[t].shared[i];
    int at_party = side->site == SITE_PARTY;
    struct rows_work work = {.engine = engine, .side = side, .batch = step_batch_rows(2 * side->query.width)};
    int64_t rows = engine->model->sides[which].rows;
    if (pool_run(engine->pool, (rows + work.batch - 1) / work.batch, at_party ? party_batch : server_batch,
                 &work) != 0)
        return step_failed(engine, error);
    engine->stats->messages += n_holders(engine, &terms[0]);
    return 0;
}
