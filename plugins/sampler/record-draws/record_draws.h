/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_draws.h - what samplers that draw records one by one, in secret, share.
 *
 * Each record is kept independently, with a probability of its own, by a stream read at (draw, user, item).
 */
#ifndef DPF_RECORD_DRAWS_H
#define DPF_RECORD_DRAWS_H

#include <math.h>

#include "dpframe/dpframe.h"

struct record_draws {
    const dpf_host *host;
    const dpf_random_service *random;
    dpf_stream *stream;
    int32_t side; /* that is solved; known after prepare */
};

/* Opens the stream. The caller owns the memory. */
static inline dpf_status record_draws_open(struct record_draws *draws, const dpf_host *host)
{
    draws->host = host;
    draws->random = dpf_random(host);
    return draws->random->open(host, "records", &draws->stream);
}

/* A fresh sample for every local iteration of a round. */
static inline int32_t record_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_SOLVE;
}

/* The row of the other side that the loss reads for record i, and the length of its side's rows. */
static inline const float *record_other_row(const struct record_draws *draws, const dpf_draw *draw, int64_t i,
                                            int32_t *columns)
{
    const int users = draws->side == DPF_SIDE_ITEMS;
    const dpf_factors *factors = users ? draw->user_factors : draw->item_factors;
    *columns = factors->cols;
    return dpf_row(factors, users ? draw->users[i] : draw->items[i]);
}

static inline int record_is_kept(const struct record_draws *draws, const dpf_call *call, const dpf_draw *draw,
                                 int64_t i, double probability)
{
    dpf_cursor cursor;
    uint8_t kept;
    draws->random->seek(draws->stream, call->draw, (uint32_t)draw->users[i], (uint32_t)draw->items[i],
                        &cursor);
    draws->random->bernoulli(&cursor, probability, &kept, 1);
    return kept;
}

static inline dpf_status record_draws_check(const dpf_call *call, const dpf_draw *draw)
{
    if (draw->level == DPF_LEVEL_RECORD)
        return DPF_OK;
    return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1, "this sampler draws records, not parties");
}

/* What a draw was like, for the run's private metrics. */
struct record_sample {
    int64_t n, kept;
    double expected; /* records: the sum of their probabilities */
    double weights;  /* of all records, kept or not */
    double most;
    double variance; /* that the draw adds to 2 sum w p, the first-order coefficients of a row: of all
                        together */
};

/* Draws record i, which weighs that much where it is kept; notes both. Returns the weight, or 0. */
static inline float record_draw(const struct record_draws *draws, const dpf_call *call, const dpf_draw *draw,
                                int64_t i, double probability, float weight, struct record_sample *sample)
{
    int32_t columns;
    double square = 0;
    const float *row = record_other_row(draws, draw, i, &columns);
    const int kept = record_is_kept(draws, call, draw, i, probability);
    for (int32_t c = 0; c < columns; c++)
        square += 4 * (double)row[c] * row[c];
    sample->n++;
    sample->kept += kept;
    sample->expected += probability;
    sample->weights += (double)weight;
    sample->most = fmax(sample->most, (double)weight);
    sample->variance += probability * (1 - probability) * ((double)weight * weight) * square;
    return kept ? weight : 0;
}

/* Ratios of means are what is meant: records-kept of records, and so on. */
static inline void record_draws_report(const struct record_draws *draws, const struct record_sample *sample)
{
    const struct {
        const char *name;
        double value;
    } metrics[] = {{"records", (double)sample->n},         {"records-kept", (double)sample->kept},
                   {"records-expected", sample->expected}, {"weights", sample->weights},
                   {"weight-largest", sample->most},       {"sampling-variance", sample->variance}};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        dpf_log(draws->host)->metric(draws->host, metrics[i].name, metrics[i].value);
}

/* The largest float32 weight whose inverse, as float64, is at least the probability 1 / weight. */
static inline float record_weight_below(double weight)
{
    float rounded = (float)weight;
    return (double)rounded > weight ? nextafterf(rounded, 0) : rounded;
}

#endif
