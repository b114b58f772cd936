/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds in which parties solve (site = party; DPIMF, Algorithm 1). In a round each party, starting from the
 * rows that everybody has, makes local-iterations passes over the sides in their order: on its local side it
 * solves its own rows, on the released side all rows, from noisy queries over its own records. Then
 * its released rows are sent, as integers on a fixed grid, and aggregated.
 *
 * Every pass draws its own noise where the mechanism's lifetime is a solve. All passes are counted by
 * the ledger: a later one reads local rows that depend on the earlier ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/noise_variance.h"
#include "engine/step.h"
#include "engine/sum.h"
#include "plugin/role_tables.h"

/* Solved rows are sent in steps of 2^-30: sums of 2^20 parties with rows below 2^12 fit. */
#define ROW_STEP 0x1p-30
#define ROW_LIMIT 0x1p12
#define ROW_MOST (ROW_LIMIT - 1)

struct federated {
    struct engine *engine;
    int released; /* the side whose rows are sent */
    int64_t party;
    float *rows[2];    /* the party's rows of either side, complete matrices */
    float *next;       /* new rows of the released side */
    int64_t *integers; /* the message */
    struct sum sum;
    struct sum_bound *bounds; /* of a row's columns */
    const float *gram;        /* the party's noisy Gram row, or NULL */
    float *kept;              /* new rows of the local side, from all parties */
    int64_t batch;
};

/* ---- the party's local side ------------------------------------------------------------------------ */

/* Rows of the side that the party owns: where silos divide it, its members, else all. */
static int64_t owned_rows(const struct engine *engine, int side, int64_t party, const int32_t **members)
{
    const struct party *holder = &engine->parties.list[party];
    *members = engine->parties.partition == side ? holder->members : NULL;
    return *members ? holder->n_members : engine->model->sides[side].rows;
}

/* Groups of rows members[first ..]: rows between them have no records here, so their records adjoin. */
static int member_groups(struct engine *engine, struct term_run *term, int64_t party, const int32_t *members,
                         int64_t first, int64_t count, int worker, dpf_groups *groups)
{
    if (!members)
        return step_groups(engine, term, party, first, count, worker, groups);
    int64_t begin = members[first], end = members[first + count - 1] + 1;
    if (step_groups(engine, term, party, begin, end - begin, worker, groups) != 0)
        return -1;
    int32_t *rows = step_buffer(engine, worker, BUFFER_OTHERS, (size_t)count, sizeof *rows);
    int64_t *offsets = step_buffer(engine, worker, BUFFER_INTEGERS, (size_t)count + 1, sizeof *offsets);
    if (!rows || !offsets)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        rows[i] = members[first + i];
        offsets[i] = groups->offsets[members[first + i] - begin];
    }
    offsets[count] = groups->offsets[end - begin];
    groups->rows = rows;
    groups->offsets = offsets;
    groups->n_groups = count;
    return 0;
}

static int local_rows(struct federated *f, int64_t first, int64_t count, int worker)
{
    struct engine *engine = f->engine;
    int which = 1 - f->released;
    struct term_run *term = &engine->terms[which][0];
    const dpf_query *query = &term->plan->query;
    const int32_t *members;
    int64_t stride = engine->model->stride;
    owned_rows(engine, which, f->party, &members);
    int64_t blocks_stride = step_stride(query->width);
    dpf_groups groups;
    float *blocks =
        step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * blocks_stride) + 16, sizeof *blocks);
    float *current = step_buffer(engine, worker, BUFFER_NEXT, (size_t)(count * stride), sizeof *current);
    double start = step_clock();
    if (!blocks || !current ||
        member_groups(engine, term, f->party, members, first, count, worker, &groups) != 0 ||
        step_accumulate_local(engine, worker, term, &groups, blocks, blocks_stride) != 0)
        return -1;
    step_took(engine, worker, PHASE_SUMS, start);
    for (int64_t i = 0; i < count; i++)
        memcpy(current + i * stride, f->rows[which] + (members ? members[first + i] : first + i) * stride,
               (size_t)stride * sizeof *current);
    struct solve_batch batch = {.side = which,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .gram = query->has_gram ? term->gram : NULL,
                                .term = term,
                                .current = current,
                                .next = current};
    if (query->blocks[0].layout == DPF_LAYOUT_OPERATOR)
        batch.groups = &groups;
    start = step_clock();
    if (step_solve(engine, worker, &batch) != 0)
        return -1;
    step_took(engine, worker, PHASE_SOLVES, start);
    for (int64_t i = 0; i < count; i++)
        memcpy(f->rows[which] + (members ? members[first + i] : first + i) * stride, current + i * stride,
               (size_t)stride * sizeof *current);
    return 0;
}

