/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/metric_table.h"
#include "evaluate/negatives.h"
#include "evaluate/user_values.h"

#include "kit/evaluate_fixture.h"

#define POOL 60

static const char *name_of(int user)
{
    static char name[16];
    snprintf(name, sizeof name, "%d", user);
    return name;
}

static dpf_stream *open_stream(uint64_t seed, struct random_root **root)
{
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    *root = random_root_seeded(seed, "run", &error);
    assert_non_null(*root);
    dpf_stream *stream = random_stream_open(*root, "evaluate", "negatives", &error);
    assert_non_null(stream);
    return stream;
}

static int contains(const int32_t *list, int64_t n, int32_t item)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i] == item)
            return 1;
    return 0;
}

/* Both forms of pool: all items, and every third item. */
TEST(never_repeats_nor_draws_excluded_items)
{
    struct random_root *root;
    dpf_stream *stream = open_stream(5, &root);
    int32_t thirds[POOL / 3], excluded[POOL], out[POOL];
    uint8_t marks[POOL] = {0};
    for (int i = 0; i < POOL / 3; i++)
        thirds[i] = 3 * i + 1;
    uint64_t random = 1;
    for (int user = 0; user < 400; user++) {
        const int32_t *pool = user % 2 ? thirds : NULL;
        int64_t n_pool = pool ? POOL / 3 : POOL, n_excluded = 0;
        for (int64_t i = 0; i < n_pool; i++)
            if (fixture_below(&random, 4) == 0)
                excluded[n_excluded++] = pool ? pool[i] : (int32_t)i;
        int64_t wanted = 1 + fixture_below(&random, n_pool);
        int64_t n =
            negatives_draw(stream, name_of(user), pool, n_pool, excluded, n_excluded, wanted, marks, 2, out);
        int64_t eligible = n_pool - n_excluded;
        assert_int_equal(n, wanted < eligible ? wanted : eligible);
        for (int64_t i = 0; i < n; i++) {
            assert_false(contains(out, i, out[i]));
            assert_false(contains(excluded, n_excluded, out[i]));
            assert_true(pool ? contains(thirds, POOL / 3, out[i]) : out[i] >= 0 && out[i] < POOL);
        }
        for (int i = 0; i < POOL; i++)
            assert_int_equal(marks[i], 0);
    }
    random_stream_free(stream);
    random_root_free(root);
}

TEST(depend_on_seed_and_user_only)
{
    struct random_root *root, *other_root;
    dpf_stream *stream = open_stream(5, &root), *other = open_stream(6, &other_root);
    int32_t a[20], b[20], c[20], d[20];
    uint8_t marks[1000] = {0};
    negatives_draw(stream, "17", NULL, 1000, NULL, 0, 20, marks, 2, a);
    negatives_draw(stream, "18", NULL, 1000, NULL, 0, 20, marks, 2, b);
    negatives_draw(other, "17", NULL, 1000, NULL, 0, 20, marks, 2, c);
    negatives_draw(stream, "17", NULL, 1000, NULL, 0, 20, marks, 2, d);
    assert_memory_equal(a, d, sizeof a);
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    random_stream_free(stream);
    random_stream_free(other);
    random_root_free(root);
    random_root_free(other_root);
}

/* Counts of items and of pairs against a uniform choice of 5 of 12; bounds of five deviations. */
TEST(every_subset_is_as_likely)
{
    enum { USERS = 20000, ITEMS = 14, N = 12, WANTED = 5 };
    static const int32_t excluded[] = {3, 8};
    struct random_root *root;
    dpf_stream *stream = open_stream(5, &root);
    int count[ITEMS] = {0}, pairs[ITEMS][ITEMS] = {{0}};
    uint8_t marks[ITEMS] = {0};
    for (int user = 0; user < USERS; user++) {
        int32_t out[WANTED];
        negatives_draw(stream, name_of(user), NULL, ITEMS, excluded, 2, WANTED, marks, 2, out);
        for (int i = 0; i < WANTED; i++) {
            count[out[i]]++;
            for (int j = 0; j < WANTED; j++)
                pairs[out[i]][out[j]] += i != j;
        }
    }
    double one = (double)WANTED / N, two = one * (WANTED - 1) / (N - 1);
    for (int i = 0; i < ITEMS; i++) {
        if (i == 3 || i == 8)
            continue;
        fixture_close(count[i], USERS * one, 5 * sqrt(USERS * one * (1 - one)), "count of an item");
        for (int j = 0; j < ITEMS; j++)
            if (j != i && j != 3 && j != 8)
                fixture_close(pairs[i][j], USERS * two, 5 * sqrt(USERS * two * (1 - two)), "count of a pair");
    }
    random_stream_free(stream);
    random_root_free(root);
}

