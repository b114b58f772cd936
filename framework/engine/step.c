/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/prf.h"
#include "plan/release.h"
#include "plan/sensitivity.h"
#include "plugin/role_tables.h"

void *step_buffer(struct engine *engine, int worker, enum buffer_slot slot, size_t count, size_t size)
{
    struct buffers *buffers = &engine->buffers[worker];
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        error_memory(&engine->errors[worker]);
        return NULL;
    }
    if (buffers->data[slot] && bytes <= buffers->bytes[slot])
        return buffers->data[slot];
    size_t wanted = bytes + bytes / 2;
    free(buffers->data[slot]);
    buffers->data[slot] = memory_raw(wanted, 1);
    buffers->bytes[slot] = buffers->data[slot] ? wanted : 0;
    if (!buffers->data[slot])
        error_memory(&engine->errors[worker]);
    return buffers->data[slot];
}

double step_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void step_took(struct engine *engine, int worker, enum step_phase phase, double since)
{
    engine->buffers[worker].cpu[phase] += step_clock() - since;
}

int step_failed(struct engine *engine, struct dpf_error *error)
{
    for (int w = 0; w < engine->n_workers; w++)
        if (engine->errors[w].fault != DPF_FAULT_NONE) {
            if (error->fault == DPF_FAULT_NONE)
                *error = engine->errors[w];
            engine->errors[w] = (struct dpf_error){0};
        }
    return error->fault ? -1 : error_set(error, DPF_FAULT_RUN, "a side step failed without reporting why");
}

int step_interrupted(const struct engine *engine, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_RUN, "interrupted in round %lld; %s", (long long)engine->round + 1,
                     worker_cancelled_leaves(engine->checkpoint != NULL));
}

int step_stopped(struct engine *engine, int worker)
{
    return worker_cancelled() ? step_interrupted(engine, &engine->errors[worker]) : 0;
}

const char *step_name(const struct engine *engine, int side, char buffer[64])
{
    snprintf(buffer, 64, "round %lld, %s", (long long)engine->round + 1, plan_side_name(side));
    return buffer;
}

dpf_call *step_call(struct engine *engine, int worker, struct instance *instance, uint32_t draw,
                    uint32_t party)
{
    return worker_call(engine->workers[worker], instance, (int32_t)engine->round, draw, party);
}

int step_result(struct engine *engine, int worker, struct instance *instance, dpf_status status, int side)
{
    if (status == DPF_OK)
        return 0;
    if (status == DPF_E_CANCELLED && step_stopped(engine, worker) != 0)
        return -1;
    /* A configuration that cannot work is not a record's fault: it fails for all of them. */
    engine->forgivable[worker] =
        status != DPF_E_CANCELLED && status != DPF_E_MEMORY && status != DPF_E_CONFIG;
    char name[64];
    return instance_result(instance, status, step_name(engine, side, name), &engine->errors[worker]);
}

int step_sum(struct engine *engine, int worker, int status)
{
    if (status == 0)
        return 0;
    engine->forgivable[worker] = 0;
    if (worker_cancelled()) {
        engine->errors[worker] = (struct dpf_error){0};
        step_stopped(engine, worker);
    }
    return -1;
}

int64_t step_batch_rows(int64_t width)
{
    int64_t rows = 131072 / step_stride(width);
    return rows < 1 ? 1 : rows > 256 ? 256 : rows;
}

/* ---- before a step ------------------------------------------------------------------------------ */

#define CHUNK_ROWS INT64_C(4096)

struct clip_work {
    struct engine *engine;
    struct term_run *term;
    int64_t first, last; /* the other side's rows that are here */
};

static int transform_rows(struct clip_work *work, int64_t first, int64_t count, int worker)
{
    struct term_run *term = work->term;
    struct engine *engine = work->engine;
    for (int i = 0; i < term->plan->n_transforms; i++) {
        struct instance *instance = term->plan->transforms[i];
        const dpf_transform *transform = instance->functions;
        if (transform->kind != DPF_TRANSFORM_FACTOR)
            continue;
        /* The columns that pair with this side's unknowns, without constants: the other side's unknowns
           that are features here are its factors; its own bias is not read. */
        int begin = engine->plan->bias[DPF_SIDE_USERS] >= 0;
        int columns = (int)engine->plan->model.params.values[MODEL_RANK].integer;
        dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, 0);
        dpf_status status =
            transform->factors(instance->self, call, term->other_copy + first * engine->model->stride, count,
                               engine->model->stride, begin, columns);
        if (step_result(engine, worker, instance, status, term->plan->side) != 0)
            return -1;
    }
    return 0;
}

