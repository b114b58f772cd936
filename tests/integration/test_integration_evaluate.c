/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models simple enough to have one right answer, on MovieLens 100K from the folder DPFRAME_DATA.
 * Without it the tests are skipped.
 */
#include "evaluate/evaluate.h"
#include "kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/load.h"
#include "reading/data_params.h"

/* A run up to its data, from a configuration in which %s is the folder of MovieLens 100K. */
struct run {
    struct config *config;
    struct config_values data, split, evaluate;
    struct random_root *root;
    struct pool *pool;
    struct dataset dataset;
    struct dpf_error error;
};

static int bind(struct run *run, const char *section, const dpf_param *table, int64_t n,
                struct config_values *out)
{
    return config_bind(run->config, section, table, n, (int64_t)sizeof *table, NULL, 1, out, &run->error);
}

static void run_start(struct run *run, const char *format)
{
    const char *folder = getenv("DPFRAME_DATA");
    char ml[1024], path[1100], text[4096];
    snprintf(ml, sizeof ml, "%s/ml-100k", folder ? folder : "");
    snprintf(path, sizeof path, "%s/u.data.gz", ml);
    if (!folder || access(path, R_OK) != 0) {
        print_message("skipped: ml-100k/u.data.gz is not in the folder DPFRAME_DATA\n");
        skip();
    }
    int length = snprintf(text, sizeof text, format, ml, ml);
    int64_t n_data, n_split, n_evaluate;
    const dpf_param *data = data_params(&n_data), *split = split_params(&n_split);
    const dpf_param *evaluate = evaluate_params(&n_evaluate);
    double lo, hi;
    memset(run, 0, sizeof *run);
    run->config = config_parse("test.ini", text, (uint64_t)length, &run->error);
    run->root = random_root_seeded(1, "run", &run->error);
    run->pool = pool_new(2);
    if (!run->config || !run->root || !run->pool || bind(run, "data", data, n_data, &run->data) != 0 ||
        bind(run, "split", split, n_split, &run->split) != 0 ||
        bind(run, "evaluate", evaluate, n_evaluate, &run->evaluate) != 0 ||
        evaluate_check(&run->evaluate, 0, -(double)INFINITY, (double)INFINITY, &run->error) != 0 ||
        data_check(&run->data, &run->split, &lo, &hi, &run->error) != 0 ||
        data_load(&run->data, &run->split, run->root, run->pool, &run->dataset, &run->error) != 0)
        fail_msg("%s", run->error.text);
}

static void run_evaluate(struct run *run, const struct scorer *scorer, struct metrics *out)
{
    if (evaluate_model(&run->evaluate, &run->dataset, scorer, run->root, run->pool, 0, out, &run->error) != 0)
        fail_msg("%s", run->error.text);
}

static void run_end(struct run *run)
{
    dataset_free(&run->dataset);
    config_values_free(&run->data);
    config_values_free(&run->split);
    config_values_free(&run->evaluate);
    config_free(run->config);
    random_root_free(run->root);
    pool_free(run->pool);
}

static void near(const struct metrics *metrics, const char *name, double expected, double tolerance)
{
    double value = metrics_find(metrics, name);
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s is %.5f, not %.5f", name, value, expected);
}

/* An item's number of training records. */
static int popularity(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                      struct dpf_error *error)
{
    const struct csr *by_item = context;
    (void)user;
    (void)error;
    for (int64_t i = 0; i < n; i++) {
        int64_t item = items ? items[i] : i;
        out[i] = (double)(by_item->ptr[item + 1] - by_item->ptr[item]);
    }
    return 0;
}

static int user_mean(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                     struct dpf_error *error)
{
    const struct csr *by_user = context;
    double sum = 0;
    (void)items;
    (void)error;
    for (int64_t i = by_user->ptr[user]; i < by_user->ptr[user + 1]; i++)
        sum += (double)by_user->values[i];
    for (int64_t i = 0; i < n; i++)
        out[i] = sum / (double)(by_user->ptr[user + 1] - by_user->ptr[user]);
    return 0;
}

/* Reference: an independent NumPy implementation with ties counted half, on the same split. */
TEST(popularity_on_the_latest_record)
{
    struct run run;
    struct metrics m;
    run_start(&run, "[data]\nformat = movielens-100k\npath = %s/u.data.gz\nfeedback = implicit\n"
                    "[split]\nkind = leave-one-out\nby = time\n");
    struct scorer scorer = {.context = &run.dataset.train.by_item, .scores = popularity};
    run_evaluate(&run, &scorer, &m);
    near(&m, "hr@10", 0.0859, 0.0006); /* 943 users: one of them is 0.001 */
    near(&m, "ndcg@10", 0.0443, 0.0003);
    near(&m, "mrank", 0.203, 0.0005);
    metrics_free(&m);
    run_end(&run);
}

/* The same among 99 random items: a draw of negatives moves HR by about 0.01. */
TEST(popularity_among_sampled_negatives)
{
    struct run run;
    struct metrics m;
    run_start(&run, "[data]\nformat = movielens-100k\npath = %s/u.data.gz\nfeedback = implicit\n"
                    "[split]\nkind = leave-one-out\nby = time\n[evaluate]\nranking = sampled\n");
    struct scorer scorer = {.context = &run.dataset.train.by_item, .scores = popularity};
    run_evaluate(&run, &scorer, &m);
    near(&m, "hr@10", 0.407, 0.03);
    near(&m, "ndcg@10", 0.226, 0.02);
    near(&m, "users-short-of-negatives", 0, 0);
    metrics_free(&m);
    run_end(&run);
}

/* Published: MyMediaLite's UserAverage on u1.base and u1.test, RMSE 1.063 and MAE 0.850. */
TEST(user_mean_on_the_first_published_fold)
{
    struct run run;
    struct metrics m;
    run_start(&run, "[data]\nformat = movielens-100k\npath = %s/u.data.gz\nvalue-min = 1\nvalue-max = 5\n"
                    "[split]\nkind = files\ntest.path = %s/u1.test\noverlap = test\n"
                    "[evaluate]\nmetrics = rmse, mae, rmse-user\ncold = model\n");
    struct scorer scorer = {.context = &run.dataset.train.by_user, .scores = user_mean};
    run_evaluate(&run, &scorer, &m);
    near(&m, "rmse", 1.063, 0.0006);
    near(&m, "mae", 0.850, 0.0006);
    assert_int_equal(m.items[0].n, 20000);
    assert_int_equal(m.items[2].n, 459);
    metrics_free(&m);
    run_end(&run);
}
