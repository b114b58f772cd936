/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/noise_histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/step.h"

/* A solver that steps after each record releases often in a round: all of that are one release here. */
static int is_another(const struct noise_release *of, const struct seen *seen)
{
    return of->round != seen->round || of->party != seen->party ||
           (seen->party != DPF_PARTY_AGGREGATE && of->index != seen->index);
}

static void begin_anew(struct noise_source *source, int gram, const struct seen *seen)
{
    source->of[gram] = (struct noise_release){seen->round, seen->party, seen->index};
    for (int32_t b = 0; b < DPF_MAX_BLOCKS; b++)
        source->blocks[gram][b] = (struct noise_histogram){.gram = gram};
}

/* deviation: while counting, the sum of squares. Numbers without noise are constants. */
static void count_number(struct noise_histogram *h, double noise, double declared)
{
    if (!(declared > 0))
        return;
    if (h->n == 0)
        h->width = declared / 5;
    h->n++;
    h->deviation += noise * noise;
    const double bin = floor(noise / h->width + 0.5) + NOISE_BINS / 2;
    if (bin >= 0 && bin < NOISE_BINS)
        h->counts[(int)bin]++;
}

static void count_row(struct noise_source *source, int gram, const struct seen *seen, int64_t r)
{
    for (int32_t b = 0; b < seen->query->n_blocks; b++) {
        const dpf_block *block = &seen->query->blocks[b];
        struct noise_histogram *h = &source->blocks[gram][b];
        h->kind = block->kind;
        for (int32_t i = block->offset; i < block->offset + block->length; i++)
            count_number(h, seen->numbers[r * seen->stride + i] - seen->exact[r * seen->width + i],
                         seen->deviation[r * seen->width + i]);
    }
}

static dpf_status saw(void *context, const struct seen *seen)
{
    struct noise_counter *counter = context;
    struct noise_source *source = &counter->sources[counter->first[seen->side] + seen->term];
    for (int64_t r = 0; r < seen->n_rows; r++) {
        const int gram = (seen->rows ? seen->rows[r] : seen->first_row + r) == seen->gram_row;
        if (is_another(&source->of[gram], seen))
            begin_anew(source, gram, seen);
        count_row(source, gram, seen, r);
    }
    return DPF_OK;
}

int noise_counter_wanted(const struct engine *engine)
{
    int noisy = 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < engine->plan->sides[side].n_terms; t++)
            noisy |= engine->plan->sides[side].updated && engine->plan->sides[side].terms[t].mechanism;
    return noisy && engine->plan->run.params.values[RUN_NOISE].integer;
}

int noise_counter_open(struct noise_counter *counter, const struct engine *engine, struct dpf_error *error)
{
    const struct side_plan *sides = engine->plan->sides;
    *counter = (struct noise_counter){.observer = {.context = counter, .wants = SEES_SUMS, .saw = saw},
                                      .first = {0, sides[0].n_terms},
                                      .n = sides[0].n_terms + sides[1].n_terms};
    counter->sources = memory_new((size_t)counter->n + 1, sizeof *counter->sources);
    if (!counter->sources)
        return error_memory(error);
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < sides[side].n_terms; t++) {
            struct noise_source *source = &counter->sources[counter->first[side] + t];
            source->name = sides[side].terms[t].name;
            source->of[0].round = source->of[1].round = -1;
        }
    return 0;
}

void noise_counter_close(struct noise_counter *counter, struct engine_stats *stats)
{
    for (int s = 0; counter->sources && s < counter->n; s++)
        for (int k = 0; k < 2 * DPF_MAX_BLOCKS; k++) {
            struct noise_histogram *h = &counter->sources[s].blocks[k / DPF_MAX_BLOCKS][k % DPF_MAX_BLOCKS];
            if (h->n == 0 || stats->n_noise == NOISE_MAX_HISTOGRAMS)
                continue;
            snprintf(h->term, sizeof h->term, "%s", counter->sources[s].name);
            h->deviation = sqrt(h->deviation / (double)h->n);
            stats->noise[stats->n_noise++] = *h;
        }
    free(counter->sources);
    counter->sources = NULL;
}
