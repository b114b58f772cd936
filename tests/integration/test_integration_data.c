/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public data sets, read from the folder DPFRAME_DATA: their counts are known, and each has a trait
 * that readers stumble over. A test without its file is skipped.
 */
#include "data/load.h"
#include "dataset/summary.h"
#include "reading/data_params.h"
#include "kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;

/* Skips the test if the file is not there. */
static void need(const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", file);
    if (!folder || access(path, R_OK) != 0) {
        print_message("skipped: %s is not in the folder DPFRAME_DATA\n", file);
        skip();
    }
}

/* text is a configuration in which every $ stands for the folder. */
static int try_load(const char *text, struct dataset *out, struct dpf_error *error)
{
    char whole[8192];
    size_t used = 0;
    for (const char *at = text; *at; at++) {
        size_t left = sizeof whole - used;
        used += (size_t)snprintf(whole + used, left, *at == '$' ? "%s" : "%.1s", *at == '$' ? folder : at);
        assert_true(used < sizeof whole);
    }
    int64_t n_data, n_split;
    const dpf_param *data_table = data_params(&n_data), *split_table = split_params(&n_split);
    struct config_values data = {0}, split = {0};
    struct config *config = config_parse("test.ini", whole, used, error);
    struct random_root *root = random_root_seeded(7, "run", error);
    struct pool *pool = pool_new(2);
    double lo, hi;
    int status = -1;
    memset(out, 0, sizeof *out);
    if (config && root && pool &&
        config_bind(config, "data", data_table, n_data, sizeof(dpf_param), NULL, 1, &data, error) == 0 &&
        config_bind(config, "split", split_table, n_split, sizeof(dpf_param), NULL, 1, &split, error) == 0 &&
        data_check(&data, &split, &lo, &hi, error) == 0)
        status = data_load(&data, &split, root, pool, out, error);
    config_values_free(&data);
    config_values_free(&split);
    config_free(config);
    random_root_free(root);
    pool_free(pool);
    return status;
}

static void load(const char *text, struct dataset *out)
{
    struct dpf_error error = {0};
    if (try_load(text, out, &error) != 0)
        fail_msg("%s", error.text);
}

static void assert_fails(const char *text, const char *part)
{
    struct dataset dataset;
    struct dpf_error error = {0};
    assert_int_equal(try_load(text, &dataset, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_DATA);
    if (!strstr(error.text, part))
        fail_msg("expected \"%s\" in: %s", part, error.text);
}

static void assert_counts(const struct dataset *d, int64_t users, int64_t items, int64_t ratings)
{
    assert_int_equal(d->users.n, users);
    assert_int_equal(d->items.n, items);
    assert_int_equal(d->summary.ratings, ratings);
    assert_int_equal(d->train.n + d->test.n, ratings);
    assert_int_equal(d->train.by_user.ptr[users], d->train.n);
    assert_int_equal(d->train.by_item.ptr[items], d->train.n);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(value >= expected - tolerance && value <= expected + tolerance))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void assert_values(const struct dataset *d, double min, double max, double mean, double tolerance)
{
    assert_near(d->summary.value_min, min, 1e-6 * (1 + (min < 0 ? -min : min)));
    assert_near(d->summary.value_max, max, 1e-6 * (1 + max));
    assert_near(d->summary.value_mean, mean, tolerance);
}

static void assert_degrees(const struct csr *csr, int64_t fewest, int64_t most)
{
    int64_t min = INT64_MAX, max = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t degree = csr->ptr[r + 1] - csr->ptr[r];
        min = degree < min ? degree : min;
        max = degree > max ? degree : max;
    }
    assert_int_equal(min, fewest);
    assert_int_equal(max, most);
}

TEST(movielens_100k)
{
    struct dataset d;
    need("ml-100k/u.data.gz");
    load("[data]\nformat = movielens-100k\npath = $/ml-100k/u.data.gz\nvalue-min = 1\nvalue-max = 5\n", &d);
    assert_counts(&d, 943, 1682, 100000);
    assert_values(&d, 1, 5, 3.52986, 1e-9);
    assert_degrees(&d.train.by_user, 20, 737);
    assert_degrees(&d.train.by_item, 1, 583);
    assert_int_equal(d.summary.duplicates, 0);
    assert_int_equal(d.summary.distinct_values, 5);
    assert_string_equal(d.summary.sha256, "d5cd19fba4562fe2867bf2964d99d97ec55bce45b150df3763dfa8668cf22f4f");
    assert_string_equal(id_map_text(&d.users, 942), "943");
    assert_int_equal(id_map_find(&d.items, "1682"), 1681);
    dataset_free(&d);
}

