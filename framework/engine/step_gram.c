/* SPDX-License-Identifier: Apache-2.0 */
/* step_gram.c - the Gram row of a term, from chunks of rows that are added in order. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "dataset/shares.h"
#include "engine/step.h"

#define GRAM_CHUNK_ROWS INT64_C(4096)

struct gram_work {
    struct engine *engine;
    struct term_run *term;
    dpf_factors other;
    double *partials;    /* one row for each chunk: added in order, so workers and ranks do not matter */
    int64_t first_chunk; /* of this rank */
};

/* For a release each row's part is rounded to the grid before it is summed, as records' contributions are. */
static int gram_on_grid(struct gram_work *work, int64_t first, int64_t count, int worker, double *out)
{
    struct term_run *term = work->term;
    const dpf_query *query = &term->plan->gram_query;
    struct instance *loss = term->plan->loss;
    double *part = step_buffer(work->engine, worker, BUFFER_SUMS, (size_t)query->width, sizeof *part);
    if (!part)
        return -1;
    for (int64_t row = first; row < first + count; row++) {
        memset(part, 0, (size_t)query->width * sizeof *part);
        dpf_call *call = step_call(work->engine, worker, loss, (uint32_t)work->engine->round, 0);
        dpf_status status = term->loss->gram(loss->self, call, query, &work->other, row, 1, part);
        if (step_result(work->engine, worker, loss, status, term->plan->side) != 0) {
            if (!step_note(work->engine, worker, row))
                return -1;
            continue; /* the row's owner contributes nothing */
        }
        for (int32_t b = 0; b < query->n_blocks; b++)
            for (int32_t i = query->blocks[b].offset; i < query->blocks[b].offset + query->blocks[b].length;
                 i++)
                out[i] += dpf_on_grid(part[i], term->noise.gram_grid[b]);
    }
    return 0;
}

static int gram_chunk(void *context, int64_t task, int worker)
{
    struct gram_work *work = context;
    struct term_run *term = work->term;
    task += work->first_chunk;
    int64_t first = task * GRAM_CHUNK_ROWS;
    int64_t count = work->other.rows - first < GRAM_CHUNK_ROWS ? work->other.rows - first : GRAM_CHUNK_ROWS;
    double *out = work->partials + task * term->plan->gram_query.width;
    if (term->mechanism)
        return gram_on_grid(work, first, count, worker, out);
    dpf_call *call = step_call(work->engine, worker, term->plan->loss, (uint32_t)work->engine->round, 0);
    dpf_status status = term->loss->gram(term->plan->loss->self, call, &term->plan->gram_query, &work->other,
                                         first, count, out);
    return step_result(work->engine, worker, term->plan->loss, status, term->plan->side);
}

/* Each rank makes some of the chunks. */
static int fill_partials(struct gram_work *work, int64_t chunks, int64_t width, struct dpf_error *error)
{
    int64_t *offsets = memory_new((size_t)ranks_size() + 1, sizeof *offsets);
    if (!offsets)
        return error_memory(error);
    shares_even(chunks, offsets);
    work->first_chunk = offsets[ranks_rank()];
    const int64_t own = offsets[ranks_rank() + 1] - work->first_chunk;
    int status = 0;
    if (pool_run(work->engine->pool, own, gram_chunk, work) != 0)
        status = step_failed(work->engine, error);
    if (status == 0)
        status = ranks_gather(work->partials, (size_t)width * sizeof *work->partials, offsets, error);
    free(offsets);
    return status;
}

int step_gram_exact(struct engine *engine, struct term_run *term, const int32_t *members, int64_t n,
                    double *out, struct dpf_error *error)
{
    int64_t width = term->plan->gram_query.width, chunks = (n + GRAM_CHUNK_ROWS - 1) / GRAM_CHUNK_ROWS;
    struct gram_work work = {.engine = engine, .term = term, .other = term->other};
    float *gathered = NULL;
    work.partials = memory_new((size_t)(chunks * width) + 1, sizeof(double));
    int status = work.partials ? 0 : error_memory(error);
    if (status == 0 && members) {
        gathered = memory_raw((size_t)(n * term->other.stride) + 1, sizeof(float));
        if (!gathered)
            status = error_memory(error);
        for (int64_t i = 0; i < n && gathered; i++)
            memcpy(gathered + i * term->other.stride, dpf_row(&term->other, members[i]),
                   (size_t)term->other.stride * sizeof(float));
        work.other.data = gathered;
        work.other.rows = n;
    }
    if (status == 0)
        status = fill_partials(&work, chunks, width, error);
    memset(out, 0, (size_t)width * sizeof *out);
    for (int64_t c = 0; c < chunks && status == 0; c++)
        for (int64_t i = 0; i < width; i++)
            out[i] += work.partials[c * width + i];
    free(gathered);
    free(work.partials);
    return status;
}

int step_gram_room(struct term_run *term, int64_t n, struct dpf_error *error)
{
    if (term->n_gram == n)
        return 0;
    free(term->gram);
    term->gram = memory_new((size_t)(n * step_stride(term->plan->gram_query.width)) + 1, sizeof(float));
    term->n_gram = term->gram ? n : 0;
    return term->gram ? 0 : error_memory(error);
}
