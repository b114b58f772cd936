/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplers.c - nanoseconds per draw of every sampler, the best of several passes, and as a ratio to what the
 * machine can do at most, measured in the same run: one word of libcrypto's ChaCha20 in one long call, and 8
 * bytes of a triad a = b + s c over memory.
 *
 * "seek" reads each row by a cursor of its own, as all rows were read at first; "rows" many rows in one call,
 * "ids" rows that do not follow one another.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/keystream.h"
#include "base/memory.h"
#include "base/random.h"
#include "bench_rows.h"

#define BATCH 50 /* about one row of a message: every batch is a seek */
#define BATCHES 4000
#define PASSES 7

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* worth something on a busy machine, too */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum kind {
    ROW_BITS,
    ROW_NORMAL,
    ROW_LAPLACE,
    WORDS,
    BELOW,
    BERNOULLI,
    NORMAL,
    LAPLACE,
    DISCRETE_LAPLACE,
    DISCRETE_GAUSSIAN,
    SKELLAM
};

static const struct {
    const char *name;
    enum kind kind;
    uint64_t scale; /* of rows: 1 where they do not follow one another */
} cases[] = {
    {"words, rows", ROW_BITS, 0},
    {"words, ids", ROW_BITS, 1},
    {"normal, rows", ROW_NORMAL, 0},
    {"normal, ids", ROW_NORMAL, 1},
    {"laplace, rows", ROW_LAPLACE, 0},
    {"laplace, ids", ROW_LAPLACE, 1},
    {"words, seek", WORDS, 0},
    {"below 10^9, seek", BELOW, UINT64_C(1000000000)},
    {"bernoulli 0.1, seek", BERNOULLI, 0},
    {"normal, seek", NORMAL, 0},
    {"laplace, seek", LAPLACE, 0},
    {"discrete laplace, t = 1", DISCRETE_LAPLACE, 1},
    {"discrete laplace, t = 2^34", DISCRETE_LAPLACE, UINT64_C(1) << 34},
    {"discrete laplace, t = 2^36", DISCRETE_LAPLACE, UINT64_C(1) << 36},
    {"discrete gaussian, s = 1", DISCRETE_GAUSSIAN, 1},
    {"discrete gaussian, s = 64", DISCRETE_GAUSSIAN, 64},
    {"discrete gaussian, s = 65", DISCRETE_GAUSSIAN, 65},
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
    case ROW_BITS:
    case ROW_NORMAL:
    case ROW_LAPLACE:
        break; /* draw_rows */
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

static union {
    uint64_t words[BATCHES * BATCH];
    double reals[BATCHES * BATCH];
} all;
static int32_t ids[BATCHES];

static double draw_rows(const dpf_stream *stream, uint32_t pass, enum kind kind, int scattered)
{
    for (int32_t i = 0; i < BATCHES; i++)
        ids[i] = 3 * i;
    const dpf_rows rows = {
        .draw = pass, .n = BATCHES, .ids = scattered ? ids : NULL, .width = BATCH, .stride = BATCH};
    const dpf_status status = kind == ROW_BITS     ? random_row_bits(stream, &rows, all.words)
                              : kind == ROW_NORMAL ? random_row_normal(stream, &rows, all.reals)
                                                   : random_row_laplace(stream, &rows, all.reals);
    return status == DPF_OK ? all.reals[BATCH] : 0;
}

static double draw_batches(const dpf_stream *stream, uint32_t pass, enum kind kind, uint64_t scale)
{
    double sum = 0;
    for (uint32_t row = 0; row < BATCHES; row++) {
        dpf_cursor cursor;
        random_seek(stream, pass, 0, row, &cursor);
        sum += draw(&cursor, kind, scale);
    }
    return sum;
}

/* Nanoseconds for a 64-bit word. */
static double keystream_limit(void)
{
    static const uint8_t key[KEYSTREAM_KEY_BYTES] = {1};
    double best = INFINITY;
    for (uint64_t pass = 0; pass < 5 * PASSES; pass++) {
        const double start = now();
        keystream_blocks(key, pass, 0, 16384, all.words);
        best = fmin(best, (now() - start) / (16384 * 8));
    }
    return best;
}

/* Nanoseconds for 8 bytes moved. */
static double triad_limit(void)
{
    const int64_t n = 4 << 20;
    double *a = memory_new(3 * (size_t)n, sizeof *a), *b = a + n, *c = b + n, best = INFINITY;
    for (int pass = 0; a && pass < PASSES; pass++) {
        const double start = now();
        for (int64_t i = 0; i < n; i++)
            a[i] = b[i] + 3 * c[i];
        best = fmin(best, (now() - start) / (3 * (double)n));
    }
    free(a);
    return best;
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
    const double keystream = keystream_limit(), triad = triad_limit();
    printf("limits: keystream %.2f ns a word (%.2f GB/s), triad %.2f ns for 8 bytes (%.1f GB/s)\n", keystream,
           8 / keystream, triad, 8 / triad);
    printf("%-30s %11s %12s %12s\n", "sampler, rows of 50", "ns per draw", "of keystream", "of triad");
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        double best = INFINITY;
        for (uint32_t pass = 0; pass < PASSES; pass++) {
            double start = now();
            sink = sink + (cases[c].kind <= ROW_LAPLACE
                               ? draw_rows(stream, pass, cases[c].kind, cases[c].scale > 0)
                               : draw_batches(stream, pass, cases[c].kind, cases[c].scale));
            best = fmin(best, (now() - start) / ((double)BATCHES * BATCH));
        }
        printf("%-30s %11.2f %12.1f %12.1f\n", cases[c].name, best, best / keystream, best / triad);
        bench_row(cases[c].name, best, "ns/draw", "keystream", keystream);
    }
    random_stream_free(stream);
    random_root_free(root);
    return EXIT_SUCCESS;
}
