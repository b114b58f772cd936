/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/evaluate_fixture.h"

#include <time.h>

/* One user, implicit, nothing seen; items score in descending order of index. */
static void rank_one_user(int64_t items, const int64_t *positive_ranks, int64_t n_positives, int64_t k,
                          struct metrics *out)
{
    double *train = fixture_cells(1, items), *test = fixture_cells(1, items);
    double *scores = memory_new((size_t)items, sizeof *scores);
    for (int64_t i = 0; i < items; i++)
        scores[i] = (double)(items - i);
    for (int64_t i = 0; i < n_positives; i++)
        test[positive_ranks[i] - 1] = 1;
    struct dataset dataset;
    fixture_dataset(&dataset, 1, items, train, test, 1);
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(&options, "metrics",
                 "hr, ndcg,precision ,recall,recall-capped,f1,map,map-hits,map-relevant,mrr,mrank");
    fixture_list(&options, "k", &k, 1);
    struct dpf_error error;
    assert_int_equal(fixture_evaluate(&options, &dataset, scores, out, &error), 0);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
    free(scores);
}

TEST(worked_example_with_two_positives)
{
    static const int64_t ranks[] = {1, 4};
    struct metrics m;
    rank_one_user(20, ranks, 2, 5, &m);
    fixture_close(fixture_metric(&m, "hr@5"), 1, 0, "hr");
    fixture_close(fixture_metric(&m, "precision@5"), 0.4, 1e-15, "precision");
    fixture_close(fixture_metric(&m, "recall@5"), 1, 0, "recall");
    fixture_close(fixture_metric(&m, "ndcg@5"), (1 + log(2) / log(5)) / (1 + log(2) / log(3)), 1e-15, "ndcg");
    fixture_close(fixture_metric(&m, "ndcg@5"), 0.8772, 5e-5, "ndcg, printed");
    fixture_close(fixture_metric(&m, "map@5"), 0.75, 0, "map");
    fixture_close(fixture_metric(&m, "map-hits@5"), 0.75, 0, "map-hits");
    fixture_close(fixture_metric(&m, "mrr@5"), 1, 0, "mrr");
    fixture_close(fixture_metric(&m, "f1@5"), 2 * 0.4 / 1.4, 1e-15, "f1");
    fixture_close(fixture_metric(&m, "mrank"), 1.5 / 19, 1e-15, "mrank");
    metrics_free(&m);
}

TEST(worked_example_with_more_positives_than_places)
{
    static const int64_t ranks[] = {1, 4, 13, 14, 15, 16, 17, 18};
    struct metrics m;
    rank_one_user(20, ranks, 8, 5, &m);
    fixture_close(fixture_metric(&m, "recall@5"), 0.25, 0, "recall");
    fixture_close(fixture_metric(&m, "recall-capped@5"), 0.4, 1e-15, "recall-capped");
    fixture_close(fixture_metric(&m, "ndcg@5"), 0.4852, 5e-5, "ndcg");
    fixture_close(fixture_metric(&m, "map@5"), 0.30, 1e-15, "map");
    fixture_close(fixture_metric(&m, "map-hits@5"), 0.75, 1e-15, "map-hits");
    fixture_close(fixture_metric(&m, "map-relevant@5"), 1.5 / 8, 1e-15, "map-relevant");
    metrics_free(&m);
}

