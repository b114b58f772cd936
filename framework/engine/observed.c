/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/observed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/release.h"

/* What was encoded of a term and not decoded yet, by row. */
struct observed_term {
    double *exact;
    size_t capacity; /* of exact, in numbers */
    int64_t *senders;
    size_t senders_capacity;
};

struct observed {
    const struct observer *observer;
    struct observed_term *terms[2];
    /* Of what is being told: n_rows x width. */
    double *exact, *deviation, *numbers;
    size_t exact_capacity, deviation_capacity, numbers_capacity;
};

int observed_open(struct engine *engine, const struct observer *observer, struct dpf_error *error)
{
    if (!observer)
        return 0;
    if (pool_workers(engine->pool) != 1)
        return error_set(error, DPF_FAULT_RUN, "a training is observed with one worker, not with %d",
                         pool_workers(engine->pool));
    engine->observed = memory_new(1, sizeof *engine->observed);
    if (!engine->observed)
        return error_memory(error);
    engine->observed->observer = observer;
    for (int side = 0; side < 2; side++) {
        engine->observed->terms[side] =
            memory_new((size_t)engine->plan->sides[side].n_terms + 1, sizeof *engine->observed->terms[side]);
        if (!engine->observed->terms[side])
            return error_memory(error);
    }
    return 0;
}

void observed_close(struct engine *engine)
{
    struct observed *observed = engine->observed;
    if (!observed)
        return;
    for (int side = 0; side < 2; side++) {
        for (int t = 0; observed->terms[side] && t < engine->plan->sides[side].n_terms; t++) {
            free(observed->terms[side][t].exact);
            free(observed->terms[side][t].senders);
        }
        free(observed->terms[side]);
    }
    free(observed->exact);
    free(observed->deviation);
    free(observed->numbers);
    free(observed);
    engine->observed = NULL;
}

static int number_of(const struct engine *engine, const struct term_run *term)
{
    return (int)(term->plan - engine->plan->sides[term->plan->side].terms);
}

static struct observed_term *kept_of(struct engine *engine, const struct term_run *term)
{
    return &engine->observed->terms[term->plan->side][number_of(engine, term)];
}

static int64_t row_of(const dpf_encoded *integers, int64_t r)
{
    return integers->rows ? integers->rows[r] : integers->first_row + r;
}

static int64_t senders_of(const struct observed_term *kept, int64_t row)
{
    return (size_t)row < kept->senders_capacity ? kept->senders[row] : 0;
}

/* Room for n numbers, all 0. */
static double *room(double **data, size_t *capacity, size_t n)
{
    double *grown = memory_grow(*data, capacity, n + 1, sizeof *grown);
    if (grown) {
        *data = grown;
        memset(grown, 0, n * sizeof *grown);
    }
    return grown;
}

/* ---- sums without noise --------------------------------------------------------------------------------- */

static dpf_status grow_row(struct observed_term *kept, size_t row, size_t width)
{
    const size_t numbers = kept->capacity, rows = kept->senders_capacity;
    double *exact = memory_grow(kept->exact, &kept->capacity, (row + 1) * width, sizeof *exact);
    if (!exact)
        return DPF_E_MEMORY;
    memset(exact + numbers, 0, (kept->capacity - numbers) * sizeof *exact);
    kept->exact = exact;
    int64_t *senders = memory_grow(kept->senders, &kept->senders_capacity, row + 1, sizeof *senders);
    if (!senders)
        return DPF_E_MEMORY;
    memset(senders + rows, 0, (kept->senders_capacity - rows) * sizeof *senders);
    kept->senders = senders;
    return DPF_OK;
}

static dpf_status add_exact(struct observed_term *kept, const double *values, int64_t stride,
                            const dpf_encoded *out)
{
    for (int64_t r = 0; r < out->n_rows; r++) {
        const size_t row = (size_t)row_of(out, r), width = (size_t)out->width;
        if (grow_row(kept, row, width) != DPF_OK)
            return DPF_E_MEMORY;
        for (size_t i = 0; i < width; i++)
            kept->exact[row * width + i] += values[r * stride + (int64_t)i];
        kept->senders[row]++;
    }
    return DPF_OK;
}

static void take_exact(const struct observed_term *kept, const dpf_encoded *sums, double *out)
{
    for (int64_t r = 0; r < sums->n_rows; r++) {
        const size_t width = (size_t)sums->width, at = (size_t)row_of(sums, r) * width;
        if (at + width <= kept->capacity) /* else nobody sent the row */
            memcpy(out + (size_t)r * width, kept->exact + at, width * sizeof *out);
    }
}

/* Rows that were decoded begin anew. */
static void forget_rows(struct observed_term *kept, const dpf_encoded *sums)
{
    for (int64_t r = 0; r < sums->n_rows; r++) {
        const size_t row = (size_t)row_of(sums, r), width = (size_t)sums->width;
        if (row < kept->senders_capacity)
            kept->senders[row] = 0;
        if ((row + 1) * width <= kept->capacity)
            memset(kept->exact + row * width, 0, width * sizeof *kept->exact);
    }
}

