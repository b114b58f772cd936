/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/messages.h"

#include <stdlib.h>
#include <string.h>

static int32_t *iota_rows(struct engine *engine, int worker, int64_t n)
{
    int32_t *rows = step_buffer(engine, worker, BUFFER_ROWS, (size_t)n + 1, sizeof *rows);
    for (int64_t i = 0; rows && i < n; i++)
        rows[i] = (int32_t)i;
    return rows;
}

/* Offsets of groups with a record each, or (given rows, in their order) of all groups, of which few have one.
 */
static void fill_offsets(const int32_t *rows, int64_t n, int64_t n_groups, int64_t *offsets)
{
    int64_t g = 0;
    for (int64_t i = 0; i < n; i++)
        for (const int64_t last = rows ? rows[i] : i; g <= last; g++)
            offsets[g] = i;
    for (; g <= n_groups; g++)
        offsets[g] = n;
}

/*
 * Groups of one user's message where users are the other side: each of the user's records is a group
 * of its own row; a dense query also gets an empty group for every other row.
 */
static int user_groups(struct engine *engine, struct term_run *term, int64_t user, int dense, int worker,
                       dpf_groups *groups)
{
    const struct csr *csr = &engine->dataset->train.by_user;
    int64_t begin = csr->ptr[user], n = csr->ptr[user + 1] - begin;
    const float *values = term->values ? term->values[engine->parties.n + 1] : csr->values;
    int64_t n_groups = dense ? engine->model->sides[term->plan->side].rows : n;
    int64_t *offsets = step_buffer(engine, worker, BUFFER_OFFSETS, (size_t)n_groups + 1, sizeof *offsets);
    int32_t *others = step_buffer(engine, worker, BUFFER_OTHERS, (size_t)n + 1, sizeof *others);
    const int32_t *rows = dense ? iota_rows(engine, worker, n_groups) : csr->others + begin;
    float *weights = NULL;
    if (!offsets || !others || !rows)
        return -1;
    int by_record = term->sampler && term->sampler->level == DPF_LEVEL_RECORD;
    const int voids = step_has_voids(csr, begin, n);
    if (by_record || voids || (term->party_weights && term->party_weights[user] != 1.0f)) {
        weights = step_buffer(engine, worker, BUFFER_WEIGHTS, (size_t)n + 1, sizeof *weights);
        if (!weights)
            return -1;
        for (int64_t i = 0; i < n && !by_record; i++)
            weights[i] = term->party_weights ? term->party_weights[user] : 1;
        if (by_record &&
            step_draw_records(engine, term, DPF_SIDE_USERS, csr, values, user, 1, worker, weights) != 0)
            return -1;
        if (voids)
            step_void_weights(csr, begin, n, weights);
    }
    fill_offsets(dense ? csr->others + begin : NULL, n, n_groups, offsets);
    for (int64_t i = 0; i < n; i++)
        others[i] = (int32_t)user;
    *groups = (dpf_groups){.size = sizeof *groups,
                           .side = term->plan->side,
                           .self = &term->self,
                           .other = &term->other,
                           .n_groups = n_groups,
                           .rows = rows,
                           .offsets = offsets,
                           .others = others,
                           .values = values ? values + begin : NULL,
                           .weights = weights,
                           .offset = engine->model->offset,
                           .party_row = (int32_t)user,
                           .residual = &term->residual,
                           .self_features = step_features(engine, term->plan->side),
                           .other_features = step_features(engine, 1 - term->plan->side)};
    return 0;
}

int messages_groups(struct messages_work *work, int64_t party, int worker, dpf_groups *groups)
{
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    int by_user = term->plan->by_user;
    if (!by_user)
        return step_groups(engine, term, party, 0, engine->model->sides[term->plan->side].rows, worker,
                           groups);
    if (term->plan->side == DPF_SIDE_USERS)
        return step_groups(engine, term, HOLDER_ALL, party, 1, worker, groups);
    return user_groups(engine, term, party, work->dense, worker, groups);
}

/* The party's part of the Gram row, as the last row of its message. */
static int add_gram(struct messages_work *work, int64_t party, int worker, double *row)
{
    struct term_run *term = work->term;
    struct instance *instance = term->plan->loss;
    size_t width = (size_t)term->plan->query.width;
    if (work->gram_parts) {
        memcpy(row, work->gram_parts + (size_t)party * width, width * sizeof *row);
        return 0;
    }
    memset(row, 0, width * sizeof *row);
    dpf_call *call =
        step_call(work->engine, worker, instance, (uint32_t)work->engine->round, (uint32_t)party);
    return step_result(
        work->engine, worker, instance,
        term->loss->gram(instance->self, call, &term->plan->gram_query, &term->other, party, 1, row),
        term->plan->side);
}

