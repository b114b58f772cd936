/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Released sides whose messages are made party by party: each user, or each silo where a transform
 * or the aggregator needs a whole message. Users are streamed in batches; a worker holds one message
 * at a time and a sum of its own, and the sums are added at the end. Integers add up to the same
 * whatever the order.
 *
 * A message has the rows that the party touches (dense where the query, a transform or the
 * aggregator asks for it) and, if users are the other side, its part of the Gram row as the last.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/additive.h"

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/messages.h"
#include "engine/noise_variance.h"
#include "engine/relation_messages.h"
#include "engine/step_scaled.h"

#define USERS_PER_TASK 64

/* Parties that a message of this round is expected from. */
static int64_t count_invited(const struct messages_work *work)
{
    const float *weights = work->term->plan->by_user ? work->term->party_weights : NULL;
    int64_t count = weights ? 0 : work->n_parties;
    for (int64_t party = 0; weights && party < work->n_parties; party++)
        count += weights[party] != 0;
    return count;
}

static int open_sum(struct messages_work *work, int n, const int64_t *owners, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    const struct term_run *term = work->term;
    const struct term_plan *plan = term->plan;
    struct side_factors *factors = &engine->model->sides[plan->side];
    const struct sum_shape shape = {.aggregator = plan->aggregator,
                                    .rows = term->rows,
                                    .width = plan->sent.width,
                                    .round = (int32_t)engine->round,
                                    .n_parties = count_invited(work),
                                    .modulus = term->noise.modulus,
                                    .least = term->noise.least_survivors,
                                    .bounds = term->sum_bounds,
                                    .gram = plan->sent.has_gram,
                                    .span = ranks_size() > 1 ? SUM_BY_OWNER : SUM_ALONE,
                                    .owners = owners};
    struct sum_hands hands = {.workers = engine->workers,
                              .n = n,
                              .pool = engine->pool,
                              .link = {.remote = engine->remote,
                                       .known = remote_floats(factors->data, factors->rows,
                                                              engine->model->stride, engine->model->columns),
                                       .weights = plan->by_user ? term->party_weights : NULL,
                                       .n_listed = work->n_parties}};
    step_name(engine, plan->side, hands.step);
    return sum_open(&work->sum, &shape, &hands, error);
}

/* The sum of all messages, each row's at the rank that decodes it. */
static int close_sum(struct messages_work *work, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    if (step_sum(engine, 0, sum_close(&work->sum, &engine->errors[0])) != 0)
        return step_failed(engine, error);
    sum_tally(&work->sum, 1, engine->stats);
    return 0;
}

struct decode_work {
    struct engine *engine;
    struct term_run *term;
    const dpf_aggregation *sums;
    double *out;
    int64_t first, last; /* the rank's rows */
    int64_t batch;
};

static int decode_rows(struct decode_work *work, int64_t first, int64_t count, int64_t survivors, int worker)
{
    struct term_run *term = work->term;
    int32_t width = term->plan->sent.width;
    dpf_encoded sums = {.size = sizeof sums,
                        .width = width,
                        .n_rows = count,
                        .first_row = first,
                        .total_rows = work->sums->rows,
                        .values = work->sums->sums + first * width,
                        .stride = width,
                        .survivors = survivors,
                        .state = step_noise_state(term, first)};
    struct instance *instance = term->plan->mechanism;
    dpf_call *call = step_call(work->engine, worker, instance, term->draw, DPF_PARTY_AGGREGATE);
    dpf_status status =
        noise_decode(work->engine, term, call, &term->plan->sent, &sums, work->out + first * width, width);
    if (step_result(work->engine, worker, instance, status, term->plan->side) != 0)
        return -1;
    double scale = term->aggregator->scale(term->plan->aggregator->self, survivors);
    for (int64_t i = 0; i < count * width; i++)
        work->out[first * width + i] *= scale;
    return 0;
}

/* Rows of friends are sums of their own: of one message, or of one for each link. */
static int decode_friends(struct decode_work *work, int64_t first, int64_t count, int worker)
{
    int32_t width = work->term->plan->sent.width;
    for (int64_t r = first; r < first + count; r++) {
        int64_t survivors = relation_survivors(work->engine, work->term, r);
        if (survivors == 0)
            memset(work->out + r * width, 0, (size_t)width * sizeof *work->out);
        else if (decode_rows(work, r, 1, survivors, worker) != 0)
            return -1;
    }
    return 0;
}

