/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/noise_histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/step.h"

#define MOST_ROWS 2048
#define MOST_NUMBERS (INT64_C(1) << 24) /* of all messages of a term */

struct redraw {
    struct engine *engine;
    struct term_run *term;
    int64_t rows;
    int64_t *sums, *message;
    double *noise;        /* zeros, then what is decoded */
    unsigned char *state; /* as before the first round: what noise is correlated with is left out */
};

static dpf_encoded integers_of(const struct redraw *r, int64_t *values, int64_t survivors, const int32_t *all)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = r->term->plan->query.width,
                         .n_rows = r->rows,
                         .total_rows = r->term->plan->rows,
                         .values = values,
                         .stride = r->term->plan->query.width,
                         .survivors = survivors,
                         .contributors = all};
}

/* The message of a party that has nothing to say, added to the sums. */
static int add_message(struct redraw *r, int64_t party, int64_t n, const int32_t *all,
                       struct dpf_error *error)
{
    struct instance *mechanism = r->term->plan->mechanism;
    const dpf_query *query = &r->term->plan->query;
    dpf_encoded out = integers_of(r, r->message, n, all);
    dpf_call *call = step_call(r->engine, 0, mechanism, r->term->draw, (uint32_t)party);
    if (instance_result(mechanism,
                        r->term->mechanism->encode(mechanism->self, call, &r->term->noise, query, r->noise,
                                                   query->width, &out),
                        "noise", error) != 0)
        return -1;
    for (int64_t i = 0; i < r->rows * query->width; i++)
        r->sums[i] += r->message[i];
    return 0;
}

static int draw_again(struct redraw *r, struct dpf_error *error)
{
    const struct side_plan *side = &r->engine->plan->sides[r->term->plan->side];
    struct instance *mechanism = r->term->plan->mechanism;
    const dpf_query *query = &r->term->plan->query;
    const int alone = side->solve_at == SOLVE_AT_PARTY;
    int64_t n =
        r->term->plan->by_user && !r->term->plan->pooled ? r->engine->dataset->users.n : r->engine->parties.n;
    int64_t first = alone ? n - 1 : 0, last = r->term->noise.where == DPF_NOISE_AT_SUM ? first + 1 : n;
    int32_t *all = memory_new((size_t)r->rows + 1, sizeof *all);
    if (!all)
        return error_memory(error);
    for (int64_t i = 0; i < r->rows; i++)
        all[i] = (int32_t)n;
    int status = 0;
    for (int64_t party = first; party < last && status == 0; party++)
        status = add_message(r, party, alone ? 1 : n, all, error);
    dpf_encoded sums = integers_of(r, r->sums, alone ? 1 : n, all);
    sums.state = r->state;
    dpf_call *call =
        step_call(r->engine, 0, mechanism, r->term->draw, alone ? (uint32_t)first : DPF_PARTY_AGGREGATE);
    if (status == 0)
        status = instance_result(mechanism,
                                 r->term->mechanism->decode(mechanism->self, call, &r->term->noise, query,
                                                            &sums, r->noise, query->width),
                                 "noise", error);
    free(all);
    return status;
}

static void count_block(const struct redraw *r, const dpf_block *block, struct noise_histogram *out)
{
    const int64_t width = r->term->plan->query.width;
    double squares = 0;
    snprintf(out->term, sizeof out->term, "%s", r->term->plan->name);
    out->kind = block->kind;
    out->n = r->rows * block->length;
    for (int64_t row = 0; row < r->rows; row++)
        for (int32_t i = 0; i < block->length; i++)
            squares += r->noise[row * width + block->offset + i] * r->noise[row * width + block->offset + i];
    out->deviation = out->n ? sqrt(squares / (double)out->n) : 0;
    out->width = out->deviation > 0 ? out->deviation / 5 : 1;
    for (int64_t row = 0; row < r->rows; row++)
        for (int32_t i = 0; i < block->length; i++) {
            double bin = floor(r->noise[row * width + block->offset + i] / out->width + 0.5) + NOISE_BINS / 2;
            if (bin >= 0 && bin < NOISE_BINS)
                out->counts[(int)bin]++;
        }
}

static int term_histograms(struct redraw *r, struct dpf_error *error)
{
    struct engine_stats *stats = r->engine->stats;
    const dpf_query *query = &r->term->plan->query;
    int64_t holders =
        r->term->plan->by_user && !r->term->plan->pooled ? r->engine->dataset->users.n : r->engine->parties.n;
    int64_t room = MOST_NUMBERS / (holders * query->width + 1) + 1;
    r->rows = r->term->rows - query->has_gram;
    r->rows = r->rows < MOST_ROWS ? r->rows : MOST_ROWS;
    r->rows = r->rows < room ? r->rows : room;
    size_t n = (size_t)(r->rows * query->width);
    r->sums = memory_new(n + 1, sizeof *r->sums);
    r->message = memory_new(n + 1, sizeof *r->message);
    r->noise = memory_new(n + 1, sizeof *r->noise);
    r->state = memory_new((size_t)((uint64_t)r->rows * r->term->row_state) + 1, 1);
    int status = r->sums && r->message && r->noise && r->state ? draw_again(r, error) : error_memory(error);
    for (int b = 0; b < query->n_blocks && status == 0 && stats->n_noise < NOISE_MAX_HISTOGRAMS; b++)
        if (r->term->noise.scale[b] > 0)
            count_block(r, &query->blocks[b], &stats->noise[stats->n_noise++]);
    free(r->sums);
    free(r->message);
    free(r->noise);
    free(r->state);
    return status;
}

int engine_noise_histograms(struct engine *engine, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < engine->plan->sides[side].n_terms; t++) {
            struct redraw r = {.engine = engine, .term = &engine->terms[side][t]};
            if (!engine->plan->sides[side].updated || !r.term->mechanism ||
                r.term->noise.size == 0) /* no release was made */
                continue;
            if (term_histograms(&r, error) != 0)
                return -1;
        }
    return 0;
}
