/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_round.c - a round of secure aggregation with all its cryptography: seconds, and bytes of a client
 * beside the formula of Bonawitz et al. (CCS 2017), Table 1:
 *     2 n K + (5 n - 4) S + n + m ceil(log2 R) bits, K = S = 256,
 * where n counts a neighbourhood: all clients of a complete graph, a client and its neighbours of a regular
 * one.
 *
 * Seconds are for all clients and the server together, on one worker and on two (w). ns: processor time of
 * the round, cryptography of keys included, for each number of a mask that a client makes. sum %: what adding
 * the messages modulo M takes without any protocol, as aggregator modular-sum does, of the round's processor
 * time.
 *
 *     secagg_round [DIMENSION [TRIALS]]     default 14336 numbers, 1 trial: the modulus is n trials + 1
 */
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "bench_rows.h"
#include "secagg_graph.h"
#include "secagg_simulate.h"

struct bench {
    struct pool *pool;
    struct secagg_round round;
    uint32_t *ids;
    uint8_t *lost;
    uint8_t *public_keys; /* 32 bytes each */
    uint8_t *secret_keys; /* 64 bytes each */
};

struct scenario {
    uint32_t n;
    uint32_t degree; /* 0: complete */
    uint32_t threshold;
    uint32_t flags;
    int power; /* the modulus is the next power of two */
    int lost;  /* every third client, before its input: the costliest moment */
};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- a round ------------------------------------------------------------------------------------ */

struct job {
    secagg_task task;
    void *context;
};

static int run_task(void *context, int64_t task, int worker)
{
    const struct job *job = context;
    job->task(job->context, task, worker);
    return 0;
}

static void run_tasks(void *context, int64_t n, secagg_task task, void *task_context)
{
    const struct bench *bench = context;
    struct job job = {task, task_context};
    pool_run(bench->pool, n, run_task, &job);
}

static void seed(void *context, uint32_t client, uint8_t out[32])
{
    (void)context;
    (void)client;
    randombytes_buf(out, 32);
}

/* Numbers whose sum is known: client + index, modulo the modulus. */
static void input(void *context, uint32_t client, uint64_t *vector)
{
    const struct secagg_terms *terms = &((const struct bench *)context)->round.setup.terms;
    for (uint32_t i = 0; i < terms->dimension; i++)
        vector[i] = (client + i) % terms->modulus;
}

static const uint8_t *signing_key(void *context, uint32_t client)
{
    return ((const struct bench *)context)->secret_keys + (size_t)client * 64;
}

static const uint8_t *identity(const void *context, uint32_t id)
{
    const struct bench *bench = context;
    return id < bench->round.setup.n ? bench->public_keys + (size_t)id * 32 : NULL;
}

static int sum_is_right(const struct bench *bench)
{
    const struct secagg_terms *terms = &bench->round.setup.terms;
    for (uint32_t i = 0; i < terms->dimension; i++) {
        uint64_t sum = 0;
        for (uint32_t c = 0; c < bench->round.setup.n; c++)
            sum += bench->lost[c] > SERVER_INPUT ? (c + i) % terms->modulus : 0;
        if (sum % terms->modulus != bench->round.sums[i])
            return 0;
    }
    return 1;
}