static int decode_task(void *context, int64_t task, int worker)
{
    struct decode_work *work = context;
    int64_t first = work->first + task * work->batch;
    int64_t count = work->last - first < work->batch ? work->last - first : work->batch;
    return work->term->plan->source == SOURCE_RELATION
               ? decode_friends(work, first, count, worker)
               : decode_rows(work, first, count, work->sums->survivors, worker);
}

/* Undoes the message transforms, last first; a state transform stays. */
static int undo_transforms(struct messages_work *work, dpf_message *message, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    struct term_plan *plan = work->term->plan;
    int64_t rows[PLAN_MAX_TRANSFORMS + 1] = {work->query_rows};
    int n = plan->n_transforms;
    for (int i = 0; i < n; i++) {
        const dpf_transform *transform = plan->transforms[i]->functions;
        rows[i + 1] = rows[i];
        if (transform->rows &&
            step_result(engine, 0, plan->transforms[i],
                        transform->rows(plan->transforms[i]->self, rows[i], &rows[i + 1]), plan->side) != 0)
            return step_failed(engine, error);
    }
    enum buffer_slot slot = BUFFER_WIDE;
    for (int i = n - 1; i >= 0; i--) {
        const dpf_transform *transform = plan->transforms[i]->functions;
        if (transform->kind != DPF_TRANSFORM_MESSAGE || !transform->inverse)
            continue;
        if (messages_apply(engine, 0, plan->transforms[i], plan->side, transform->inverse, rows[i], message,
                           &slot) != 0)
            return step_failed(engine, error);
    }
    return 0;
}

/* Each party sends its own rows' part of the Gram row: users, and silos that divide the other side. */
static int gram_is_inside(const struct engine *engine, const struct term_run *term)
{
    return term->plan->by_user ? term->plan->side == DPF_SIDE_ITEMS
                               : engine->parties.partition == 1 - term->plan->side;
}

static int changes_messages(const struct term_plan *plan)
{
    for (int i = 0; i < plan->n_transforms; i++) {
        int32_t kind = ((const dpf_transform *)plan->transforms[i]->functions)->kind;
        if (kind == DPF_TRANSFORM_MESSAGE || kind == DPF_TRANSFORM_STATE)
            return 1;
    }
    return 0;
}

static int divide_gram(struct messages_work *work, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    int64_t width = work->term->plan->query.width;
    work->gram_parts = memory_new((size_t)(work->n_parties * width), sizeof(double));
    if (!work->gram_parts)
        return error_memory(error);
    for (int64_t p = 0; p < work->n_parties; p++) {
        const struct party *party = &engine->parties.list[p];
        if (step_gram_exact(engine, work->term, party->members, party->n_members,
                            work->gram_parts + p * width, error) != 0)
            return -1;
    }
    return 0;
}

/* A party's encoded message; of zeros, if the party's records are at fault. */
static int make_message(struct messages_work *work, int64_t party, int zeros, int worker, dpf_encoded *out)
{
    struct draft draft;
    const struct term_plan *plan = work->term->plan;
    if (plan_sends_rows(plan) ? relation_own_row(work, party, zeros, worker, &draft) != 0
                              : messages_of_query(work, party, zeros, worker, &draft) != 0)
        return -1;
    enum buffer_slot slot = work->dense && draft.message.rows ? BUFFER_WIDE2 : BUFFER_WIDE;
    if ((work->dense && messages_densify(work->engine, worker, &draft.message, BUFFER_WIDE2) != 0) ||
        messages_transform(work, worker, &draft.message, slot) != 0)
        return -1;
    return messages_encode(work, party, worker, &draft.message, out);
}