/* Nothing is kept of a batch that fails, so its rows can be solved one by one. */
static int local_task(void *context, int64_t task, int worker)
{
    struct federated *f = context;
    struct engine *engine = f->engine;
    const int which = 1 - f->released;
    const int32_t *members;
    int64_t n = owned_rows(engine, which, f->party, &members);
    int64_t first = task * f->batch, count = n - first < f->batch ? n - first : f->batch;
    if (local_rows(f, first, count, worker) == 0)
        return 0;
    if (!step_forgive(engine, worker))
        return -1;
    for (int64_t i = first; i < first + count; i++) {
        const int64_t row = members ? members[i] : i;
        if (local_rows(f, i, 1, worker) == 0)
            continue;
        if (!step_note(engine, worker, row))
            return -1;
        step_reset_later(engine, which, row);
    }
    return 0;
}

static int solve_local(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    int which = 1 - f->released;
    struct term_run *term = &engine->terms[which][0];
    const int32_t *members;
    int64_t n = owned_rows(engine, which, f->party, &members);
    int64_t width = term->plan->gram_query.width;
    if (step_prepare(engine, term, error) != 0)
        return -1;
    if (term->plan->query.has_gram) {
        double *exact = step_buffer(engine, 0, BUFFER_WIDE2, (size_t)width, sizeof *exact);
        if (!exact)
            return step_failed(engine, error);
        if (step_gram_room(term, 1, error) != 0 ||
            step_gram_exact(engine, term, NULL, term->other.rows, exact, error) != 0)
            return -1;
        for (int64_t i = 0; i < width; i++)
            term->gram[i] = (float)exact[i];
    }
    f->batch = step_batch_rows(term->plan->query.width);
    if (n && pool_run(engine->pool, (n + f->batch - 1) / f->batch, local_task, f) != 0)
        return step_failed(engine, error);
    return 0;
}

/* ---- the party's noisy solve ------------------------------------------------------------------------- */

/* The noisy query of a batch, in float32: encoded and decoded at the party. */
static int perturb(struct federated *f, int worker, const double *exact, int64_t first, int64_t count,
                   float *out, int64_t out_stride)
{
    struct engine *engine = f->engine;
    struct term_run *term = &engine->terms[f->released][0];
    struct instance *mechanism = term->plan->mechanism;
    const dpf_query *query = &term->plan->query;
    size_t n = (size_t)(count * query->width) + 1;
    int64_t *values = step_buffer(engine, worker, BUFFER_INTEGERS, n, sizeof *values);
    double *noisy = step_buffer(engine, worker, BUFFER_WIDE2, n, sizeof *noisy);
    if (!values || !noisy)
        return -1;
    dpf_encoded integers = {.size = sizeof integers,
                            .width = query->width,
                            .n_rows = count,
                            .first_row = first,
                            .total_rows = term->plan->rows,
                            .values = values,
                            .stride = query->width,
                            .survivors = 1};
    dpf_call *call = step_call(engine, worker, mechanism, term->draw, (uint32_t)f->party);
    dpf_status status = noise_encode(engine, term, call, query, exact, query->width, &integers);
    if (step_result(engine, worker, mechanism, status, f->released) != 0)
        return -1;
    call = step_call(engine, worker, mechanism, term->draw, (uint32_t)f->party);
    status = noise_decode(engine, term, call, query, &integers, noisy, query->width);
    if (step_result(engine, worker, mechanism, status, f->released) != 0)
        return -1;
    for (int64_t r = 0; r < count; r++)
        for (int32_t i = 0; i < query->width; i++)
            out[r * out_stride + i] = (float)noisy[r * query->width + i];
    return 0;
}

