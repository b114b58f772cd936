/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Released sides whose messages can be made row by row: one curator, or silos. For each batch of
 * rows every party's query is put on the grid, encoded and summed; the sum is decoded and solved.
 *
 * Before it is summed by a party, each record's contribution is rounded to the mechanism's grid
 * (dpf_on_grid), so a party's sum is exact and the sensitivity grows by one grid step a coordinate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/noise_variance.h"
#include "engine/step.h"
#include "engine/sum.h"

struct rows_work {
    struct engine *engine;
    struct side_plan *side;
    int64_t batch;
    int64_t first, last; /* the rank's rows */
    struct sum *sums;    /* one for each worker */
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
    double *wide = step_buffer(engine, worker, BUFFER_WIDE, (size_t)(count * query->width) + 1, sizeof *wide);
    if (!wide || step_groups(engine, term, holder_of(term, party), first, count, worker, &groups) != 0)
        return NULL;
    const double *grid = term->mechanism ? term->noise.grid : NULL;
    return step_accumulate(engine, worker, term, (uint32_t)party, &groups, grid, wide) == 0 ? wide : NULL;
}

static dpf_encoded integers_of(const dpf_query *query, int64_t *values, int64_t first, int64_t count,
                               int64_t total, int64_t survivors)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = query->width,
                         .n_rows = count,
                         .first_row = first,
                         .total_rows = total,
                         .values = values,
                         .stride = query->width,
                         .survivors = survivors};
}

static int encode(struct engine *engine, int worker, struct term_run *term, int64_t party,
                  const double *values, dpf_encoded *out)
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
    dpf_status status =
        noise_encode(engine, term, call, &term->plan->query, values, term->plan->query.width, out);
    return step_result(engine, worker, instance, status, term->plan->side);
}

static int decode(struct engine *engine, int worker, struct term_run *term, uint32_t party,
                  const dpf_encoded *sums, double *out)
{
    struct instance *instance = term->plan->mechanism;
    dpf_call *call = step_call(engine, worker, instance, term->draw, party);
    dpf_status status =
        noise_decode(engine, term, call, &term->plan->query, sums, out, term->plan->query.width);
    return step_result(engine, worker, instance, status, term->plan->side);
}

/* An empty sum of a batch of rows, whose aggregator sees them as rows 0 .. rows-1. */
static int open_sum(struct engine *engine, int worker, struct term_run *term, int64_t rows, int gram,
                    struct sum *sum)
{
    const struct sum_shape shape = {.aggregator = term->plan->aggregator,
                                    .rows = rows,
                                    .width = term->plan->query.width,
                                    .round = (int32_t)engine->round,
                                    .n_parties = engine->parties.n,
                                    .modulus = term->noise.modulus,
                                    .least = term->noise.least_survivors,
                                    .bounds = gram ? NULL : term->sum_bounds};
    struct sum_hands hands = {.workers = &engine->workers[worker], .n = 1};
    step_name(engine, term->plan->side, hands.step);
    sum_clear(sum);
    return step_sum(engine, worker, sum_open(sum, &shape, &hands, &engine->errors[worker]));
}

static int add_message(struct engine *engine, int worker, int64_t party, struct sum *sum, dpf_encoded message)
{
    message.first_row = 0;
    message.total_rows = message.n_rows;
    return step_sum(engine, worker, sum_add(sum, 0, (uint32_t)party, &message, &engine->errors[worker]));
}

/*
 * Rows first .. first+count-1 of one term, from every party to the decoded estimate in float64.
 * exact, if not NULL, replaces the parties' queries (the Gram row): one row for each party.
 */
