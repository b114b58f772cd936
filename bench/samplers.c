/* SPDX-License-Identifier: Apache-2.0 */
/* samplers.c - nanoseconds per draw of every sampler, the best of several passes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"

#define BATCH 50 /* about one row of a message: every batch is a seek */
#define BATCHES 4000
#define PASSES 7

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum kind { WORDS, BELOW, BERNOULLI, NORMAL, LAPLACE, DISCRETE_LAPLACE, DISCRETE_GAUSSIAN, SKELLAM };

static const struct {
    const char *name;
    enum kind kind;
    uint64_t scale;
} cases[] = {
    {"words", WORDS, 0},
    {"below 10^9", BELOW, UINT64_C(1000000000)},
    {"bernoulli 0.1", BERNOULLI, 0},
    {"normal", NORMAL, 0},
    {"laplace", LAPLACE, 0},
    {"discrete laplace, t = 1", DISCRETE_LAPLACE, 1},
    {"discrete laplace, t = 2^36", DISCRETE_LAPLACE, UINT64_C(1) << 36},
    {"discrete gaussian, s = 1", DISCRETE_GAUSSIAN, 1},
    {"discrete gaussian, s = 2^20", DISCRETE_GAUSSIAN, UINT64_C(1) << 20},
    {"skellam, mean 2^14", SKELLAM, UINT64_C(1) << 14},
    {"skellam, mean 2^31", SKELLAM, UINT64_C(1) << 31},
};

/* Returns something that depends on the draws, so that they are made. */
static double draw(dpf_cursor *cursor, enum kind kind, uint64_t scale)
{
    uint64_t words[BATCH];
    int64_t integers[BATCH];
    double reals[BATCH];
    uint8_t bits[BATCH];
    switch (kind) {
    case WORDS:
        random_bits(cursor, words, BATCH);
        return (double)words[BATCH - 1];
    case BELOW:
        random_below(cursor, scale, words, BATCH);
        return (double)words[BATCH - 1];
    case BERNOULLI:
        random_bernoulli(cursor, 0.1, bits, BATCH);
        return bits[BATCH - 1];
    case NORMAL:
        random_normal(cursor, reals, BATCH);
        return reals[BATCH - 1];
    case LAPLACE:
        random_laplace(cursor, reals, BATCH);
        return reals[BATCH - 1];
    case DISCRETE_LAPLACE:
        random_discrete_laplace(cursor, scale, integers, BATCH);
        return (double)integers[BATCH - 1];
    case DISCRETE_GAUSSIAN:
        random_discrete_gaussian(cursor, scale, integers, BATCH);
        return (double)integers[BATCH - 1];
    case SKELLAM:
        random_skellam(cursor, scale, integers, BATCH);
        return (double)integers[BATCH - 1];
    }
    return 0;
}

int main(void)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(1, "noise", &error);
    dpf_stream *stream = root ? random_stream_open(root, "bench", "samplers", &error) : NULL;
    if (!stream) {
        fprintf(stderr, "%s\n", error.text);
        random_root_free(root);
        return EXIT_FAILURE;
    }
    volatile double sink = 0;
    printf("%-30s %s\n", "sampler, rows of 50", "ns per draw");
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        double best = INFINITY;
        for (uint32_t pass = 0; pass < PASSES; pass++) {
            double start = now();
            for (uint32_t row = 0; row < BATCHES; row++) {
                dpf_cursor cursor;
                random_seek(stream, pass, 0, row, &cursor);
                sink = sink + draw(&cursor, cases[c].kind, cases[c].scale);
            }
            best = fmin(best, (now() - start) / ((double)BATCHES * BATCH));
        }
        printf("%-30s %8.1f\n", cases[c].name, best);
    }
    random_stream_free(stream);
    random_root_free(root);
    return EXIT_SUCCESS;
}