TEST(movielens_100k_last_by_time)
{
    struct dataset d;
    need("ml-100k/u.data.gz");
    load("[data]\nformat = movielens-100k\npath = $/ml-100k/u.data.gz\n[split]\nkind = leave-one-out\n", &d);
    assert_counts(&d, 943, 1682, 100000);
    assert_int_equal(d.test.n, 943);
    assert_degrees(&d.test.by_user, 1, 1);
    assert_int_equal(d.summary.time_ties_decided, 415);
    dataset_free(&d);
}

TEST(movielens_100k_given_parts)
{
    struct dataset d;
    need("ml-100k/ua.base.gz");
    load("[data]\nformat = movielens-100k\npath = $/ml-100k/ua.base.gz\n"
         "[split]\nkind = files\ntest.path = $/ml-100k/ua.test\n",
         &d);
    assert_counts(&d, 943, 1682, 100000);
    assert_int_equal(d.train.n, 90570);
    assert_int_equal(d.test.n, 9430);
    assert_degrees(&d.test.by_user, 10, 10);
    assert_int_equal(d.summary.cold_items, 2); /* 1,680 of 1,682 items are in ua.base */
    assert_int_equal(d.summary.cold_users, 0);
    assert_true(d.summary.cold_records >= 2);
    dataset_free(&d);
}

TEST(movielens_100k_complete_file_and_test_file)
{
    struct dataset d;
    need("ml-100k/u.data.gz");
    load("[data]\nformat = movielens-100k\npath = $/ml-100k/u.data.gz\n"
         "[split]\nkind = files\ntest.path = $/ml-100k/u1.test\noverlap = test\n",
         &d);
    assert_counts(&d, 943, 1682, 100000);
    assert_int_equal(d.test.n, 20000);
    int64_t tested = 0;
    for (int64_t u = 0; u < d.users.n; u++)
        tested += d.test.by_user.ptr[u] < d.test.by_user.ptr[u + 1];
    assert_int_equal(tested, 459); /* u1.test is no random fold */
    dataset_free(&d);
    assert_fails("[data]\nformat = movielens-100k\npath = $/ml-100k/u.data.gz\n"
                 "[split]\nkind = files\ntest.path = $/ml-100k/u1.test\n",
                 "are also in the training part");
}

TEST(hdpmf_folds_through_a_pattern)
{
    struct dataset d;
    need("hdpmf-ml-100k-splits/ml-100k-0.4/u1.test");
    load("[data]\nformat = tsv\npath = $/hdpmf-ml-100k-splits/ml-100k-0.4/u[1-5].test\n"
         "[split]\nkind = files\ntest.path = $/hdpmf-ml-100k-splits/ml-100k-0.4/u1.test\n",
         &d);
    assert_counts(&d, 943, 1543, 39986);
    assert_int_equal(d.test.n, 7998);
    dataset_free(&d);
    load("[data]\nformat = tsv\npath = $/hdpmf-ml-100k-splits/ml-100k-0.2/u[1-5].test\n", &d);
    assert_counts(&d, 943, 1406, 20000);
    assert_degrees(&d.train.by_user, 4, 147);
    dataset_free(&d);
    load("[data]\nformat = tsv\npath = $/hdpmf-ml-100k-splits/ml-100k-1/u[1-5].test\n"
         "[split]\nkind = files\ntest.path = $/hdpmf-ml-100k-splits/ml-100k-1/u.test\noverlap = test\n",
         &d);
    assert_counts(&d, 943, 1682, 100000);
    assert_int_equal(d.test.n, 943);
    dataset_free(&d);
}

TEST(movielens_1m)
{
    struct dataset d;
    need("ml-1m/derived/ratings.tsv.gz");
    load("[data]\nformat = tsv\npath = $/ml-1m/derived/ratings.tsv.gz\n", &d);
    assert_counts(&d, 6040, 3706, 1000209);
    assert_values(&d, 1, 5, 3.581564, 5e-7);
    assert_degrees(&d.train.by_user, 20, 2314);
    assert_degrees(&d.train.by_item, 1, 3428);
    char *text = data_summary_text(&d);
    assert_non_null(strstr(text, "6,040 users x 3,706 items, 1,000,209 ratings"));
    free(text);
    dataset_free(&d);
    assert_fails(
        "[data]\nformat = tsv\npath = $/ml-1m/derived/ratings.tsv.gz\n[split]\nkind = leave-one-out\n",
        "split.by = random");
}

TEST(movielens_1m_titles_with_double_colons)
{
    struct dataset d;
    need("ml-1m/movies.dat");
    /* Not ratings, but Latin-1 texts behind '::'. */
    load("[data]\nformat = movielens-1m\npath = $/ml-1m/movies.dat\nfeedback = implicit\n"
         "column.rating = none\ncolumn.time = none\nfields = 3\n",
         &d);
    assert_int_equal(d.users.n, 3883);
    assert_true(id_map_find(&d.items, "City of Lost Children, The (1995)") >= 0);
    assert_true(id_map_find(&d.items, "Mis\xc3\xa9rables, Les (1995)") >= 0);
    dataset_free(&d);
}

