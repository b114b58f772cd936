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
    int64_t first, rows, total; /* rows first .. first + rows - 1 of that many */
    uint32_t first_party, end_party, decoder;
    int64_t messages; /* in the sum */
    int64_t *sums, *message;
    double *noise;        /* zeros, then what is decoded */
    unsigned char *state; /* as before the first round: what noise is correlated with is left out */
};

static dpf_encoded integers_of(const struct redraw *r, int64_t *values, const int32_t *all)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = r->term->plan->query.width,
                         .n_rows = r->rows,
                         .first_row = r->first,
                         .total_rows = r->total,
                         .values = values,
                         .stride = r->term->plan->query.width,
                         .survivors = r->messages,
                         .contributors = all};
}

/* The message of a party that has nothing to say, added to the sums. */
static int add_message(struct redraw *r, uint32_t party, const int32_t *all, struct dpf_error *error)
{
    struct instance *mechanism = r->term->plan->mechanism;
    const dpf_query *query = &r->term->plan->query;
    dpf_encoded out = integers_of(r, r->message, all);
    dpf_call *call = step_call(r->engine, 0, mechanism, r->term->draw, party);
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
    struct instance *mechanism = r->term->plan->mechanism;
    const dpf_query *query = &r->term->plan->query;
    int32_t *all = memory_new((size_t)r->rows + 1, sizeof *all);
    if (!all)
        return error_memory(error);
    for (int64_t i = 0; i < r->rows; i++)
        all[i] = (int32_t)r->messages;
    int status = 0;
    for (uint32_t party = r->first_party; party < r->end_party && status == 0; party++)
        status = add_message(r, party, all, error);
    dpf_encoded sums = integers_of(r, r->sums, all);
    sums.state = r->state;
    dpf_call *call = step_call(r->engine, 0, mechanism, r->term->draw, r->decoder);
    if (status == 0)
        status = instance_result(mechanism,
                                 r->term->mechanism->decode(mechanism->self, call, &r->term->noise, query,
                                                            &sums, r->noise, query->width),
                                 "noise", error);
    free(all);
    return status;
}

static void count_block(const struct redraw *r, const dpf_block *block, int gram, struct noise_histogram *out)
{
    const int64_t width = r->term->plan->query.width;
    double squares = 0;
    snprintf(out->term, sizeof out->term, "%s", r->term->plan->name);
    out->kind = block->kind;
    out->gram = gram;
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

static int count_rows(struct redraw *r, int gram, struct dpf_error *error)
{
    struct engine_stats *stats = r->engine->stats;
    const dpf_query *query = &r->term->plan->query;
    const double *scale = gram ? r->term->noise.gram_scale : r->term->noise.scale;
    const size_t n = (size_t)(r->rows * query->width);
    r->sums = memory_new(n + 1, sizeof *r->sums);
    r->message = memory_new(n + 1, sizeof *r->message);
    r->noise = memory_new(n + 1, sizeof *r->noise);
    r->state = memory_new((size_t)((uint64_t)r->rows * r->term->row_state) + 1, 1);
    int status = r->sums && r->message && r->noise && r->state ? draw_again(r, error) : error_memory(error);
    for (int b = 0; b < query->n_blocks && status == 0 && stats->n_noise < NOISE_MAX_HISTOGRAMS; b++)
        if (scale[b] > 0)
            count_block(r, &query->blocks[b], gram, &stats->noise[stats->n_noise++]);
    free(r->sums);
    free(r->message);
    free(r->noise);
    free(r->state);
    return status;
}

static int term_histograms(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    const dpf_query *query = &term->plan->query;
    const int alone = engine->plan->sides[term->plan->side].solve_at == SOLVE_AT_PARTY;
    const int64_t holders =
        term->plan->by_user && !term->plan->pooled ? engine->dataset->users.n : engine->parties.n;
    const int64_t room = MOST_NUMBERS / (holders * query->width + 1) + 1;
    struct redraw r = {.engine = engine,
                       .term = term,
                       .rows = term->rows - query->has_gram,
                       .total = alone ? term->plan->rows : term->rows,
                       .end_party = (uint32_t)holders,
                       .decoder = DPF_PARTY_AGGREGATE,
                       .messages = holders};
    if (alone) { /* the last party's */
        r.first_party = r.decoder = (uint32_t)(holders - 1);
        r.messages = 1;
    } else if (term->noise.where == DPF_NOISE_AT_SUM)
        r.end_party = 1;
    r.rows = r.rows < MOST_ROWS ? r.rows : MOST_ROWS;
    r.rows = r.rows < room ? r.rows : room;
    if (count_rows(&r, 0, error) != 0)
        return -1;
    if (!query->has_gram)
        return 0;
    r.first = r.total - 1;
    r.rows = 1;
    if (!alone && term->noise.where != DPF_NOISE_AT_SUM)
        step_gram_parties(engine, term, &r.first_party, &r.end_party, &r.messages);
    return count_rows(&r, 1, error);
}

int engine_noise_histograms(struct engine *engine, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < engine->plan->sides[side].n_terms; t++) {
            struct term_run *term = &engine->terms[side][t];
            if (!engine->plan->sides[side].updated || !term->mechanism ||
                term->noise.size == 0) /* no release was made */
                continue;
            if (term_histograms(engine, term, error) != 0)
                return -1;
        }
    return 0;
}
