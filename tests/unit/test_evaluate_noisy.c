/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics for release: which sums there are, how far one user moves them, and what comes out without noise.
 */
#include "kit/evaluate_fixture.h"

#include "evaluate/noisy_metrics.h"
#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"

#define USERS 9
#define ITEMS 14

static uint64_t lottery = 1;

static double drawn(void)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(lottery >> 11) * 0x1p-53;
}

static void noisy_options(struct fixture_options *fixture, const char *metrics)
{
    fixture_defaults(fixture);
    fixture_enum(fixture, "release", "noisy");
    fixture_text(fixture, "metrics", metrics);
}

static void read_layout(const struct fixture_options *fixture, int implicit, struct evaluate_options *options,
                        struct noisy_layout *layout)
{
    struct dpf_error error = {0};
    if (evaluate_options_read(&fixture->values, implicit, options, &error) != 0 ||
        noisy_layout_make(options, 1, 5, layout, &error) != 0)
        fail_msg("%s", error.text);
}

TEST(each_group_has_one_count)
{
    static const int64_t two[] = {1, 10};
    struct fixture_options fixture;
    struct evaluate_options options;
    struct noisy_layout layout;
    struct metric_moves moves;
    noisy_options(&fixture, "rmse, mse, hr, coverage, mae-user, ndcg, f1-of-means, popularity, mrank");
    fixture_list(&fixture, "k", two, 2);
    read_layout(&fixture, 0, &options, &layout);
    noisy_moves(&layout, &moves);
    /* mse for rmse too; mae-user; hr and ndcg at two cut-offs, mrank; three counts. */
    assert_int_equal(layout.n, 1 + 1 + 2 * 2 + 1 + 3);
    assert_int_equal(moves.numbers, layout.n);
    assert_true(moves.comes.l1 == 10);
    assert_true(moves.comes.l2 == sqrt(10));
    assert_true(moves.changes.l1 == 14);
    assert_true(moves.changes.l2 == 2 * sqrt(7));
}

/* A user's records and scores: anything. */
static void draw_user(double *train, double *test, double *scores)
{
    const double share = drawn();
    for (int i = 0; i < ITEMS; i++) {
        const double u = drawn();
        train[i] = u < share / 2 ? 1 + floor(5 * drawn()) : NAN;
        test[i] = u >= share / 2 && u < share ? 1 + floor(5 * drawn()) : NAN;
        scores[i] = drawn() < 0.5 ? 1 + 4 * drawn() : drawn() < 0.5 ? 100 * drawn() : floor(6 * drawn());
    }
}

static void sums_of(const struct evaluate_options *options, const struct noisy_layout *layout,
                    const double *train, const double *test, const double *scores, double grid, int64_t *out)
{
    struct dataset dataset;
    struct rating_results rating;
    struct ranking_results ranking;
    struct dpf_error error = {0};
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    struct fixture_model model = {ITEMS, scores};
    const struct scorer scorer = {.context = &model, .scores = fixture_scores};
    struct pool *pool = pool_new(1);
    struct random_root *root = random_root_seeded(1, "run", &error);
    assert_int_equal(rating_pass(options, &dataset, &scorer, pool, 0, &rating, &error), 0);
    assert_int_equal(ranking_pass(options, &dataset, &scorer, root, pool, 0, &ranking, &error), 0);
    noisy_add_up(layout, options, &rating.by_user, &ranking.by_user, grid, out);
    rating_results_free(&rating);
    ranking_results_free(&ranking);
    random_root_free(root);
    pool_free(pool);
    fixture_dataset_free(&dataset);
}