/* How many numbers of a contribution are none, or too large for sums on the grid. */
static int64_t count_unusable(const struct messages_work *work, const dpf_message *from)
{
    const struct term_run *term = work->term;
    const dpf_query *sent = &term->plan->sent;
    const double limit = dpf_additive_limit(work->engine->dataset->users.n);
    int64_t unusable = 0;
    for (int64_t r = 0; r < from->n_rows; r++)
        for (int32_t b = 0; b < sent->n_blocks; b++)
            for (int32_t i = 0; i < sent->blocks[b].length; i++)
                unusable += !(fabs(from->values[r * from->stride + sent->blocks[b].offset + i]) <
                              limit * term->noise.grid[b]);
    return unusable;
}

/* A user's contribution, rounded to the grid as the user's own message would be, into the silo's. */
static int add_contribution(struct messages_work *work, int worker, const dpf_message *from, double *pool)
{
    const struct term_run *term = work->term;
    const dpf_query *sent = &term->plan->sent;
    if (count_unusable(work, from) > 0) {
        work->engine->forgivable[worker] = 1;
        return error_set(&work->engine->errors[worker], DPF_FAULT_RUN,
                         "[%s] a user's contribution is not a number, or too large for the grid",
                         term->plan->name);
    }
    for (int64_t r = 0; r < from->n_rows; r++) {
        double *to = pool + (from->rows ? from->rows[r] : from->first_row + r) * sent->width;
        for (int32_t b = 0; b < sent->n_blocks; b++)
            for (int32_t i = sent->blocks[b].offset; i < sent->blocks[b].offset + sent->blocks[b].length; i++)
                to[i] +=
                    nearbyint(from->values[r * from->stride + i] / term->noise.grid[b]) * term->noise.grid[b];
    }
    return 0;
}

static int pool_user(struct messages_work *work, int64_t user, int worker, double *pool)
{
    struct draft draft;
    if (messages_of_query(work, user, 0, worker, &draft) != 0 ||
        messages_transform(work, worker, &draft.message, BUFFER_WIDE) != 0)
        return -1;
    return add_contribution(work, worker, &draft.message, pool);
}

/* A silo's encoded message: the sum of its users', each made by itself; of zeros for a user whose records are at fault. */
static int make_pooled(struct messages_work *work, int64_t silo, int worker, dpf_encoded *out)
{
    struct engine *engine = work->engine;
    const struct party *party = &engine->parties.list[silo];
    const int64_t *ptr = engine->dataset->train.by_user.ptr;
    const int32_t width = work->term->plan->sent.width;
    const size_t n = (size_t)(work->term->rows * width);
    double *pool = step_buffer(engine, worker, BUFFER_POOL, n + 1, sizeof *pool);
    if (!pool)
        return -1;
    memset(pool, 0, n * sizeof *pool);
    for (int64_t m = 0; m < party->n_members; m++) {
        const int32_t user = party->members[m];
        if (step_stopped(engine, worker) != 0)
            return -1;
        if (ptr[user] == ptr[user + 1] || pool_user(work, user, worker, pool) == 0)
            continue;
        if (!step_note(engine, worker, user))
            return -1;
        step_reset_later(engine, DPF_SIDE_USERS, user);
    }
    const dpf_message message = {.size = sizeof message,
                                 .party = (uint32_t)silo,
                                 .n_rows = work->term->rows,
                                 .total_rows = work->term->rows,
                                 .values = pool,
                                 .stride = width,
                                 .width = width};
    return messages_encode(work, silo, worker, &message, out);
}

/*
 * Zero-out is about a user whose contribution is nothing, and add-remove is too where a catalogue of users
 * says who there is. A user without records, or with void ones alone, would send something all the
 * same where cells without records count, or rows of all users (a Gram row), and that can be as far from
 * other messages as any: so such a user sends zeros, with all of the noise.
 */
static int sends_nothing(const struct messages_work *work, int64_t party)
{
    const struct term_plan *term = work->term->plan;
    const struct guarantee *guarantee = &work->engine->plan->guarantee;
    return term->by_user && term->source == SOURCE_RECORDS && guarantee->unit == DPF_UNIT_USER &&
           (guarantee->adjacency == DPF_ADJ_ZERO_OUT || guarantee->adjacency == DPF_ADJ_ADD_REMOVE) &&
           !csr_row_counts(&work->engine->dataset->train.by_user, party);
}