/* ---- how large the noise should be ---------------------------------------------------------------------- */

static double planned(const dpf_noise_plan *noise, int gram, int32_t block)
{
    const double scale = gram ? noise->gram_scale[block] : noise->scale[block];
    const double variance = gram ? noise->gram_variance[block] : noise->variance[block];
    return !(scale > 0) ? 0 : variance > 0 ? sqrt(variance) : scale;
}

/* Whether the observer knows a part of the noise. */
static int knows_noise(const struct engine *engine, const struct term_run *term)
{
    return engine->plan->guarantee.observer != DPF_OBSERVER_OUTSIDER && term->mechanism->conditional_stddev;
}

static dpf_status fill_deviation(struct engine *engine, struct term_run *term, const dpf_call *call,
                                 const dpf_query *query, const dpf_encoded *rows, int is_message, double *out)
{
    const struct observed_term *kept = kept_of(engine, term);
    for (int64_t r = 0; r < rows->n_rows; r++) {
        const int gram = query->has_gram && row_of(rows, r) == rows->total_rows - 1;
        for (int32_t b = 0; b < query->n_blocks; b++)
            for (int32_t i = 0; i < query->blocks[b].length; i++)
                out[r * rows->width + query->blocks[b].offset + i] = planned(&term->noise, gram, b);
    }
    dpf_status status = DPF_OK;
    if (knows_noise(engine, term))
        status = term->mechanism->conditional_stddev(term->plan->mechanism->self, call, &term->noise, query,
                                                     rows, out, rows->width);
    for (int64_t r = 0; r < rows->n_rows; r++) {
        /* Of those who have made a message, some may be lost: an aggregator says how many are in the sum. */
        const int64_t made = is_message ? 1 : senders_of(kept, row_of(rows, r)),
                      sent = !is_message && rows->survivors < made ? rows->survivors : made;
        const double part = plan_noise_part(engine->plan, term->plan, &term->noise, sent,
                                            is_message && rows->contributors ? rows->contributors[r] : sent);
        for (int32_t i = 0; i < rows->width; i++)
            out[r * rows->width + i] *= sqrt(part);
    }
    return status;
}

/* ---- what is told ---------------------------------------------------------------------------------------- */

static struct seen seen_of(const struct engine *engine, const struct term_run *term, const dpf_call *call,
                           const dpf_query *query, const dpf_encoded *rows)
{
    return (struct seen){.side = term->plan->side,
                         .term = number_of(engine, term),
                         .round = call->round,
                         .index = call->draw,
                         .party = call->party,
                         .n_rows = rows->n_rows,
                         .first_row = rows->first_row,
                         .rows = rows->rows,
                         .gram_row = query->has_gram ? rows->total_rows - 1 : -1,
                         .width = rows->width,
                         .survivors = rows->survivors,
                         .stride = rows->width,
                         .query = query,
                         .noise = &term->noise};
}

static dpf_status tell_part(struct engine *engine, const struct seen *of, const double *values,
                            int64_t stride)
{
    struct observed *observed = engine->observed;
    struct seen seen = *of;
    double *exact = room(&observed->exact, &observed->exact_capacity, (size_t)(seen.n_rows * seen.width));
    if (!exact)
        return DPF_E_MEMORY;
    for (int64_t r = 0; r < seen.n_rows; r++)
        memcpy(exact + r * seen.width, values + r * stride, (size_t)seen.width * sizeof *exact);
    seen.what = SEES_PARTS;
    seen.exact = exact;
    return observed->observer->saw(observed->observer->context, &seen);
}

/* Messages without noise of their own are seen as they are. */
static dpf_status tell_message(struct engine *engine, struct term_run *term, const dpf_call *call,
                               const struct seen *of, const double *values, int64_t stride,
                               const dpf_encoded *message)
{
    struct observed *observed = engine->observed;
    struct seen seen = *of;
    const size_t n = (size_t)(seen.n_rows * seen.width);
    const int bare = term->noise.where == DPF_NOISE_AT_SUM;
    double *exact = room(&observed->exact, &observed->exact_capacity, n);
    double *deviation = room(&observed->deviation, &observed->deviation_capacity, n);
    double *numbers = room(&observed->numbers, &observed->numbers_capacity, n);
    if (!exact || !deviation || !numbers)
        return DPF_E_MEMORY;
    for (int64_t r = 0; r < seen.n_rows; r++)
        memcpy(exact + r * seen.width, values + r * stride, (size_t)seen.width * sizeof *exact);
    dpf_status status = bare ? DPF_OK : fill_deviation(engine, term, call, seen.query, message, 1, deviation);
    if (bare)
        memcpy(numbers, exact, n * sizeof *numbers);
    else if (status == DPF_OK && !observed->observer->replays)
        status = term->mechanism->decode(term->plan->mechanism->self, call, &term->noise, seen.query, message,
                                         numbers, seen.width);
    if (status != DPF_OK)
        return status;
    seen.what = SEES_MESSAGES;
    seen.exact = exact;
    seen.deviation = deviation;
    seen.numbers = numbers;
    seen.is_one = term->noise.where != DPF_NOISE_IN_SHARES;
    return observed->observer->saw(observed->observer->context, &seen);
}

