/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic generator: sizes, shape, and that a user's records are a function of seed and user. */
#include "kit/data_support.h"

#include <math.h>

#include "synthetic/generate.h"

static const struct generate_options usual = {.users = 900,
                                              .items = 1500,
                                              .ratings = 90000,
                                              .rank = 4,
                                              .popularity_sigma = 2.0,
                                              .activity_sigma = 1.0,
                                              .min_per_user = 20,
                                              .noise = 0.5,
                                              .value_lo = 1,
                                              .value_hi = 5,
                                              .step = 0.5};

static struct generator *make(const struct generate_options *options, uint64_t seed)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(seed, "run", &error);
    struct generator *generator = generator_new(options, root, &error);
    if (!generator)
        fail_msg("%s", error.text);
    random_root_free(root);
    return generator;
}

static int32_t items[1500], others[1500];
static float values[1500], other_values[1500];
static double times[1500], other_times[1500];

TEST_WITH(users_are_independent_of_the_order, data_enter, data_leave)
{
    struct generator *a = make(&usual, 3), *b = make(&usual, 3), *c = make(&usual, 4);
    int differs = 0;
    for (int64_t u = 0; u < usual.users; u += 50)
        generator_user(b, usual.users - 1 - u, others, other_values, other_times);
    for (int64_t u = 0; u < usual.users; u += 7) {
        int64_t n = generator_user(a, u, items, values, times);
        assert_int_equal(generator_user(b, u, others, other_values, other_times), n);
        assert_memory_equal(items, others, (size_t)n * sizeof *items);
        assert_memory_equal(values, other_values, (size_t)n * sizeof *values);
        assert_memory_equal(times, other_times, (size_t)n * sizeof *times);
        differs += generator_user(c, u, others, other_values, other_times) != n ||
                   memcmp(items, others, (size_t)n * sizeof *items) != 0;
    }
    assert_true(differs > 100);
    generator_free(a);
    generator_free(b);
    generator_free(c);
}

static int distinct_times(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (times[i] == times[j])
                return 0;
    return 1;
}

TEST_WITH(records_keep_their_promises, data_enter, data_leave)
{
    struct generator *generator = make(&usual, 11);
    int64_t total = 0, degrees[1500] = {0}, inversions = 0, pairs = 0;
    double sum = 0;
    for (int64_t u = 0; u < usual.users; u++) {
        int64_t n = generator_user(generator, u, items, values, times);
        assert_in_range(n, 20, 1500);
        for (int64_t i = 0; i < n; i++) {
            assert_in_range(items[i], 0, 1499);
            assert_true(i == 0 || items[i - 1] < items[i]);
            assert_true(values[i] >= 1);
            assert_true(values[i] <= 5);
            assert_true(values[i] * 2 == floorf(values[i] * 2));
            inversions += i > 0 && times[i - 1] > times[i];
            pairs += i > 0;
            degrees[items[i]]++;
            sum += values[i];
        }
        assert_true(u % 100 || distinct_times(n));
        total += n;
    }
    /* The sum of 900 log-normal degrees has a relative deviation of about 4 %. */
    assert_in_range(total, 75000, 105000);
    assert_true(sum / (double)total > 2.5);
    assert_true(sum / (double)total < 4.2);
    assert_true(inversions > pairs / 3);
    assert_true(inversions < 2 * pairs / 3);
    int64_t most = 0, few = 0;
    for (int i = 0; i < 1500; i++) {
        most = degrees[i] > most ? degrees[i] : most;
        few += degrees[i] < total / 1500 / 4;
    }
    assert_true(most > 250);
    assert_true(most < 750); /* skewed, and capped */
    assert_true(few > 400);
    generator_free(generator);
}

/* The best constant has a standard deviation well above the noise: there is something to learn. */
TEST_WITH(values_have_structure_beyond_noise, data_enter, data_leave)
{
    struct generate_options options = usual;
    double sum = 0, squares = 0;
    int64_t total = 0;
    options.noise = 0;
    options.step = 0;
    struct generator *generator = make(&options, 5);
    for (int64_t u = 0; u < 300; u++) {
        int64_t n = generator_user(generator, u, items, values, NULL);
        for (int64_t i = 0; i < n; i++) {
            sum += values[i];
            squares += (double)values[i] * values[i];
        }
        total += n;
    }
    double mean = sum / (double)total, deviation = sqrt(squares / (double)total - mean * mean);
    assert_true(deviation > 0.5);
    assert_true(deviation < 1.0);
    generator_free(generator);
}