/* Neighbours: a first, middle or last user without any records against one with any, or any against any. */
TEST(one_user_moves_no_further_than_stated)
{
    static const char *const lists[] = {
        "rmse", "rmse, mae", "hr, ndcg, mrr", "mse-user, rmse-user, mae-user",
        ("rmse, mae, mae-user, hr, ndcg, precision, recall, recall-capped, f1, "
         "map, map-hits, mrank")};
    double train[USERS * ITEMS], test[USERS * ITEMS], scores[USERS * ITEMS];
    for (int trial = 0; trial < 600; trial++) {
        struct fixture_options fixture;
        struct evaluate_options options;
        struct noisy_layout layout;
        struct metric_moves moves;
        int64_t before[NOISY_MOST_SUMS], after[NOISY_MOST_SUMS];
        const double grid = ldexp(1, -(int)(20 * drawn()));
        const int who = trial % 3 == 0 ? 0 : trial % 3 == 1 ? USERS / 2 : USERS - 1, comes = trial / 3 % 2;
        noisy_options(&fixture, lists[trial % 5]);
        fixture_option(&fixture, "release-records")->integer = 1 + (int64_t)(5 * drawn());
        if (drawn() < 0.5)
            fixture_option(&fixture, "release-error")->real = 0.5 + drawn();
        if (drawn() < 0.5)
            fixture_option(&fixture, "shift-to-user-mean")->integer = 1;
        if (drawn() < 0.3)
            fixture_enum(&fixture, "ranking", "sampled");
        read_layout(&fixture, 0, &options, &layout);
        noisy_moves(&layout, &moves);
        for (int u = 0; u < USERS; u++)
            draw_user(train + u * ITEMS, test + u * ITEMS, scores + u * ITEMS);
        sums_of(&options, &layout, train, test, scores, grid, before);
        draw_user(train + who * ITEMS, test + who * ITEMS, scores + who * ITEMS);
        for (int i = 0; comes && i < ITEMS; i++)
            train[who * ITEMS + i] = test[who * ITEMS + i] = NAN;
        sums_of(&options, &layout, train, test, scores, grid, after);
        double l1 = 0, squares = 0, linf = 0;
        for (int i = 0; i < layout.n; i++) {
            const double moved = fabs((double)(after[i] - before[i])) * grid;
            l1 += moved;
            squares += moved * moved;
            linf = fmax(linf, moved);
        }
        const dpf_norms *stated = comes ? &moves.comes : &moves.changes;
        assert_true(l1 <= stated->l1);
        assert_true(squares <= stated->l2 * stated->l2 * (1 + 1e-15));
        assert_true(linf <= stated->linf);
    }
}

/* The stated norms are reached, by a user with one record that is predicted without error and ranked first,
   or with the largest error and ranked last. */
TEST(the_bound_is_reached)
{
    double train[USERS * ITEMS], test[USERS * ITEMS], scores[USERS * ITEMS];
    struct fixture_options fixture;
    struct evaluate_options options;
    struct noisy_layout layout;
    struct metric_moves moves;
    int64_t best[NOISY_MOST_SUMS], worst[NOISY_MOST_SUMS], nobody[NOISY_MOST_SUMS];
    double changed = 0, came = 0;
    noisy_options(&fixture, "rmse, mae, mae-user, hr, mrank");
    fixture_option(&fixture, "release-records")->integer = 1;
    read_layout(&fixture, 0, &options, &layout);
    noisy_moves(&layout, &moves);
    for (int i = 0; i < USERS * ITEMS; i++) {
        train[i] = test[i] = NAN;
        scores[i] = i == 0 ? 5 : 1;
    }
    sums_of(&options, &layout, train, test, scores, 0x1p-10, nobody);
    test[0] = 5;
    sums_of(&options, &layout, train, test, scores, 0x1p-10, best);
    for (int i = 0; i < ITEMS; i++)
        scores[i] = i == 0 ? 1 : 5;
    sums_of(&options, &layout, train, test, scores, 0x1p-10, worst);
    for (int i = 0; i < layout.n; i++) {
        changed += fabs((double)(worst[i] - best[i])) * 0x1p-10;
        came += fabs((double)(best[i] - nobody[i])) * 0x1p-10;
    }
    assert_true(changed == moves.changes.l1);
    assert_true(came == moves.comes.l1);
}

/* Without noise the figures are those of the private evaluation, where nobody is clipped. */
TEST(without_noise_it_is_the_evaluation)
{
    static const char *const names[] = {"rmse",         "mae",       "mse",           "mae-user",
                                        "rmse-user",    "hr@10",     "ndcg@10",       "mrank",
                                        "precision@10", "recall@10", "f1-of-means@10"};
    double train[USERS * ITEMS], test[USERS * ITEMS], scores[USERS * ITEMS];
    struct fixture_options fixture;
    struct dataset dataset;
    struct metrics exact, found = {0};
    struct dpf_error error;
    struct evaluate_options options;
    struct noisy_layout layout;
    int64_t sums[NOISY_MOST_SUMS];
    noisy_options(&fixture, "rmse, mae, mse, mae-user, rmse-user, hr, ndcg, mrank, precision, recall, "
                            "f1-of-means, coverage");
    fixture_option(&fixture, "release-records")->integer = ITEMS;
    read_layout(&fixture, 0, &options, &layout);
    for (int u = 0; u < USERS; u++)
        draw_user(train + u * ITEMS, test + u * ITEMS, scores + u * ITEMS);
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    assert_int_equal(fixture_evaluate(&fixture, &dataset, scores, &exact, &error), 0);
    sums_of(&options, &layout, train, test, scores, 0x1p-20, sums);
    const struct metric_noise none = {.numbers = layout.n, .grid = 0x1p-20};
    noisy_finish(&layout, &options, &none, sums, &found);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_float_equal(fixture_metric(&found, names[i]), fixture_metric(&exact, names[i]), 1e-4);
    assert_int_equal(fixture_count(&found, "hr@10"), fixture_count(&exact, "hr@10"));
    assert_int_equal(fixture_count(&found, "rmse"), fixture_count(&exact, "rmse"));
    assert_true(isnan(metrics_find(&found, "coverage@10"))); /* of all lists together: stays private */
    metrics_free(&exact);
    metrics_free(&found);
    fixture_dataset_free(&dataset);
}