/* The loss's answer; zeros if the party's records are at fault. A silo's are sorted record by record. */
static int fill_message(struct messages_work *work, int64_t party, const dpf_groups *groups, int zeros,
                        int worker, double *values)
{
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    const dpf_query *query = &term->plan->query;
    const double *grid = work->on_grid ? term->noise.grid : NULL;
    double *gram = values + groups->n_groups * query->width;
    if (zeros) {
        memset(values, 0, (size_t)((groups->n_groups + work->gram_inside) * query->width) * sizeof *values);
        return 0;
    }
    if (!term->plan->by_user) {
        if (step_accumulate(engine, worker, term, (uint32_t)party, groups, grid, values) != 0)
            return -1;
        return work->gram_inside ? add_gram(work, party, worker, gram) : 0;
    }
    struct instance *instance = term->plan->loss;
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, (uint32_t)party);
    dpf_status status =
        term->loss->accumulate(instance->self, call, query, groups, grid, values, query->width);
    if (step_result(engine, worker, instance, status, term->plan->side) != 0)
        return -1;
    return work->gram_inside ? add_gram(work, party, worker, gram) : 0;
}

/* Groups of all rows, in their order. */
static int has_all_rows(const struct messages_work *work, int64_t n_rows)
{
    const struct term_plan *plan = work->term->plan;
    return work->dense && plan->by_user && plan->side == DPF_SIDE_ITEMS && n_rows == work->query_rows;
}

/* The rows of a message that may lack some. */
static int32_t *rows_of(struct messages_work *work, const dpf_groups *groups, int64_t n_rows, int worker)
{
    int32_t *rows = step_buffer(work->engine, worker, BUFFER_PAIRS, (size_t)n_rows + 1, sizeof *rows);
    if (!rows)
        return NULL;
    memcpy(rows, groups->rows, (size_t)groups->n_groups * sizeof *rows);
    if (work->gram_inside)
        rows[groups->n_groups] = (int32_t)(work->query_rows - 1);
    return rows;
}

int messages_of_query(struct messages_work *work, int64_t party, int zeros, int worker, struct draft *draft)
{
    const dpf_query *query = &work->term->plan->query;
    dpf_groups groups;
    if (messages_groups(work, party, worker, &groups) != 0)
        return -1;
    const int64_t n_rows = groups.n_groups + work->gram_inside;
    const int all = has_all_rows(work, n_rows);
    double *values =
        step_buffer(work->engine, worker, BUFFER_WIDE, (size_t)(n_rows * query->width) + 1, sizeof *values);
    draft->rows = all ? NULL : rows_of(work, &groups, n_rows, worker);
    if (!values || (!all && !draft->rows) || fill_message(work, party, &groups, zeros, worker, values) != 0)
        return -1;
    draft->message =
        (dpf_message){.size = sizeof(dpf_message),
                      .party = (uint32_t)party,
                      .n_rows = n_rows,
                      .rows = draft->rows,
                      .total_rows = work->query_rows,
                      .values = values,
                      .stride = query->width,
                      .width = query->width,
                      .zero_rows = work->leaves_zeros ? (int32_t)(work->query_rows - n_rows) : 0};
    return 0;
}

/* All rows, those that the message lacks as zeros. The message moves to the other wide buffer. */
int messages_densify(struct engine *engine, int worker, dpf_message *message, enum buffer_slot slot)
{
    if (!message->rows && message->n_rows == message->total_rows)
        return 0;
    size_t n = (size_t)(message->total_rows * message->width);
    double *values = step_buffer(engine, worker, slot, n + 1, sizeof *values);
    if (!values)
        return -1;
    memset(values, 0, n * sizeof *values);
    for (int64_t r = 0; r < message->n_rows; r++) {
        int64_t row = message->rows ? message->rows[r] : message->first_row + r;
        memcpy(values + row * message->width, message->values + r * message->stride,
               (size_t)message->width * sizeof *values);
    }
    message->values = values;
    message->stride = message->width;
    message->rows = NULL;
    message->first_row = 0;
    message->n_rows = message->total_rows;
    message->zero_rows = 0;
    return 0;
}