/* Processor time of adding all messages, as modular-sum does. */
static double adding_alone(struct bench *bench, uint32_t n, uint64_t *sums, uint64_t *vector)
{
    const struct secagg_terms *terms = &bench->round.setup.terms;
    double seconds = 0;
    for (uint32_t c = 0; c < n; c++) {
        input(bench, c, vector);
        const double start = now(CLOCK_PROCESS_CPUTIME_ID);
        for (uint32_t i = 0; i < terms->dimension; i++) {
            const uint64_t sum = sums[i] + vector[i] % terms->modulus;
            sums[i] = sum >= terms->modulus ? sum - terms->modulus : sum;
        }
        seconds += now(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    return seconds;
}

/* ---- one line of the table ---------------------------------------------------------------------- */

static int bits_below(uint64_t modulus)
{
    int bits = 0;
    for (uint64_t most = modulus - 1; most > 0; most >>= 1)
        bits++;
    return bits;
}

static void print_line(const struct bench *bench, const struct scenario *s, double wall, double cpu,
                       double adding)
{
    const struct secagg_terms *terms = &bench->round.setup.terms;
    const double members = s->degree ? s->degree + 1.0 : s->n;
    const double payload = (double)terms->dimension * bits_below(terms->modulus);
    const double formula = (2 * members * 256 + (5 * members - 4) * 256 + members + payload) / 8;
    double up = 0, down = 0;
    for (int kind = SECAGG_START; kind < SECAGG_N_KINDS; kind++)
        *(kind % 2 ? &down : &up) += (double)bench->round.bytes[kind] / s->n;
    const double ns = 1e9 * cpu / (s->n * members * terms->dimension);
    if (s->degree && !s->power && !s->lost && pool_workers(bench->pool) == 1)
        bench_row("secagg, mask coordinate", ns, "ns", "keystream", 0);
    printf("%5u  %-12s %4u  %9llu  %4s  %4s  %d  %7.3f  %7.3f  %5.2f  %8.0f  %8.0f  %8.0f  %5.2f  %5.2f\n",
           s->n, s->degree ? "regular" : "complete", s->threshold, (unsigned long long)terms->modulus,
           s->flags & SECAGG_MALICIOUS ? "yes" : "no", s->lost ? "1/3" : "0", pool_workers(bench->pool), wall,
           cpu, ns, up, down, formula, (up + down) / formula, 100 * adding / cpu);
}

static int measure(struct bench *bench, const struct scenario *s, uint32_t dimension, uint64_t trials)
{
    uint64_t modulus = s->n * trials + 1, power = 1;
    while (power < modulus)
        power *= 2;
    struct secagg_setup setup = {.terms = {.round = 1,
                                           .modulus = s->power ? power : modulus,
                                           .dimension = dimension,
                                           .threshold = s->threshold,
                                           .flags = s->flags},
                                 .ids = bench->ids,
                                 .n = s->n,
                                 .degree = s->degree,
                                 .identity = identity,
                                 .identities = bench,
                                 .run = run_tasks,
                                 .run_context = bench,
                                 .n_workers = pool_workers(bench->pool),
                                 .simulated = 1};
    randombytes_buf(setup.terms.session, sizeof(setup.terms.session));
    randombytes_buf(setup.seed, sizeof(setup.seed));
    randombytes_buf(setup.secret_key, sizeof(setup.secret_key));
    for (uint32_t i = 0; i < s->n; i++)
        bench->lost[i] = s->lost && i % 3 == 2 ? SERVER_INPUT : SERVER_DONE;
    bench->round = (struct secagg_round){.setup = setup,
                                         .lost = bench->lost,
                                         .context = bench,
                                         .seed = seed,
                                         .input = input,
                                         .signing_key = signing_key};
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    const size_t bytes = (size_t)secagg_round_bytes(&bench->round);
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    enum secagg_phase phase;
    if (!block)
        return -1;
    memset(block, 0, bytes);
    const enum secagg_status status = secagg_round_run(&bench->round, block, &phase);
    const double seconds = now(CLOCK_MONOTONIC) - wall, used = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    const int right = status == SECAGG_OK && sum_is_right(bench);
    uint64_t *sums = calloc(2 * (size_t)dimension, sizeof(*sums));
    if (right && sums)
        print_line(bench, s, seconds, used, adding_alone(bench, s->n, sums, sums + dimension));
    else
        fprintf(stderr, "the round failed: %s\n",
                status == SECAGG_OK ? "wrong sum" : secagg_status_text(status));
    free(block);
    free(sums);
    return right && sums ? 0 : -1;
}

/* ---- all of them -------------------------------------------------------------------------------- */

static const struct scenario scenarios[] = {
    {100, 0, 67, 0, 0, 0},   {100, 0, 67, 0, 1, 0},
    {100, 0, 67, 0, 0, 1},   {100, 0, 67, SECAGG_MALICIOUS, 0, 0},
    {1000, 72, 24, 0, 0, 0}, {1000, 72, 24, 0, 1, 0},
    {1000, 72, 24, 0, 0, 1},
};

static int make_clients(struct bench *bench, uint32_t n)
{
    bench->ids = calloc(n, sizeof(*bench->ids));
    bench->lost = calloc(n, 1);
    bench->public_keys = calloc(n, 32);
    bench->secret_keys = calloc(n, 64);
    if (!bench->ids || !bench->lost || !bench->public_keys || !bench->secret_keys)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        bench->ids[i] = i;
        crypto_sign_keypair(bench->public_keys + (size_t)i * 32, bench->secret_keys + (size_t)i * 64);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const long dimension = argc > 1 ? strtol(argv[1], NULL, 10) : 14336,
               trials = argc > 2 ? atol(argv[2]) : 1;
    struct bench bench = {0};
    int status = 0;
    if (dimension < 1 || dimension > (long)SECAGG_MAX_DIMENSION || trials < 1 || trials > 1 << 20) {
        fprintf(stderr, "usage: secagg_round [DIMENSION [TRIALS]]\n");
        return 2;
    }
    if (sodium_init() < 0 || make_clients(&bench, 1000) != 0)
        return 1;
    printf("%5s  %-12s %4s  %9s  %4s  %4s  %s  %7s  %7s  %5s  %8s  %8s  %8s  %5s  %5s\n", "n", "graph", "t",
           "modulus", "mal.", "lost", "w", "wall s", "cpu s", "ns", "up B", "down B", "formula", "ratio",
           "sum %");
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        for (int workers = 1; workers <= 2 && status == 0; workers++) {
            bench.pool = pool_new(workers);
            status = bench.pool ? measure(&bench, &scenarios[i], (uint32_t)dimension, (uint64_t)trials) : -1;
            pool_free(bench.pool);
        }
    free(bench.ids);
    free(bench.lost);
    free(bench.public_keys);
    free(bench.secret_keys);
    return status == 0 ? 0 : 1;
}
