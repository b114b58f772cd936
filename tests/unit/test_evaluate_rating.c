/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/evaluate_fixture.h"

#define N NAN
#define USERS 4
#define ITEMS 4

/* User 3 and item 3 have no training record. */
static const double train[USERS * ITEMS] = {
    5, 4, N, N, /* mean 4.5 */
    N, 2, 2, N, /* mean 2 */
    1, N, 3, N, /* mean 2 */
    N, N, N, N, /* all: 17 / 6 */
};
static const double test[USERS * ITEMS] = {
    N, N, 3, 4, /* the last one cold */
    1, N, N, N, /**/
    N, 4, N, N, /**/
    2, N, N, N, /* cold */
};
static const double scores[USERS * ITEMS] = {
    0, 0, 4,   9, /* errors 1 and, clipped, 1 */
    3, 0, 0,   0, /* error 2 */
    0, 1, 0,   0, /* error -3 */
    9, 0, 0.5, 0, /* error 3 when clipped to 5 */
};

static void evaluate(struct fixture_options *options, int implicit, struct metrics *out)
{
    struct dataset dataset;
    struct dpf_error error;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, implicit);
    fixture_text(options, "metrics", "rmse,mae,mse,rmse-user,mae-user,mse-user");
    if (fixture_evaluate(options, &dataset, scores, out, &error) != 0)
        fail_msg("%s", error.text);
    fixture_dataset_free(&dataset);
}

TEST(skips_cold_records)
{
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options);
    fixture_enum(&options, "cold", "skip");
    evaluate(&options, 0, &m);
    assert_int_equal(fixture_count(&m, "rmse"), 3);
    fixture_close(fixture_metric(&m, "mse"), (1 + 4 + 9) / 3.0, 1e-15, "mse");
    fixture_close(fixture_metric(&m, "rmse"), sqrt((1 + 4 + 9) / 3.0), 1e-15, "rmse");
    fixture_close(fixture_metric(&m, "mae"), 2, 1e-15, "mae");
    fixture_close(fixture_metric(&m, "cold-records"), 2, 0, "cold-records");
    assert_int_equal(fixture_count(&m, "rmse-user"), 3); /* user 3 has nothing left */
    metrics_free(&m);
}

TEST(predicts_cold_records_as_the_training_mean)
{
    const double mean = 17.0 / 6, a = mean - 4, b = mean - 2;
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options); /* cold = mean */
    evaluate(&options, 0, &m);
    assert_int_equal(fixture_count(&m, "rmse"), 5);
    fixture_close(fixture_metric(&m, "mse"), (1 + a * a + 4 + 9 + b * b) / 5, 1e-14, "mse");
    assert_int_equal(fixture_count(&m, "mse-user"), 4);
    assert_int_equal(fixture_count(&m, "mae-user"), 4);
    assert_int_equal(fixture_count(&m, "rmse-user"), 4);
    fixture_close(fixture_metric(&m, "mse-user"), ((1 + a * a) / 2 + 4 + 9 + b * b) / 4, 1e-14, "mse-user");
    fixture_close(fixture_metric(&m, "mae-user"), ((1 + fabs(a)) / 2 + 2 + 3 + b) / 4, 1e-14, "mae-user");
    fixture_close(fixture_metric(&m, "rmse-user"), (sqrt((1 + a * a) / 2) + 2 + 3 + b) / 4, 1e-14,
                  "rmse-user"); /* not the root of mse-user */
    metrics_free(&m);
}

TEST(takes_the_model_for_cold_records)
{
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options);
    fixture_enum(&options, "cold", "model");
    evaluate(&options, 0, &m);
    assert_int_equal(fixture_count(&m, "rmse"), 5);
    fixture_close(fixture_metric(&m, "mse"), (1 + 1 + 4 + 9 + 9) / 5.0, 1e-14, "mse");
    fixture_close(fixture_metric(&m, "cold-records"), 2, 0, "cold-records");
    metrics_free(&m);
    /* Then they count for the shift: 4, 9 -> 2, 7; user 3 has no training mean and is not shifted. */
    fixture_option(&options, "shift-to-user-mean")->integer = 1;
    evaluate(&options, 0, &m);
    fixture_close(fixture_metric(&m, "mse"), (1 + 1 + 1 + 4 + 9) / 5.0, 1e-14, "shifted mse");
    metrics_free(&m);
}

/* Each shifted prediction of a user with a single warm test record is the training mean. */
TEST(shifts_to_the_mean_of_the_user)
{
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options);
    fixture_enum(&options, "cold", "skip");
    fixture_option(&options, "shift-to-user-mean")->integer = 1;
    evaluate(&options, 0, &m);
    fixture_close(fixture_metric(&m, "mse"), (1.5 * 1.5 + 1 + 4) / 3, 1e-15, "mse");
    metrics_free(&m);
}

