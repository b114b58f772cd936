/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a sample of users, as estimates for all: exact where the others' results tell all, and as far off as they say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit/test.h"
#include "evaluate/sampled_metrics.h"
#include "evaluate/user_values.h"

#define USERS 4000
#define SAMPLE 400

static uint64_t state;

/* In [0, 1): Knuth's linear congruential generator. */
static double draw(void)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (double)(state >> 11) * 0x1p-53;
}

/* About normal. */
static double bell(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += draw();
    return sum;
}

/* One metric of one model. */
struct one {
    struct metric items[2]; /* the second has no results by user */
    struct user_metric kind;
    struct user_values values;
    struct metrics metrics;
    double rows[4 * USERS];
};

static struct metrics *begin(struct one *one, const char *name, int is_root)
{
    *one = (struct one){.items = {{.low = NAN, .high = NAN}}, .kind = {.is_root = is_root}};
    snprintf(one->items[0].name, sizeof one->items[0].name, "%s", name);
    snprintf(one->kind.name, sizeof one->kind.name, "%s", name);
    one->values = (struct user_values){USERS, 1, &one->kind, one->rows};
    snprintf(one->items[1].name, sizeof one->items[1].name, "users-without-positives");
    one->metrics = (struct metrics){one->items, 2, 2, &one->values};
    return &one->metrics;
}

static void put(struct one *one, int64_t user, double value, double weight)
{
    double *row = user_values_row(&one->values, user);
    row[0] = value;
    row[1] = weight;
}

static double value_of(struct one *one)
{
    double sum = 0, weight = 0;
    for (int64_t u = 0; u < USERS; u++) {
        sum += user_values_row(&one->values, u)[0];
        weight += user_values_row(&one->values, u)[1];
    }
    return one->items[0].value = user_metric_value(&one->kind, sum, weight);
}

/* Leaves SAMPLE users, drawn, and returns the metric of those alone. */
static double keep_sample(struct one *one)
{
    int64_t wanted = SAMPLE;
    for (int64_t u = 0; u < USERS; u++) {
        const int taken = draw() * (double)(USERS - u) < (double)wanted;
        wanted -= taken;
        if (!taken)
            put(one, u, 0, 0);
    }
    return value_of(one);
}

static struct one own, popular, twin;

/* Results of users are alike in all three models; those of errors have as many records as the user's number. */
static void make(int is_root, double alike)
{
    begin(&own, is_root ? "rmse" : "ndcg@10", is_root);
    begin(&popular, own.items[0].name, is_root);
    begin(&twin, own.items[0].name, is_root);
    for (int64_t u = 0; u < USERS; u++) {
        const double n = is_root ? (double)(u % 20 + 1) : 1, user = bell() / 12, apart = (1 - alike) / 12;
        put(&own, u, n * (0.4 + user), n);
        put(&popular, u, n * (0.3 + 0.5 * user + bell() / 60), n);
        put(&twin, u, n * (0.5 + alike * user + apart * bell()), n);
    }
    value_of(&own);
    value_of(&popular);
}

TEST(what_the_others_tell_needs_no_sample)
{
    static const int roots[] = {0, 1};
    for (int i = 0; i < 2; i++) {
        state = 1;
        make(roots[i], 1);
        const double whole = value_of(&twin), sampled = keep_sample(&twin);
        const struct metrics *known[] = {&own.metrics, &popular.metrics, &own.metrics, NULL};
        assert_true(fabs(sampled - whole) > 1e-4);
        assert_int_equal(sampled_metrics_extend(&twin.metrics, known, 4), SAMPLE);
        assert_true(isnan(twin.items[1].value));
        assert_true(fabs(twin.items[0].value - whole) < 1e-9);
        assert_true(fabs(twin.items[0].low - whole) < 1e-6);
        assert_true(fabs(twin.items[0].high - whole) < 1e-6);
    }
}

/* Nearer than the sample alone, by what the models have in common; in the interval as often as it says. */
static void expect_estimates(int is_root, double alike, double at_most)
{
    enum { TRIES = 200 };
    double plain = 0, estimated = 0, said = 0;
    int inside = 0;
    state = 7;
    for (int i = 0; i < TRIES; i++) {
        make(is_root, alike);
        const double whole = value_of(&twin), sampled = keep_sample(&twin);
        const struct metrics *known[] = {&own.metrics, &popular.metrics};
        assert_int_equal(sampled_metrics_extend(&twin.metrics, known, 2), SAMPLE);
        plain += (sampled - whole) * (sampled - whole);
        estimated += (twin.items[0].value - whole) * (twin.items[0].value - whole);
        said += pow((twin.items[0].high - twin.items[0].low) / (2 * 1.96), 2);
        inside += whole >= twin.items[0].low && whole <= twin.items[0].high;
    }
    if (!(estimated <= at_most * plain) || inside < 0.9 * TRIES || inside == TRIES ||
        fabs(said / estimated - 1) > 0.35)
        fail_msg("squared errors %g of the sample, %g of estimates, which say %g; %d of %d inside", plain,
                 estimated, said, inside, TRIES);
}

TEST(estimates_are_as_near_as_they_say)
{
    expect_estimates(0, 0.8, 0.15);
    expect_estimates(1, 0.8, 0.15);
    expect_estimates(0, 0.5, 0.7);
    expect_estimates(0, 0,
                     1.15); /* nothing in common: no worse than the sample, but for coefficients of chance */
}

TEST(nothing_changes_without_what_is_known_of_others)
{
    static struct one other;
    state = 3;
    make(0, 0.8);
    const struct metrics *known[] = {&own.metrics};
    const double whole = value_of(&twin);
    assert_int_equal(sampled_metrics_extend(&twin.metrics, known, 1), 0); /* all users */
    assert_true(twin.items[0].value == whole && isnan(twin.items[0].low) && twin.items[1].value == 0);
    const double sampled = keep_sample(&twin);
    begin(&other, "recall@10", 0);
    known[0] = &other.metrics;
    assert_int_equal(sampled_metrics_extend(&twin.metrics, known, 1), 0); /* another metric */
    own.values.n_users--;
    known[0] = &own.metrics;
    assert_int_equal(sampled_metrics_extend(&twin.metrics, known, 1), 0); /* of other users */
    assert_true(twin.items[0].value == sampled && isnan(twin.items[0].low));
}
