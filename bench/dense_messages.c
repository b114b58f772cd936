/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_messages - rounds in which every user sends every item's row: configs/corrected/dpmf-rp.ini (clip,
 * flatten, Poisson binomial mechanism, 2 numbers a row) and hdpmf.ini (clip, noise of the sum), 943 users and
 * 1,682 items, synthetic records. Processor nanoseconds for a cell of users times items, local solves
 * included.
 *
 *   bench_dense_messages [ROUNDS]      default 8; the first is not counted
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>
#include <sodium.h>

#include "bench_rows.h"
#include "run/session.h"
#include "data/load.h"
#include "engine/engine.h"
#include "plan/plan_make.h"

#define MOST_ROUNDS 64

struct measured {
    double cpu[MOST_ROUNDS];
    int n;
};

static int round_done(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct measured *m = context;
    struct timespec t;
    (void)round, (void)model, (void)error;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    if (m->n < MOST_ROUNDS)
        m->cpu[m->n++] = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, const struct measured *m, double cells)
{
    double rounds[MOST_ROUNDS];
    char row[64];
    const int n = m->n - 1;
    for (int r = 0; r < n; r++)
        rounds[r] = (m->cpu[r + 1] - m->cpu[r]) / cells;
    qsort(rounds, (size_t)n, sizeof rounds[0], by_size);
    snprintf(row, sizeof row, "dense messages, %s", name);
    bench_row(row, rounds[0], "ns/cell", "keystream", 0);
    printf("%-8s %8.2f %8.2f %8.2f\n", name, rounds[0], rounds[n / 2], rounds[n - 1]);
    fflush(stdout);
}

static int measure(const char *name, int rounds)
{
    static struct session session;
    static struct dataset dataset;
    static struct model model;
    static char path[512], text[64];
    struct measured m = {.n = 0};
    struct engine_stats stats = {0};
    struct dpf_error error = {0};
    struct plan *plan = &session.plan;
    const struct engine_hooks hooks = {.context = &m, .round_done = round_done};
    struct pool *pool = pool_new(1);
    memset(&session, 0, sizeof session);
    memset(&dataset, 0, sizeof dataset);
    memset(&model, 0, sizeof model);
    snprintf(path, sizeof path, "%s/corrected/%s.ini", DPFRAME_CONFIGS, name);
    snprintf(text, sizeof text, "run.rounds=%d", rounds + 1);
    const struct arguments arguments = {
        .config = path,
        .overrides = {"data.format=synthetic", "data.synthetic.users=943", "data.synthetic.items=1682",
                      "data.synthetic.ratings=100000", "privacy.randomness=reproducible", "split.kind=none",
                      text},
        .n_overrides = 7,
        .plugin_dirs = {DPFRAME_PLUGIN_DIR},
        .n_plugin_dirs = 1};
    if (!pool || session_open(&session, &arguments, 0, &error) != 0 ||
        data_load(&plan->data, &plan->split, plan->seeded, pool, &dataset, &error) != 0 ||
        plan_complete(plan, dataset.users.n, dataset.items.n, &error) != 0 ||
        model_init(&model, plan, &dataset, &error) != 0 ||
        engine_run(plan, &dataset, pool, &model, &hooks, &stats, &error) != 0) {
        fprintf(stderr, "dense_messages: %s\n", error.text);
        return 1;
    }
    print(name, &m, (double)dataset.users.n * (double)dataset.items.n);
    model_free(&model);
    dataset_free(&dataset);
    session_close(&session);
    pool_free(pool);
    return 0;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 8;
    if (rounds < 1 || rounds >= MOST_ROUNDS || sodium_init() < 0)
        return 2;
    openblas_set_num_threads(1);
    printf("CPU ns a cell  least   median     most\n");
    return measure("dpmf-rp", rounds) != 0 || measure("hdpmf", rounds) != 0;
}