static double *release_rows(struct engine *engine, int worker, struct term_run *term, int64_t first,
                            int64_t count, const double *exact, int64_t parties, struct sum *sum)
{
    const dpf_query *query = &term->plan->query;
    if (!term->mechanism)
        return party_query(engine, worker, term, 0, first, count);
    int64_t *integers =
        step_buffer(engine, worker, BUFFER_INTEGERS, (size_t)(count * query->width) + 1, sizeof *integers);
    if (!integers || open_sum(engine, worker, term, count, exact != NULL, sum) != 0)
        return NULL;
    for (int64_t party = 0; party < parties; party++) {
        const double *values =
            exact ? exact + party * query->width : party_query(engine, worker, term, party, first, count);
        dpf_encoded message = integers_of(query, integers, first, count, term->rows, 1);
        if (!values || encode(engine, worker, term, party, values, &message) != 0 ||
            add_message(engine, worker, party, sum, message) != 0)
            return NULL;
    }
    if (step_sum(engine, worker, sum_close(sum, &engine->errors[worker])) != 0)
        return NULL;
    const dpf_aggregation *result = sum_result(sum);
    dpf_encoded sums = integers_of(query, result->sums, first, count, term->rows, result->survivors);
    sums.state = step_noise_state(term, first);
    double *out = step_buffer(engine, worker, BUFFER_WIDE2, (size_t)(count * query->width) + 1, sizeof *out);
    if (!out || decode(engine, worker, term, DPF_PARTY_AGGREGATE, &sums, out) != 0)
        return NULL;
    const double scale = sum_scale(sum);
    for (int64_t i = 0; i < count * query->width; i++)
        out[i] *= scale;
    if (!exact || ranks_rank() == 0) /* every rank makes the Gram row, which is sent once */
        sum_tally(sum, 0, engine->stats);
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
    if (step_stopped(engine, worker) != 0)
        return -1;
    struct term_run *terms = engine->terms[side->side];
    int64_t first = work->first + task * work->batch;
    int64_t count = work->last - first < work->batch ? work->last - first : work->batch;
    int64_t stride = step_stride(side->query.width);
    float *blocks = step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * stride) + 16, sizeof *blocks);
    if (!blocks)
        return -1;
    for (int t = 0; t < side->n_terms; t++) {
        const double *wide = release_rows(engine, worker, &terms[t], first, count, NULL,
                                          n_holders(engine, &terms[t]), &work->sums[worker]);
        if (!wide)
            return -1;
        narrow(wide, count, side->query.width, blocks, stride, t > 0);
    }
    struct solve_batch batch = {.side = side->side,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .gram = terms[0].n_gram ? terms[0].gram : NULL,
                                .term = &terms[0],
                                .degrees_holder = HOLDER_ALL};
    return step_solve(engine, worker, &batch);
}

/* The Gram row as each party sends it: the part of its own rows of the other side where silos divide
   that side, else the same from every party that has all of it. */
static int prepare_gram(struct engine *engine, struct side_plan *side, struct term_run *term,
                        struct dpf_error *error)
{
    const dpf_query *query = &term->plan->query;
    int64_t n = n_holders(engine, term), stride = step_stride(query->width);
    int divided = engine->parties.partition == 1 - side->side;
    int64_t senders = divided ? n : 1;
    double *exact = step_buffer(engine, 0, BUFFER_WIDE, (size_t)(senders * query->width) + 1, sizeof *exact);
    if (!exact || step_gram_room(term, 1, error) != 0)
        return exact ? -1 : step_failed(engine, error);
    for (int64_t party = 0; party < senders; party++) {
        const struct party *holder = &engine->parties.list[party];
        if (step_gram_exact(engine, term, divided ? holder->members : NULL,
                            divided ? holder->n_members : term->other.rows, exact + party * query->width,
                            error) != 0)
            return -1;
    }
    int64_t row = term->rows - 1;
    if (term->mechanism)
        term->gram_variance_factor = noise_variance_factor(
            engine, term, senders, term->aggregator->scale(term->plan->aggregator->self, senders));
    struct sum sum = {.state = SUM_EMPTY};
    const double *released = release_rows(engine, 0, term, row, 1, exact, senders, &sum);
    if (released)
        narrow(released, 1, query->width, term->gram, stride, 0);
    sum_free(&sum);
    return released ? 0 : step_failed(engine, error);
}

static int solve_batches(struct engine *engine, struct side_plan *side, struct dpf_error *error)
{
    struct rows_work work = {.engine = engine,
                             .side = side,
                             .batch = step_batch_rows(2 * side->query.width),
                             .first = shares_first(engine->dataset, side->side),
                             .last = shares_last(engine->dataset, side->side),
                             .sums = memory_new((size_t)engine->n_workers, sizeof *work.sums)};
    const int64_t rows = work.last - work.first;
    int status = work.sums ? 0 : error_memory(error);
    if (status == 0 && pool_run(engine->pool, (rows + work.batch - 1) / work.batch, server_batch, &work) != 0)
        status = step_failed(engine, error);
    for (int w = 0; work.sums && w < engine->n_workers; w++)
        sum_free(&work.sums[w]);
    free(work.sums);
    return status;
}

int step_by_rows(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    struct term_run *terms = engine->terms[which];
    for (int t = 0; t < side->n_terms; t++) {
        if (step_prepare(engine, &terms[t], error) != 0)
            return -1;
        if (terms[t].mechanism)
            terms[t].variance_factor = noise_variance_factor(
                engine, &terms[t], n_holders(engine, &terms[t]),
                terms[t].aggregator->scale(terms[t].plan->aggregator->self, n_holders(engine, &terms[t])));
        if (terms[t].plan->query.has_gram && prepare_gram(engine, side, &terms[t], error) != 0)
            return -1;
    }
    for (int t = 1; t < side->n_terms; t++)
        for (int64_t i = 0; terms[t].n_gram && terms[0].n_gram && i < side->query.width; i++)
            terms[0].gram[i] += terms[t].gram[i];
    if (noise_variance_fill(engine, which, error) != 0)
        return -1;
    if (solve_batches(engine, side, error) != 0)
        return -1;
    engine->stats->messages += ranks_rank() == 0 ? n_holders(engine, &terms[0]) : 0;
    return 0;
}