static int noisy_task(void *context, int64_t task, int worker)
{
    struct federated *f = context;
    struct engine *engine = f->engine;
    struct term_run *term = &engine->terms[f->released][0];
    const dpf_query *query = &term->plan->query;
    int64_t rows = engine->model->sides[f->released].rows, stride = engine->model->stride;
    int64_t first = task * f->batch, count = rows - first < f->batch ? rows - first : f->batch;
    int64_t blocks_stride = step_stride(query->width);
    dpf_groups groups;
    double *exact =
        step_buffer(engine, worker, BUFFER_WIDE, (size_t)(count * query->width) + 1, sizeof *exact);
    float *blocks =
        step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * blocks_stride) + 16, sizeof *blocks);
    double start = step_clock();
    if (!exact || !blocks || step_groups(engine, term, f->party, first, count, worker, &groups) != 0)
        return -1;
    if (step_accumulate(engine, worker, term, (uint32_t)f->party, &groups, term->noise.grid, exact) != 0)
        return -1;
    step_took(engine, worker, PHASE_SUMS, start);
    start = step_clock();
    if (perturb(f, worker, exact, first, count, blocks, blocks_stride) != 0) {
        if (!step_note(engine, worker, f->party))
            return -1;
        memset(exact, 0, (size_t)(count * query->width) * sizeof *exact);
        if (perturb(f, worker, exact, first, count, blocks, blocks_stride) != 0)
            return -1;
    }
    step_took(engine, worker, PHASE_NOISE, start);
    struct solve_batch batch = {.side = f->released,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .gram = f->gram,
                                .term = term,
                                .degrees_holder = f->party,
                                .current = f->rows[f->released] + first * stride,
                                .next = f->next + first * stride};
    start = step_clock();
    int solved = step_solve(engine, worker, &batch);
    step_took(engine, worker, PHASE_SOLVES, start);
    if (solved != 0 && step_note(engine, worker, f->party)) { /* the party keeps the rows that it had */
        memcpy(f->next + first * stride, f->rows[f->released] + first * stride,
               (size_t)(count * stride) * sizeof *f->next);
        solved = 0;
    }
    return solved;
}

/* The party's Gram row: exact over its own part of the other side, then perturbed as the last row. */
static int perturb_gram(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    struct term_run *term = &engine->terms[f->released][0];
    const dpf_query *query = &term->plan->query;
    const int32_t *members;
    int64_t n = owned_rows(engine, 1 - f->released, f->party, &members);
    double *exact = step_buffer(engine, 0, BUFFER_WIDE, (size_t)query->width, sizeof *exact);
    if (!exact)
        return step_failed(engine, error);
    if (step_gram_room(term, 1, error) != 0 || step_gram_exact(engine, term, members, n, exact, error) != 0)
        return -1;
    if (perturb(f, 0, exact, term->plan->rows - 1, 1, term->gram, step_stride(query->width)) != 0)
        return step_failed(engine, error);
    f->gram = term->gram;
    return 0;
}