/* With one positive, precision falls with k where implicit's "precision" would not. */
TEST(precision_keeps_its_denominator)
{
    static const int64_t first[] = {1}, beyond[] = {11};
    struct metrics m;
    rank_one_user(20, first, 1, 10, &m);
    fixture_close(fixture_metric(&m, "precision@10"), 0.1, 1e-15, "precision");
    metrics_free(&m);
    rank_one_user(4, first, 1, 10, &m); /* a list shorter than k is not padded and not favoured */
    fixture_close(fixture_metric(&m, "precision@10"), 0.1, 1e-15, "precision of a short list");
    fixture_close(fixture_metric(&m, "recall@10"), 1, 0, "recall of a short list");
    metrics_free(&m);
    rank_one_user(20, beyond, 1, 10, &m);
    fixture_close(fixture_metric(&m, "mrr@10"), 0, 0, "mrr is cut at k");
    fixture_close(fixture_metric(&m, "hr@10"), 0, 0, "hr");
    metrics_free(&m);
    rank_one_user(1, first, 1, 10, &m);
    fixture_close(fixture_metric(&m, "mrank"), 0, 0, "a single candidate");
    metrics_free(&m);
}

/* A data set of random records; about a tenth of the cells train, a few test. */
struct world {
    struct dataset dataset;
    double *train, *test, *scores;
    int64_t users, items;
};

static void world_new(struct world *w, int64_t users, int64_t items, int levels, uint64_t seed, int implicit)
{
    *w = (struct world){.users = users, .items = items};
    w->train = fixture_cells(users, items);
    w->test = fixture_cells(users, items);
    w->scores = memory_new((size_t)(users * items), sizeof *w->scores);
    for (int64_t i = 0; i < users * items; i++) {
        int64_t draw = fixture_below(&seed, 100);
        double value = (double)(1 + fixture_below(&seed, 5));
        w->scores[i] = levels ? (double)fixture_below(&seed, levels) : (double)fixture_below(&seed, 1 << 30);
        if (draw < 10)
            w->train[i] = value;
        else if (draw < 14)
            w->test[i] = value;
    }
    fixture_dataset(&w->dataset, users, items, w->train, w->test, implicit);
}

static void world_free(struct world *w)
{
    fixture_dataset_free(&w->dataset);
    free(w->train);
    free(w->test);
    free(w->scores);
}

/* HR and recall by counting, for scores without ties. */
static void naive(const struct world *w, int64_t k, double relevance, int mask, double *hr, double *recall,
                  double *mrank, int64_t *users)
{
    *hr = *recall = *mrank = 0;
    *users = 0;
    for (int64_t u = 0; u < w->users; u++) {
        const double *score = w->scores + u * w->items, *test = w->test + u * w->items;
        int64_t hits = 0, positives = 0, candidates = 0, places = 0;
        for (int64_t i = 0; i < w->items; i++)
            candidates += !mask || isnan(w->train[u * w->items + i]);
        for (int64_t i = 0; i < w->items; i++) {
            if (!(test[i] >= relevance))
                continue;
            int64_t better = 0;
            for (int64_t j = 0; j < w->items; j++)
                better += (!mask || isnan(w->train[u * w->items + j])) && score[j] > score[i];
            positives++;
            hits += better < k;
            places += better;
        }
        if (positives == 0)
            continue;
        *users += 1;
        *hr += hits > 0;
        *recall += (double)hits / (double)positives;
        *mrank += (double)places / (double)positives / (double)(candidates - 1);
    }
    *hr /= (double)*users;
    *recall /= (double)*users;
    *mrank /= (double)*users;
}