static int transform_chunk(void *context, int64_t task, int worker)
{
    struct clip_work *work = context;
    struct term_run *term = work->term;
    const size_t bytes = (size_t)work->engine->model->stride * sizeof(float);
    int64_t first = work->first + task * CHUNK_ROWS;
    int64_t count = work->last - first < CHUNK_ROWS ? work->last - first : CHUNK_ROWS;
    if (transform_rows(work, first, count, worker) == 0)
        return 0;
    if (!step_forgive(work->engine, worker))
        return -1;
    for (int64_t r = first; r < first + count; r++) {
        float *row = term->other_copy + r * work->engine->model->stride;
        memcpy(row, dpf_row(&term->other, r), bytes);
        if (transform_rows(work, r, 1, worker) == 0)
            continue;
        if (!step_note(work->engine, worker, r))
            return -1;
        memset(row, 0, bytes); /* within every bound */
    }
    return 0;
}

static int transform_factors(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    int any = 0;
    for (int i = 0; i < term->plan->n_transforms; i++)
        any |= ((const dpf_transform *)term->plan->transforms[i]->functions)->kind == DPF_TRANSFORM_FACTOR;
    if (!any)
        return 0;
    const int64_t stride = engine->model->stride;
    struct clip_work work = {.engine = engine, .term = term};
    model_rows_here(engine->model, engine->dataset,
                    term->plan->source == SOURCE_RELATION ? term->plan->side : 1 - term->plan->side,
                    &work.first, &work.last);
    if (!term->other_copy)
        term->other_copy = memory_sparse((size_t)(term->other.rows * stride), sizeof(float));
    if (!term->other_copy)
        return error_memory(error);
    memcpy(term->other_copy + work.first * stride, term->other.data + work.first * stride,
           (size_t)((work.last - work.first) * stride) * sizeof(float));
    const int64_t n = work.last - work.first;
    if (pool_run(engine->pool, (n + CHUNK_ROWS - 1) / CHUNK_ROWS, transform_chunk, &work) != 0)
        return step_failed(engine, error);
    term->other.data = term->other_copy;
    if (!term->plan->raw_residual)
        term->residual.data = term->other_copy;
    return 0;
}

int step_return_transformed(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    dpf_factors rows = step_rows_in_use(engine, 1 - term->plan->side);
    term->other = term->residual = rows;
    if (transform_factors(engine, term, error) != 0)
        return -1;
    int64_t first, last;
    model_rows_here(engine->model, engine->dataset, 1 - term->plan->side, &first, &last);
    if (term->other.data != rows.data)
        memcpy(engine->model->sides[1 - term->plan->side].data + first * rows.stride,
               term->other.data + first * rows.stride,
               (size_t)((last - first) * rows.stride) * sizeof(float));
    return 0;
}

/* The largest norms of columns first .. first+d-1 of any row, or any of the n members; upper: of a row's products. */
static void largest_norms(const dpf_factors *factors, const int32_t *members, int64_t n, int first, int d,
                          double *l1, double *l2, double *linf, double *upper)
{
    *l1 = *l2 = *linf = *upper = 0;
    for (int64_t r = 0; r < (members ? n : factors->rows); r++) {
        const float *row = dpf_row(factors, members ? members[r] : r) + first;
        double sum = 0, square = 0;
        for (int c = 0; c < d; c++) {
            sum += fabs((double)row[c]);
            square += (double)row[c] * row[c];
            *linf = fmax(*linf, fabs((double)row[c]));
        }
        *l1 = fmax(*l1, sum);
        *l2 = fmax(*l2, sqrt(square));
        *upper = fmax(*upper, (sum * sum + square) / 2);
    }
}