static int solve_noisy(struct federated *f, int64_t pass, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    struct term_run *term = &engine->terms[f->released][0];
    int64_t rows = engine->model->sides[f->released].rows;
    size_t bytes = (size_t)(rows * engine->model->stride) * sizeof(float);
    int64_t passes = engine->plan->parties.params.values[PARTIES_LOCAL_ITERATIONS].integer;
    term->n_members = owned_rows(engine, 1 - f->released, f->party, &term->members);
    if (step_prepare(engine, term, error) != 0)
        return -1;
    if (term->sampler && sampler_lifetime(term->sampler, term->plan->sampler->self) == DPF_LIFETIME_SOLVE)
        term->sample = (uint32_t)(engine->round * passes + pass);
    if (term->plan->draw_lifetime == DPF_LIFETIME_SOLVE)
        term->draw = (uint32_t)(engine->round * passes + pass);
    f->gram = NULL;
    if (term->plan->query.has_gram && perturb_gram(f, error) != 0)
        return -1;
    term->variance_factor = term->gram_variance_factor = noise_variance_factor(engine, term, 1, 1);
    if (noise_variance_fill(engine, f->released, error) != 0)
        return -1;
    memcpy(f->next, f->rows[f->released], bytes);
    f->batch = step_batch_rows(2 * term->plan->query.width);
    if (pool_run(engine->pool, (rows + f->batch - 1) / f->batch, noisy_task, f) != 0)
        return step_failed(engine, error);
    float *old = f->rows[f->released];
    f->rows[f->released] = f->next;
    f->next = old;
    engine->rows[f->released] = f->rows[f->released];
    return 0;
}

/* ---- sending and joining ------------------------------------------------------------------------------- */

/* Of all parties' rows. */
static int open_sum(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    const struct term_run *term = &engine->terms[f->released][0];
    struct side_factors *factors = &engine->model->sides[f->released];
    for (int32_t c = 0; c < term->plan->query.dimension; c++)
        f->bounds[c] = (struct sum_bound){.message = ROW_LIMIT / ROW_STEP};
    const struct sum_shape shape = {.aggregator = term->plan->aggregator,
                                    .rows = factors->rows,
                                    .width = term->plan->query.dimension,
                                    .round = (int32_t)engine->round,
                                    .n_parties = engine->parties.n,
                                    .bounds = f->bounds};
    struct sum_hands hands = {.workers = engine->workers,
                              .n = 1,
                              .pool = engine->pool,
                              .link = {.remote = engine->remote,
                                       .known = remote_floats(factors->data, factors->rows,
                                                              engine->model->stride, engine->model->columns),
                                       .n_listed = engine->parties.n}};
    step_name(engine, f->released, hands.step);
    return sum_open(&f->sum, &shape, &hands, error);
}

static int send_rows(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    struct term_run *term = &engine->terms[f->released][0];
    const dpf_query *query = &term->plan->query;
    int64_t rows = engine->model->sides[f->released].rows, stride = engine->model->stride,
            d = query->dimension;
    char name[64];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < d; c++) {
            double value = (double)f->rows[f->released][r * stride + query->first + c];
            if (engine->tolerant) /* what was made from noisy queries may be moved to the ends of a range */
                value = fmin(fmax(value, -ROW_MOST), ROW_MOST);
            if (!(fabs(value) < ROW_LIMIT))
                return error_set(
                    error, DPF_FAULT_RUN,
                    "%s: a solved row holds %g, too large to be sent; bound the rows, for example by "
                    "solver ball",
                    step_name(engine, f->released, name), value);
            f->integers[r * d + c] = llrint(value / ROW_STEP);
        }
    dpf_encoded message = {.size = sizeof message,
                           .width = (int32_t)d,
                           .n_rows = rows,
                           .total_rows = rows,
                           .values = f->integers,
                           .stride = d,
                           .survivors = 1};
    if (step_sum(engine, 0, sum_add(&f->sum, 0, (uint32_t)f->party, &message, &engine->errors[0])) != 0)
        return step_failed(engine, error);
    return 0;
}

