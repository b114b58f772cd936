/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpimf_round - a round of DPIMF: ten parties by users, items released, one local iteration, rank 20,
 * MovieLens 100K if it is where configs/data/ml-100k.ini looks for it, else synthetic records of that size.
 *
 *   bench_dpimf_round [ROUNDS [THREADS]]      default 20 rounds, a thread for each processor
 *
 * For each variant: milliseconds of a round, by the clock and of the processors, and
 * the shares of sums (Gram matrices and first-order sums), noise (encoding and decoding) and solves in the
 * latter. The first round is not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cblas.h>
#include <sodium.h>

#include "run/session.h"
#include "data/load.h"
#include "engine/engine.h"
#include "plan/plan_make.h"

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct measured {
    double wall, cpu; /* when the first round was over, then since */
};

static int round_done(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct measured *m = context;
    (void)model;
    (void)error;
    if (round == 0)
        *m = (struct measured){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
    return 0;
}

struct bench {
    struct session session;
    struct dataset dataset;
    struct model model;
    struct engine_stats stats;
    struct pool *pool;
    struct measured measured;
};

static int open_plan(struct bench *b, const char *variant, int rounds, int synthetic, struct dpf_error *error)
{
    static const char *const records[] = {"data.format=synthetic", "data.path=", "data.synthetic.users=943",
                                          "data.synthetic.items=1682", "data.synthetic.ratings=100000"};
    static char path[128], rounds_text[64];
    static struct arguments arguments;
    snprintf(path, sizeof path, "configs/papers/dpimf-%s.ini", variant);
    snprintf(rounds_text, sizeof rounds_text, "run.rounds=%d", rounds);
    arguments = (struct arguments){.config = path,
                                   .overrides = {"model.rank=20", "parties.local-iterations=1",
                                                 "privacy.randomness=reproducible", rounds_text},
                                   .n_overrides = 4,
                                   .plugin_dirs = {DPFRAME_PLUGIN_DIR},
                                   .n_plugin_dirs = 1};
    for (size_t i = 0; synthetic && i < sizeof records / sizeof records[0]; i++)
        arguments.overrides[arguments.n_overrides++] = records[i];
    return session_open(&b->session, &arguments, 0, error);
}

static int run(struct bench *b, const char *variant, int rounds, int synthetic, struct dpf_error *error)
{
    struct plan *plan = &b->session.plan;
    const struct engine_hooks hooks = {.context = &b->measured, .round_done = round_done};
    if (open_plan(b, variant, rounds + 1, synthetic, error) != 0 ||
        data_load(&plan->data, &plan->split, plan->seeded, b->pool, &b->dataset, error) != 0 ||
        plan_complete(plan, b->dataset.users.n, b->dataset.items.n, error) != 0 ||
        model_init(&b->model, plan, &b->dataset, error) != 0 ||
        engine_run(plan, &b->dataset, b->pool, &b->model, &hooks, &b->stats, error) != 0)
        return -1;
    b->measured.wall = now(CLOCK_MONOTONIC) - b->measured.wall;
    b->measured.cpu = now(CLOCK_PROCESS_CPUTIME_ID) - b->measured.cpu;
    return 0;
}

static int measure(const char *variant, int rounds, int threads, int synthetic)
{
    static struct bench b;
    struct dpf_error error = {0};
    memset(&b, 0, sizeof b);
    b.pool = pool_new(threads);
    const int status = b.pool ? run(&b, variant, rounds, synthetic, &error) : -1;
    const double all = b.stats.cpu_sums + b.stats.cpu_noise + b.stats.cpu_solves, per = 1e3 / rounds;
    const double total = b.measured.cpu * (rounds + 1) / rounds; /* with the first round, as the phases */
    if (status == 0)
        printf("%-5s %8.1f %8.1f   %4.0f %% %4.0f %% %4.0f %% %4.0f %%\n", variant, b.measured.wall * per,
               b.measured.cpu * per, 100 * b.stats.cpu_sums / total, 100 * b.stats.cpu_noise / total,
               100 * b.stats.cpu_solves / total, 100 * (total - all) / total);
    else
        fprintf(stderr, "dpimf_round: %s\n", error.text);
    model_free(&b.model);
    dataset_free(&b.dataset);
    session_close(&b.session);
    pool_free(b.pool);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const variants[] = {"gt", "opt", "sym", "str"};
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const int threads = argc > 2 ? atoi(argv[2]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int synthetic = access("data/ml-100k/u.data.gz", R_OK) != 0;
    if (rounds < 1 || threads < 1 || sodium_init() < 0)
        return 2;
    openblas_set_num_threads(1);
    printf("%d rounds, %d threads, %s; targets: opt 40 ms, sym 750 ms\n", rounds, threads,
           synthetic ? "synthetic records" : "MovieLens 100K");
    printf("       clock ms   CPU ms     sums  noise solves  rest\n");
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        if (measure(variants[i], rounds, threads, synthetic) != 0)
            return 1;
    return 0;
}