/* As published by DPIMF: norms are maxima over the rows as they stand. */
static int bounds_from_data(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    struct term_plan *plan = term->plan;
    dpf_bounds bounds = plan->bounds;
    int columns = engine->model->columns;
    double l1, linf, upper;
    const int32_t *members = term->members;
    largest_norms(&term->other, members, term->n_members, engine->plan->first[plan->side],
                  engine->plan->dimension[plan->side], &bounds.other_l1, &bounds.other_l2, &bounds.other_linf,
                  &bounds.other_upper);
    largest_norms(&term->self, NULL, 0, 0, columns, &bounds.self_l1, &bounds.self_l2, &bounds.self_linf,
                  &upper);
    largest_norms(&term->residual, members, term->n_members, 0, columns, &l1, &bounds.residual_l2, &linf,
                  &upper);
    plan_budgeted_bounds(plan, &bounds);
    term->other_l1 = bounds.other_l1;
    struct term_sensitivity sensitivity;
    struct release_request request;
    if (plan_term_sensitivity(plan, &bounds, &sensitivity, error) != 0)
        return -1;
    plan_release(engine->plan, plan, &sensitivity, 1, &request);
    term->noise = (dpf_noise_plan){.size = sizeof term->noise};
    char name[64];
    return instance_result(plan->mechanism,
                           term->mechanism->plan(plan->mechanism->self, &request.release, &term->noise),
                           step_name(engine, plan->side, name), error);
}

void step_count_answered(const struct engine *engine, struct term_run *term)
{
    const int64_t party = step_own_party(engine);
    if (party >= 0 && term->participations)
        term->participations[party] =
            (int32_t)(engine->remote->answered < INT32_MAX ? engine->remote->answered : INT32_MAX);
}

int step_open_participations(const struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    const int64_t n = engine->dataset->users.n;
    if (!term->sampler || term->sampler->level != DPF_LEVEL_PARTY)
        return 0;
    if (term->plan->participations > 0 &&
        !(term->participations = memory_new((size_t)n + 1, sizeof *term->participations)))
        return error_memory(error);
    if (term->plan->sampling.separation > 1 &&
        !(term->last_round = memory_raw((size_t)n + 1, sizeof *term->last_round)))
        return error_memory(error);
    for (int64_t u = 0; term->last_round && u < n; u++)
        term->last_round[u] = -1;
    step_count_answered(engine, term);
    return 0;
}

/* Users that have taken part as often as the ledger counts stay out. */
static void cap_participations(struct engine *engine, struct term_run *term)
{
    int64_t n = engine->dataset->users.n;
    for (int64_t u = 0; term->participations && u < n; u++) {
        if (term->participations[u] >= term->plan->participations)
            term->party_weight_buffer[u] = 0;
        term->participations[u] += term->party_weight_buffer[u] != 0;
    }
}

/* The statement rests on rounds without a user between two with it. A sampler that breaks its word proves
 * nothing. */
static void keep_apart(struct engine *engine, struct term_run *term)
{
    const int64_t n = engine->dataset->users.n, apart = term->plan->sampling.separation;
    for (int64_t u = 0; term->last_round && u < n; u++) {
        if (term->party_weight_buffer[u] == 0)
            continue;
        if (term->last_round[u] >= 0 && engine->round - term->last_round[u] < apart)
            ledger_deviate(
                &engine->plan->ledger,
                "round %lld, %s: a user took part twice in %lld rounds in a row, against what sampler %s "
                "states",
                (long long)engine->round + 1, term->plan->name, (long long)apart,
                term->plan->sampler->entry->component->id);
        term->last_round[u] = engine->round;
    }
}

/* A number for each user's id, from the seed: the same in every draw, with any other users. */
static int make_keys(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    const struct id_map *users = &engine->dataset->users;
    struct prf keys;
    char purpose[128];
    if (term->user_keys)
        return 0;
    term->user_keys = memory_raw((size_t)users->n + 1, sizeof *term->user_keys);
    if (!term->user_keys)
        return error_memory(error);
    snprintf(purpose, sizeof purpose, "users of %s", term->plan->name);
    prf_open(engine->plan->seeded, "sampler", purpose, &keys);
    for (int64_t u = 0; u < users->n; u++)
        term->user_keys[u] = prf_value(&keys, id_map_text(users, u));
    return 0;
}