dpf_status observed_encode(struct engine *engine, struct term_run *term, const dpf_call *call,
                           const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    const struct observer *observer = engine->observed->observer;
    const struct seen seen = seen_of(engine, term, call, query, out);
    dpf_status status = DPF_OK;
    if (!observer->replays)
        status = term->mechanism->encode(term->plan->mechanism->self, call, &term->noise, query, values,
                                         stride, out);
    else /* what is sent does not matter, since the observer fills in what is released */
        for (int64_t r = 0; r < out->n_rows; r++)
            memset(out->values + r * out->stride, 0, (size_t)out->width * sizeof(int64_t));
    if (status == DPF_OK && observer_wants(observer, SEES_PARTS))
        status = tell_part(engine, &seen, values, stride);
    if (status == DPF_OK)
        status = add_exact(kept_of(engine, term), values, stride, out);
    if (status == DPF_OK && observer_wants(observer, SEES_MESSAGES) &&
        plan_sees_messages(engine->plan, term->plan) && observer_wants_party(observer, call->party))
        status = tell_message(engine, term, call, &seen, values, stride, out);
    return status;
}

/* Whether there is one draw of noise in each number. */
static int is_one_draw(const struct observed_term *kept, const dpf_noise_plan *noise, const dpf_encoded *sums)
{
    int one = 1;
    if (noise->where == DPF_NOISE_NOWHERE || noise->where == DPF_NOISE_AT_SUM)
        return 1;
    for (int64_t r = 0; r < sums->n_rows; r++)
        one &= senders_of(kept, row_of(sums, r)) <= 1;
    return one && noise->where == DPF_NOISE_AT_PARTY;
}

dpf_status observed_decode(struct engine *engine, struct term_run *term, const dpf_call *call,
                           const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    struct observed *observed = engine->observed;
    struct observed_term *kept = kept_of(engine, term);
    struct seen seen = seen_of(engine, term, call, query, sums);
    const size_t n = (size_t)(seen.n_rows * seen.width);
    double *exact = room(&observed->exact, &observed->exact_capacity, n);
    double *deviation = room(&observed->deviation, &observed->deviation_capacity, n);
    if (!exact || !deviation)
        return DPF_E_MEMORY;
    take_exact(kept, sums, exact);
    dpf_status status = fill_deviation(engine, term, call, query, sums, 0, deviation);
    seen.is_one = is_one_draw(kept, &term->noise, sums);
    forget_rows(kept, sums);
    if (observed->observer->replays)
        for (int64_t r = 0; r < sums->n_rows; r++)
            memset(out + r * stride, 0, (size_t)sums->width * sizeof *out);
    else if (status == DPF_OK)
        status = term->mechanism->decode(term->plan->mechanism->self, call, &term->noise, query, sums, out,
                                         stride);
    if (status != DPF_OK || !observer_wants(observed->observer, SEES_SUMS))
        return status;
    seen.what = SEES_SUMS;
    seen.numbers = out;
    seen.stride = stride;
    seen.exact = exact;
    seen.deviation = deviation;
    return observed->observer->saw(observed->observer->context, &seen);
}

/* ---- draws ------------------------------------------------------------------------------------------------ */

struct drawn {
    const struct term_run *term;
    const dpf_call *call;
};

static dpf_status draw_again(const struct seen *seen, uint32_t k, int64_t i, float *weight)
{
    const struct drawn *drawn = seen->source;
    dpf_call other = *drawn->call;
    dpf_draw one = *seen->draw;
    one.n = 1;
    one.first += i;
    one.keys = one.keys ? one.keys + i : NULL;
    if (one.level == DPF_LEVEL_RECORD) {
        one.users += i;
        one.items += i;
        one.values = one.values ? one.values + i : NULL;
        one.privacy_weights = one.privacy_weights ? one.privacy_weights + i : NULL;
    }
    other.draw += k << 20;
    return drawn->term->sampler->draw(drawn->term->plan->sampler->self, &other, &one, weight);
}

dpf_status observed_draw(struct engine *engine, struct term_run *term, const dpf_call *call,
                         const dpf_draw *draw, float *weights)
{
    const struct observer *observer = engine->observed->observer;
    const struct drawn drawn = {term, call};
    const struct seen seen = {.what = SEES_DRAWS,
                              .side = term->plan->side,
                              .term = number_of(engine, term),
                              .round = call->round,
                              .party = call->party,
                              .draw = draw,
                              .weights = weights,
                              .again = draw_again,
                              .source = &drawn};
    const dpf_status status = term->sampler->draw(term->plan->sampler->self, call, draw, weights);
    return status == DPF_OK && observer_wants(observer, SEES_DRAWS) ? observer->saw(observer->context, &seen)
                                                                    : status;
}