/* Two warm records: the shift keeps their difference, and clipping comes after it. */
TEST(shifts_before_it_clips)
{
    static const double some[] = {5, 4, N, N, N, N, 1, 1}; /* user 1 only keeps items 2 and 3 warm */
    static const double held[] = {N, N, 4, 1, N, N, N, N};
    static const double predicted[] = {0, 0, 3, 1, 0, 0, 0, 0};
    struct dataset dataset;
    struct dpf_error error;
    struct metrics m;
    struct fixture_options options;
    fixture_dataset(&dataset, 2, 4, some, held, 0);
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "mse");
    fixture_option(&options, "shift-to-user-mean")->integer = 1;
    assert_int_equal(fixture_evaluate(&options, &dataset, predicted, &m, &error), 0);
    /* 3, 1 -> 5.5, 3.5 -> 5, 3.5 against 4, 1 */
    fixture_close(fixture_metric(&m, "mse"), (1 + 2.5 * 2.5) / 2, 1e-15, "mse");
    metrics_free(&m);
    fixture_dataset_free(&dataset);
}

TEST(clips_only_when_told)
{
    static const double some[] = {5, 4, 2}, held[] = {5, N, N}, high[] = {7, 0, 0};
    static const char *const choices[] = {"auto", "yes", "no"};
    struct dataset dataset;
    struct dpf_error error;
    struct metrics m;
    for (int implicit = 0; implicit < 2; implicit++) {
        for (int i = 0; i < 3; i++) {
            struct fixture_options options;
            fixture_dataset(&dataset, 1, 3, some, held, implicit);
            fixture_defaults(&options);
            fixture_text(&options, "metrics", "mae");
            fixture_enum(&options, "clip-predictions", choices[i]);
            assert_int_equal(fixture_evaluate(&options, &dataset, high, &m, &error), 0);
            double target = implicit ? 1 : 5;
            int clips = i == 1 || (i == 0 && !implicit);
            fixture_close(fixture_metric(&m, "mae"), clips ? 0 : 7 - target, 0, choices[i]);
            metrics_free(&m);
            fixture_dataset_free(&dataset);
        }
    }
    struct fixture_options options;
    fixture_dataset(&dataset, 1, 3, some, held, 0);
    dataset.value_hi = INFINITY;
    fixture_defaults(&options); /* auto: an undeclared range clips nothing */
    assert_int_equal(fixture_evaluate(&options, &dataset, high, &m, &error), 0);
    fixture_close(fixture_metric(&m, "mae"), 2, 0, "undeclared range");
    metrics_free(&m);
    fixture_enum(&options, "clip-predictions", "yes");
    assert_int_equal(fixture_evaluate(&options, &dataset, high, &m, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "value-max"));
    fixture_dataset_free(&dataset);
}

TEST(bands_split_users_by_training_records)
{
    static const int64_t bands[] = {1, 2, 7};
    struct fixture_options options;
    struct metrics m;
    const double mean = 17.0 / 6, a = mean - 4, b = mean - 2;
    fixture_defaults(&options);
    fixture_list(&options, "activity-bands", bands, 3);
    evaluate(&options, 0, &m);
    double cold = b * b, rest = (1 + a * a + 4 + 9) / 4;
    fixture_close(fixture_metric(&m, "mse-activity-0-0"), cold, 1e-14, "0-0");
    assert_true(isnan(fixture_metric(&m, "mse-activity-1-1")));
    fixture_close(fixture_metric(&m, "mse-activity-2-6"), rest, 1e-14, "2-6");
    assert_int_equal(fixture_count(&m, "mse-activity-2-6"), 4);
    assert_true(isnan(fixture_metric(&m, "mse-activity-7+")));
    fixture_close(fixture_metric(&m, "mse-activity-variance"), (cold - rest) * (cold - rest) / 4, 1e-14,
                  "variance");
    assert_int_equal(fixture_count(&m, "mse-activity-variance"), 2);
    metrics_free(&m);
}

/* All records cold and skipped: nothing to average. */
TEST(nothing_left_is_not_applicable)
{
    static const double none[] = {N, N}, held[] = {N, 3}, predicted[] = {1, 1};
    struct dataset dataset;
    struct dpf_error error;
    struct metrics m;
    struct fixture_options options;
    fixture_dataset(&dataset, 1, 2, none, held, 0);
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "rmse,mae-user,rmse-user");
    fixture_enum(&options, "cold", "skip");
    assert_int_equal(fixture_evaluate(&options, &dataset, predicted, &m, &error), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(isnan(m.items[i].value));
        assert_int_equal(m.items[i].n, 0);
    }
    metrics_free(&m);
    fixture_dataset_free(&dataset);
}

TEST(train_rmse_is_of_the_training_records)
{
    struct dataset dataset;
    struct fixture_model model = {ITEMS, scores};
    struct scorer scorer = {.context = &model, .scores = fixture_scores};
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct pool *pool = pool_new(2);
    double rmse;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    assert_int_equal(evaluate_train_rmse(&dataset, &scorer, pool, &rmse, &error), 0);
    fixture_close(rmse, sqrt((25 + 16 + 4 + 4 + 1 + 9) / 6.0), 1e-15, "rmse");
    fixture_dataset_free(&dataset);
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 1);
    assert_int_equal(evaluate_train_rmse(&dataset, &scorer, pool, &rmse, &error), 0);
    fixture_close(rmse, 1, 1e-15, "rmse of implicit records");
    fixture_dataset_free(&dataset);
    pool_free(pool);
}
