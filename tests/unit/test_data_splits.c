/* SPDX-License-Identifier: Apache-2.0 */
/* Duplicates, splits, and that neither depends on the order of lines or on the number of workers. */
#include "kit/data_support.h"

#include <math.h>

#define CSV "[data]\npath = a.txt\n"
#define USERS 60
#define ITEMS 40

/* About a third of all pairs, in an order given by `stride` (coprime to the number of pairs). */
static int64_t write_ratings(const char *name, int64_t stride)
{
    static char text[USERS * ITEMS * 32];
    size_t used = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < USERS * ITEMS; k++) {
        int64_t pair = k * stride % (USERS * ITEMS);
        int64_t user = pair / ITEMS, item = pair % ITEMS;
        if ((user * 7 + item * 5) % 3 != 0)
            continue;
        used +=
            (size_t)sprintf(text + used, "%lld,%lld,%lld,%lld\n", (long long)user + 1, (long long)item + 1,
                            (long long)((user + item) % 5 + 1), (long long)(pair * 31 % 1009));
        n++;
    }
    data_write_bytes(name, text, used);
    return n;
}

static const char *const kinds[] = {
    "kind = random\nfraction = 0.25\n",
    "kind = k-fold\nfolds = 4\nfold = 3\n",
    "kind = leave-one-out\n",
    "kind = leave-one-out\nby = random\n",
    "kind = per-user\nn = 3\n",
    "kind = candidates\nfraction = 0.3\n",
    "kind = random-exact\nfraction = 0.25\n",
    "kind = per-user\nfraction = 0.25\n",
    "kind = cold-items\nfraction = 0.3\n",
    "kind = time\ntime-from = 600\n",
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static void get_split(const char *kind, int workers, uint64_t seed, struct data_outcome *out)
{
    char ini[256];
    snprintf(ini, sizeof ini, CSV "[split]\n%s", kind);
    if (data_try(ini, workers, seed, out) != 0)
        fail_msg("%s: %s", kind, out->error.text);
}

static void same_dataset(const struct dataset *a, const struct dataset *b)
{
    data_same_csr(&a->train.by_user, &b->train.by_user);
    data_same_csr(&a->train.by_item, &b->train.by_item);
    data_same_csr(&a->test.by_user, &b->test.by_user);
    struct csr in_a, in_b;
    data_candidates(a, &in_a);
    data_candidates(b, &in_b);
    data_same_csr(&in_a, &in_b);
    csr_free(&in_a);
    csr_free(&in_b);
}

TEST_WITH(splits_depend_on_seed_and_ids_only, data_enter, data_leave)
{
    for (size_t k = 0; k < N_KINDS; k++) {
        struct data_outcome first, again, other;
        write_ratings("a.txt", 1);
        get_split(kinds[k], 1, 5, &first);
        write_ratings("a.txt", 1327); /* the same lines in another order, more workers */
        get_split(kinds[k], 3, 5, &again);
        same_dataset(&first.dataset, &again.dataset);
        get_split(kinds[k], 2, 6, &other);
        int same = memcmp(first.dataset.test.by_user.ptr, other.dataset.test.by_user.ptr,
                          (USERS + 1) * sizeof(int64_t)) == 0 &&
                   memcmp(first.dataset.test.by_user.others, other.dataset.test.by_user.others,
                          (size_t)first.dataset.test.n * sizeof(int32_t)) == 0;
        assert_int_equal(same, k == 2 || k == 9); /* only splits by time need no seed */
        dataset_free(&first.dataset);
        dataset_free(&again.dataset);
        dataset_free(&other.dataset);
    }
}

/* Every record is in exactly one part. */
static void assert_partition(const struct dataset *d, int64_t n)
{
    assert_int_equal(d->train.n + d->test.n, n);
    data_check_csr(&d->train.by_user, d->items.n);
    data_check_csr(&d->train.by_item, d->users.n);
    data_check_csr(&d->test.by_user, d->items.n);
    for (int64_t u = 0; u < d->users.n; u++)
        for (int64_t i = d->test.by_user.ptr[u]; i < d->test.by_user.ptr[u + 1]; i++)
            for (int64_t j = d->train.by_user.ptr[u]; j < d->train.by_user.ptr[u + 1]; j++)
                assert_true(d->test.by_user.others[i] != d->train.by_user.others[j]);
}

/* Six standard deviations: seeds are fixed, and none of them is that odd. */
static void within_binomial(int64_t count, int64_t n, double p)
{
    const double mean = (double)n * p;
    assert_true(fabs((double)count - mean) < 6 * sqrt(mean * (1 - p)));
}

TEST_WITH(parts_have_the_sizes_asked_for, data_enter, data_leave)
{
    struct data_outcome out;
    const struct csr *test = &out.dataset.test.by_user;
    int64_t n = write_ratings("a.txt", 1);
    get_split(kinds[0], 2, 1, &out);
    assert_partition(&out.dataset, n);
    within_binomial(out.dataset.test.n, n, 0.25);
    dataset_free(&out.dataset);
    get_split(kinds[6], 2, 1, &out);
    assert_partition(&out.dataset, n);
    assert_int_equal(out.dataset.test.n, (n + 2) / 4);
    dataset_free(&out.dataset);
    get_split(kinds[7], 2, 1, &out);
    assert_partition(&out.dataset, n);
    for (int64_t u = 0; u < USERS; u++) {
        int64_t held_out = test->ptr[u + 1] - test->ptr[u];
        int64_t all = held_out + out.dataset.train.by_user.ptr[u + 1] - out.dataset.train.by_user.ptr[u];
        assert_int_equal(held_out, (all + 2) / 4);
    }
    dataset_free(&out.dataset);
    get_split(kinds[3], 2, 1, &out);
    assert_partition(&out.dataset, n);
    for (int64_t u = 0; u < USERS; u++)
        assert_int_equal(test->ptr[u + 1] - test->ptr[u], 1);
    dataset_free(&out.dataset);
    get_split(kinds[4], 2, 1, &out);
    assert_partition(&out.dataset, n);
    for (int64_t u = 0; u < USERS; u++)
        assert_int_equal(test->ptr[u + 1] - test->ptr[u], 3);
    dataset_free(&out.dataset);
}

/* A training part that is thinned out is a part of the whole one, of the size asked for; what is tested
 * stays. */
TEST_WITH(training_is_thinned_out, data_enter, data_leave)
{
    for (size_t k = 0; k <= N_KINDS; k++) {
        const char *kind = k < N_KINDS ? kinds[k] : "kind = none\n";
        struct data_outcome whole, thin, again;
        char ini[160];
        write_ratings("a.txt", 1);
        get_split(kind, 1, 5, &whole);
        snprintf(ini, sizeof ini, "%strain-fraction = 0.4\n", kind);
        get_split(ini, 2, 5, &thin);
        write_ratings("a.txt", 7);
        get_split(ini, 1, 5, &again);
        data_same_csr(&whole.dataset.test.by_user, &thin.dataset.test.by_user);
        if (!strstr(kind, "leave-one-out\n") &&
            !strstr(kind, "exact")) /* these two read the order of lines */
            same_dataset(&thin.dataset, &again.dataset);
        within_binomial(thin.dataset.train.n, whole.dataset.train.n, 0.4);
        const struct csr *csr = &thin.dataset.train.by_user;
        for (int64_t u = 0; u < csr->rows; u++)
            for (int64_t i = csr->ptr[u]; i < csr->ptr[u + 1]; i++)
                assert_true(data_value(&whole.dataset, &whole.dataset.train.by_user,
                                       id_map_text(&thin.dataset.users, u),
                                       id_map_text(&thin.dataset.items, csr->others[i])) ==
                            (double)csr->values[i]);
        dataset_free(&whole.dataset);
        dataset_free(&thin.dataset);
        dataset_free(&again.dataset);
    }
}

TEST_WITH(folds_partition_the_records, data_enter, data_leave)
{
    int64_t n = write_ratings("a.txt", 1), total = 0;
    static uint8_t seen[USERS][ITEMS];
    memset(seen, 0, sizeof seen);
    for (int fold = 1; fold <= 7; fold++) {
        struct data_outcome out;
        char kind[64];
        snprintf(kind, sizeof kind, "kind = k-fold\nfolds = 7\nfold = %d\n", fold);
        get_split(kind, 2, 1, &out);
        assert_partition(&out.dataset, n);
        within_binomial(out.dataset.test.n, n, 1.0 / 7);
        const struct csr *test = &out.dataset.test.by_user;
        for (int64_t u = 0; u < USERS; u++)
            for (int64_t i = test->ptr[u]; i < test->ptr[u + 1]; i++)
                assert_int_equal(seen[u][test->others[i]]++, 0);
        total += out.dataset.test.n;
        dataset_free(&out.dataset);
    }
    assert_int_equal(total, n);
}

TEST_WITH(candidates_are_a_share_of_all_items, data_enter, data_leave)
{
    struct data_outcome out;
    int64_t n = write_ratings("a.txt", 1), hits[ITEMS] = {0};
    get_split(kinds[5], 2, 1, &out);
    struct csr listed;
    data_candidates(&out.dataset, &listed);
    const struct csr *candidates = &listed;
    assert_partition(&out.dataset, n);
    data_check_csr(candidates, ITEMS);
    for (int64_t u = 0; u < USERS; u++) {
        within_binomial(candidates->ptr[u + 1] - candidates->ptr[u], ITEMS, 0.3);
        for (int64_t i = candidates->ptr[u]; i < candidates->ptr[u + 1]; i++)
            hits[candidates->others[i]]++;
    }
    /* A pair is tested if and only if its item is a candidate of its user. */
    const struct csr *parts[2] = {&out.dataset.train.by_user, &out.dataset.test.by_user};
    for (int part = 0; part < 2; part++)
        for (int64_t u = 0; u < USERS; u++)
            for (int64_t i = parts[part]->ptr[u]; i < parts[part]->ptr[u + 1]; i++) {
                int found = 0;
                for (int64_t c = candidates->ptr[u]; c < candidates->ptr[u + 1]; c++)
                    found |= candidates->others[c] == parts[part]->others[i];
                assert_int_equal(found, part);
            }
    /* 60 draws of 0.3 are 18 +- 3.5; 6 standard deviations never happen by chance. */
    for (int i = 0; i < ITEMS; i++)
        assert_in_range(hits[i], 1, 39);
    csr_free(&listed);
    dataset_free(&out.dataset);
}

/* An item has all of its records in one part, by its id alone, and users are ranked among those of the test.
 */
TEST_WITH(cold_items_have_no_training_records, data_enter, data_leave)
{
    struct data_outcome out;
    int64_t n = write_ratings("a.txt", 1), n_cold = 0;
    get_split(kinds[8], 2, 1, &out);
    struct csr listed;
    data_candidates(&out.dataset, &listed);
    const struct csr *candidates = &listed, *test = &out.dataset.test.by_user,
                     *train = &out.dataset.train.by_item;
    int cold[ITEMS] = {0};
    assert_partition(&out.dataset, n);
    data_check_csr(candidates, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        n_cold += cold[i] = train->ptr[i + 1] == train->ptr[i];
    within_binomial(n_cold, ITEMS, 0.3);
    for (int64_t u = 0; u < USERS; u++) {
        const int64_t tested = test->ptr[u + 1] - test->ptr[u];
        assert_int_equal(candidates->ptr[u + 1] - candidates->ptr[u], tested ? n_cold : 0);
        for (int64_t i = test->ptr[u]; i < test->ptr[u + 1]; i++)
            assert_true(cold[test->others[i]]);
        for (int64_t c = candidates->ptr[u]; c < candidates->ptr[u + 1]; c++)
            assert_true(cold[candidates->others[c]]);
    }
    csr_free(&listed);
    dataset_free(&out.dataset);
}

TEST_WITH(the_last_record_is_held_out, data_enter, data_leave)
{
    struct data_outcome out;
    const struct dataset *d = &out.dataset;
    data_write("a.txt", "1,9,1,5\n1,2,2,7\n1,5,3,7\n1,3,4,6\n2,1,1,3\n2,9,2,2\n3,1,5,1\n");
    get_split(kinds[2], 2, 1, &out);
    assert_int_equal(d->test.n, 2);
    assert_true(data_value(d, &d->test.by_user, "1", "5") == 3); /* time 7 twice: the later line */
    assert_true(data_value(d, &d->test.by_user, "2", "1") == 1);
    assert_true(data_value(d, &d->train.by_user, "3", "1") == 5); /* a single record trains */
    assert_int_equal(d->summary.time_ties_decided, 1);
    dataset_free(&out.dataset);
    data_write("a.txt", "1,9,1,5\n1,5,3,7\n1,2,2,7\n1,3,4,6\n");
    get_split(kinds[2], 2, 1, &out);
    assert_true(data_value(d, &d->test.by_user, "1", "2") == 2);
    dataset_free(&out.dataset);
    data_write("a.txt", "1,9,1\n1,5,3\n");
    DATA_REFUSED(CSV "[split]\nkind = leave-one-out\n", DPF_FAULT_DATA, "a.txt:1", "split.by = random");
}

/* One draw for a pair decides in all kinds: fold 1 of 4 is a random quarter. */
TEST_WITH(kinds_read_one_draw, data_enter, data_leave)
{
    struct data_outcome a, b;
    write_ratings("a.txt", 1);
    get_split("kind = k-fold\nfolds = 4\nfold = 1\n", 1, 9, &a);
    get_split(kinds[0], 1, 9, &b);
    data_same_csr(&a.dataset.test.by_user, &b.dataset.test.by_user);
    dataset_free(&a.dataset);
    dataset_free(&b.dataset);
}

TEST_WITH(a_number_and_a_fraction_exclude_each_other, data_enter, data_leave)
{
    data_write("a.txt", "1,1,1\n2,1,1\n");
    DATA_REFUSED(CSV "[split]\nkind = per-user\nn = 2\nfraction = 0.3\n", DPF_FAULT_CONFIG, "split",
                 "remove");
}

TEST_WITH(no_user_loses_all_records, data_enter, data_leave)
{
    struct data_outcome out;
    data_write("a.txt", "1,1,1\n2,1,1\n2,2,2\n3,1,1\n3,2,1\n3,3,1\n3,4,1\n");
    static const char *const much[] = {"kind = per-user\nn = 3\n", "kind = per-user\nfraction = 0.99\n"};
    for (int i = 0; i < 2; i++) {
        get_split(much[i], 2, 1, &out);
        const struct csr *train = &out.dataset.train.by_user;
        assert_int_equal(out.dataset.test.n, 0 + 1 + 3);
        for (int64_t u = 0; u < 3; u++)
            assert_int_equal(train->ptr[u + 1] - train->ptr[u], 1);
        dataset_free(&out.dataset);
    }
}

TEST_WITH(duplicates_follow_the_policy, data_enter, data_leave)
{
    static const struct {
        const char *policy;
        double timed, untimed;
    } cases[] = {{"last", 2, 5}, {"first", 4, 1}, {"mean", 3, 3}, {"sum", 12, 12}};
    for (size_t i = 0; i < 4; i++) {
        struct data_outcome out;
        const struct dataset *d = &out.dataset;
        char ini[128];
        snprintf(ini, sizeof ini, CSV "duplicates = %s\n", cases[i].policy);
        data_write("a.txt", "1,7,1,50\n1,8,1,1\n1,7,4,10\n1,7,2,90\n1,7,5,60\n2,7,5,1\n");
        data_get(ini, &out);
        assert_int_equal(d->train.n, 3);
        assert_int_equal(d->summary.duplicates, 3);
        assert_true(data_value(d, &d->train.by_user, "1", "7") == cases[i].timed);
        dataset_free(&out.dataset);
        data_write("a.txt", "1,7,1\n1,8,1\n1,7,4\n1,7,2\n1,7,5\n2,7,5\n");
        data_get(ini, &out);
        assert_true(data_value(d, &d->train.by_user, "1", "7") == cases[i].untimed);
        dataset_free(&out.dataset);
    }
    data_write("a.txt", "1,8,1\n1,7,1\n2,7,5\n1,7,4\n");
    DATA_REFUSED(CSV "duplicates = error\n", DPF_FAULT_DATA, "a.txt:4: user \"1\" and item \"7\"", "a.txt:2");
}

TEST_WITH(sums_respect_the_declared_range, data_enter, data_leave)
{
    struct data_outcome out;
    const struct dataset *d = &out.dataset;
    data_write("a.txt", "1,7,3\n1,7,4\n1,8,1\n");
    DATA_REFUSED(CSV "duplicates = sum\nvalue-min = 1\nvalue-max = 5\n", DPF_FAULT_DATA, "a.txt:2",
                 "outside the declared range");
    data_get(CSV "duplicates = sum\nvalue-min = 1\nvalue-max = 5\nout-of-range = clip\n", &out);
    assert_true(data_value(d, &d->train.by_user, "1", "7") == 5);
    dataset_free(&out.dataset);
    data_get(CSV "duplicates = sum\nvalue-min = 1\nvalue-max = 5\nout-of-range = drop\n", &out);
    assert_int_equal(d->train.n, 1);
    assert_int_equal(d->summary.out_of_range, 1);
    dataset_free(&out.dataset);
}

#define FILES CSV "[split]\nkind = files\ntest.path = b.txt\n"

TEST_WITH(given_files_share_ids_and_never_pairs, data_enter, data_leave)
{
    struct data_outcome out;
    const struct dataset *d = &out.dataset;
    data_write("a.txt", "1,1,1\n1,2,2\n2,1,3\n");
    data_write("b.txt", "1,9,4\n7,1,5\n2,2,1\n");
    data_get(FILES, &out);
    assert_int_equal(d->users.n, 3);
    assert_int_equal(d->items.n, 3);
    assert_int_equal(d->train.n, 3);
    assert_int_equal(d->test.n, 3);
    assert_int_equal(d->summary.cold_users, 1);
    assert_int_equal(d->summary.cold_items, 1);
    assert_int_equal(d->summary.cold_records, 2);
    assert_true(data_value(d, &d->test.by_user, "7", "1") == 5);
    dataset_free(&out.dataset);
    data_write("b.txt", "1,9,4\n2,1,5\n");
    DATA_REFUSED(FILES, DPF_FAULT_DATA, "b.txt:2:", "a.txt:3", "split.overlap");
    data_get(FILES "overlap = test\n", &out);
    assert_int_equal(d->train.n, 2);
    assert_true(data_value(d, &d->test.by_user, "2", "1") == 5);
    dataset_free(&out.dataset);
    data_get(FILES "overlap = train\n", &out);
    assert_int_equal(d->test.n, 1);
    assert_true(data_value(d, &d->train.by_user, "2", "1") == 3);
    dataset_free(&out.dataset);
}

TEST_WITH(patterns_read_all_but_the_test_file, data_enter, data_leave)
{
    struct data_outcome out;
    data_write("a.txt", "1,1,1\n");
    data_write("b.txt", "1,2,2\n");
    data_write("c.txt", "1,3,3\n");
    data_get("[data]\npath = [abc].txt\n[split]\nkind = files\ntest.path = b.txt\n", &out);
    assert_int_equal(out.dataset.train.n, 2);
    assert_int_equal(out.dataset.test.n, 1);
    assert_true(data_value(&out.dataset, &out.dataset.test.by_user, "1", "2") == 2);
    dataset_free(&out.dataset);
}

TEST_WITH(transposing_twice_is_the_identity, data_enter, data_leave)
{
    struct data_outcome out;
    struct dpf_error error = {0};
    struct csr there = {0}, back = {0}, empty = {0};
    write_ratings("a.txt", 1327);
    data_get(CSV, &out);
    assert_int_equal(csr_transpose(&out.dataset.train.by_user, ITEMS, &there, &error), 0);
    assert_int_equal(csr_transpose(&there, USERS, &back, &error), 0);
    data_same_csr(&out.dataset.train.by_user, &back);
    data_same_csr(&out.dataset.train.by_item, &there);
    csr_free(&there);
    csr_free(&back);
    assert_int_equal(csr_transpose(&empty, 3, &there, &error), 0);
    assert_int_equal(there.ptr[3], 0);
    csr_free(&there);
    dataset_free(&out.dataset);
}
