/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/bootstrap.h"
#include "kit/evaluate_fixture.h"

enum { USERS = 2000, REPLICATES = 2000 };

/* The mean of column 1 over the users that column 0 counts; and a value that no replicate has. */
static void mean_of_ones(const void *context, const double *sums, double *out)
{
    (void)context;
    out[0] = sums[1] / sums[0];
    out[1] = NAN;
}

static void intervals_of(const struct user_sums *sums, const struct id_map *users, int workers, double level,
                         double low[2], double high[2])
{
    struct dpf_error error = {0};
    struct pool *pool = pool_new(workers);
    struct random_root *root = random_root_seeded(3, "run", &error);
    const struct statistic statistic = {NULL, mean_of_ones, 2};
    assert_int_equal(
        bootstrap_intervals(sums, users, root, pool, REPLICATES, level, &statistic, low, high, &error), 0);
    random_root_free(root);
    pool_free(pool);
}

static void population(struct user_sums *sums, struct id_map *users, int64_t n)
{
    struct dpf_error error = {0};
    uint64_t seed = 5;
    assert_int_equal(user_sums_init(sums, n, 2, &error), 0);
    assert_int_equal(id_map_range(n, users), 0);
    for (int64_t u = 0; u < n; u++) {
        user_sums_row(sums, u)[0] = 1;
        user_sums_row(sums, u)[1] = fixture_below(&seed, 10) < 3;
    }
}

/* By the definition: one after the other, of each number alone. */
static double copies_by_one(double u)
{
    double mass = exp(-1), below = mass;
    int k = 0;
    while (u >= below && k < 20) {
        mass /= ++k;
        below += mass;
    }
    return k;
}

TEST(copies_are_poisson)
{
    enum { N = 3003 };
    double uniform[N], copies[N], most = 0;
    for (int i = 0; i < N - 3; i++)
        uniform[i] = i / (double)(N - 3);
    uniform[N - 3] = exp(-1); /* reached is passed */
    uniform[N - 2] = nextafter(exp(-1), 0);
    uniform[N - 1] = nextafter(1, 0);
    bootstrap_copies(uniform, N, copies);
    for (int i = 0; i < N; i++) {
        assert_true(copies[i] == copies_by_one(uniform[i]));
        most = copies[i] > most ? copies[i] : most;
    }
    assert_true(copies[N - 3] == 1 && copies[N - 2] == 0 && most > 8);
}

TEST(the_interval_of_a_share_is_that_of_the_normal_law)
{
    struct user_sums sums;
    struct id_map users;
    double low[2], high[2], total[2] = {0};
    population(&sums, &users, USERS);
    for (int64_t u = 0; u < USERS; u++)
        user_sums_add(&sums, u, total);
    const double share = total[1] / total[0], deviation = sqrt(share * (1 - share) / USERS);
    intervals_of(&sums, &users, 2, 0.95, low, high);
    fixture_close(low[0], share - 1.96 * deviation, 0.15 * deviation, "low");
    fixture_close(high[0], share + 1.96 * deviation, 0.15 * deviation, "high");
    assert_true(isnan(low[1]));
    assert_true(isnan(high[1]));
    intervals_of(&sums, &users, 2, 0.5, low, high);
    fixture_close(high[0] - low[0], 2 * 0.6745 * deviation, 0.1 * deviation, "width at 0.5");
    user_sums_free(&sums);
    id_map_free(&users);
}

TEST(workers_do_not_matter)
{
    struct user_sums sums;
    struct id_map users;
    double low[2], high[2], low3[2], high3[2];
    population(&sums, &users, USERS);
    intervals_of(&sums, &users, 1, 0.9, low, high);
    intervals_of(&sums, &users, 3, 0.9, low3, high3);
    assert_true(low[0] == low3[0]);
    assert_true(high[0] == high3[0]);
    user_sums_free(&sums);
    id_map_free(&users);
}

/* How often a user stands in a replicate follows from the id: users that are not averaged over change
 * nothing. */