static int send_all(struct messages_work *work, int64_t party, int worker)
{
    struct engine *engine = work->engine;
    dpf_encoded message;
    if (step_stopped(engine, worker) != 0)
        return -1;
    if (plan_sends_links(work->term->plan))
        return relation_send_links(work, party, worker);
    if (work->pooled)
        return make_pooled(work, party, worker, &message) == 0 ? messages_add(work, party, worker, &message)
                                                               : -1;
    if (make_message(work, party, sends_nothing(work, party), worker, &message) != 0) {
        if (!step_note(engine, worker, party) || make_message(work, party, 1, worker, &message) != 0)
            return -1;
        if (work->term->plan->by_user)
            step_reset_later(engine, DPF_SIDE_USERS, party);
    }
    return messages_add(work, party, worker, &message);
}

static int send_messages(void *context, int64_t task, int worker)
{
    struct messages_work *work = context;
    struct term_run *term = work->term;
    int64_t first = work->first + task * work->per_task, end = first + work->per_task;
    for (int64_t party = first; party < end && party < work->last; party++) {
        if (term->plan->by_user && term->party_weights && term->party_weights[party] == 0)
            continue;
        if (send_all(work, party, worker) != 0)
            return -1;
    }
    return 0;
}

/* Transforms that are undone, and projections, make each row of what is decoded from several. */
static int mixes_rows(const struct engine *engine, const struct term_plan *plan)
{
    for (int i = 0; i < plan->n_transforms; i++) {
        const dpf_transform *transform = plan->transforms[i]->functions;
        if (transform->kind == DPF_TRANSFORM_STATE ||
            (transform->kind == DPF_TRANSFORM_MESSAGE && transform->inverse))
            return 1;
    }
    return engine->model->sides[plan->side].state_space != NULL;
}

/* Which rank decodes which rows of the sum: the rank that solves them, if they are the rows that are solved.
 * */
static void divide_rows(const struct messages_work *work, int64_t rows, int64_t *owners)
{
    if (mixes_rows(work->engine, work->term->plan)) {
        shares_even(rows, owners);
        return;
    }
    shares_offsets(work->engine->dataset, work->term->plan->side, owners);
    owners[ranks_size()] = rows; /* the Gram row is the last rank's */
}

/* The aggregator counts only rows that it is given, and adds them: the host counts those that it leaves out. */
static int counts_what_it_adds(const struct term_run *term)
{
    for (int i = 0; i < term->plan->n_transforms; i++) {
        const dpf_transform *transform = term->plan->transforms[i]->functions;
        if (transform->kind == DPF_TRANSFORM_STATE ||
            (transform->kind == DPF_TRANSFORM_MESSAGE &&
             (transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE))))
            return 0;
    }
    return (term->aggregator->flags & DPF_AGGREGATOR_ADDS) && term->noise.modulus == 0;
}

/* Bytes of the rows that users' messages lack, as if they had all of them. */
static void count_left_out(struct messages_work *work)
{
    const int64_t *ptr = work->engine->dataset->train.by_user.ptr;
    const float *weights = work->term->party_weights;
    const int64_t numbers = 8 * (int64_t)work->sum.shape.width, all = work->query_rows * numbers;
    uint64_t bytes = 0;
    for (int64_t user = work->first; user < work->last; user++)
        if (!weights || weights[user] != 0)
            bytes += (uint64_t)(all - (ptr[user + 1] - ptr[user] + work->gram_inside) * (numbers + 4));
    sum_plain_counts(&work->sum, 0, bytes);
}

/*
 * Messages carry no noise, so that zeros are encoded as zeros, and the aggregation fills rows in: those without
 * records need not be made. What is summed and what is counted stays the same. A party that is a process of
 * its own sends all rows, masked: which of them are zeros is private (condition C8).
 */