/* Long lists go through the narrowing of top_groups; k = 300 exceeds the number of some candidates. */
TEST(agrees_with_counting_on_long_lists)
{
    static const int64_t cutoffs[] = {1, 10, 300};
    struct world w;
    world_new(&w, 30, 700, 0, 3, 0);
    for (int variant = 0; variant < 4; variant++) {
        double relevance = variant & 1 ? 4 : -INFINITY;
        struct fixture_options options;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "mrank,recall,hr");
        fixture_list(&options, "k", cutoffs, 3);
        fixture_option(&options, "relevance-threshold")->real = relevance;
        fixture_enum(&options, "seen", variant & 2 ? "keep" : "mask");
        struct metrics m;
        struct dpf_error error;
        assert_int_equal(fixture_evaluate(&options, &w.dataset, w.scores, &m, &error), 0);
        for (int c = 0; c < 3; c++) {
            double hr, recall, mrank;
            int64_t users;
            char name[32];
            naive(&w, cutoffs[c], relevance, !(variant & 2), &hr, &recall, &mrank, &users);
            snprintf(name, sizeof name, "hr@%d", (int)cutoffs[c]);
            fixture_close(fixture_metric(&m, name), hr, 1e-12, name);
            assert_int_equal(fixture_count(&m, name), users);
            snprintf(name, sizeof name, "recall@%d", (int)cutoffs[c]);
            fixture_close(fixture_metric(&m, name), recall, 1e-12, name);
            fixture_close(fixture_metric(&m, "mrank"), mrank, 1e-12, "mrank");
        }
        assert_string_equal(m.items[0].name, "mrank"); /* in the order of the configuration */
        metrics_free(&m);
    }
    world_free(&w);
}

/* Few and many ties, ranges that overflow, differences that underflow, and a single value. */
TEST(relative_rank_counts_ties_as_half)
{
    static const struct {
        int levels;
        double centre, step;
    } kinds[] = {{0, 0, 1},        {9, 0, 1},       {900, 200, 1e-3},  {900, 450, 3.9e305},
                 {900, 0, 5e-324}, {900, -1e18, 1}, {2, 0.5, 1.5e308}, {1, -5, 1}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct world w;
        world_new(&w, 12, 500, kinds[kind].levels, 100 + kind, 1);
        for (int64_t i = 0; i < w.users * w.items; i++)
            w.scores[i] = (w.scores[i] - kinds[kind].centre) * kinds[kind].step;
        double sum = 0;
        for (int64_t u = 0; u < w.users; u++) {
            const double *score = w.scores + u * w.items;
            double places = 0, positives = 0, candidates = 0;
            for (int64_t i = 0; i < w.items; i++) {
                candidates += isnan(w.train[u * w.items + i]);
                if (isnan(w.test[u * w.items + i]))
                    continue;
                positives++;
                for (int64_t j = 0; j < w.items; j++)
                    if (j != i && isnan(w.train[u * w.items + j]))
                        places += score[j] > score[i] ? 1 : score[j] == score[i] ? 0.5 : 0;
            }
            assert_true(positives > 4);
            sum += places / positives / (candidates - 1);
        }
        struct fixture_options options;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "mrank");
        struct metrics m;
        struct dpf_error error;
        assert_int_equal(fixture_evaluate(&options, &w.dataset, w.scores, &m, &error), 0);
        fixture_close(m.items[0].value, sum / (double)w.users, 1e-12, "mrank");
        metrics_free(&m);
        world_free(&w);
    }
}

/* Ascending and descending scores are the extremes of narrowing. */
TEST(order_of_items_does_not_matter)
{
    enum { ITEMS = 1000 };
    static const int64_t k = 70;
    double hr[2];
    for (int descending = 0; descending < 2; descending++) {
        double *train = fixture_cells(1, ITEMS), *test = fixture_cells(1, ITEMS), scores[ITEMS];
        for (int i = 0; i < ITEMS; i++)
            scores[i] = (descending ? ITEMS - i : i) / 2;
        /* The 70th place is in the middle of a tied pair's group or at its end, by parity. */
        test[descending ? 70 : ITEMS - 70] = 1;
        struct dataset dataset;
        fixture_dataset(&dataset, 1, ITEMS, train, test, 1);
        struct fixture_options options;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "hr");
        fixture_list(&options, "k", &k, 1);
        struct metrics m;
        struct dpf_error error;
        assert_int_equal(fixture_evaluate(&options, &dataset, scores, &m, &error), 0);
        hr[descending] = m.items[0].value;
        metrics_free(&m);
        fixture_dataset_free(&dataset);
        free(train);
        free(test);
    }
    /* Ascending: items 999, 998 | 997, 996 | ...: item 930 closes place 70. Descending: item 0 alone,
       for 1000/2 = 500, then 1, 2 | ...: items 69 and 70 share places 70 and 71. */
    fixture_close(hr[0], 1, 0, "ascending");
    fixture_close(hr[1], 0.5, 1e-15, "descending");
}