/* Applies one transform in direction apply; changes rows by way of the other buffer. */
int messages_apply(struct engine *engine, int worker, struct instance *instance, int side,
                   dpf_status (*apply)(void *self, const dpf_call *call, const dpf_message *in,
                                       dpf_message *out),
                   int64_t rows_out, dpf_message *message, enum buffer_slot *slot)
{
    dpf_message out = *message;
    enum buffer_slot other = *slot == BUFFER_WIDE ? BUFFER_WIDE2 : BUFFER_WIDE;
    /* A projection mixes rows even where it keeps their number. */
    if (rows_out != message->total_rows ||
        ((const dpf_transform *)instance->functions)->kind == DPF_TRANSFORM_STATE) {
        out.values =
            step_buffer(engine, worker, other, (size_t)(rows_out * message->width) + 1, sizeof(double));
        if (!out.values)
            return -1;
        memset(out.values, 0, (size_t)(rows_out * message->width) * sizeof(double));
        out.stride = message->width;
        out.n_rows = out.total_rows = rows_out;
        *slot = other;
    }
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, message->party);
    if (step_result(engine, worker, instance, apply(instance->self, call, message, &out), side) != 0)
        return -1;
    *message = out;
    return 0;
}

/* The message stands in buffer slot. */
int messages_transform(struct messages_work *work, int worker, dpf_message *message, enum buffer_slot slot)
{
    struct engine *engine = work->engine;
    struct term_plan *plan = work->term->plan;
    for (int i = 0; i < plan->n_transforms; i++) {
        struct instance *instance = plan->transforms[i];
        const dpf_transform *transform = instance->functions;
        int state = transform->kind == DPF_TRANSFORM_STATE;
        if (transform->kind != DPF_TRANSFORM_MESSAGE && !state)
            continue;
        int64_t rows = message->total_rows;
        if (transform->rows &&
            step_result(engine, worker, instance, transform->rows(instance->self, message->total_rows, &rows),
                        plan->side) != 0)
            return -1;
        if (state || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE) || rows != message->total_rows) {
            enum buffer_slot other = slot == BUFFER_WIDE ? BUFFER_WIDE2 : BUFFER_WIDE;
            int sparse = message->rows != NULL;
            if (messages_densify(engine, worker, message, other) != 0)
                return -1;
            slot = sparse ? other : slot;
        }
        if (messages_apply(engine, worker, instance, plan->side,
                           state ? transform->project : transform->forward, rows, message, &slot) != 0)
            return -1;
    }
    return 0;
}

/* Users with records of each row of the message, or friends of the user whose row it is, where the mechanism
   wants to know. Rows of a transformed message are sent by everybody. */
static const int32_t *count_contributors(struct messages_work *work, int worker, const dpf_message *message)
{
    struct engine *engine = work->engine;
    const struct term_plan *plan = work->term->plan;
    const struct csr *csr = step_records(engine, work->term, HOLDER_ALL);
    int32_t *counts =
        step_buffer(engine, worker, BUFFER_CONTRIBUTORS, (size_t)message->n_rows + 1, sizeof *counts);
    int by_item = (plan->by_user && plan->side == DPF_SIDE_ITEMS && message->rows) || plan_sends_links(plan);
    for (int64_t r = 0; counts && r < message->n_rows; r++) {
        int64_t row = by_item ? message->rows[r] : 0;
        counts[r] = by_item && row < csr->rows ? (int32_t)(csr->ptr[row + 1] - csr->ptr[row])
                    : plan->by_user && plan->side == DPF_SIDE_USERS ? 1
                                                                    : (int32_t)work->n_parties;
    }
    return counts;
}

int messages_encode(struct messages_work *work, int64_t party, int worker, const dpf_message *message,
                    dpf_encoded *out)
{
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    size_t n = (size_t)(message->n_rows * message->width);
    int64_t *values = step_buffer(engine, worker, BUFFER_INTEGERS, n + 1, sizeof *values);
    if (!values)
        return -1;
    *out = (dpf_encoded){.size = sizeof *out,
                         .width = message->width,
                         .n_rows = message->n_rows,
                         .rows = message->rows,
                         .first_row = message->first_row,
                         .total_rows = message->total_rows,
                         .values = values,
                         .stride = message->width,
                         .survivors = 1};
    if (term->mechanism->flags & DPF_MECHANISM_CONTRIBUTORS) {
        out->contributors = count_contributors(work, worker, message);
        if (!out->contributors)
            return -1;
    }
    struct instance *mechanism = term->plan->mechanism;
    dpf_call *call = step_call(engine, worker, mechanism, term->draw, (uint32_t)party);
    dpf_status status =
        noise_encode(engine, term, call, &term->plan->sent, message->values, message->stride, out);
    return step_result(engine, worker, mechanism, status, term->plan->side);
}

int messages_add(struct messages_work *work, int64_t party, int worker, const dpf_encoded *message)
{
    return step_sum(work->engine, worker,
                    sum_add(&work->sum, worker, (uint32_t)party, message, &work->engine->errors[worker]));
}