static int leaves_zeros(const struct messages_work *work)
{
    const struct term_run *term = work->term;
    const struct term_plan *plan = term->plan;
    const dpf_noise_plan *noise = &term->noise;
    return !work->engine->observed && !work->engine->remote && plan->by_user &&
           plan->side == DPF_SIDE_ITEMS && plan->source == SOURCE_RECORDS &&
           ((plan->query.support == DPF_SUPPORT_OBSERVED && !plan->query.has_gram) ||
            (term->loss->flags & DPF_LOSS_ZERO_WITHOUT_RECORDS)) &&
           (term->mechanism->flags & DPF_MECHANISM_ROUNDS) &&
           (noise->where == DPF_NOISE_NOWHERE || noise->where == DPF_NOISE_AT_SUM || noise->bare) &&
           ((term->aggregator->flags & DPF_AGGREGATOR_FILLS) || counts_what_it_adds(term));
}

static void open_messages(struct messages_work *work, struct engine *engine, struct term_run *term)
{
    const dpf_query *query = &term->plan->sent;
    *work = (struct messages_work){.engine = engine, .term = term};
    const int of_users = term->plan->by_user && !term->plan->pooled;
    work->pooled = term->plan->pooled;
    work->n_parties = of_users ? engine->dataset->users.n : engine->parties.n;
    work->first = of_users ? shares_first(engine->dataset, DPF_SIDE_USERS) : 0;
    work->last = of_users ? shares_last(engine->dataset, DPF_SIDE_USERS) : work->n_parties;
    work->per_task = of_users ? USERS_PER_TASK : 1;
    work->gram_inside = query->has_gram && gram_is_inside(engine, term);
    work->on_grid = !term->plan->by_user || !changes_messages(term->plan);
    work->query_rows = engine->model->sides[term->plan->side].rows + query->has_gram;
    work->dense = query->support == DPF_SUPPORT_DENSE ||
                  (term->aggregator->flags & DPF_AGGREGATOR_DENSE) != 0 ||
                  (term->mechanism->flags & DPF_MECHANISM_DENSE) != 0 || !term->plan->by_user;
    work->leaves_zeros = work->dense && !work->pooled && leaves_zeros(work);
    work->dense = work->dense && !work->leaves_zeros &&
                  !work->pooled; /* a user's contribution, not the silo's message */
}

/* All messages of this rank's parties: by their factors, or made. */
static int add_messages(struct messages_work *work, const double *factors, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    int64_t tasks = (work->last - work->first + work->per_task - 1) / work->per_task;
    if (work->leaves_zeros && counts_what_it_adds(work->term))
        count_left_out(work);
    if (work->gram_inside && !work->term->plan->by_user && divide_gram(work, error) != 0)
        return -1;
    if (factors)
        return scaled_sums(work, factors, error);
    if (work->sum.n_parts > 1)
        return pool_run(engine->pool, tasks, send_messages, work) == 0 ? 0 : step_failed(engine, error);
    for (int64_t task = 0; task < tasks; task++)
        if (send_messages(work, task, 0) != 0)
            return step_failed(engine, error);
    return 0;
}

static void note_variance(struct messages_work *work)
{
    struct term_run *term = work->term;
    const int64_t sent = sum_result(&work->sum)->survivors;
    const double scale = sum_scale(&work->sum);
    term->variance_factor = noise_variance_factor(work->engine, term, sent, scale);
    term->gram_variance_factor =
        work->gram_inside ? term->variance_factor : noise_variance_factor(work->engine, term, 1, 1);
}

/* The rank's rows of the sum, decoded, and those of all ranks where a row is made from several; the Gram row
   on all ranks. */
static int decode_sum(struct messages_work *work, const int64_t *owners, double *out, struct dpf_error *error)
{
    struct engine *engine = work->engine;
    const int rank = ranks_rank(), size = ranks_size();
    const int32_t width = work->term->plan->sent.width;
    const size_t bytes = (size_t)width * sizeof *out;
    struct decode_work decode = {engine,       work->term,       sum_result(&work->sum),    out,
                                 owners[rank], owners[rank + 1], step_batch_rows(2 * width)};
    const int64_t n = decode.last - decode.first;
    if (pool_run(engine->pool, (n + decode.batch - 1) / decode.batch, decode_task, &decode) != 0)
        return step_failed(engine, error);
    if (mixes_rows(engine, work->term->plan))
        return ranks_gather(out, bytes, owners, error);
    return work->gram_inside ? ranks_broadcast(out + (owners[size] - 1) * width, bytes, size - 1, error) : 0;
}