static int join_rows(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    const dpf_query *query = &engine->terms[f->released][0].plan->query;
    if (step_sum(engine, 0, sum_close(&f->sum, &engine->errors[0])) != 0)
        return step_failed(engine, error);
    const double scale = sum_scale(&f->sum) * ROW_STEP;
    const int64_t *sums = sum_result(&f->sum)->sums;
    struct side_factors *factors = &engine->model->sides[f->released];
    int64_t d = query->dimension;
    for (int64_t r = 0; r < factors->rows; r++)
        for (int64_t c = 0; c < d; c++)
            factors->data[r * engine->model->stride + query->first + c] =
                (float)((double)sums[r * d + c] * scale);
    sum_tally(&f->sum, 1, engine->stats);
    return 0;
}

static int open_round(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    const struct term_run *term = &engine->terms[f->released][0];
    int64_t rows = engine->model->sides[f->released].rows, d = term->plan->query.dimension;
    size_t released = (size_t)(rows * engine->model->stride);
    size_t local = (size_t)(engine->model->sides[1 - f->released].rows * engine->model->stride);
    f->rows[f->released] = memory_raw(released, sizeof(float));
    f->next = memory_raw(released, sizeof(float));
    f->rows[1 - f->released] = memory_raw(local, sizeof(float));
    f->kept = memory_raw(local, sizeof(float));
    f->integers = memory_raw((size_t)(rows * d), sizeof *f->integers);
    f->bounds = memory_new((size_t)d + 1, sizeof *f->bounds);
    if (!f->rows[0] || !f->rows[1] || !f->next || !f->kept || !f->integers || !f->bounds)
        return error_memory(error);
    return open_sum(f, error);
}

static void close_round(struct federated *f)
{
    free(f->rows[0]);
    free(f->rows[1]);
    free(f->next);
    free(f->kept);
    free(f->integers);
    sum_free(&f->sum);
    free(f->bounds);
    f->engine->rows[0] = f->engine->rows[1] = NULL;
}

/* Everything one party does in a round. */
static int party_round(struct federated *f, struct dpf_error *error)
{
    struct engine *engine = f->engine;
    const struct plan *plan = engine->plan;
    for (int side = 0; side < 2; side++) {
        const struct side_factors *factors = &engine->model->sides[side];
        memcpy(f->rows[side], factors->data, (size_t)(factors->rows * engine->model->stride) * sizeof(float));
        engine->rows[side] = f->rows[side];
    }
    int64_t passes = plan->parties.params.values[PARTIES_LOCAL_ITERATIONS].integer;
    for (int64_t pass = 0; pass < passes; pass++)
        for (int i = 0; i < plan->n_order; i++) {
            int which = plan->order[i];
            if (!plan->sides[which].updated)
                continue;
            if ((which == f->released ? solve_noisy(f, pass, error) : solve_local(f, error)) != 0)
                return -1;
        }
    return send_rows(f, error);
}

/* A party's rows of its local side stay where they are: copied back for predictions. */
static void keep_local(struct federated *f)
{
    struct engine *engine = f->engine;
    int which = 1 - f->released;
    const int32_t *members;
    int64_t n = owned_rows(engine, which, f->party, &members), stride = engine->model->stride;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = members ? members[i] : i;
        memcpy(f->kept + row * stride, f->rows[which] + row * stride, (size_t)stride * sizeof(float));
    }
}

int step_federated(struct engine *engine, int released, struct dpf_error *error)
{
    struct federated f = {.engine = engine, .released = released};
    struct side_factors *local = &engine->model->sides[1 - released];
    size_t bytes = (size_t)(local->rows * engine->model->stride) * sizeof(float);
    int status = open_round(&f, error);
    if (status == 0)
        memcpy(f.kept, local->data, bytes);
    for (f.party = 0; f.party < engine->parties.n && status == 0; f.party++) {
        if (engine->remote && f.party != engine->remote->party) /* it is elsewhere */
            continue;
        status = party_round(&f, error);
        if (status == 0)
            keep_local(&f);
    }
    if (status == 0 && step_own_party(engine) < 0)
        status = join_rows(&f, error);
    if (status == 0)
        memcpy(local->data, f.kept, bytes);
    close_round(&f);
    return status;
}
