/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/noise_variance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/release.h"

/*
 * What the variance of an estimate is in units of the plan's, in a round: the sum of the squares of the first
 * column of C^-1.
 */
static double correlated_growth(const struct term_run *term, int64_t round)
{
    double sum = 0, *c = memory_new(2 * (size_t)(round + 1), sizeof *c);
    if (!c)
        return NAN; /* not known */
    double *d = c + round + 1;
    term->mechanism->correlation(term->plan->mechanism->self, &term->noise, c, round + 1);
    for (int64_t t = 0; t <= round; t++) {
        d[t] = t == 0;
        for (int64_t i = 1; i <= t; i++)
            d[t] -= c[i] * d[t - i];
        sum += d[t] * d[t];
    }
    free(c);
    return sum;
}

double noise_variance_factor(const struct engine *engine, const struct term_run *term, int64_t messages,
                             double scale)
{
    return plan_noise_part(engine->plan, term->plan, &term->noise, messages, messages) * scale * scale *
           (term->mechanism->correlation ? correlated_growth(term, engine->round) : 1);
}

/* Message transforms that are undone after decoding: 0 none, 1 isometries, 2 others. */
static int undone(const struct term_plan *plan)
{
    int most = 0;
    for (int i = 0; i < plan->n_transforms; i++) {
        const dpf_transform *transform = plan->transforms[i]->functions;
        if (transform->kind == DPF_TRANSFORM_MESSAGE && transform->inverse) {
            const int kind = transform->flags & DPF_TRANSFORM_ISOMETRY ? 1 : 2;
            most = kind > most ? kind : most;
        }
    }
    return most;
}

/* Blocks that an isometry may have mixed have one variance only where all of them had. */
static int all_alike(const struct term_run *term)
{
    for (int32_t b = 1; b < term->noise.n_blocks; b++)
        if (term->noise.variance[b] != term->noise.variance[0])
            return 0;
    return 1;
}

static void add_term(const struct term_run *term, double *rows, double *gram)
{
    const dpf_query *query = &term->plan->query;
    const int transforms = undone(term->plan);
    const int unknown =
        term->plan->source == SOURCE_RELATION || transforms == 2 || (transforms == 1 && !all_alike(term));
    for (int32_t b = 0; b < query->n_blocks; b++)
        for (int32_t i = query->blocks[b].offset; i < query->blocks[b].offset + query->blocks[b].length;
             i++) {
            rows[i] += unknown ? (double)NAN : term->noise.variance[b] * term->variance_factor;
            gram[i] += unknown ? (double)NAN : term->noise.gram_variance[b] * term->gram_variance_factor;
        }
}

int noise_variance_fill(struct engine *engine, int side, struct dpf_error *error)
{
    const struct side_plan *plan = &engine->plan->sides[side];
    const size_t width = (size_t)plan->query.width;
    engine->has_noise[side] = 0;
    for (int t = 0; t < plan->n_terms; t++)
        engine->has_noise[side] |= engine->terms[side][t].mechanism != NULL;
    if (!engine->has_noise[side])
        return 0;
    if (!engine->noise_variance[side])
        engine->noise_variance[side] = memory_new(2 * width + 1, sizeof(double));
    if (!engine->noise_variance[side])
        return error_memory(error);
    memset(engine->noise_variance[side], 0, 2 * width * sizeof(double));
    for (int t = 0; t < plan->n_terms; t++)
        if (engine->terms[side][t].mechanism)
            add_term(&engine->terms[side][t], engine->noise_variance[side],
                     engine->noise_variance[side] + width);
    return 0;
}
