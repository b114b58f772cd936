/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_messages - rounds of user-level ALS (configs/corrected/user-level-als.ini) at rank 62 with biases,
 * 2,079 coefficients an item, on synthetic records: processor microseconds a record of the released side,
 * with users' messages made and added, and with factors alone (engine/step_scaled.h); and how far memory grew
 * in the step.
 *
 *   bench_user_messages [RECORDS [USERS [ITEMS [ROUNDS [WORKERS...]]]]]
 *                       default 200000 2000 2000 3 1 2; the first round is not counted
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cblas.h>
#include <sodium.h>

#include "bench_rows.h"
#include "run/session.h"
#include "data/load.h"
#include "engine/engine.h"
#include "plan/plan_make.h"

#define COEFFICIENTS 2079

struct options {
    const char *records, *users, *items;
    int rounds;
};

struct measured {
    struct model *model;
    double cpu[64];
    int64_t n;
};

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static int round_done(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct measured *m = context;
    (void)model, (void)error;
    if (round < 64)
        m->cpu[m->n++] = cpu_now();
    return 0;
}

static int open_session(struct session *session, const struct options *o, struct dpf_error *error)
{
    static char text[4][64];
    static struct arguments arguments;
    snprintf(text[0], sizeof text[0], "data.synthetic.ratings=%s", o->records);
    snprintf(text[1], sizeof text[1], "data.synthetic.users=%s", o->users);
    snprintf(text[2], sizeof text[2], "data.synthetic.items=%s", o->items);
    snprintf(text[3], sizeof text[3], "run.rounds=%d", o->rounds + 1);
    arguments = (struct arguments){
        .config = DPFRAME_CONFIGS "/corrected/user-level-als.ini",
        .overrides = {"data.format=synthetic", "model.rank=62", "split.kind=none", "run.final-step=none",
                      "run.order=items", "privacy.randomness=reproducible", "model.users=100000",
                      "model.items=100000", "items.solver=ball", "items.loss.lambda=1e9",
                      "items.loss.bias-lambda=1e9", text[0], text[1], text[2], text[3]},
        .n_overrides = 15,
        .plugin_dirs = {DPFRAME_PLUGIN_DIR},
        .n_plugin_dirs = 1};
    return session_open(session, &arguments, 0, error);
}

/* In a process of its own, since memory that was once taken stays on its record. */
static int measure(const struct options *o, int workers, int by_messages)
{
    static struct session session;
    static struct dataset dataset;
    static struct model model;
    static struct measured m;
    struct engine_stats stats = {0};
    struct dpf_error error = {0};
    struct plan *plan = &session.plan;
    const struct engine_hooks hooks = {.context = &m, .round_done = round_done};
    struct pool *pool = pool_new(workers);
    if (!pool || open_session(&session, o, &error) != 0 ||
        data_load(&plan->data, &plan->split, plan->seeded, pool, &dataset, &error) != 0 ||
        plan_complete(plan, dataset.users.n, dataset.items.n, &error) != 0 ||
        model_init(&model, plan, &dataset, &error) != 0) {
        fprintf(stderr, "user_messages: %s\n", error.text);
        return 1;
    }
    struct instance *mechanism = plan->sides[DPF_SIDE_ITEMS].terms[0].mechanism;
    dpf_mechanism table = *(const dpf_mechanism *)mechanism->functions;
    table.flags &= ~(by_messages ? DPF_MECHANISM_ROUNDS : 0);
    mechanism->functions = &table;
    const double before = peak_megabytes();
    if (engine_run(plan, &dataset, pool, &model, &hooks, &stats, &error) != 0) {
        fprintf(stderr, "user_messages: %s\n", error.text);
        return 1;
    }
    const double records = (double)dataset.train.by_user.ptr[dataset.users.n];
    double least = 1e300, most = 0, sum = 0;
    for (int64_t r = 1; r < m.n; r++) {
        const double one = 1e6 * (m.cpu[r] - m.cpu[r - 1]) / records;
        least = one < least ? one : least;
        most = one > most ? one : most;
        sum += one;
    }
    if (!by_messages && workers == 1) /* a coefficient: one product, one addition */
        bench_row("user-level ALS, record", 1e3 * least, "ns", "sgemm", -2.0 * COEFFICIENTS);
    printf("%-8s %7d %10.3f %8.3f %8.3f %9.0f\n", by_messages ? "messages" : "factors", workers, least,
           sum / (double)(m.n - 1), most, peak_megabytes() - before);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const struct options o = {argc > 1 ? argv[1] : "200000", argc > 2 ? argv[2] : "2000",
                              argc > 3 ? argv[3] : "2000", argc > 4 ? atoi(argv[4]) : 3};
    static char one[] = "1", two[] = "2", *const usual[] = {one, two};
    char *const *workers = argc > 5 ? argv + 5 : usual;
    const int n = argc > 5 ? argc - 5 : 2;
    if (o.rounds < 1 || o.rounds > 62 || sodium_init() < 0)
        return 2;
    openblas_set_num_threads(1);
    printf("%s records, %s users, %s items; CPU us a record, solving of rows included\n", o.records, o.users,
           o.items);
    printf("%-8s %7s %10s %8s %8s %9s\n", "path", "workers", "least", "mean", "most", "memory MB");
    fflush(stdout);
    for (int i = 0; i < n; i++)
        for (int by_messages = 1; by_messages >= 0; by_messages--) {
            const pid_t child = fork();
            int status = 1;
            if (child == 0)
                _exit(measure(&o, atoi(workers[i]), by_messages));
            if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
                return 1;
        }
    return 0;
}
