/* SPDX-License-Identifier: Apache-2.0 */
/* A side without mechanism: rows never leave their party, so each is solved from its own records. */
#include <string.h>

#include "dataset/shares.h"
#include "engine/step.h"

struct local_work {
    struct engine *engine;
    struct side_plan *side;
    int64_t batch;
    int64_t first, last; /* the rank's rows */
    const float *gram;   /* of all terms */
};

int step_accumulate_local(struct engine *engine, int worker, struct term_run *term, const dpf_groups *groups,
                          float *out, int64_t stride)
{
    struct instance *instance = term->plan->loss;
    const dpf_query *query = &term->plan->query;
    int side = term->plan->side;
    if (term->loss->accumulate_local) {
        dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, 0);
        dpf_status status = term->loss->accumulate_local(instance->self, call, query, groups, out, stride);
        return step_result(engine, worker, instance, status, side);
    }
    double *wide =
        step_buffer(engine, worker, BUFFER_WIDE, (size_t)(groups->n_groups * query->width), sizeof *wide);
    if (!wide)
        return -1;
    dpf_call *call = step_call(engine, worker, instance, (uint32_t)engine->round, 0);
    dpf_status status = term->loss->accumulate(instance->self, call, query, groups, NULL, wide, query->width);
    for (int64_t g = 0; g < groups->n_groups; g++)
        for (int32_t i = 0; i < query->width; i++)
            out[g * stride + i] = (float)wide[g * query->width + i];
    return step_result(engine, worker, instance, status, side);
}

static int local_rows(void *context, int64_t first, int64_t count, int worker)
{
    struct local_work *work = context;
    struct engine *engine = work->engine;
    struct side_plan *side = work->side;
    struct term_run *terms = engine->terms[side->side];
    int64_t stride = step_stride(side->query.width);
    float *blocks = step_buffer(engine, worker, BUFFER_BLOCKS, (size_t)(count * stride) + 16, sizeof *blocks);
    if (!blocks || step_stopped(engine, worker) != 0)
        return -1;
    dpf_groups groups;
    for (int t = 0; t < side->n_terms; t++) {
        float *out = blocks;
        if (t > 0)
            out = step_buffer(engine, worker, BUFFER_TERM_BLOCKS, (size_t)(count * stride) + 16, sizeof *out);
        if (!out || step_groups(engine, &terms[t], HOLDER_ALL, first, count, worker, &groups) != 0 ||
            step_accumulate_local(engine, worker, &terms[t], &groups, out, stride) != 0)
            return -1;
        for (int64_t i = 0; t > 0 && i < count * stride; i++)
            blocks[i] += out[i];
    }
    struct solve_batch batch = {.side = side->side,
                                .first = first,
                                .count = count,
                                .blocks = blocks,
                                .gram = work->gram,
                                .term = &terms[0],
                                .degrees_holder = HOLDER_ALL};
    if (side->query.blocks[0].layout == DPF_LAYOUT_OPERATOR)
        batch.groups = &groups;
    return step_solve(engine, worker, &batch);
}

static int local_batch(void *context, int64_t task, int worker)
{
    struct local_work *work = context;
    int64_t first = work->first + task * work->batch;
    int64_t count = work->last - first < work->batch ? work->last - first : work->batch;
    return step_row_by_row(work->engine, worker, work->side->side, first, count, local_rows, work);
}

/* The Gram rows of all terms, in float32. */
static int sum_gram(struct engine *engine, struct side_plan *side, struct dpf_error *error)
{
    struct term_run *terms = engine->terms[side->side];
    int64_t width = terms[0].plan->gram_query.width;
    double *exact = step_buffer(engine, 0, BUFFER_WIDE2, (size_t)width, sizeof *exact);
    if (!exact || step_gram_room(&terms[0], 1, error) != 0)
        return exact ? -1 : step_failed(engine, error);
    memset(terms[0].gram, 0, (size_t)width * sizeof(float));
    for (int t = 0; t < side->n_terms; t++) {
        if (!terms[t].plan->query.has_gram)
            continue;
        if (step_gram_exact(engine, &terms[t], NULL, terms[t].other.rows, exact, error) != 0)
            return -1;
        for (int64_t i = 0; i < width; i++)
            terms[0].gram[i] += (float)exact[i];
    }
    return 0;
}

int step_local(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    struct term_run *terms = engine->terms[which];
    int has_gram = 0;
    for (int t = 0; t < side->n_terms; t++) {
        if (step_prepare(engine, &terms[t], error) != 0)
            return -1;
        has_gram |= terms[t].plan->query.has_gram;
    }
    if (has_gram && sum_gram(engine, side, error) != 0)
        return -1;
    struct local_work work = {.engine = engine,
                              .side = side,
                              .batch = step_batch_rows(side->query.width),
                              .first = shares_first(engine->dataset, which),
                              .last = shares_last(engine->dataset, which),
                              .gram = has_gram ? terms[0].gram : NULL};
    const int64_t own =
        engine->parties.partition < 0 ? step_own_party(engine) : -1; /* a site has users of its own */
    if (own >= 0 && which == DPF_SIDE_USERS) {
        if (step_row_by_row(engine, 0, which, own, 1, local_rows, &work) != 0)
            return step_failed(engine, error);
        return 0;
    }
    int64_t rows = work.last - work.first;
    if (pool_run(engine->pool, (rows + work.batch - 1) / work.batch, local_batch, &work) != 0)
        return step_failed(engine, error);
    return 0;
}
