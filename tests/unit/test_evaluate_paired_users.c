/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of two models user by user: exact signs, draws, the normal law, intervals, and what cannot be tested. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "evaluate/paired_users.h"

static struct random_root *seeded;

static int open_root(void **state)
{
    struct dpf_error error;
    (void)state;
    seeded = random_root_seeded(1, "run", &error);
    return seeded ? 0 : -1;
}

static int close_root(void **state)
{
    (void)state;
    random_root_free(seeded);
    return 0;
}

/* One metric of n users with these values and weights. */
struct table {
    struct user_values values;
    struct user_metric metric;
};

static void fill(struct table *table, const double *values, const double *weights, int64_t n, int is_root)
{
    *table = (struct table){.metric = {"m", is_root}};
    table->values.n_users = n;
    table->values.n_metrics = 1;
    table->values.metrics = &table->metric;
    table->values.rows = calloc((size_t)n * 4, sizeof *table->values.rows);
    assert_non_null(table->values.rows);
    for (int64_t i = 0; i < n; i++) {
        user_values_row(&table->values, i)[0] = values[i];
        user_values_row(&table->values, i)[1] = weights ? weights[i] : 1;
    }
}

static struct paired_users compare(const double *a, const double *b, const double *weights, int64_t n,
                                   int is_root)
{
    struct table x, y;
    struct paired_users out;
    struct dpf_error error;
    fill(&x, a, weights, n, is_root);
    fill(&y, b, weights, n, is_root);
    assert_int_equal(
        paired_users_compare(&x.values, &y.values, 0, 0, NULL, n, is_root, 1, seeded, &out, &error), 0);
    free(x.values.rows);
    free(y.values.rows);
    return out;
}

static void near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", got, expected);
}

/* Differences 1, 2, 3, 4: of 16 signs two have a sum of 10 in size; 4, -1, 2, 3 adds to 8, which four have. */
TEST(few_users_try_all_signs)
{
    const double zero[4] = {0}, all[] = {1, 2, 3, 4}, most[] = {-1, 2, 3, 4};
    struct paired_users out = compare(all, zero, NULL, 4, 0);
    near(out.p, 2.0 / 16, 0);
    near(out.difference, 2.5, 0);
    assert_int_equal(out.wins, 4);
    out = compare(most, zero, NULL, 4, 0);
    near(out.p, 4.0 / 16, 0);
    assert_int_equal(out.losses, 1);
    out = compare(zero, most, NULL, 4, 0);
    near(out.p, 4.0 / 16, 0);
    near(out.difference, -2, 0);
}

static double uniform(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return (double)(*x >> 11) * 0x1p-53;
}

/* 400 users, and 30,000, of whom the sum is taken as normal: z = sum / sqrt(squares). */
TEST(many_users_agree_with_the_normal_law)
{
    static double a[30000], b[30000];
    for (int64_t n = 400; n <= 30000; n += 29600) {
        uint64_t x = 88172645463325252u;
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) {
            a[i] = uniform(&x) + 1.6 / sqrt((double)n) * 0.4;
            b[i] = uniform(&x);
            sum += a[i] - b[i];
            squares += (a[i] - b[i]) * (a[i] - b[i]);
        }
        const struct paired_users out = compare(a, b, NULL, n, 0);
        const double z = sum / sqrt(squares);
        near(out.p, erfc(fabs(z) / sqrt(2)), n == 400 ? 0.02 : 1e-12);
        near(out.difference, sum / (double)n, 1e-12);
        const double error = sqrt((squares - sum * sum / (double)n) / ((double)n * (double)(n - 1)));
        near(out.low, out.difference - 1.96 * error, 0.15 * error);
        near(out.high, out.difference + 1.96 * error, 0.15 * error);
        near(out.visible, 2.80 * error, 0.01 * error);
    }
}

/* RMSE: the root of the sum of squares over records; a user with many records weighs more. */
TEST(errors_are_roots_over_records)
{
    const double a[] = {4, 1, 9, 16}, b[] = {8, 2, 9, 16}, records[] = {1, 1, 2, 4};
    const struct paired_users out = compare(a, b, records, 4, 1);
    near(out.a, sqrt(30.0 / 8), 1e-15);
    near(out.b, sqrt(35.0 / 8), 1e-15);
    assert_int_equal(out.wins, 2); /* smaller errors */
    assert_int_equal(out.losses, 0);
    assert_int_equal(out.ties, 2);
    near(out.p, 0.5, 0); /* of two users that differ; the others' signs change nothing */
}

TEST(users_without_records_are_left_out)
{
    const double a[] = {1, 5, 3}, b[] = {0, 9, 1}, records[] = {1, 0, 1};
    const struct paired_users out = compare(a, b, records, 3, 0);
    assert_int_equal(out.users, 2);
    near(out.difference, 1.5, 0);
}

TEST(what_cannot_be_tested_says_why)
{
    const double a[] = {1, 2}, b[] = {1, 3}, bad[] = {1, (double)NAN}, none[] = {0, 0};
    struct paired_users out = compare(a, a, NULL, 2, 0);
    assert_string_equal(out.why_not, "all users have equal results");
    assert_true(isnan(out.p) && isnan(out.low));
    assert_string_equal(compare(a, b, NULL, 1, 0).why_not, "one user has test records");
    assert_string_equal(compare(a, b, none, 2, 0).why_not, "no user has test records");
    assert_string_equal(compare(a, bad, NULL, 2, 0).why_not, "a result is not a number");
    assert_null(compare(a, b, NULL, 2, 0).why_not);
}

/* Rows may stand in another order: pairs say who is who. */
TEST(pairs_say_who_is_who)
{
    const double a[] = {1, 2, 3}, b[] = {30, 10, 20};
    const int64_t chosen[][2] = {{0, 1}, {1, 2}, {2, 0}};
    struct table x, y;
    struct paired_users out;
    struct dpf_error error;
    fill(&x, a, NULL, 3, 0);
    fill(&y, b, NULL, 3, 0);
    assert_int_equal(paired_users_compare(&x.values, &y.values, 0, 0, chosen, 3, 0, 1, seeded, &out, &error),
                     0);
    near(out.p, 2.0 / 8, 0); /* -9, -18, -27 */
    near(out.visible, 2.8015852 * 9 / sqrt(3), 1e-6);
    free(x.values.rows);
    free(y.values.rows);
}

FIXTURE(open_root, close_root)