static int release(const struct fixture_options *fixture, const struct dataset *dataset, const double *scores,
                   const struct metric_noise *noise, struct metrics *exact, struct metrics *released,
                   struct dpf_error *error)
{
    struct fixture_model model = {ITEMS, scores};
    const struct scorer scorer = {.context = &model, .scores = fixture_scores};
    struct pool *pool = pool_new(2);
    memset(error, 0, sizeof *error);
    struct random_root *root = random_root_seeded(1, "run", error);
    const int status =
        evaluate_and_release(&fixture->values, dataset, &scorer, root, pool, noise, exact, released, error);
    random_root_free(root);
    pool_free(pool);
    return status;
}

/* Whose scores are not finite contributes nothing, and stops nothing; so do data sets without test records.
 */
TEST(nothing_that_a_user_does_stops_it)
{
    double train[USERS * ITEMS], test[USERS * ITEMS], scores[USERS * ITEMS];
    struct fixture_options fixture;
    struct dataset dataset;
    struct metrics exact, with, without;
    struct dpf_error error = {0};
    struct random_root *key = random_root_seeded(7, "noise", &error);
    noisy_options(&fixture, "rmse, hr");
    for (int u = 0; u < USERS; u++)
        draw_user(train + u * ITEMS, test + u * ITEMS, scores + u * ITEMS);
    test[3 * ITEMS] = 4;
    train[3 * ITEMS] = NAN;
    scores[3 * ITEMS] = NAN;
    const struct metric_noise noise = {
        .numbers = 4, .grid = 0x1p-20, .steps = 3 << 18, .deviation = 0.75, .root = key};
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    assert_int_equal(release(&fixture, &dataset, scores, &noise, &exact, &with, &error), 0);
    assert_int_equal(fixture_count(&exact, "users-without-scores"), 1);
    fixture_dataset_free(&dataset);
    metrics_free(&exact);
    for (int i = 0; i < ITEMS; i++)
        test[3 * ITEMS + i] = NAN;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    assert_int_equal(release(&fixture, &dataset, scores, &noise, &exact, &without, &error), 0);
    /* The same key: the same noise on the same sums. */
    assert_true(fixture_metric(&with, "rmse") == fixture_metric(&without, "rmse"));
    assert_true(fixture_metric(&with, "hr@10") == fixture_metric(&without, "hr@10"));
    fixture_dataset_free(&dataset);
    metrics_free(&exact);
    metrics_free(&with);
    metrics_free(&without);
    for (int i = 0; i < USERS * ITEMS; i++)
        test[i] = NAN;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    assert_int_equal(release(&fixture, &dataset, scores, &noise, &exact, &with, &error), 0);
    assert_int_equal(with.n, 2);
    metrics_free(&exact);
    metrics_free(&with);
    /* Noise that was planned for other numbers is not used. */
    const struct metric_noise fewer = {.numbers = 3, .grid = 0x1p-20, .steps = 1, .root = key};
    assert_int_equal(release(&fixture, &dataset, scores, &fewer, &exact, &with, &error), -1);
    fixture_dataset_free(&dataset);
    random_root_free(key);
}

static void refused(const struct fixture_options *fixture, double lo, double hi, const char *what)
{
    struct dpf_error error = {0};
    struct metric_moves moves;
    assert_int_equal(evaluate_release_moves(&fixture->values, 0, lo, hi, &moves, &error), -1);
    if (!strstr(error.text, what))
        fail_msg("\"%s\" is missing in: %s", what, error.text);
}

TEST(what_cannot_be_released_is_refused)
{
    static int64_t many[MOST_CUTOFFS];
    struct fixture_options fixture;
    noisy_options(&fixture, "rmse");
    fixture_enum(&fixture, "cold", "mean");
    refused(&fixture, 1, 5, "set cold = model");
    noisy_options(&fixture, "coverage, popularity, gini, novelty");
    refused(&fixture, 1, 5, "none of the metrics is a mean over users");
    noisy_options(&fixture, "hr, mae");
    refused(&fixture, -INFINITY, INFINITY, "release-error");
    noisy_options(&fixture, "hr, ndcg, mrr");
    for (int i = 0; i < MOST_CUTOFFS; i++)
        many[i] = i + 1;
    fixture_list(&fixture, "k", many, MOST_CUTOFFS);
    refused(&fixture, 1, 5, "more than 120 figures");
    fixture_defaults(&fixture);
    fixture_option(&fixture, "release-share")->real = 0.5;
    refused(&fixture, 1, 5, "set release = noisy");
}
