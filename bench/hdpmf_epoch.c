/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hdpmf_epoch - seconds of one epoch of HDPMF as published, on data of the size of MovieLens 1M.
 *
 *   bench_hdpmf_epoch [-n epochs] [-w workers] [-o section.key=value]...
 *
 * Trains configs/papers/hdpmf.ini on synthetic ratings, 6,040 users x 3,706 items, 1,000,209 of them, with a
 * message for each rating and a Gaussian share of noise in each number. Prints the mean epoch by the clock
 * and of the processor: the latter is worth something on a busy machine, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "bench_rows.h"
#include "run/session.h"
#include "data/load.h"
#include "engine/engine.h"
#include "plan/plan_make.h"

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int train(struct session *session, struct pool *pool, struct dataset *data, struct model *model,
                 struct engine_stats *stats, double *processor, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    if (data_load(&plan->data, &plan->split, plan->seeded, pool, data, error) != 0 ||
        plan_complete(plan, data->users.n, data->items.n, error) != 0 ||
        model_init(model, plan, data, error) != 0)
        return -1;
    const double before = processor_seconds();
    const int status = engine_run(plan, data, pool, model, NULL, stats, error);
    *processor = processor_seconds() - before;
    return status;
}

static void report(const struct engine_stats *stats, const struct dataset *data, const struct model *model,
                   int workers, double processor)
{
    const double epochs = (double)stats->rounds_done;
    const double items = stats->seconds[DPF_SIDE_ITEMS] / epochs,
                 users = stats->seconds[DPF_SIDE_USERS] / epochs;
    printf("%lld ratings, %lld x %lld, K = %d, %d workers, %lld epochs\n", (long long)data->train.n,
           (long long)data->users.n, (long long)data->items.n, (int)model->columns, workers,
           (long long)stats->rounds_done);
    printf("epoch %.3f s by the clock (items %.3f, users %.3f), %.3f s of the processor\n", items + users,
           items, users, processor / epochs);
    const double numbers = (double)data->train.n * model->columns, each = 1e9 * processor / epochs / numbers;
    printf("%.0f noisy numbers an epoch, %.1f ns of the processor each\n", numbers, each);
    bench_row("hdpmf, noisy number", each, "ns", "keystream", 0);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.config = DPFRAME_CONFIGS "/papers/hdpmf.ini",
                                  .overrides = {"data.format=synthetic", "data.synthetic.users=6040",
                                                "data.synthetic.items=3706", "data.synthetic.ratings=1000209",
                                                "data.synthetic.min-per-user=20",
                                                "privacy.randomness=reproducible"},
                                  .n_overrides = 6,
                                  .plugin_dirs = {DPFRAME_PLUGIN_DIR},
                                  .n_plugin_dirs = 1};
    char rounds[64] = "run.rounds=5";
    int workers = 2;
    for (int i = 1; i + 1 < argc && arguments.n_overrides + 1 < MAX_OVERRIDES; i += 2) {
        if (strcmp(argv[i], "-n") == 0)
            snprintf(rounds, sizeof rounds, "run.rounds=%.40s", argv[i + 1]);
        else if (strcmp(argv[i], "-w") == 0)
            workers = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "-o") == 0)
            arguments.overrides[arguments.n_overrides++] = argv[i + 1];
        else
            return fprintf(stderr,
                           "usage: bench_hdpmf_epoch [-n epochs] [-w workers] [-o section.key=value]...\n"),
                   2;
    }
    arguments.overrides[arguments.n_overrides++] = rounds;
    struct session session = {0};
    struct dataset data = {0};
    struct model model = {0};
    struct engine_stats stats;
    struct dpf_error error = {0};
    double processor = 0;
    if (sodium_init() < 0 || workers < 1)
        return 2;
    struct pool *pool = pool_new(workers);
    int status = pool ? session_open(&session, &arguments, 0, &error) : error_memory(&error);
    if (status == 0)
        status = train(&session, pool, &data, &model, &stats, &processor, &error);
    if (status == 0)
        report(&stats, &data, &model, workers, processor);
    else
        fprintf(stderr, "hdpmf_epoch: %s\n", error.text);
    model_free(&model);
    dataset_free(&data);
    session_close(&session);
    pool_free(pool);
    return status == 0 ? 0 : 1;
}