/* A constant model: 10 of 100 places. Full: 10 of the unseen items. */
TEST(constant_model_scores_as_chance)
{
    enum { USERS = 40, ITEMS = 500 };
    double *train = fixture_cells(USERS, ITEMS), *test = fixture_cells(USERS, ITEMS);
    double *scores = memory_new(USERS * ITEMS, sizeof *scores);
    for (int u = 0; u < USERS; u++) {
        for (int i = 0; i < 100; i++)
            train[u * ITEMS + (7 * u + i) % ITEMS] = 1;
        test[u * ITEMS + (7 * u + 100 + u) % ITEMS] = 1;
    }
    struct dataset dataset;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 1);
    struct fixture_options options;
    struct metrics m;
    struct dpf_error error;
    fixture_defaults(&options);
    fixture_enum(&options, "ranking", "sampled");
    assert_int_equal(fixture_evaluate(&options, &dataset, scores, &m, &error), 0);
    fixture_close(fixture_metric(&m, "hr@10"), 0.10, 1e-14, "hr against 99 negatives");
    fixture_close(fixture_metric(&m, "mrank"), 0.5, 1e-14, "mrank");
    assert_non_null(strstr(m.items[0].convention, "sampled"));
    metrics_free(&m);
    fixture_defaults(&options);
    assert_int_equal(fixture_evaluate(&options, &dataset, scores, &m, &error), 0);
    fixture_close(fixture_metric(&m, "hr@10"), 10.0 / 400, 1e-14, "hr of full ranking");
    fixture_close(fixture_metric(&m, "mrr@10"), 2.9289682539682538 / 400, 1e-14, "mrr of full ranking");
    assert_null(strstr(m.items[0].convention, "sampled"));
    metrics_free(&m);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
    free(scores);
}

TEST(candidates_limit_the_list)
{
    struct world w;
    static const int64_t k = 2;
    world_new(&w, 2, 6, 0, 1, 0);
    /* User 0: seen item 1; positives 2 (a candidate) and 5 (none). Candidates 0 1 2 3. */
    for (int i = 0; i < 12; i++)
        w.train[i] = w.test[i] = NAN;
    w.train[1] = 3;
    w.test[2] = w.test[5] = 4;
    fixture_dataset_free(&w.dataset);
    fixture_dataset(&w.dataset, 2, 6, w.train, w.test, 0);
    int32_t candidates[] = {0, 1, 2, 3};
    w.dataset.candidates = (struct user_candidates){.kind = CANDIDATES_SHARED, .items = candidates, .n = 4};
    static const double scores[12] = {5, 9, 4, 6, 8, 7};
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "mrank,recall");
    fixture_list(&options, "k", &k, 1);
    struct metrics m;
    struct dpf_error error;
    assert_int_equal(fixture_evaluate(&options, &w.dataset, scores, &m, &error), 0);
    /* Ranked: 3 (6), 0 (5), 2 (4). */
    fixture_close(fixture_metric(&m, "mrank"), 1, 0, "mrank");
    fixture_close(fixture_metric(&m, "recall@2"), 0, 0, "recall");
    assert_int_equal(fixture_count(&m, "recall@2"), 1);
    assert_int_equal((int)fixture_metric(&m, "users-without-positives"), 1);
    metrics_free(&m);
    world_free(&w);
}