TEST(movielens_latest_small)
{
    struct dataset d;
    need("ml-latest-small/ratings.csv.gz");
    load("[data]\nformat = csv\npath = $/ml-latest-small/ratings.csv.gz\nvalue-min = 0.5\nvalue-max = 5\n",
         &d);
    assert_counts(&d, 610, 9724, 100836);
    assert_values(&d, 0.5, 5, 3.501557, 5e-7);
    assert_degrees(&d.train.by_user, 20, 2698);
    assert_degrees(&d.train.by_item, 1, 329);
    assert_int_equal(d.summary.distinct_values, 10);
    assert_int_equal(d.summary.lines, 100837);
    assert_string_equal(id_map_text(&d.items, 9723), "193609");
    dataset_free(&d);
    assert_fails("[data]\nformat = csv\nheader = no\npath = $/ml-latest-small/ratings.csv.gz\n",
                 "ratings.csv.gz:1: rating \"rating\" in column 3 is not a number");
    assert_fails(
        "[data]\nformat = csv\npath = $/ml-latest-small/ratings.csv.gz\nvalue-min = 1\nvalue-max = 5\n",
        "outside the declared range 1 to 5");
}

TEST(movielens_latest_small_quoted_titles)
{
    struct dataset d;
    need("ml-latest-small/movies.csv");
    load("[data]\npath = $/ml-latest-small/movies.csv\nfeedback = implicit\ncolumn.user = movieId\n"
         "column.item = title\ncolumn.rating = none\ncolumn.time = none\n",
         &d);
    assert_int_equal(d.users.n, 9742);
    assert_true(id_map_find(&d.items, "American President, The (1995)") >= 0);
    dataset_free(&d);
}

TEST(amazon_instant_video)
{
    struct dataset d;
    need("amazon-instant-video/ratings.dat.gz");
    load("[data]\npath = $/amazon-instant-video/ratings.dat.gz\n", &d);
    assert_counts(&d, 8072, 11830, 63836);
    assert_values(&d, 1, 5, 4.0909, 5e-5);
    assert_degrees(&d.train.by_user, 5, 277);
    assert_degrees(&d.train.by_item, 1, 550);
    assert_true(id_map_find(&d.users, "AGZ8SM1BGK3CK") >= 0);
    dataset_free(&d);
    load("[data]\npath = $/amazon-instant-video/derived/ratings_5core.csv.gz\n", &d);
    assert_counts(&d, 5130, 1685, 37126);
    assert_values(&d, 1, 5, 4.2095, 5e-5);
    dataset_free(&d);
}

#define FILMTRUST "[data]\nformat = tsv\ndelimiter = spaces\npath = $/filmtrust/ratings.txt\n"

TEST(filmtrust_duplicates_and_trust)
{
    struct dataset d;
    need("filmtrust/ratings.txt");
    load(FILMTRUST "relation.path = $/filmtrust/trust.txt\n", &d);
    assert_counts(&d, 1508, 2071, 35494);
    assert_int_equal(d.summary.duplicates, 3);
    assert_int_equal(d.summary.distinct_values, 8);
    assert_degrees(&d.train.by_item, 1, 1044);
    int64_t links = d.relation.links.ptr[d.users.n];
    assert_int_equal(links + d.relation.unknown, 1853);
    assert_int_equal(d.relation.self, 0);
    assert_null(d.relation.links.values);
    dataset_free(&d);
    assert_fails(FILMTRUST "duplicates = error\n", "occur again; set duplicates");
}

/* The pair (308, 207) has 3.5 and then 3; (308, 235) has 4 and 1.5. */
TEST(filmtrust_policies)
{
    static const struct {
        const char *policy;
        double value;
    } cases[] = {{"first", 3.5}, {"last", 3}, {"mean", 3.25}, {"sum", 6.5}};
    need("filmtrust/ratings.txt");
    for (size_t i = 0; i < 4; i++) {
        struct dataset d;
        char text[512];
        snprintf(text, sizeof text, FILMTRUST "duplicates = %s\n", cases[i].policy);
        load(text, &d);
        int64_t user = id_map_find(&d.users, "308"), item = id_map_find(&d.items, "207"), found = 0;
        const struct csr *csr = &d.train.by_user;
        for (int64_t j = csr->ptr[user]; j < csr->ptr[user + 1]; j++)
            if (csr->others[j] == item) {
                found++;
                assert_near(csr->values[j], cases[i].value, 0);
            }
        assert_int_equal(found, 1);
        dataset_free(&d);
    }
}