TEST_WITH(extreme_shapes, data_enter, data_leave)
{
    struct generate_options full = usual;
    full.users = 5;
    full.items = 40;
    full.ratings = 200; /* everything */
    full.min_per_user = 40;
    struct generator *generator = make(&full, 1);
    for (int64_t u = 0; u < 5; u++) {
        assert_int_equal(generator_user(generator, u, items, values, times), 40);
        for (int i = 0; i < 40; i++)
            assert_int_equal(items[i], i);
    }
    generator_free(generator);
    struct generate_options flat = usual;
    flat.activity_sigma = 0;
    flat.popularity_sigma = 0;
    flat.rank = 0;
    generator = make(&flat, 1);
    for (int64_t u = 0; u < 100; u++)
        assert_in_range(generator_user(generator, u, items, values, times), 100, 101);
    generator_free(generator);
}

TEST_WITH(impossible_sizes_are_refused, data_enter, data_leave)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(1, "run", &error);
    struct generate_options options = usual;
    options.ratings = options.users * options.items + 1;
    assert_null(generator_new(&options, root, &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    random_root_free(root);
    DATA_REFUSED(
        "[data]\nformat = synthetic\nsynthetic.users = 10\nsynthetic.items = 10\nsynthetic.ratings = 101\n"
        "synthetic.min-per-user = 1\n",
        DPF_FAULT_CONFIG, "101 ratings are more than");
    DATA_REFUSED("[data]\nformat = synthetic\nvalue-max = 5\n", DPF_FAULT_CONFIG, "both ends");
    DATA_REFUSED("[data]\nformat = synthetic\nsynthetic.min-per-user = 51\n", DPF_FAULT_CONFIG,
                 "min-per-user");
}

#define SYNTHETIC                                                                                            \
    "format = synthetic\nsynthetic.users = 300\nsynthetic.items = 200\nsynthetic.ratings = 9000\n"           \
    "synthetic.min-per-user = 5\nsynthetic.step = 0.5\n"

TEST_WITH(the_file_holds_what_memory_holds, data_enter, data_leave)
{
    struct generate_options options = usual;
    struct data_outcome direct, read;
    struct dpf_error error = {0};
    options.users = 300;
    options.items = 200;
    options.ratings = 9000;
    options.min_per_user = 5;
    options.rank = 8;
    options.activity_sigma = 1.35;
    options.noise = 0.8;
    struct generator *generator = make(&options, 9);
    FILE *stream = fopen("a.txt", "wb");
    assert_non_null(stream);
    assert_int_equal(generator_write_csv(generator, stream, "x", &error), 0);
    assert_int_equal(fclose(stream), 0);
    generator_free(generator);
    assert_int_equal(data_try("[data]\n" SYNTHETIC "[split]\nkind = leave-one-out\n", 1, 9, &direct), 0);
    assert_int_equal(data_try("[data]\npath = a.txt\n[split]\nkind = leave-one-out\n", 3, 9, &read), 0);
    assert_int_equal(direct.dataset.train.n, read.dataset.train.n);
    assert_int_equal(direct.dataset.test.n, 300);
    assert_true(direct.lo == 1);
    assert_true(direct.hi == 5);
    const struct csr *a[2] = {&direct.dataset.train.by_user, &direct.dataset.test.by_user};
    const struct csr *b[2] = {&read.dataset.train.by_user, &read.dataset.test.by_user};
    for (int part = 0; part < 2; part++) {
        assert_memory_equal(a[part]->ptr, b[part]->ptr, 301 * sizeof(int64_t));
        for (int64_t i = 0; i < a[part]->ptr[300]; i++) {
            assert_string_equal(id_map_text(&direct.dataset.items, a[part]->others[i]),
                                id_map_text(&read.dataset.items, b[part]->others[i]));
            assert_true(a[part]->values[i] == b[part]->values[i]);
        }
    }
    dataset_free(&direct.dataset);
    dataset_free(&read.dataset);
}

TEST_WITH(generated_data_do_not_depend_on_workers, data_enter, data_leave)
{
    struct data_outcome one, three;
    assert_int_equal(data_try("[data]\n" SYNTHETIC "[split]\nkind = random\n", 1, 2, &one), 0);
    assert_int_equal(data_try("[data]\n" SYNTHETIC "[split]\nkind = random\n", 3, 2, &three), 0);
    data_same_csr(&one.dataset.train.by_user, &three.dataset.train.by_user);
    data_same_csr(&one.dataset.train.by_item, &three.dataset.train.by_item);
    data_same_csr(&one.dataset.test.by_user, &three.dataset.test.by_user);
    assert_string_equal(one.dataset.summary.sha256, "");
    dataset_free(&one.dataset);
    dataset_free(&three.dataset);
}