/* A test item that the user has a training record of cannot be recommended. */
TEST(seen_positives_are_masked_too)
{
    static const double train[] = {1, NAN, NAN}, test[] = {1, NAN, NAN}, scores[] = {3, 2, 1};
    struct dataset dataset;
    fixture_dataset(&dataset, 1, 3, train, test, 1);
    struct fixture_options options;
    fixture_defaults(&options);
    struct metrics m;
    struct dpf_error error;
    static const char *const rankings[] = {"full", "sampled"};
    for (int r = 0; r < 2; r++) {
        fixture_enum(&options, "ranking", rankings[r]);
        fixture_enum(&options, "seen", "mask");
        assert_int_equal(fixture_evaluate(&options, &dataset, scores, &m, &error), 0);
        assert_int_equal(fixture_count(&m, "hr@10"), 0);
        metrics_free(&m);
        fixture_enum(&options, "seen", "keep");
        assert_int_equal(fixture_evaluate(&options, &dataset, scores, &m, &error), 0);
        assert_int_equal(fixture_count(&m, "hr@10"), 1);
        metrics_free(&m);
    }
    fixture_dataset_free(&dataset);
}

TEST(nobody_with_positives_is_not_applicable)
{
    struct world w;
    world_new(&w, 20, 30, 0, 9, 0);
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "hr,ndcg,coverage,popularity,f1-of-means,mrank");
    fixture_option(&options, "relevance-threshold")->real = 6;
    struct metrics m;
    struct dpf_error error;
    assert_int_equal(fixture_evaluate(&options, &w.dataset, w.scores, &m, &error), 0);
    for (int i = 0; i < 6; i++) {
        assert_true(isnan(m.items[i].value));
        assert_int_equal(m.items[i].n, 0);
    }
    assert_int_equal((int)fixture_metric(&m, "users-without-positives"), 20);
    metrics_free(&m);
    fixture_csr_free(&w.dataset.test.by_user); /* no test part at all */
    assert_int_equal(fixture_evaluate(&options, &w.dataset, w.scores, &m, &error), 0);
    assert_true(isnan(fixture_metric(&m, "hr@10")));
    metrics_free(&m);
    world_free(&w);
}

TEST(names_user_and_item_of_a_bad_score)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    struct world w;
    world_new(&w, 40, 50, 0, 5, 0);
    struct fixture_options options;
    struct metrics m;
    struct dpf_error error;
    for (int i = 0; i < 3; i++) {
        double kept = w.scores[33 * 50 + 41];
        w.scores[33 * 50 + 41] = bad[i];
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "hr");
        assert_int_equal(fixture_evaluate(&options, &w.dataset, w.scores, &m, &error), -1);
        assert_int_equal(error.fault, DPF_FAULT_RUN);
        assert_non_null(strstr(error.text, "user 34"));
        assert_non_null(strstr(error.text, "item 42"));
        assert_non_null(strstr(error.text, isnan(bad[i]) ? "not a number" : "infinite"));
        assert_null(m.items);
        w.scores[33 * 50 + 41] = kept;
    }
    world_free(&w);
}

/* User 40 fails late, so that others have failed before if there is another worker. */
static int fail_late(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                     struct dpf_error *error)
{
    (void)context;
    (void)items;
    (void)error;
    for (int64_t i = 0; i < n; i++)
        out[i] = user < 40 ? 1 : (double)NAN;
    if (user == 40)
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return 0;
}

TEST(reports_the_first_of_several_bad_users)
{
    struct world w;
    world_new(&w, 300, 50, 0, 5, 0);
    struct scorer scorer = {
        .context = NULL, .scores = fail_late, .users = &w.dataset.users, .items = &w.dataset.items};
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "hr");
    for (int workers = 1; workers <= 4; workers++) {
        struct metrics m;
        struct dpf_error error = {.fault = DPF_FAULT_NONE};
        struct pool *pool = pool_new(workers);
        assert_int_equal(evaluate_model(&options.values, &w.dataset, &scorer, NULL, pool, 0, &m, &error), -1);
        if (!strstr(error.text, "user 41 "))
            fail_msg("%s", error.text);
        pool_free(pool);
    }
    world_free(&w);
}