/* The server that draws has asked the party, which takes part as often as its own statement counts. */
static int take_part(struct engine *engine, struct term_run *term, int64_t party, struct dpf_error *error)
{
    const int64_t n = engine->dataset->users.n;
    for (int64_t u = 0; u < n; u++)
        term->party_weight_buffer[u] = u == party;
    term->party_weights = term->party_weight_buffer;
    cap_participations(engine, term);
    return term->party_weight_buffer[party] != 0
               ? 0
               : error_set(
                     error, DPF_FAULT_RUN,
                     "the server asks for message %lld, and the statement counts %lld at most: nothing is "
                     "sent",
                     (long long)term->participations[party] + 1, (long long)term->plan->participations);
}

static int draw_parties(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    term->party_weights = NULL;
    if (!term->sampler || term->sampler->level != DPF_LEVEL_PARTY)
        return 0;
    int64_t n = engine->dataset->users.n;
    if (!term->party_weight_buffer)
        term->party_weight_buffer = memory_raw((size_t)n + 1, sizeof(float));
    if (!term->party_weight_buffer)
        return error_memory(error);
    if (step_own_party(engine) >= 0)
        return take_part(engine, term, step_own_party(engine), error);
    if (make_keys(engine, term, error) != 0)
        return -1;
    struct instance *instance = term->plan->sampler;
    dpf_draw draw = {.size = sizeof draw, .level = DPF_LEVEL_PARTY, .n = n, .keys = term->user_keys};
    dpf_call *call = step_call(engine, 0, instance, term->sample, 0);
    if (step_result(engine, 0, instance, noise_draw(engine, term, call, &draw, term->party_weight_buffer),
                    term->plan->side) != 0 ||
        step_check_weights(engine, term, term->party_weight_buffer, n, 0) != 0)
        return step_failed(engine, error);
    term->party_weights = term->party_weight_buffer;
    const int kept = !*engine->plan->ledger.deviation;
    keep_apart(engine, term);
    cap_participations(engine, term);
    return step_compare_with_plan(engine, term, kept, error);
}

/* Cleared once, before the first round. */
static int make_noise_state(struct term_run *term, struct dpf_error *error)
{
    uint64_t bytes;
    if (!term->mechanism || !term->mechanism->row_state || term->noise_state)
        return 0;
    term->row_state =
        term->mechanism->row_state(term->plan->mechanism->self, &term->plan->noise, &term->plan->sent);
    if (__builtin_mul_overflow(term->row_state, (uint64_t)term->rows, &bytes))
        return error_memory(error);
    term->noise_state = memory_new((size_t)bytes + 1, 1);
    return term->noise_state ? 0 : error_memory(error);
}

static void make_sum_bounds(const struct engine *engine, struct term_run *term)
{
    const size_t width = (size_t)term->plan->sent.width;
    if (!term->mechanism)
        return;
    if (!term->sum_bounds)
        term->sum_bounds = memory_need(2 * width + 1, sizeof *term->sum_bounds);
    plan_sum_bounds(engine->plan, term->plan, &term->noise, term->sum_bounds);
}

int step_prepare(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    int side = term->plan->side;
    term->self = step_rows_in_use(engine, side);
    term->other = step_rows_in_use(engine, term->plan->source == SOURCE_RELATION ? side : 1 - side);
    term->residual = term->other;
    term->draw = term->plan->draw_lifetime == DPF_LIFETIME_RUN ? 0 : (uint32_t)engine->round;
    term->sample = (uint32_t)engine->round;
    if (term->sampler && sampler_lifetime(term->sampler, term->plan->sampler->self) == DPF_LIFETIME_RUN)
        term->sample = 0;
    term->noise = term->plan->noise;
    term->other_l1 = term->plan->bounds.other_l1;
    if (transform_factors(engine, term, error) != 0 || draw_parties(engine, term, error) != 0 ||
        make_noise_state(term, error) != 0)
        return -1;
    make_sum_bounds(engine, term);
    return term->plan->bounds_from_data && term->mechanism ? bounds_from_data(engine, term, error) : 0;
}

/* ---- the tail: solving ------------------------------------------------------------------------------ */

struct product {
    struct engine *engine;
    struct term_run *term;
    const dpf_groups *groups;
    int worker;
};