TEST(users_without_a_value_change_nothing)
{
    struct user_sums sums, more;
    struct id_map users, more_users;
    double low[2], high[2], low_more[2], high_more[2];
    population(&sums, &users, 300);
    population(&more, &more_users, 500);
    memcpy(more.rows, sums.rows, 600 * sizeof *more.rows);
    memset(more.rows + 600, 0, 400 * sizeof *more.rows);
    intervals_of(&sums, &users, 1, 0.95, low, high);
    intervals_of(&more, &more_users, 1, 0.95, low_more, high_more);
    fixture_close(low[0], low_more[0], 1e-12, "low");
    fixture_close(high[0], high_more[0], 1e-12, "high");
    user_sums_free(&sums);
    user_sums_free(&more);
    id_map_free(&users);
    id_map_free(&more_users);
}

/* Four users, five items; user u's list begins at item u % 2. Training counts of the items are 2, 1, 1, 0, 0.
 */
static void evaluate_small_world(struct fixture_options *options, struct metrics *out)
{
    enum { U = 4, I = 5 };
    double *train = fixture_cells(U, I), *test = fixture_cells(U, I), scores[U * I];
    train[0 * I + 2] = train[1 * I + 0] = train[2 * I + 1] = train[3 * I + 0] = 1;
    test[0 * I + 0] = test[1 * I + 1] = test[2 * I + 4] = test[3 * I + 3] = 1;
    for (int64_t u = 0; u < U; u++)
        for (int64_t i = 0; i < I; i++)
            scores[u * I + i] = i == u % 2 ? 9 : -(double)i;
    struct dataset dataset;
    struct dpf_error error;
    fixture_dataset(&dataset, U, I, train, test, 1);
    fixture_enum(options, "seen", "keep");
    assert_int_equal(fixture_evaluate(options, &dataset, scores, out, &error), 0);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}

TEST(novelty_and_gini_by_hand)
{
    static const int64_t one[] = {1};
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options);
    fixture_list(&options, "k", one, 1);
    fixture_text(&options, "metrics", "novelty, gini, coverage");
    evaluate_small_world(&options, &m);
    /* First places: items 0, 1, 0, 1. log2(4 / 2) = 1 for item 0, log2(4 / 1) = 2 for item 1. */
    fixture_close(fixture_metric(&m, "novelty@1"), 1.5, 1e-15, "novelty");
    /* Sorted exposures 0, 0, 0, 2, 2: (1 x 2 x 2 + 2 x 2 x 2 ... ) = sum of (2i + 1 - n) e / (n sum e). */
    fixture_close(fixture_metric(&m, "gini@1"), (2.0 * 2 + 4.0 * 2) / (5 * 4), 1e-15, "gini");
    fixture_close(fixture_metric(&m, "coverage@1"), 2.0 / 5, 1e-15, "coverage");
    metrics_free(&m);
}

TEST(bands_of_items_and_users_by_hand)
{
    static const int64_t one[] = {1}, boundary[] = {1, 2};
    struct fixture_options options;
    struct metrics m;
    fixture_defaults(&options);
    fixture_list(&options, "k", one, 1);
    fixture_list(&options, "popularity-bands", boundary, 2);
    fixture_list(&options, "activity-bands", one, 1);
    fixture_text(&options, "metrics", "hr");
    evaluate_small_world(&options, &m);
    /* Positives: item 0 (count 2) found, item 1 (count 1) found, items 4 and 3 (count 0) not. */
    fixture_close(fixture_metric(&m, "recall-popularity-0-0@1"), 0, 0, "no record");
    fixture_close(fixture_metric(&m, "recall-popularity-1-1@1"), 1, 0, "one record");
    fixture_close(fixture_metric(&m, "recall-popularity-2+@1"), 1, 0, "two records");
    assert_int_equal(fixture_count(&m, "recall-popularity-0-0@1"), 2);
    fixture_close(fixture_metric(&m, "hr@1"), 0.5, 0, "hr");
    fixture_close(fixture_metric(&m, "hr-activity-1+@1"), 0.5, 0, "hr of users with a record");
    assert_int_equal(fixture_count(&m, "hr-activity-0-0@1"), 0);
    metrics_free(&m);
}