TEST(same_bits_for_any_number_of_workers)
{
    static const int workers[] = {1, 2, 7};
    static const int64_t cutoffs[] = {5, 20}, bands[] = {10, 20};
    struct world w;
    world_new(&w, 333, 200, 9, 11, 0);
    for (int64_t i = 0; i < w.users * w.items; i++)
        w.scores[i] = w.scores[i] / 7 + 1; /* sums that round */
    for (int sampled = 0; sampled < 2; sampled++) {
        struct fixture_options options;
        fixture_defaults(&options);
        fixture_text(&options, "metrics",
                     "rmse,mae,mse,rmse-user,mae-user,mse-user,hr,ndcg,precision,recall,recall-capped,f1,map,"
                     "map-hits,map-relevant,mrr,popularity,novelty,f1-of-means,coverage,gini,mrank");
        fixture_list(&options, "k", cutoffs, 2);
        fixture_list(&options, "activity-bands", bands, 2);
        fixture_list(&options, "popularity-bands", bands, 2);
        fixture_option(&options, "bootstrap")->integer = 20;
        fixture_enum(&options, "ranking", sampled ? "sampled" : "full");
        struct metrics first = {.n = 0};
        struct fixture_model model = {w.items, w.scores};
        struct scorer scorer = {.context = &model, .scores = fixture_scores};
        for (int i = 0; i < 3; i++) {
            struct metrics m;
            struct dpf_error error = {.fault = DPF_FAULT_NONE};
            struct pool *pool = pool_new(workers[i]);
            struct random_root *root = random_root_seeded(4, "run", &error);
            assert_int_equal(evaluate_model(&options.values, &w.dataset, &scorer, root, pool, 0, &m, &error),
                             0);
            random_root_free(root);
            pool_free(pool);
            if (i == 0) {
                first = m;
                continue;
            }
            assert_int_equal(m.n, first.n);
            for (int64_t j = 0; j < m.n; j++) {
                assert_string_equal(m.items[j].name, first.items[j].name);
                assert_memory_equal(&m.items[j].value, &first.items[j].value, sizeof(double));
                assert_memory_equal(&m.items[j].low, &first.items[j].low, sizeof(double));
                assert_memory_equal(&m.items[j].high, &first.items[j].high, sizeof(double));
                assert_int_equal(m.items[j].n, first.items[j].n);
            }
            metrics_free(&m);
        }
        /* Lists at two cut-offs, mrank, lists by band, recall by band of popularity: twice where the full ranking
           stands beside. Then values, MSE by band and their variance, counts. */
        const int lists = 15 * 2 + 1 + 13 * 3 * 2 + 3 * 2;
        assert_int_equal(first.n, 6 + (1 + sampled) * lists + 4 + 2 + sampled);
        metrics_free(&first);
    }
    world_free(&w);
}

/* On the training part nothing is masked and the names say so. */
TEST(training_figures_say_train)
{
    struct world w;
    world_new(&w, 10, 40, 0, 21, 0);
    for (int64_t i = 0; i < w.users * w.items; i++)
        w.scores[i] = isnan(w.train[i]) ? 0 : w.train[i];
    struct fixture_options options;
    fixture_defaults(&options);
    struct fixture_model model = {w.items, w.scores};
    struct scorer scorer = {.context = &model, .scores = fixture_scores};
    struct metrics m;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct pool *pool = pool_new(2);
    assert_int_equal(evaluate_model(&options.values, &w.dataset, &scorer, NULL, pool, 1, &m, &error), 0);
    fixture_close(fixture_metric(&m, "train-rmse"), 0, 0, "train-rmse");
    fixture_close(fixture_metric(&m, "train-hr@10"), 1, 0, "train-hr@10");
    for (int64_t i = 0; i < m.n; i++)
        assert_int_equal(strncmp(m.items[i].name, "train-", 6), 0);
    metrics_free(&m);
    pool_free(pool);
    world_free(&w);
}