/* Two draws of successive sampling by records, item by item, against their exact probabilities; one item that nobody has,
   and one so common that most draws meet it although it is excluded. */
TEST(items_are_drawn_by_their_records)
{
    enum { USERS = 20000, ITEMS = 6, WANTED = 2 };
    static const int64_t records[ITEMS] = {4, 0, 100000, 1, 2, 3};
    static const int32_t excluded[] = {2}, without_first[] = {1, 2, 3, 4, 5};
    int64_t ptr[ITEMS + 1] = {0};
    for (int i = 0; i < ITEMS; i++)
        ptr[i + 1] = ptr[i] + records[i];
    struct random_root *root;
    dpf_stream *stream = open_stream(5, &root);
    for (int part = 0; part < 2; part++) {
        const int32_t *pool = part ? without_first : NULL;
        const double total = part ? 6 : 10;
        int count[ITEMS] = {0};
        uint8_t marks[ITEMS] = {0};
        for (int user = 0; user < USERS; user++) {
            int32_t out[ITEMS];
            assert_int_equal(negatives_draw_by_records(stream, name_of(user), ptr, ITEMS, pool,
                                                       part ? 5 : ITEMS, excluded, 1, WANTED, marks, 2, out),
                             WANTED);
            assert_int_not_equal(out[0], out[1]);
            for (int i = 0; i < WANTED; i++)
                count[out[i]]++;
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(marks[i], 0);
        }
        for (int i = 0; i < ITEMS; i++) {
            const int out_of_it = i == 1 || i == 2 || (part && i == 0);
            double p = out_of_it ? 0 : (double)records[i] / total;
            for (int j = 0; !out_of_it && j < ITEMS; j++)
                if (j != i && j != 1 && j != 2 && !(part && j == 0))
                    p += (double)records[j] / total * (double)records[i] / (total - (double)records[j]);
            fixture_close(count[i], USERS * p, 5 * sqrt(USERS * p * (1 - p)) + 0.5, "count of an item");
        }
    }
    /* All that can be drawn, where more is wanted. */
    int32_t out[ITEMS];
    uint8_t marks[ITEMS] = {0};
    assert_int_equal(
        negatives_draw_by_records(stream, "7", ptr, ITEMS, NULL, ITEMS, excluded, 1, ITEMS, marks, 2, out),
        4);
    random_stream_free(stream);
    random_root_free(root);
}

/* Records what is scored, to see the list that sampled ranking makes. */
struct witness {
    int32_t items[64];
    int64_t n;
};

static int watch(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                 struct dpf_error *error)
{
    struct witness *witness = context;
    (void)user;
    (void)error;
    assert_non_null(items);
    assert_true(n <= 64);
    memcpy(witness->items, items, (size_t)n * sizeof *items);
    witness->n = n;
    for (int64_t i = 0; i < n; i++)
        out[i] = 0;
    return 0;
}

/* The list: positives and items the user never touched; test records below the threshold are touched. */
TEST(lists_hold_positives_and_untouched_items)
{
    enum { ITEMS = 30 };
    double *train = fixture_cells(1, ITEMS), *test = fixture_cells(1, ITEMS);
    for (int i = 0; i < 8; i++)
        train[i] = 3;
    test[10] = 5;
    test[11] = 2;
    struct dataset dataset;
    fixture_dataset(&dataset, 1, ITEMS, train, test, 0);
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(&options, "metrics", "hr");
    fixture_enum(&options, "ranking", "sampled-only");
    fixture_option(&options, "relevance-threshold")->real = 4;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct random_root *root = random_root_seeded(1, "run", &error);
    struct pool *pool = pool_new(1);
    for (int64_t wanted = 5; wanted <= 50; wanted += 45) {
        struct witness witness = {.n = 0};
        struct scorer scorer = {.context = &witness, .scores = watch};
        struct metrics m;
        fixture_option(&options, "negatives")->integer = wanted;
        assert_int_equal(evaluate_model(&options.values, &dataset, &scorer, root, pool, 0, &m, &error), 0);
        assert_int_equal(witness.n, wanted == 5 ? 6 : 21); /* 30 - 8 - 2 = 20 untouched */
        assert_true(contains(witness.items, witness.n, 10));
        for (int32_t item = 0; item < 12; item++)
            if (item < 8 || item == 11)
                assert_false(contains(witness.items, witness.n, item));
        assert_int_equal((int)fixture_metric(&m, "users-short-of-negatives"), wanted == 50);
        metrics_free(&m);
    }
    pool_free(pool);
    random_root_free(root);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}

