/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/relation_messages.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

int relation_prepare(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    if (!plan_sends_links(term->plan) || term->zeros)
        return 0;
    term->zeros = memory_new((size_t)(term->self.rows * engine->model->stride) + 1, sizeof *term->zeros);
    return term->zeros ? 0 : error_memory(error);
}

/* A message of one row in the worker's buffers, to be filled in. */
static double *one_row(struct messages_work *work, int64_t party, int64_t row, int worker,
                       struct draft *draft)
{
    int32_t width = work->term->plan->sent.width;
    double *values = step_buffer(work->engine, worker, BUFFER_WIDE, (size_t)width + 1, sizeof *values);
    draft->rows = step_buffer(work->engine, worker, BUFFER_PAIRS, 1, sizeof *draft->rows);
    if (!values || !draft->rows)
        return NULL;
    draft->rows[0] = (int32_t)row;
    draft->message = (dpf_message){.size = sizeof(dpf_message),
                                   .party = (uint32_t)party,
                                   .n_rows = 1,
                                   .rows = draft->rows,
                                   .total_rows = work->query_rows,
                                   .values = values,
                                   .stride = width,
                                   .width = width};
    return values;
}

int relation_own_row(struct messages_work *work, int64_t party, int zeros, int worker, struct draft *draft)
{
    const dpf_query *sent = &work->term->plan->sent;
    double *values = one_row(work, party, party, worker, draft);
    if (!values)
        return -1;
    const float *row = dpf_row(&work->term->other, party) + sent->first;
    for (int32_t i = 0; i < sent->width; i++)
        values[i] = zeros ? 0 : (double)row[i];
    return 0;
}

/* The friend's part of one link: a group of that record alone, whose own row is zero. */
static int link_message(struct messages_work *work, int64_t row, int64_t link, int zeros, int worker,
                        dpf_encoded *out)
{
    struct engine *engine = work->engine;
    struct term_run *term = work->term;
    const struct csr *csr = step_records(engine, term, HOLDER_ALL);
    const int64_t offsets[2] = {0, 1};
    const int32_t rows[1] = {(int32_t)row};
    dpf_factors nobody = term->self;
    nobody.data = term->zeros;
    dpf_groups groups = {.size = sizeof groups,
                         .side = term->plan->side,
                         .self = &nobody,
                         .other = &term->other,
                         .n_groups = 1,
                         .rows = rows,
                         .offsets = offsets,
                         .others = csr->others + link,
                         .values = csr->values ? csr->values + link : NULL,
                         .offset = engine->model->offset,
                         .party_row = -1,
                         .residual = &term->residual};
    int64_t sender = csr->others[link];
    struct draft draft;
    double *values = one_row(work, sender, row, worker, &draft);
    if (!values)
        return -1;
    struct instance *instance = term->plan->loss;
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, (uint32_t)sender);
    dpf_status status = DPF_OK;
    if (zeros)
        memset(values, 0, (size_t)term->plan->query.width * sizeof *values);
    else
        status = term->loss->accumulate(instance->self, call, &term->plan->query, &groups, term->noise.grid,
                                        values, term->plan->query.width);
    if (step_result(engine, worker, instance, status, term->plan->side) != 0)
        return -1;
    return messages_encode(work, sender, worker, &draft.message, out);
}

/* A link's sender whose row is at fault sends zeros like any other party. */
static int send_link(struct messages_work *work, int64_t row, int64_t link, int worker)
{
    const int64_t sender = step_records(work->engine, work->term, HOLDER_ALL)->others[link];
    dpf_encoded message;
    if (link_message(work, row, link, 0, worker, &message) != 0) {
        if (!step_note(work->engine, worker, sender) ||
            link_message(work, row, link, 1, worker, &message) != 0)
            return -1;
        step_reset_later(work->engine, DPF_SIDE_USERS, sender);
    }
    return messages_add(work, sender, worker, &message);
}

int relation_send_links(struct messages_work *work, int64_t row, int worker)
{
    const struct csr *csr = step_records(work->engine, work->term, HOLDER_ALL);
    for (int64_t link = csr->ptr[row]; link < csr->ptr[row + 1]; link++)
        if (step_stopped(work->engine, worker) != 0 || send_link(work, row, link, worker) != 0)
            return -1;
    return 0;
}

int64_t relation_survivors(const struct engine *engine, const struct term_run *term, int64_t row)
{
    const struct csr *csr = step_records(engine, term, HOLDER_ALL);
    return plan_sends_rows(term->plan) ? 1 : csr->ptr[row + 1] - csr->ptr[row];
}

/* What all know of a row is used: it lies in a ball, so that an estimate outside is brought back to its
 * surface. */
static void into_ball(float *row, int32_t n, double radius)
{
    double square = 0;
    for (int32_t i = 0; i < n; i++)
        square += (double)row[i] * (double)row[i];
    if (!(square > radius * radius))
        return;
    double scale = radius / sqrt(square);
    for (int32_t i = 0; i < n; i++)
        row[i] = (float)(scale * (double)row[i]);
}

int relation_receive_rows(struct engine *engine, struct term_run *term, const dpf_message *estimate,
                          struct dpf_error *error)
{
    const dpf_query *sent = &term->plan->sent;
    int64_t rows = term->other.rows, stride = term->other.stride;
    double radius = term->plan->bounds_from_data ? engine->plan->sides[term->plan->side].radius
                                                 : term->plan->bounds.other_l2;
    if (!term->received)
        term->received = memory_raw((size_t)(rows * stride) + 1, sizeof *term->received);
    if (!term->received)
        return error_memory(error);
    memcpy(term->received, term->other.data, (size_t)(rows * stride) * sizeof *term->received);
    for (int64_t r = 0; r < rows; r++) {
        float *row = term->received + r * stride + sent->first;
        for (int32_t i = 0; i < sent->width; i++)
            row[i] = (float)estimate->values[r * estimate->stride + i];
        into_ball(row, sent->width, radius);
    }
    term->other.data = term->received;
    term->residual.data = term->received;
    return 0;
}

void relation_receive_links(struct term_run *term)
{
    term->other.data = term->zeros;
    term->residual.data = term->zeros;
}
