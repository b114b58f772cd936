/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine - what this machine can do at most, as other benchmarks and --profile measure against it.
 *
 *   bench_machine [-r repeats]
 *
 * Bytes that a triad a = b + s c moves through memory, by one processor and by all; floating-point operations
 * of an sgemm, and bytes of keystream, by one. Prints least, median and largest of the repeats. Rates count
 * by processor time where one processor works, so that they are worth something on a busy machine, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cblas.h>

#include "base/keystream.h"
#include "base/memory.h"
#include "base/pool.h"
#include "bench_rows.h"

#define TRIAD (INT64_C(8) << 20) /* numbers in an array */
#define SGEMM 768

static double clock_of(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct triad {
    double *a, *b, *c;
    int64_t parts;
};

static int triad_part(void *context, int64_t part, int worker)
{
    const struct triad *t = context;
    const int64_t from = part * TRIAD / t->parts, to = (part + 1) * TRIAD / t->parts;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        t->a[i] = t->b[i] + 3 * t->c[i];
    return 0;
}

/* Bytes a second: two numbers read, one written. */
static double triad_once(const struct triad *t, struct pool *pool)
{
    const clockid_t which = pool ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const double start = clock_of(which);
    if (pool)
        pool_run(pool, t->parts, triad_part, (void *)(uintptr_t)t);
    else
        for (int64_t part = 0; part < t->parts; part++)
            triad_part((void *)(uintptr_t)t, part, 0);
    return 24.0 * (double)TRIAD / (clock_of(which) - start);
}

static double sgemm_once(float *m)
{
    const blasint n = SGEMM;
    const double start = clock_of(CLOCK_THREAD_CPUTIME_ID);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m, n, m + n * n, n, 0, m + 2 * n * n,
                n);
    return 2.0 * n * n * n / (clock_of(CLOCK_THREAD_CPUTIME_ID) - start);
}

static double keystream_once(uint64_t *words)
{
    static const uint8_t key[KEYSTREAM_KEY_BYTES] = {1};
    static uint64_t nonce;
    const double start = clock_of(CLOCK_THREAD_CPUTIME_ID);
    keystream_blocks(key, nonce++, 0, 16384, words);
    return 64.0 * 16384 / (clock_of(CLOCK_THREAD_CPUTIME_ID) - start);
}

static void report(const char *name, const char *unit, double *rates, int n)
{
    qsort(rates, (size_t)n, sizeof *rates, ascending);
    printf("%-12s %8.2f %8.2f %8.2f %s\n", name, rates[0] * 1e-9, rates[n / 2] * 1e-9, rates[n - 1] * 1e-9,
           unit);
    /* The limit is what it did at best. */
    bench_row(name, rates[n - 1] * 1e-9, unit, "machine", rates[n - 1] * 1e-9);
}

int main(int argc, char **argv)
{
    const int repeats = argc == 3 && strcmp(argv[1], "-r") == 0 ? atoi(argv[2]) : 9;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double *numbers = memory_new(3, (size_t)TRIAD * sizeof *numbers);
    float *matrices = memory_new(3, (size_t)SGEMM * SGEMM * sizeof *matrices);
    uint64_t *words = memory_new(16384, 64);
    double *rates = memory_new(4, (size_t)(repeats > 0 ? repeats : 1) * sizeof *rates);
    struct pool *pool = pool_new((int)processors);
    if (repeats < 1 || !numbers || !matrices || !words || !rates || !pool) {
        fprintf(stderr, "usage: bench_machine [-r repeats]\n");
        return 2;
    }
    openblas_set_num_threads(1);
    for (int64_t i = 0; i < 3 * TRIAD; i++)
        numbers[i] = (double)i;
    for (int i = 0; i < 2 * SGEMM * SGEMM; i++)
        matrices[i] = (float)(i % 7);
    const struct triad triad = {numbers, numbers + TRIAD, numbers + 2 * TRIAD, 8 * processors};
    for (int r = 0; r < repeats; r++) {
        rates[r] = triad_once(&triad, NULL);
        rates[repeats + r] = triad_once(&triad, pool);
        rates[2 * repeats + r] = sgemm_once(matrices);
        rates[3 * repeats + r] = keystream_once(words);
    }
    printf("%ld processors; least, median, largest of %d\n", processors, repeats);
    report("triad-one", "GB/s", rates, repeats);
    report("triad", "GB/s", rates + repeats, repeats);
    report("sgemm", "GFLOP/s", rates + 2 * repeats, repeats);
    report("keystream", "GB/s", rates + 3 * repeats, repeats);
    pool_free(pool);
    free(numbers);
    free(matrices);
    free(words);
    free(rates);
    return EXIT_SUCCESS;
}