static void close_messages(struct messages_work *work)
{
    sum_free(&work->sum);
    free(work->gram_parts);
}

int step_send_message(struct engine *engine, int which, struct dpf_error *error)
{
    struct term_run *term = &engine->terms[which][0];
    struct messages_work work;
    dpf_encoded message;
    const int64_t party = step_own_party(engine);
    if (step_prepare(engine, term, error) != 0)
        return -1;
    open_messages(&work, engine, term);
    int status = open_sum(&work, 1, NULL, error);
    if (status == 0 && work.pooled)
        status = make_pooled(&work, party, 0, &message) == 0 ? 0 : step_failed(engine, error);
    else if (status == 0 && make_message(&work, party, sends_nothing(&work, party), 0, &message) != 0 &&
             (!step_note(engine, 0, party) || make_message(&work, party, 1, 0, &message) != 0))
        status = step_failed(engine, error);
    if (status == 0)
        status = sum_add(&work.sum, 0, (uint32_t)party, &message, error);
    close_messages(&work);
    return status;
}

/* Every party's message of one term to the decoded estimate, in worker 0's buffers. */
static int release_messages(struct engine *engine, struct term_run *term, dpf_message *estimate,
                            struct dpf_error *error)
{
    const dpf_query *query = &term->plan->sent;
    struct messages_work work;
    const int is_server = step_is_server(engine);
    double *factors = NULL;
    open_messages(&work, engine, term);
    /* A Gram row that is not part of the messages is released by itself. */
    const int64_t rows = term->rows - (query->has_gram && !work.gram_inside);
    int64_t *owners = memory_new((size_t)ranks_size() + 1, sizeof *owners);
    int status = owners ? 0 : error_memory(error);
    if (status == 0 && !is_server)
        status = scaled_factors(&work, &factors, error);
    if (status == 0) {
        divide_rows(&work, rows, owners);
        status = open_sum(
            &work, factors || is_server ? 1 : sum_most_parts(term->plan->aggregator, engine->n_workers),
            owners, error);
    }
    if (status == 0 && !is_server)
        status = add_messages(&work, factors, error);
    if (status == 0)
        status = close_sum(&work, error);
    free(factors);
    if (status == 0)
        note_variance(&work);
    double *out = NULL;
    if (status == 0 &&
        !(out = step_buffer(engine, 0, BUFFER_WIDE, (size_t)(term->rows * query->width) + 1, sizeof *out)))
        status = step_failed(engine, error);
    if (status == 0)
        status = decode_sum(&work, owners, out, error);
    *estimate = (dpf_message){.size = sizeof *estimate,
                              .party = DPF_PARTY_AGGREGATE,
                              .n_rows = term->rows,
                              .total_rows = term->rows,
                              .values = out,
                              .stride = query->width,
                              .width = query->width};
    if (status == 0)
        status = undo_transforms(&work, estimate, error);
    close_messages(&work);
    free(owners);
    return status;
}

/* ---- solving ------------------------------------------------------------------------------------ */

struct solve_work {
    struct engine *engine;
    struct side_plan *side;
    const float *blocks;
    const float *gram;
    int64_t first, last; /* the rank's rows */
    int64_t batch;
};

static int solve_rows(void *context, int64_t first, int64_t count, int worker)
{
    struct solve_work *work = context;
    struct solve_batch batch = {.side = work->side->side,
                                .first = first,
                                .count = count,
                                .blocks = work->blocks + first * step_stride(work->side->query.width),
                                .gram = work->gram,
                                .term = &work->engine->terms[work->side->side][0],
                                .degrees_holder = HOLDER_ALL};
    return step_solve(work->engine, worker, &batch);
}

static int solve_task(void *context, int64_t task, int worker)
{
    struct solve_work *work = context;
    int64_t first = work->first + task * work->batch;
    int64_t count = work->last - first < work->batch ? work->last - first : work->batch;
    return step_row_by_row(work->engine, worker, work->side->side, first, count, solve_rows, work);
}

struct exact_work {
    struct engine *engine;
    struct term_run *term;
    float *blocks;
    int64_t first, last, stride, batch; /* the rank's rows */
};