static int descending(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                      struct dpf_error *error)
{
    (void)context;
    (void)user;
    (void)error;
    for (int64_t i = 0; i < n; i++)
        out[i] = -(double)(items ? items[i] : i);
    return 0;
}

/* Three users over 30 items, of which the last ten have no training record. */
TEST(rated_items_alone_are_negatives)
{
    enum { ITEMS = 30, RATED = 20 };
    static const char *const from[] = {"rated", "popularity"};
    double *train = fixture_cells(3, ITEMS), *test = fixture_cells(3, ITEMS);
    for (int u = 0; u < 3; u++)
        for (int i = u; i < RATED; i += 3)
            train[u * ITEMS + i] = 3;
    test[25] = 5; /* user 0 has an item that nobody else has */
    test[1] = 5;
    struct dataset dataset;
    fixture_dataset(&dataset, 3, ITEMS, train, test, 0);
    for (int k = 0; k < 2; k++) {
        struct fixture_options options;
        struct dpf_error error = {.fault = DPF_FAULT_NONE};
        struct random_root *root = random_root_seeded(1, "run", &error);
        struct pool *pool = pool_new(1);
        struct witness witness = {.n = 0};
        struct scorer scorer = {.context = &witness, .scores = watch};
        struct metrics m;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "hr");
        fixture_enum(&options, "ranking", "sampled-only");
        fixture_enum(&options, "negatives-from", from[k]);
        fixture_option(&options, "negatives")->integer = 15;
        assert_int_equal(evaluate_model(&options.values, &dataset, &scorer, root, pool, 0, &m, &error), 0);
        assert_int_equal(witness.n, 2 + 12); /* 20 rated, less 7 of the user's own and one that is tested */
        assert_true(contains(witness.items, witness.n, 25));
        for (int32_t item = 0; item < ITEMS; item++)
            if ((item < RATED && item % 3 == 0) || (item >= RATED && item != 25))
                assert_false(contains(witness.items, witness.n, item));
        assert_int_equal((int)fixture_metric(&m, "users-short-of-negatives"), 1);
        metrics_free(&m);
        pool_free(pool);
        random_root_free(root);
    }
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}

/* The full ranking stands beside the sampled one, with the values that it has alone. */
TEST(the_full_ranking_stands_beside)
{
    enum { USERS = 3, ITEMS = 40 };
    double *train = fixture_cells(USERS, ITEMS), *test = fixture_cells(USERS, ITEMS);
    for (int u = 0; u < USERS; u++) {
        train[u * ITEMS + u] = 3;
        test[u * ITEMS + 10 + 9 * u] = 5;
    }
    struct dataset dataset;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 0);
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct random_root *root = random_root_seeded(1, "run", &error);
    struct pool *pool = pool_new(1);
    double values[3][3];
    static const char *const rankings[] = {"full", "sampled", "sampled-only"};
    for (int k = 0; k < 3; k++) {
        struct fixture_options options;
        struct scorer scorer = {.scores = descending};
        struct metrics m;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "ndcg,rmse,mrank");
        fixture_enum(&options, "ranking", rankings[k]);
        if (k)
            fixture_option(&options, "negatives")->integer = 10;
        fixture_option(&options, "bootstrap")->integer = 50;
        assert_int_equal(evaluate_model(&options.values, &dataset, &scorer, root, pool, 0, &m, &error), 0);
        values[k][0] = fixture_metric(&m, "ndcg@10");
        values[k][1] = k == 1 ? fixture_metric(&m, "full-ndcg@10") : metrics_find(&m, "full-ndcg@10");
        values[k][2] = k == 1 ? fixture_metric(&m, "full-mrank") : metrics_find(&m, "full-mrank");
        if (k == 1) {
            for (int64_t i = 0; i < m.n; i++)
                if (strcmp(m.items[i].name, "full-ndcg@10") == 0)
                    assert_true(m.items[i].low <= m.items[i].value && m.items[i].value <= m.items[i].high);
            assert_int_equal(m.by_user->n_metrics, 5);
            assert_string_equal(m.by_user->metrics[3].name, "full-ndcg@10");
        }
        metrics_free(&m);
    }
    assert_true(values[1][1] == values[0][0]);
    assert_true(values[1][0] == values[2][0]);
    assert_true(values[1][0] > values[1][1]);
    assert_true(isnan(values[2][1]));
    assert_true(metric_smaller_is_better("full-mrank"));
    assert_false(metric_smaller_is_better("full-ndcg@10"));
    pool_free(pool);
    random_root_free(root);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}