TEST(ciao)
{
    struct dataset d;
    need("ciao/derived/ratings.tsv.gz");
    load("[data]\nformat = tsv\npath = $/ciao/derived/ratings.tsv.gz\ncolumn.rating = 4\n"
         "relation.path = $/ciao/derived/trust.tsv.gz\nrelation.delimiter = tab\n",
         &d);
    assert_counts(&d, 7375, 105114, 282650);
    assert_int_equal(d.summary.duplicates, 1436);
    assert_near(d.summary.value_min, 0, 0);
    assert_int_equal(d.relation.links.ptr[d.users.n], 111781);
    assert_int_equal(d.relation.unknown, 0);
    dataset_free(&d);
    load("[data]\nformat = tsv\npath = $/ciao/derived/ratings.tsv.gz\ncolumn.rating = 4\n"
         "value-min = 1\nvalue-max = 5\nout-of-range = drop\n",
         &d);
    assert_int_equal(d.summary.out_of_range, 34);
    assert_int_equal(d.summary.ratings + d.summary.duplicates, 284086 - 34);
    dataset_free(&d);
}

TEST(lastfm_counts)
{
    struct dataset d;
    need("lastfm-hetrec2011/ratings.txt.gz");
    load("[data]\nformat = tsv\npath = $/lastfm-hetrec2011/ratings.txt.gz\n"
         "relation.path = $/lastfm-hetrec2011/trusts.txt\n",
         &d);
    assert_counts(&d, 1892, 17632, 92834);
    assert_values(&d, 1, 352698, 745.24, 5e-3);
    assert_int_equal(d.summary.distinct_values, 1000); /* "at least" */
    assert_int_equal(d.relation.links.ptr[d.users.n], 25434);
    assert_degrees(&d.train.by_user, 1, 50);
    dataset_free(&d);
    load("[data]\nformat = tsv\nfeedback = implicit\nthreshold = 100\npath = "
         "$/lastfm-hetrec2011/ratings.txt.gz\n",
         &d);
    assert_true(d.implicit);
    assert_true(!d.train.by_user.values);
    assert_true(!d.train.by_item.values);
    assert_true(d.summary.below_threshold > 0);
    assert_int_equal(d.train.n + d.summary.below_threshold, 92834);
    dataset_free(&d);
}

TEST(douban_given_parts_and_friends)
{
    struct dataset d;
    need("douban-3000/derived/train.tsv.gz");
    load("[data]\nformat = tsv\npath = $/douban-3000/derived/train.tsv.gz\n"
         "relation.path = $/douban-3000/derived/social.tsv\n"
         "[split]\nkind = files\ntest.path = $/douban-3000/derived/test.tsv\n",
         &d);
    assert_int_equal(d.users.n, 2999);
    assert_int_equal(d.train.n, 123202);
    assert_int_equal(d.test.n, 13689);
    assert_values(&d, 1, 5, 3.6932, 5e-5);
    assert_int_equal(d.relation.self, 2);
    assert_int_equal(d.relation.links.ptr[d.users.n] + d.relation.unknown, 2688);
    dataset_free(&d);
}

TEST(jester_is_negative_and_real)
{
    struct dataset d;
    need("jester-5k/derived/ratings.tsv.gz");
    load("[data]\nformat = tsv\npath = $/jester-5k/derived/ratings.tsv.gz\nvalue-min = -10\nvalue-max = 10\n",
         &d);
    assert_counts(&d, 5000, 100, 363209);
    assert_near(d.summary.value_min, -9.95, 1e-6);
    assert_near(d.summary.value_max, 9.90, 1e-6);
    assert_degrees(&d.train.by_user, 36, 100);
    dataset_free(&d);
    assert_fails("[data]\nformat = tsv\npath = $/jester-5k/derived/ratings.tsv.gz\n",
                 "ratings.tsv.gz:1: value \"-1.60\" is negative");
}

TEST(restaurants_with_semicolons)
{
    struct dataset d;
    need("restaurant-consumer/rating_final.csv");
    load("[data]\npath = $/restaurant-consumer/rating_final.csv\ndelimiter = semicolon\n", &d);
    assert_counts(&d, 138, 130, 1161);
    assert_values(&d, 0, 2, 1.1998, 5e-5);
    assert_degrees(&d.train.by_user, 3, 18);
    assert_degrees(&d.train.by_item, 3, 36);
    dataset_free(&d);
    assert_fails("[data]\npath = $/restaurant-consumer/rating_final.csv\n",
                 "did you mean delimiter = semicolon");
}

static int find_folder(void **state)
{
    (void)state;
    folder = getenv("DPFRAME_DATA");
    if (folder && !folder[0])
        folder = NULL;
    return 0;
}

FIXTURE(find_folder, NULL)