static int exact_task(void *context, int64_t task, int worker)
{
    struct exact_work *work = context;
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    const dpf_query *query = &term->plan->query;
    int64_t first = work->first + task * work->batch;
    int64_t count = work->last - first < work->batch ? work->last - first : work->batch;
    dpf_groups groups;
    double *wide = step_buffer(engine, worker, BUFFER_WIDE, (size_t)(count * query->width) + 1, sizeof *wide);
    if (!wide || step_groups(engine, term, HOLDER_ALL, first, count, worker, &groups) != 0)
        return -1;
    if (step_accumulate(engine, worker, term, 0, &groups, NULL, wide) != 0)
        return -1;
    for (int64_t r = 0; r < count; r++)
        for (int32_t i = 0; i < query->width; i++)
            work->blocks[(first + r) * work->stride + i] += (float)wide[r * query->width + i];
    return 0;
}

/* Adds exact blocks of the rank's rows: of a term without mechanism beside released ones, or of what friends
 * sent.
 */
static int exact_term(struct engine *engine, struct term_run *term, float *blocks, int64_t stride,
                      struct dpf_error *error)
{
    struct exact_work work = {engine,
                              term,
                              blocks,
                              shares_first(engine->dataset, term->plan->side),
                              shares_last(engine->dataset, term->plan->side),
                              stride,
                              step_batch_rows(2 * term->plan->query.width)};
    const int64_t n = work.last - work.first;
    if (pool_run(engine->pool, (n + work.batch - 1) / work.batch, exact_task, &work) != 0)
        return step_failed(engine, error);
    return 0;
}

/*
 * The Gram row where all parties have the same: from rows that all of them hold, encoded once under a
 * party number that no message has.
 */
static int release_gram(struct engine *engine, struct term_run *term, float *gram, struct dpf_error *error)
{
    const dpf_query *query = &term->plan->query;
    struct instance *instance = term->plan->mechanism;
    size_t width = (size_t)query->width;
    double *exact = step_buffer(engine, 0, BUFFER_WIDE2, width, sizeof *exact);
    int64_t *values = step_buffer(engine, 0, BUFFER_INTEGERS, width, sizeof *values);
    if (!exact || !values)
        return step_failed(engine, error);
    if (step_gram_exact(engine, term, NULL, term->other.rows, exact, error) != 0)
        return -1;
    static const int32_t one = 1;
    dpf_encoded message = {.size = sizeof message,
                           .width = query->width,
                           .n_rows = 1,
                           .first_row = term->rows - 1,
                           .total_rows = term->rows,
                           .values = values,
                           .stride = query->width,
                           .survivors = 1,
                           .contributors = &one,
                           .state = step_noise_state(term, term->rows - 1)};
    dpf_call *call = step_call(engine, 0, instance, term->draw, DPF_PARTY_AGGREGATE - 1);
    dpf_status status = noise_encode(engine, term, call, query, exact, query->width, &message);
    if (status == DPF_OK) {
        call = step_call(engine, 0, instance, term->draw, DPF_PARTY_AGGREGATE);
        status = noise_decode(engine, term, call, query, &message, exact, query->width);
    }
    if (step_result(engine, 0, instance, status, term->plan->side) != 0)
        return step_failed(engine, error);
    for (int32_t i = 0; i < query->width; i++)
        gram[i] += (float)exact[i];
    return 0;
}

static int add_term(struct engine *engine, struct term_run *term, float *blocks, float *gram, int64_t rows,
                    int64_t stride, struct dpf_error *error)
{
    const dpf_query *query = &term->plan->query;
    if (!term->mechanism)
        return exact_term(engine, term, blocks, stride, error);
    dpf_message estimate;
    if (relation_prepare(engine, term, error) != 0 || release_messages(engine, term, &estimate, error) != 0)
        return -1;
    if (plan_sends_rows(term->plan)) {
        if (relation_receive_rows(engine, term, &estimate, error) != 0)
            return -1;
        return exact_term(engine, term, blocks, stride, error);
    }
    const int everywhere = mixes_rows(engine, term->plan);
    const int64_t first = everywhere ? 0 : shares_first(engine->dataset, term->plan->side);
    const int64_t last = everywhere ? rows : shares_last(engine->dataset, term->plan->side);
    for (int64_t r = first; r < last; r++)
        for (int32_t i = 0; i < query->width; i++)
            blocks[r * stride + i] += (float)estimate.values[r * estimate.stride + i];
    if (plan_sends_links(term->plan)) {
        relation_receive_links(term);
        return exact_term(engine, term, blocks, stride, error);
    }
    int inside = query->has_gram && gram_is_inside(engine, term);
    for (int32_t i = 0; inside && i < query->width; i++)
        gram[i] += (float)estimate.values[rows * estimate.stride + i];
    return query->has_gram && !inside ? release_gram(engine, term, gram, error) : 0;
}