static dpf_status multiply(void *context, int64_t first, int64_t count, const float *x, int64_t x_stride,
                           float *out, int64_t out_stride)
{
    struct product *product = context;
    struct term_run *term = product->term;
    struct engine *engine = product->engine;
    dpf_groups groups = *product->groups;
    groups.n_groups = count;
    groups.rows += first;
    groups.offsets += first;
    dpf_call *call = worker_call(engine->nested[product->worker], term->plan->loss, (int32_t)engine->round,
                                 (uint32_t)engine->round, 0);
    dpf_status status = term->loss->apply(term->plan->loss->self, call, &term->plan->query, &groups, x,
                                          x_stride, out, out_stride);
    step_result(engine, product->worker, term->plan->loss, status, term->plan->side);
    return status;
}

static const int32_t *count_degrees(struct engine *engine, int worker, const struct solve_batch *batch)
{
    const struct csr *csr = step_records(engine, batch->term, batch->degrees_holder);
    int32_t *degrees = step_buffer(engine, worker, BUFFER_DEGREES, (size_t)batch->count + 1, sizeof *degrees);
    for (int64_t i = 0; degrees && i < batch->count; i++) {
        int64_t r = batch->first + i;
        degrees[i] = r < csr->rows ? (int32_t)(csr->ptr[r + 1] - csr->ptr[r]) : 0;
    }
    return degrees;
}

static int check_finite(struct engine *engine, int worker, int side, const float *rows, int64_t first,
                        int64_t count, int64_t stride, int32_t columns)
{
    for (int64_t r = 0; r < count; r++)
        for (int32_t c = 0; c < columns; c++)
            if (!isfinite(rows[r * stride + c])) {
                char name[64];
                engine->forgivable[worker] = 1;
                return error_set(
                    &engine->errors[worker], DPF_FAULT_RUN,
                    "%s: solver %s returned a number that is not finite for %s row %lld; nothing is "
                    "released",
                    step_name(engine, side, name), engine->plan->sides[side].solver->entry->component->id,
                    side == DPF_SIDE_USERS ? "user" : "item", (long long)(first + r));
            }
    return 0;
}

int step_solve(struct engine *engine, int worker, const struct solve_batch *batch)
{
    const struct side_plan *side = &engine->plan->sides[batch->side];
    struct side_factors *factors = &engine->model->sides[batch->side];
    int64_t stride = engine->model->stride;
    const float *current = batch->current;
    if (!current)
        current = (factors->state_space ? factors->state_space : factors->data) + batch->first * stride;
    float *next = batch->next;
    if (!next)
        next = (engine->next[batch->side] ? engine->next[batch->side]
                : factors->state_space    ? factors->state_space
                                          : factors->data) +
               batch->first * stride;
    struct product product = {engine, batch->term, batch->groups, worker};
    dpf_solve solve = {
        .size = sizeof solve,
        .side = batch->side,
        .n_rounds = (int32_t)engine->plan->run.params.values[RUN_ROUNDS].integer,
        .state_width = side->state_width,
        .n_rows = batch->count,
        .first_row = batch->first,
        .query = &side->query,
        .gram_query = batch->term->plan->query.has_gram ? &batch->term->plan->gram_query : &side->query,
        .blocks = batch->blocks,
        .blocks_stride = step_stride(side->query.width),
        .gram = batch->gram,
        .current = current,
        .current_stride = stride,
        .next = next,
        .next_stride = stride,
        .state = factors->solver_state ? factors->solver_state + batch->first * side->state_width : NULL,
        .noise_variance = engine->has_noise[batch->side] ? engine->noise_variance[batch->side] : NULL,
        .gram_noise_variance = engine->has_noise[batch->side] && batch->gram
                                   ? engine->noise_variance[batch->side] + side->query.width
                                   : NULL,
        .product = batch->groups ? multiply : NULL,
        .product_context = batch->groups ? &product : NULL,
    };
    if (side->solver_functions->flags & DPF_SOLVER_DEGREES) {
        solve.degrees = count_degrees(engine, worker, batch);
        if (!solve.degrees)
            return -1;
    }
    dpf_call *call = step_call(engine, worker, side->solver, (uint32_t)engine->round, 0);
    dpf_status status = side->solver_functions->solve(side->solver->self, call, &solve);
    if (step_result(engine, worker, side->solver, status, batch->side) != 0)
        return -1;
    return check_finite(engine, worker, batch->side, next, batch->first, batch->count, stride,
                        engine->model->columns);
}