/* New rows of the projected space, seen from the items: V = S'B. */
static int look_through(struct engine *engine, struct side_plan *side, struct dpf_error *error)
{
    struct side_factors *factors = &engine->model->sides[side->side];
    const dpf_transform *transform = side->state_transform->functions;
    int64_t d = side->query.dimension, stride = engine->model->stride, at = side->query.first;
    double *in = step_buffer(engine, 0, BUFFER_WIDE, (size_t)(factors->state_rows * d) + 1, sizeof *in);
    double *out = step_buffer(engine, 0, BUFFER_WIDE2, (size_t)(factors->rows * d) + 1, sizeof *out);
    if (!in || !out)
        return step_failed(engine, error);
    for (int64_t r = 0; r < factors->state_rows; r++)
        for (int64_t c = 0; c < d; c++)
            in[r * d + c] = factors->state_space[r * stride + at + c];
    memset(out, 0, (size_t)(factors->rows * d) * sizeof *out);
    dpf_message from = {sizeof from,
                        DPF_PARTY_AGGREGATE,
                        factors->state_rows,
                        NULL,
                        0,
                        factors->state_rows,
                        in,
                        d,
                        (int32_t)d,
                        0};
    dpf_message to = {
        sizeof to, DPF_PARTY_AGGREGATE, factors->rows, NULL, 0, factors->rows, out, d, (int32_t)d, 0};
    dpf_call *call = step_call(engine, 0, side->state_transform, (uint32_t)engine->round, 0);
    if (step_result(engine, 0, side->state_transform,
                    transform->adjoint(side->state_transform->self, call, &from, &to), side->side) != 0)
        return step_failed(engine, error);
    float *rows = engine->next[side->side] ? engine->next[side->side] : factors->data;
    for (int64_t r = 0; r < factors->rows; r++)
        for (int64_t c = 0; c < d; c++)
            rows[r * stride + at + c] = (float)out[r * d + c];
    return 0;
}

int step_by_messages(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    struct term_run *terms = engine->terms[which];
    struct side_factors *factors = &engine->model->sides[which];
    int64_t rows = factors->state_space ? factors->state_rows : factors->rows;
    int64_t stride = step_stride(side->query.width);
    float *blocks = memory_new((size_t)(rows * stride) + 16, sizeof *blocks);
    float *gram = memory_new((size_t)stride, sizeof *gram);
    int status = blocks && gram ? 0 : error_memory(error);
    for (int t = 0; t < side->n_terms && status == 0; t++) {
        status = step_prepare(engine, &terms[t], error);
        if (status == 0)
            status = add_term(engine, &terms[t], blocks, gram, rows, stride, error);
    }
    struct solve_work work = {
        .engine = engine,
        .side = side,
        .blocks = blocks,
        .gram = side->query.has_gram ? gram : NULL,
        /* A projected space is solved on every rank: each row of the side is made from it. */
        .first = factors->state_space ? 0 : shares_first(engine->dataset, which),
        .last = factors->state_space ? rows : shares_last(engine->dataset, which),
        .batch = step_batch_rows(side->query.width)};
    const int64_t solved = work.last - work.first;
    if (status == 0)
        status = noise_variance_fill(engine, which, error);
    if (status == 0 && pool_run(engine->pool, (solved + work.batch - 1) / work.batch, solve_task, &work) != 0)
        status = step_failed(engine, error);
    if (status == 0 && factors->state_space)
        status = look_through(engine, side, error);
    free(blocks);
    free(gram);
    return status;
}
